# SPDX-License-Identifier: GPL-2.0
"""UDP beside the flows, and the phases of a run whose rate changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from measured import MSS, flow_bytes, reading, result_of, traffic_of

from lab.model.line import Slow
from lab.model.scenario import Phase, Scenario, ScenarioError, Step
from lab.model.udp import Udp
from lab.model.wire import FRAME_BYTES, HEADER_BYTES, HINT_BYTES
from lab.net import topology, traffic_spec
from lab.results.result import Result, ResultError

OVERHEAD = (MSS + HEADER_BYTES + HINT_BYTES) / MSS
ONE_FLOW = Scenario(rtts_ms=(20.0,), warmup_s=10.0, duration_s=20.0)


def test_udp_is_read() -> None:
    assert Udp.parse("5mbit") == Udp(5_000_000, 0.0, None)
    assert Udp.parse("1.5mbit@30-40.5") == Udp(1_500_000, 30.0, 40.5)
    assert Udp.parse("1mbit size=100") == Udp(1_000_000, frame_bytes=100)


@pytest.mark.parametrize("text", ["", "fast", "5mbit@", "5mbit@3", "5mbit@-3", "@1-2", "5mbit@a-b",
                                  "5mbit size=59", "5mbit size=1515", "5mbit size="])  # fmt: skip
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="--udp"):
        Udp.parse(text)


@pytest.mark.parametrize("text", ["1kbit", "5mbit@5-5", "5mbit@0-31", "5mbit@31-32"])
def test_udp_outside_the_run_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="--udp"):
        Scenario(warmup_s=10.0, duration_s=20.0, udp=(Udp.parse(text),)).check()


def test_frames_are_spaced_by_the_rate() -> None:
    scenario = Scenario(
        rtts_ms=(20.0,), warmup_s=10.0, duration_s=20.0,
        udp=(Udp.parse("12.112mbit"), Udp.parse("1mbit@12-13.5 size=100")),
    ).check()  # fmt: skip
    lines = [line for line in traffic_spec.spec(scenario).splitlines() if line.startswith("udp ")]
    assert lines == [
        "udp u0 10.255.0.2 9001 1000000 0 30000 0 1472",
        "udp u1 10.255.0.2 9002 800000 12000 13500 0 58",
    ]
    script = topology.script(scenario)
    assert "ip netns add u1" in script
    assert "ip netns add u2" not in script


def test_paths_change_and_vary() -> None:
    steps = tuple(map(Step.parse, ("t=12 delay=5ms", "t=15 jitter=2ms", "t=16 delay=1ms jitter=3ms")))
    scenario = Scenario(rtts_ms=(20.0,), warmup_s=10.0, duration_s=20.0, steps=steps).check()
    lines = [line for line in traffic_spec.spec(scenario).splitlines() if "netem" in line]
    assert [line.split(" netem ")[1].split(" limit")[0] for line in lines] == [
        "delay 22000us", "delay 3000us",
        "delay 17000us 2000us rate 1gbit", "delay 3000us 2000us rate 1gbit",
        "delay 18000us 3000us rate 1gbit", "delay 3000us 3000us rate 1gbit",
    ]  # fmt: skip
    built = topology.script(scenario)
    assert "root handle 1: netem delay 17000us" in built
    assert "qdisc add dev vary root handle 1: netem delay 3000us" in built


@pytest.mark.parametrize(
    "changed",
    [
        {"rtts_ms": (20.0, 5.0)}, {"slow": Slow.parse("host=0 rate=5mbit buffer=500ms")},
        {"hops": 2, "cross_rtts_ms": (30.0,)},
    ],
)  # fmt: skip
def test_a_delay_that_cannot_vary(changed: dict[str, Any]) -> None:
    """The way there has a part of the RTT, and one device."""
    steps = (Step.parse("t=12 jitter=4ms"),)
    scenario = Scenario(rtts_ms=(20.0,), warmup_s=10.0, duration_s=20.0, steps=steps)
    with pytest.raises(ScenarioError, match="--step jitter: "):
        replace(scenario, **changed).check()


def test_phases() -> None:
    """The measured time only, cut at changes of the rate."""
    steps = ("t=5 rate=8mbit", "t=20 rate=5mbit", "t=25 delay=9ms", "t=30 rate=20mbit")
    scenario = Scenario(warmup_s=10.0, duration_s=20.0, steps=tuple(map(Step.parse, steps)))
    assert scenario.phases == [Phase(10.0, 20.0, 8_000_000), Phase(20.0, 30.0, 5_000_000)]
    assert scenario.mean_rate_bps() == 6_500_000
    assert "phase 20000" in traffic_spec.spec(scenario).splitlines()
    assert ONE_FLOW.phases == [Phase(10.0, 30.0, 20_000_000)]


def _frames(mbps: float, seconds: float) -> int:
    return round(mbps * 1e6 / 8 * seconds / FRAME_BYTES)


def _beside_udp(sent_mbps: float) -> Result:
    """12 Mbit/s of UDP sent, 6 delivered, and a flow of 10."""
    scenario = Scenario(rtts_ms=(20.0,), warmup_s=10.0, duration_s=20.0, udp=(Udp.parse("12mbit"),))
    begin = reading(10, [500], [[7, 5]])
    frames = [7 + _frames(12, 20), 5 + _frames(6, 20)]
    end = reading(30, [500 + flow_bytes(10, 20)], [frames])
    return result_of(scenario, traffic_of(scenario, [begin, end]), sent_mbps)


def test_udp_uses_the_link_and_tcp_has_a_share() -> None:
    result = _beside_udp(17.0)
    (stream,) = result.udp
    assert stream.rate_mbps == 12.0
    assert stream.sent_mbps == pytest.approx(12.0, rel=1e-3)
    assert stream.delivered_mbps == pytest.approx(6.0, rel=1e-3)
    assert stream.loss == pytest.approx(0.5, rel=1e-3)
    assert result.tcp_share == pytest.approx(10 * OVERHEAD / 20)
    assert result.utilisation == pytest.approx(result.tcp_share + 0.3, rel=1e-3)
    assert [phase.utilisation for phase in result.phases] == pytest.approx([result.utilisation])
    assert result.jain == 1.0
    assert Result.from_dict(result.to_dict()) == result


def test_udp_that_no_queue_let_go_does_not_add_up() -> None:
    with pytest.raises(ResultError, match="left the queue"):
        _beside_udp(11.0)


def test_utilisation_of_each_phase() -> None:
    steps = (Step.parse("t=20 rate=5mbit"),)
    scenario = Scenario(rtts_ms=(20.0,), warmup_s=10.0, duration_s=20.0, steps=steps)
    received = [0, flow_bytes(16, 10), flow_bytes(16, 10) + flow_bytes(3, 10)]
    readings = [reading(at_s, [n]) for at_s, n in zip((10, 20, 30), received, strict=True)]
    result = result_of(scenario, traffic_of(scenario, readings), 10.5)
    assert [phase.rate_mbps for phase in result.phases] == [20.0, 5.0]
    assert [phase.utilisation for phase in result.phases] == pytest.approx(
        [16 * OVERHEAD / 20, 3 * OVERHEAD / 5]
    )
    assert result.utilisation == pytest.approx(9.5 * OVERHEAD / 12.5)
