# SPDX-License-Identifier: GPL-2.0
"""The arena: what is drawn, and which runs that makes."""

from __future__ import annotations

import itertools
import math
import random
import re
import shlex
from collections import Counter
from functools import cache

import pytest

from lab import cli
from lab.arena import cost
from lab.arena.draw import (
    BUDGET_S,
    BUFFERS_BYTES,
    CCS,
    LONG_TOTAL_S,
    MAX_FLOWS,
    RATES_BPS,
    RTTS_MS,
    SHORTEST_S,
    THIN_SHARE,
    Drawn,
    draw,
    scenario_of,
)
from lab.arena.plan import (
    QDISCS,
    UML_QDISCS,
    Shard,
    default_qdiscs,
    numbers,
    parse_qdiscs,
    plan,
)
from lab.commands import run
from lab.model.grid import GridError
from lab.model.scenario import MIN_RATE_BPS, Scenario
from lab.model.thin import Kind
from lab.net import traffic_spec
from lab.runs import runner

MANY = 500


@cache
def arena() -> list[Drawn]:
    return [draw(1, number) for number in range(1, MANY + 1)]


def made(drawn: Drawn) -> Scenario:
    return scenario_of(drawn.options, kernel="uml", qdisc="zrtt", seed=drawn.seed)


@cache
def scenarios() -> list[Scenario]:
    return [made(drawn).check() for drawn in arena()]


def share(*holds: bool) -> float:
    return sum(holds) / len(holds)


# What is drawn


def test_seed_and_number_are_all() -> None:
    """Whatever was drawn before, and whatever else is random."""
    random.seed(7)
    assert draw(1, 77) == arena()[76]
    assert draw(1, 77).options != draw(2, 77).options
    assert len({str(drawn.options) for drawn in arena()}) == MANY
    assert len({drawn.seed for drawn in arena()}) > 0.99 * MANY


def test_drawing_stays() -> None:
    """Published tables name scenarios by seed and number: a change makes others of them."""
    options = draw(901, 3).options
    rtts = options.pop("rtts").split(",")
    assert (len(rtts), rtts[0], rtts[-1]) == (14, "50.4ms", "415ms")
    assert options == {
        "rate": "12.1mbit", "sessions": "4", "cc": "westwood", "ecn": "off", "gso": "off",
        "hint": "none", "warmup": "25", "duration": "75", "step": ["t=74 rate=6.41mbit"],
        "reverse": "3",
    }  # fmt: skip
    assert draw(901, 3).seed == 425101


def test_rates_are_uniform_in_their_logarithm() -> None:
    low, high = map(math.log, RATES_BPS)
    places = [(math.log(s.rate_bps) - low) / (high - low) for s in scenarios()]
    assert -0.001 < min(places) < 0.02
    assert 0.98 < max(places) < 1.001
    quarters = Counter(min(3, int(4 * place)) for place in places)
    assert all(0.2 < quarters[quarter] / MANY < 0.3 for quarter in range(4))


def test_ranges_are_covered() -> None:
    rtts = [rtt for s in scenarios() for rtt in s.rtts_ms]
    assert RTTS_MS[0] <= min(rtts) < 1.05
    assert 550 < max(rtts) <= RTTS_MS[1]
    flows = [len(s.flows) for s in scenarios()]
    assert min(flows) == 1
    assert 150 < max(flows) <= MAX_FLOWS
    assert share(*(count == 1 for count in flows)) < 0.08
    assert {cc for s in scenarios() for cc in s.cc} == set(CCS)
    assert {len(s.cc) for s in scenarios()} == {1, 2, 3}
    assert {(s.ecn, s.ecn_share) for s in scenarios()} == {(True, 1.0), (False, 1.0), (True, 0.5)}
    assert {s.gso_segs for s in scenarios()} == {0, 1, 4, 8, 16}
    hints = Counter(drawn.options["hint"] for drawn in arena())
    assert set(hints) == {"none", "sampled", "0.3", "0.7", "packet"}
    assert hints["none"] > MANY / 2


def test_congestion_controls_are_the_kernels() -> None:
    assert all(runner.module_names(Scenario(cc=(cc,))) == ["sch_meter"] for cc in CCS)


