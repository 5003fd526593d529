# SPDX-License-Identifier: GPL-2.0
"""A hidden line beside the qdisc under test: its options, its figures, and a line in a guest."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from measured import flow_bytes, reading, row_of, traffic_of
from measured import result_of as result_without

from lab.model import grid
from lab.model.churn import Churn
from lab.model.line import Line, Slow
from lab.model.scenario import Link, Scenario, ScenarioError
from lab.model.step import Phase, Step
from lab.model.units import format_ms
from lab.net import topology, traffic_spec
from lab.results.line import LineResult, compute
from lab.results.readings import ResultError
from lab.results.result import Result
from lab.runs import runner
from lab.traces import mahimahi, models

STEPS = Line.parse("rate=20mbit@0,5mbit@20,20mbit@40 buffer=500ms")
SHORT = {"rtts_ms": (20.0, 80.0), "warmup_s": 10.0, "duration_s": 40.0}


def test_line_is_read(tmp_path: Path) -> None:
    assert STEPS.rates == ((0.0, 20_000_000), (20.0, 5_000_000), (40.0, 20_000_000))
    assert STEPS.buffer_bytes == 1_250_000
    assert Line.parse("rate=8mbit buffer=60kB") == Line(60_000, ((0.0, 8_000_000),))
    path = tmp_path / "trace"
    path.write_text("0\n1\n1\n4\n")
    assert Line.parse(f"trace={path} buffer=9kB") == Line(9000, trace=(0, 1, 1, 4))
    assert Line.parse("model=lte:3 buffer=1s").trace == models.trace("lte", 3)
    assert Line.parse("rate=8mbit buffer=60kB place=behind") == Line(60_000, ((0.0, 8_000_000),))
    assert Line.parse("place=before rate=8mbit buffer=60kB").before
    assert Line.parse("model=lte:3 buffer=1s place=before").before
    mean_bps = mahimahi.mean_bps(models.trace("lte", 3), 0, 120_000)
    assert Line.parse("model=lte:3 buffer=1s").buffer_bytes == round(mean_bps / 8)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rate=20mbit", "buffer"), ("buffer=1s", "one of rate, trace and model"),
        ("rate=20mbit model=lte:1 buffer=1s", "one of rate, trace and model"),
        ("rate=fast buffer=1s", "fast"), ("rate=5kbit buffer=1s", "10kbit to 1gbit"),
        ("rate=2gbit buffer=1s", "10kbit to 1gbit"), ("rate=5mbit@3 buffer=1s", "second 0"),
        ("rate=5mbit,9mbit buffer=1s", "RATE@SECOND"), ("rate=5mbit,9mbit@3 buffer=1s", "4 s apart"),
        ("rate=5mbit,9mbit@9,1mbit@8 buffer=1s", "4 s apart"), ("rate=5mbit buffer=some", "some"),
        ("rate=5mbit buffer=1us", "1us"), ("rate=1gbit buffer=2s", "100 MB"),
        ("model=5g:1 buffer=1s", "5g:1"), ("model=lte buffer=1s", "lte"),
        ("model=lte:x buffer=1s", "lte:x"), ("trace=/nowhere buffer=1s", "/nowhere"),
        ("rate=5mbit buffer=1s place=beside", "behind or before"),
        ("place=before buffer=1s", "one of rate, trace and model"),
    ],
)  # fmt: skip
def test_nonsense_is_refused(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match="--line") as refused:
        Line.parse(text)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "option"),
    [
        ({"hops": 2}, "--hops"), ({"reverse": 1}, "--reverse"), ({"link": Link.OWN}, "--link"),
        ({"gso_segs": 8}, "--gso"), ({"steps": (Step(9.0, rate_bps=10**6),)}, "--step rate"),
        ({"duration_s": 20.0}, "rate@40"),
    ],
)  # fmt: skip
def test_what_a_line_does_not_go_with_is_refused(fields: dict[str, Any], option: str) -> None:
    Scenario(qdisc="zrtt", line=STEPS, **SHORT).check()
    with pytest.raises(ScenarioError, match="--line") as refused:
        Scenario(**{**SHORT, "qdisc": "zrtt", "line": STEPS, **fields}).check()
    assert option in str(refused.value)


def test_phases_begin_when_a_step_is_over() -> None:
    found = STEPS.phases(10, 60)
    assert found == [
        Phase(10, 20, 20_000_000), Phase(23, 40, 5_000_000), Phase(43, 60, 20_000_000),
    ]  # fmt: skip
    assert STEPS.phases(21, 30) == [Phase(23, 30, 5_000_000)]
    assert STEPS.phases(10, 42) == found[:2]
    assert STEPS.mean_bps(10, 60) == (30 * 20e6 + 20 * 5e6) / 50
    assert Scenario(line=STEPS, **SHORT).mean_rate_bps() == (20 * 20e6 + 20 * 5e6) / 40


def test_share_of_short_flows_is_of_the_line() -> None:
    churn = Churn.parse("load=10% size=60kB")
    slow, fast = (
        Scenario(churn=churn, line=Line(9000, ((0.0, rate),)), **SHORT)
        for rate in (1_000_000, 10_000_000)
    )
    assert len(fast.short_flows) > 5 * len(slow.short_flows) > 0


def test_script_has_a_line_in_place_of_a_shaper() -> None:
    scenario = Scenario(qdisc="cake bandwidth 16mbit", line=STEPS, **SHORT).check()
    script, spec = topology.script(scenario), traffic_spec.spec(scenario)
    assert "root handle 1: line limit 1250000 rate 20000000\n" in script
    assert "meter keep\n" in script
    assert "htb" not in script
    changes = [line for line in spec.splitlines() if "handle 1: line rate" in line]
    assert [line.split()[1] for line in changes] == ["20000", "40000"]
    by_trace = Scenario(line=Line.parse("model=starlink:1 buffer=1MB"), **SHORT).check()
    assert 'trace $LAB/line\n' in topology.script(by_trace)
    assert "at 0 tc -n router qdisc change dev bot root handle 1: line start" in (
        traffic_spec.spec(by_trace)
    )
    assert "sch_line" in runner.module_names(scenario)
    without = Scenario(**SHORT)
    assert "line" not in topology.script(without) + traffic_spec.spec(without)
    assert "sch_line" not in runner.module_names(without)


def test_script_of_a_line_before_the_router() -> None:
    """The router's queue of the way back comes first, and then the RTT."""
    line = Line.parse("rate=8mbit buffer=60kB place=before")
    step = Step(20.0, delay_ms=15.0)
    scenario = Scenario(line=line, back="zrtt timestamps", steps=(step,), **SHORT).check()
    script = topology.script(scenario)
    assert "root handle 1: line limit 60000 rate 8000000 before\n" in script
    assert "meter keep" not in script
    for host, delay_ms in (("h0", 20), ("h1", 80)):
        assert f"ip -n {host} link add late type ifb\n" in script
        assert f"qdisc add dev late root handle 1: netem delay {format_ms(delay_ms)} " in script
    assert "tc -n router qdisc add dev r0 root zrtt timestamps\n" in script
    assert "dev r0 root handle 1: netem" not in script
    change = "tc -n h1 qdisc change dev late root handle 1: netem delay"
    assert f"{change} {format_ms(95)} " in traffic_spec.spec(scenario)
    assert {"ifb", "cls_matchall", "act_mirred"} <= set(topology.modules(scenario))


def test_option_of_a_sweep() -> None:
    assert grid.FIELDS["line"]("rate=8mbit buffer=60kB")["line"].buffer_bytes == 60_000
    assert "line" in grid.EXTRAS


def test_slow_host_is_read() -> None:
    assert Slow.parse("host=1 rate=1mbit buffer=400ms") == Slow(1, 1_000_000, 50_000)
    for text in (
        "host=1 rate=1mbit", "host=a rate=1mbit buffer=1s", "host=0 rate=1kbit buffer=1s",
        "host=0 rate=1mbit buffer=x", "host=0 rate=1mbit buffer=1s loss=1",
        "host=0 rate=1mbit buffer=1s loss=51%",
    ):  # fmt: skip
        with pytest.raises(ScenarioError, match="--slow"):
            Slow.parse(text)
    slow = Slow(1, 1_000_000, 50_000)
    Scenario(slow=slow, **SHORT).check()
    for wrong in ({"slow": Slow(2, 1_000_000, 50_000)}, {"gso_segs": 0}, {"cc": ("prague",)}):
        with pytest.raises(ScenarioError, match="--slow"):
            Scenario(**{**SHORT, "slow": slow, **wrong}).check()


def test_slow_host_has_a_device_of_its_own() -> None:
    scenario = Scenario(slow=Slow.parse("host=1 rate=1mbit buffer=50kB"), **SHORT)
    script = topology.script(scenario)
    assert "flower src_ip 10.0.1.2 action mirred egress redirect dev slow\n" in script
    assert "dev slow parent 1:1 bfifo limit 50000\n" in script
    assert {"ifb", "act_mirred", "cls_flower"} <= set(topology.modules(scenario))
    assert "slow" not in topology.script(Scenario(**SHORT))


def test_slow_host_may_lose() -> None:
    scenario = Scenario(slow=Slow.parse("host=1 rate=1mbit buffer=50kB loss=1.5%"), **SHORT)
    script = topology.script(scenario)
    assert "dev slow parent 1:1 handle 2: netem loss 1.5% limit 100000000\n" in script
    assert "dev slow parent 2:1 bfifo limit 50000\n" in script