def test_extras_are_covered() -> None:
    """Each is in some, and most scenarios have none or one."""
    extras = [s for s in scenarios() if s.churn or s.reverse or s.udp or s.steps or s.hops > 1
              or s.starts_s or s.stops_s]  # fmt: skip
    assert 0.55 < len(extras) / MANY < 0.8
    udp = [s for s in scenarios() if s.udp]
    asked = [sum(stream.rate_bps for stream in s.udp) / s.rate_bps for s in udp]
    kinds = {
        "web": [s.churn and s.churn.min_bytes < s.churn.max_bytes == 1_000_000 for s in scenarios()],
        "small": [s.churn and s.churn.min_bytes == s.churn.max_bytes for s in scenarios()],
        "reverse": [s.reverse > 0 for s in scenarios()],
        "thin": [part < 0.2 for part in asked],
        "thick": [len(s.udp) == 1 and part >= 0.5 for s, part in zip(udp, asked, strict=True)],
        "floods": [len(s.udp) > 1 and part > 0.8 for s, part in zip(udp, asked, strict=True)],
        "for a while": [s.udp[0].from_s > 0 for s in udp],
        "steps": [0 < len(s.steps) <= 3 for s in scenarios()],
        "trace": [len(s.steps) > 5 for s in scenarios()],
        "join": [any(s.starts_s) for s in scenarios()],
        "leave": [any(stop is not None for stop in s.stops_s) for s in scenarios()],
        "hops": [s.hops == 2 and s.cross_rtts_ms != () for s in scenarios()],
    }
    counts = {kind: sum(map(bool, holds)) for kind, holds in kinds.items()}
    assert min(counts.values()) >= 5, counts
    assert max(counts.values()) < MANY / 4, counts


def test_crowds_are_rare() -> None:
    """Less than a packet per flow in a third of a second."""
    crowded = [s.rate_bps / len(s.flows) < 35_000 for s in scenarios()]
    assert 0 < share(*crowded) < 0.06


def test_long_and_fast_paths_have_many_flows() -> None:
    """Windows of some thousand packets would take minutes to grow."""
    for s in scenarios():
        window = s.rate_bps / 8 / 1514 / len(s.flows) * max(s.rtts_ms) / 1000
        assert window / 2 * max(s.rtts_ms) / 1000 < 85 or max(s.rtts_ms) <= 2


def test_some_flows_are_there_all_the_time() -> None:
    for s in scenarios():
        assert s.steady, s
        if len(s.flows) > 2:
            assert len(s.steady) + len(s.cross_rtts_ms) > 1, s


def test_time_on_the_host_is_bounded() -> None:
    for s in scenarios():
        assert SHORTEST_S <= s.total_s <= LONG_TOTAL_S
        assert cost.per_second(s) * s.total_s < BUDGET_S * 1.01
        assert sum(traffic_spec.send_buffer_bytes(s, flow) for flow in s.all_flows) <= BUFFERS_BYTES
        assert s.warmup_s >= 8
        assert all(step.rate_bps is None or step.rate_bps <= s.rate_bps * 1.01 for step in s.steps)


def test_cost_follows_what_is_sent() -> None:
    plain = Scenario(rate_bps=100_000_000, rtts_ms=(10.0,) * 10)
    slow = Scenario(rate_bps=10_000_000, rtts_ms=(10.0,) * 10)
    assert cost.per_second(plain) == pytest.approx(10 * cost.per_second(slow))
    assert cost.segments(plain) == 1
    lumps = Scenario(rate_bps=1_000_000_000, rtts_ms=(10.0,), gso_segs=16)
    assert cost.segments(lumps) == 16
    many = Scenario(rate_bps=1_000_000_000, rtts_ms=(10.0,) * 200, gso_segs=16)
    assert cost.segments(many) == cost.MIN_SEGMENTS
    assert cost.per_second(lumps) < cost.per_second(many)
    assert cost.per_second(Scenario(hops=2)) == pytest.approx(2 * cost.per_second(Scenario()))


# Which runs that makes


def test_every_qdisc_meets_the_same() -> None:
    (one,) = plan(1, [5], default_qdiscs("uml"), "uml")
    assert list(one.points) == [*QDISCS, *UML_QDISCS]
    assert {p.scenario.seed for p in one.points.values()} == {arena()[4].seed}
    assert len({re.sub(r"--qdisc ('.*?'|\S+)", "", p.command) for p in one.points.values()}) == 1
    assert "dualpi2" not in default_qdiscs("6.12")


@pytest.mark.parametrize("number", range(1, 60))
def test_command_repeats_a_run_by_hand(number: int) -> None:
    (one,) = plan(1, [number], {"mine": "zrtt limit 100"}, "uml")
    python, dash_m, lab, *words = shlex.split(one.points["mine"].command)
    assert (python, dash_m, lab) == ("python3", "-m", "lab")
    again = run.scenario_of(cli.parser().parse_args(words))
    assert again == one.points["mine"].scenario
    assert (again.qdisc, again.kernel) == ("zrtt limit 100", "uml")


def test_shards_make_the_whole() -> None:
    for count in (1, 2, 3, 7):
        parts = [numbers(20, Shard(index, count)) for index in range(1, count + 1)]
        assert sorted(itertools.chain(*parts)) == list(range(1, 21))
        assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert numbers(20, Shard(2, 3), only=[4, 9]) == [4, 9]


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "a/b", "1/0", "-1/2"])
def test_shards_that_are_none(text: str) -> None:
    with pytest.raises(GridError, match="want I/N, I from 1 to N"):
        Shard.parse(text)