def _of_line(seconds: float, mbps: float, of_mbps: float = 10.0) -> list[dict[str, Any]]:
    """What tc says of a line so long after its reset."""
    packets = round(990 * seconds / 40)
    delay = {"packets": packets, "mean_ns": 40_000_000, "p50_us": 39_000, "p95_us": 90_000,
             "p99_us": 95_000, "max_us": 99_000}  # fmt: skip
    if not seconds:
        delay = dict.fromkeys(delay, 0)
    return [
        {"handle": "1:", "bytes_out": flow_bytes(mbps, seconds), "packets_in": 1000,
         "packets_out": packets, "line_drops": 10, "capacity_bytes": flow_bytes(of_mbps, seconds),
         "elapsed_ns": round(seconds * 1e9), "own": delay, "whole": {**delay, "p95_us": 120_000}},
    ]  # fmt: skip


class _Meter:
    """What compute() asks of the queue before the line, or behind it."""

    netns = "router"
    packets = 1000
    of = "packets_out"

    @property
    def queue(self) -> _Meter:
        return self

    @property
    def meter(self) -> _Meter:
        return self

    def delta(self, key: str) -> int:
        assert key == self.of
        return self.packets


LINE = Line.parse("rate=10mbit@0,5mbit@30 buffer=1s")


def _documents(mbps: float = 6.0) -> dict[str, Any]:
    found = {"end-router": _of_line(40, mbps)}
    for index, (begin, end) in enumerate(((0, 20), (23, 40))):
        found[f"line-{index}-begin"] = _of_line(begin, mbps)
        found[f"line-{index}-end"] = _of_line(end, mbps)
    return found


def test_figures_of_a_line() -> None:
    scenario = Scenario(line=LINE, **SHORT).check()
    made = compute(scenario, _documents(), _Meter())  # type: ignore[arg-type]
    assert made is not None
    assert made.utilisation == pytest.approx(0.6)
    assert made.rate_mbps == pytest.approx(10.0)
    assert (made.sojourn_ms.mean, made.sojourn_ms.p95, made.whole_ms.p95) == (40.0, 90.0, 120.0)
    assert (made.drops, made.packets) == (10, 990)
    assert [(p.from_s, p.to_s) for p in made.phases] == [(10, 30), (33, 50)]
    assert [p.whole_mean_ms for p in made.phases] == [40.0, 40.0]
    assert made.min_utilisation == pytest.approx(0.6)
    assert LineResult.from_dict(json.loads(json.dumps(asdict(made)))) == made
    content = asdict(made)
    content["phases"][0]["whole_mean_ms"] = None  # as Result.to_dict() has it where nothing left
    assert math.isnan(LineResult.from_dict(content).phases[0].whole_mean_ms)
    assert compute(Scenario(**SHORT), {}, _Meter()) is None  # type: ignore[arg-type]


def test_delay_of_a_phase_is_of_what_left_in_it() -> None:
    """Of 495 packets 40 ms each, then 495 more: 60 ms on average of all, so those take 80 ms."""
    found = _documents()
    for name, more in (
        ("line-1-begin", {"packets": 495}), ("line-1-end", {"packets": 990, "mean_ns": 60_000_000}),
    ):  # fmt: skip
        found[name][0]["whole"] = found[name][0]["whole"] | more
    made = compute(Scenario(line=LINE, **SHORT), found, _Meter())  # type: ignore[arg-type]
    assert made is not None
    assert [p.whole_mean_ms for p in made.phases] == [40.0, 80.0]


def test_a_line_that_does_not_add_up_is_refused() -> None:
    scenario = Scenario(line=LINE, **SHORT).check()
    lost = _Meter()
    lost.packets = 1200
    with pytest.raises(ResultError, match="1200 packets left the queue"):
        compute(scenario, _documents(), lost)  # type: ignore[arg-type]
    before = Scenario(line=replace(LINE, before=True), **SHORT).check()
    behind = _Meter()
    behind.of, behind.packets = "packets_in", 990
    assert compute(before, _documents(), behind)  # type: ignore[arg-type]
    behind.packets = 1200
    with pytest.raises(ResultError, match="990 packets left the line, 1200 came to the queue"):
        compute(before, _documents(), behind)  # type: ignore[arg-type]
    with pytest.raises(ResultError, match="bytes left the line"):
        compute(scenario, _documents(mbps=10.2), _Meter())  # type: ignore[arg-type]
    for name in ("end-router", "line-1-begin"):
        found = _documents()
        del found[name]
        with pytest.raises(ResultError, match=name):
            compute(scenario, found, _Meter())  # type: ignore[arg-type]