def test_qdiscs_by_name() -> None:
    assert Shard.parse("2/8") == Shard(2, 8)
    read = parse_qdiscs(["zrtt", "flat=zrtt alpha 0", "cake"])
    assert read == {"zrtt": "zrtt", "flat": "zrtt alpha 0", "cake": "cake"}
    for texts in (["=zrtt"], ["mine="], ["zrtt", "zrtt=zrtt alpha 0"]):
        with pytest.raises(GridError, match="--qdisc"):
            parse_qdiscs(texts)
    for count, only in ((0, []), (5, [6]), (5, [0])):
        with pytest.raises(GridError):
            numbers(count, Shard(), only)


# Thin traffic


def test_thin_traffic_is_in_some() -> None:
    """All classes, one or more streams, and never more than its share of the link."""
    some = [s for s in scenarios() if s.thin]
    assert 0.25 < len(some) / MANY < 0.45
    assert {thin.kind for s in some for thin in s.thin} == set(Kind)
    assert len({thin.streams for s in some for thin in s.thin}) > 4
    for s in some:
        slowest = min(phase.rate_bps for phase in s.phases)
        assert sum(thin.wire_bps for thin in s.thin) <= THIN_SHARE * slowest


def test_thin_traffic_changes_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was published of an arena without it can be compared."""
    thin = arena()[:100]
    monkeypatch.setattr("lab.arena.draw.THIN", 0.0)
    for drawn in thin:
        others = {name: value for name, value in drawn.options.items() if name != "thin"}
        plain = draw(1, drawn.number)
        assert (plain.options, plain.seed) == (others, drawn.seed)


@cache
def l4s() -> list[Drawn]:
    return [draw(1, number, l4s=True) for number in range(1, MANY + 1)]


def test_l4s_changes_congestion_controls_only() -> None:
    for plain, scalable in zip(arena(), l4s(), strict=True):
        options = {name: value for name, value in scalable.options.items() if name != "ect1"}
        assert {**options, "cc": plain.options["cc"]} == plain.options
        assert scalable.seed == plain.seed


def test_l4s_scenarios_make_sense() -> None:
    """Some flows are scalable in each, all in a third; liars are among the others."""
    scenarios = [scenario_of(drawn.options, kernel="uml").check() for drawn in l4s()]
    assert all("prague" in s.ccs for s in scenarios)
    alone = [s for s in scenarios if s.ccs == ["prague"]]
    assert 0.25 < len(alone) / MANY < 0.42
    mixed = [s for s in scenarios if s.ccs != ["prague"] and s.n_flows > 30]
    assert {round(s.cc.count("prague") / len(s.cc), 2) for s in mixed} == {0.25, 0.5}
    lying = [s for s in scenarios if s.ect1.ccs or s.ect1.udp]
    assert 0.05 < len(lying) / MANY < 0.2
    assert any(s.ect1.udp for s in lying)
    assert all(any(flow.lies for flow in s.flows) for s in lying if s.ect1.ccs)


def test_streams_change_udp_only_and_need_less_than_a_share() -> None:
    found = [draw(1, number, streams=True) for number in range(1, MANY + 1)]
    for plain, drawn in zip(arena(), found, strict=True):
        assert {**plain.options, "udp": drawn.options["udp"]} == drawn.options
        assert drawn.seed == plain.seed
        scenario = scenario_of(drawn.options, kernel="uml").check()
        slowest = min(phase.rate_bps for phase in scenario.phases)
        share = slowest / (scenario.n_flows + len(scenario.udp))
        most = max(0.96 * share, MIN_RATE_BPS)
        assert all(0.09 * share < one.rate_bps <= most for one in scenario.udp)
        assert all(one.from_s == 0 and one.to_s is None for one in scenario.udp)
    counts = Counter(len(drawn.options["udp"]) for drawn in found)
    assert set(counts) == set(range(1, 13))
    alike = [set(drawn.options["udp"]) for drawn in found if len(drawn.options["udp"]) > 2]
    assert 0.3 < sum(len(rates) == 1 for rates in alike) / len(alike) < 0.5


def test_qdiscs_are_set_up_for_l4s() -> None:
    found = default_qdiscs("uml", l4s=True)
    assert found["zrtt"] == "zrtt l4s"
    assert "ce_threshold 1ms" in found["fq_codel"]
    assert found.keys() == default_qdiscs("uml").keys()
    assert default_qdiscs("uml", l4s=True, hosts=True)["zrtt"] == "zrtt fair srchost l4s"