def test_row_without_a_line() -> None:
    scenario = Scenario(rtts_ms=(20.0, 40.0), warmup_s=10.0, duration_s=20.0)
    readings = [reading(10, [0, 0]), reading(30, [flow_bytes(9, 20)] * 2)]
    made = row_of({}, result_without(scenario, traffic_of(scenario, readings), 19.0))
    assert made.whole_mean_ms != made.whole_mean_ms


# -- in a guest ---------------------------------------------------------------------------


def _run(line: str, qdisc: str = "fq_codel", **fields: Any) -> Result:
    options: dict[str, Any] = {"rtts_ms": (20.0, 40.0), "hint": "none", "warmup_s": 10.0,
                               "duration_s": 20.0, **fields}  # fmt: skip
    scenario = Scenario(kernel="uml", qdisc=qdisc, line=Line.parse(line), **options)
    return runner.run(scenario.check())


def _line_of(result: Result) -> LineResult:
    assert result.line is not None
    return result.line


@pytest.mark.guest
def test_delay_is_at_the_line_or_before_it() -> None:
    """Without a shaper the qdisc under test sees no queue; with one that is slower, the line does."""
    behind = _run("rate=10mbit buffer=200ms")
    line = _line_of(behind)
    assert line.utilisation > 0.99
    assert line.drops > 0
    assert behind.sojourn_ms.p95 < 1 < 50 < line.sojourn_ms.mean <= line.whole_ms.mean
    assert line.sojourn_ms.max <= 200.1
    before = _run("rate=10mbit buffer=200ms", "zrtt bandwidth 9mbit")
    line = _line_of(before)
    assert before.sojourn_ms.mean > 3 > line.sojourn_ms.mean
    assert line.whole_ms.mean == pytest.approx(before.sojourn_ms.mean + line.sojourn_ms.mean, rel=0.02)
    assert line.utilisation == pytest.approx(0.9, abs=0.01)
    assert line.drops == 0


@pytest.mark.guest
@pytest.mark.parametrize("qdisc", ["fq_codel", "zrtt bandwidth 9mbit"])
def test_line_before_the_qdisc(qdisc: str) -> None:
    """What it carries comes to the qdisc, which has a queue if it is slower."""
    made = _run("rate=10mbit buffer=200ms place=before", qdisc)
    line = _line_of(made)
    slower = qdisc != "fq_codel"
    assert line.utilisation == pytest.approx(0.9 if slower else 1, abs=0.03)
    assert (line.sojourn_ms.mean < 10) == slower
    assert (made.sojourn_ms.mean > 3) == slower
    both_ms = made.sojourn_ms.mean + line.sojourn_ms.mean
    assert line.whole_ms.mean == pytest.approx(both_ms, rel=0.02)
    assert line.sojourn_ms.max <= line.whole_ms.max <= 200.1 + made.sojourn_ms.max
    if slower:
        assert [flow.min_rtt_ms for flow in made.flows] == pytest.approx([20, 40], abs=5)


@pytest.mark.guest
def test_rate_steps() -> None:
    made = _line_of(_run("rate=10mbit@0,2mbit@20 buffer=50kB"))
    assert [phase.rate_mbps for phase in made.phases] == pytest.approx([10, 2], rel=0.01)
    assert min(phase.utilisation for phase in made.phases) > 0.95
    assert made.rate_mbps == pytest.approx(6, rel=0.01)


@pytest.mark.guest
def test_trace_and_its_repetition(tmp_path: Path) -> None:
    """A frame every 2 ms for 0.5 s, none for 1.5 s, again and again."""
    path = tmp_path / "trace"
    path.write_text(mahimahi.text([*range(0, 500, 2), 2000]))
    made = _line_of(_run(f"trace={path} buffer=300kB"))
    scenario_mbps = Line.parse(f"trace={path} buffer=300kB").mean_bps(10, 30) / 1e6
    assert made.rate_mbps == pytest.approx(scenario_mbps, rel=0.002)
    assert made.utilisation > 0.97
    assert made.sojourn_ms.max > 1500


@pytest.mark.guest
def test_slow_host_alone_is_slow() -> None:
    made = _run(
        "rate=10mbit buffer=200ms", "zrtt bandwidth 9mbit",
        slow=Slow.parse("host=0 rate=1mbit buffer=200ms"),
    )  # fmt: skip
    slow, other = made.flows
    assert 0.8 < slow.goodput_mbps < 1
    assert other.goodput_mbps > 7


@pytest.mark.guest
def test_runs_repeat() -> None:
    one, other = (_run("model=lte:1 buffer=300ms", duration_s=10.0) for _ in range(2))
    assert one.line == other.line
    assert [flow.goodput_mbps for flow in one.flows] == [flow.goodput_mbps for flow in other.flows]
