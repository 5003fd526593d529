# SPDX-License-Identifier: GPL-2.0
"""The arena with hosts: which flows they have, who is compared, and what they are due."""

from __future__ import annotations

import math
import shlex
from dataclasses import replace
from functools import cache

import pytest
from swept import FakeGuests

from lab import cli
from lab.arena import cost, report
from lab.arena.classes import CLASSES
from lab.arena.draw import (
    BUDGET_S,
    BUFFERS_BYTES,
    HOST_FLOWS,
    MAX_FLOWS,
    Chance,
    Drawn,
    _hosts,
    draw,
    scenario_of,
)
from lab.arena.due import dues
from lab.arena.figures import Figures, bouts, of_run
from lab.arena.plan import HOSTS_QDISCS, default_qdiscs, plan
from lab.commands import arena as command
from lab.commands import run
from lab.model.scenario import Scenario
from lab.model.udp import Udp
from lab.net import traffic_spec
from lab.results.result import jain
from lab.results.table import Row
from lab.runs import sweep

MANY = 300


@cache
def plain_arena() -> list[Drawn]:
    return [draw(1, number) for number in range(1, MANY + 1)]


@cache
def arena() -> list[Drawn]:
    return [draw(1, number, hosts=True) for number in range(1, MANY + 1)]


@cache
def scenarios() -> list[Scenario]:
    return [scenario_of(drawn.options, kernel="uml").check() for drawn in arena()]


@cache
def differing() -> list[Scenario]:
    return [s for s in scenarios() if len(set(s.sessions_of)) > 1]


# What is drawn


def test_numbers_of_flows_change_only() -> None:
    for plain, hosts in zip(plain_arena(), arena(), strict=True):
        assert {**hosts.options, "sessions": plain.options["sessions"]} == plain.options
        assert hosts.seed == plain.seed


def test_hosts_differ_in_most() -> None:
    assert 0.7 < len(differing()) / MANY < 0.95
    counts = {flows for s in differing() for flows in s.sessions_of}
    assert counts == set(range(HOST_FLOWS[0], HOST_FLOWS[1] + 1))
    assert {len(s.sessions_of) for s in differing()} >= set(range(2, 17))


def test_flows_of_hosts_are_as_many_as_fit() -> None:
    """The link, the guest's memory and the time that one would wait."""
    for s in differing():
        assert s.n_flows <= MAX_FLOWS
        assert s.n_flows <= 2 * len(s.rtts_ms) or s.rate_bps / s.n_flows > 39_000
        assert cost.per_second(s) * s.total_s < BUDGET_S * 1.01
        assert sum(traffic_spec.send_buffer_bytes(s, flow) for flow in s.all_flows) <= BUFFERS_BYTES


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not fit is not drawn, even if nothing is left to draw."""
    options = plain_arena()[0].options
    monkeypatch.setattr("lab.arena.draw.BUFFERS_BYTES", 0)
    assert _hosts(Chance("any"), options) == {}
    monkeypatch.setattr("lab.arena.draw.BUFFERS_BYTES", 1 << 40)
    assert _hosts(Chance("any"), options)


def test_windows_of_a_host_with_few_flows_can_grow() -> None:
    for s in differing():
        for rtt_ms, flows in zip(s.rtts_ms, s.sessions_of, strict=True):
            due_bps = s.rate_bps / len(s.rtts_ms) / flows
            window = due_bps / 8 / 1514 * rtt_ms / 1000
            assert window / 2 * rtt_ms / 1000 < 85 or rtt_ms <= 2


def test_both_options_together() -> None:
    """Scalable flows among those of the hosts."""
    both = [draw(1, number, hosts=True, l4s=True) for number in range(1, 40)]
    for drawn, hosts in zip(both, arena(), strict=False):
        assert drawn.options["sessions"] == hosts.options["sessions"]
        assert "prague" in scenario_of(drawn.options, kernel="uml").check().ccs


# Which runs that makes


def test_rivals_are_set_up_for_hosts() -> None:
    (one,) = plan(1, [5], default_qdiscs("uml", hosts=True), "uml", hosts=True)
    words = {name: point.scenario.qdisc for name, point in one.points.items()}
    assert words == HOSTS_QDISCS == {
        "zrtt": "zrtt fair srchost", "fq_codel": "fq_codel", "cake": "cake dual-srchost",
    }  # fmt: skip


@pytest.mark.parametrize("number", range(1, 20))
def test_command_repeats_a_run_by_hand(number: int) -> None:
    (one,) = plan(1, [number], HOSTS_QDISCS, "uml", hosts=True)
    point = one.points["cake"]
    _, _, _, *words = shlex.split(point.command)
    assert run.scenario_of(cli.parser().parse_args(words)) == point.scenario


def test_table_has_a_name_of_its_own() -> None:
    def path(*words: str) -> str:
        given = ["arena", "--seed", "9", "--count", "3", *words]
        return str(command._path(cli.parser().parse_args(given)))

    names = [
        path(), path("--hosts"), path("--hosts", "--l4s"), path("--streams", "--shard", "1/2"),
    ]  # fmt: skip
    kinds = ("", "-hosts", "-hosts-l4s", "-streams-1of2")
    assert names == [f"out/arena/9{kind}.csv" for kind in kinds]


# Figures


def two_hosts(**others: object) -> Scenario:
    """On 20 Mbit/s, one with a flow, one with nine."""
    made = Scenario(rate_bps=20_000_000, rtts_ms=(20.0, 200.0), sessions=0, sessions_of=(1, 9))
    return replace(made, **others).check()  # type: ignore[arg-type]


def test_hosts_are_due_what_flows_are_elsewhere() -> None:
    assert dues(two_hosts(udp=(Udp.parse("24mbit"),))).tcp == pytest.approx(2 / 3)
    leaving = two_hosts(udp=(Udp.parse("24mbit"),), stops_s=(None, 50.0))
    assert dues(leaving).tcp == pytest.approx((2 / 3 + 1 / 2) / 2)


def number_of(*wanted: str, without: tuple[str, ...] = ()) -> int:
    """A scenario with hosts that has these options, and not those."""
    return next(
        drawn.number for drawn, s in zip(arena(), scenarios(), strict=True)
        if s in differing() and set(wanted) <= set(drawn.options) and not set(without) & set(drawn.options)
    )  # fmt: skip


def figures(number: int, **changes: object) -> Figures:
    """Of a run over zrtt in which all hosts have the same."""
    (one,) = plan(1, [number], HOSTS_QDISCS, "uml", hosts=True)
    point = one.points["zrtt"]
    made = point.scenario
    row: Row = sweep._row(point, FakeGuests().run(point), "0")
    known = {
        "goodputs_mbps": ";".join(f"{n}" for n in range(1, made.n_flows + 1)),
        "host_goodputs_mbps": ";".join(["3"] * len(made.rtts_ms)), "within_jain": 0.9,
        "cross_goodputs_mbps": ";".join(["3"] * len(made.cross_flows)),
    }  # fmt: skip
    return of_run(number, point, replace(row, **{**known, **changes}))


def test_hosts_are_compared() -> None:
    number = number_of("cc", without=("start", "stop", "hops"))
    even = figures(number)
    assert (even.jain, even.max_min_ratio, even.within_jain) == (1.0, 1.0, 0.9)
    hosts = len(scenarios()[number - 1].rtts_ms)
    shares = [30.0] + [3.0] * (hosts - 1)
    uneven = figures(number, host_goodputs_mbps=";".join(map(str, shares)))
    assert uneven.jain == pytest.approx(jain(shares))
    assert uneven.max_min_ratio == 10.0


def test_hosts_that_come_and_go_do_not_count() -> None:
    number = number_of("stop", without=("hops",))
    made = scenarios()[number - 1]
    steady = {made.host_of[index] for index in made.steady}
    assert 0 < len(steady) < len(made.rtts_ms)
    goodputs = ["2" if host in steady else "0.1" for host in range(len(made.rtts_ms))]
    assert figures(number, host_goodputs_mbps=";".join(goodputs)).jain == 1.0


def test_flows_of_one_router_count_as_hosts() -> None:
    number = number_of("hops", without=("start", "stop"))
    crossing = ";".join(["6"] * len(scenarios()[number - 1].cross_flows))
    assert figures(number, cross_goodputs_mbps=crossing).max_min_ratio == 2.0


def test_flows_are_compared_without_the_option() -> None:
    (one,) = plan(1, [number_of("cc", without=("start", "stop", "hops"))], HOSTS_QDISCS, "uml")
    point = one.points["zrtt"]
    row = sweep._row(point, FakeGuests().run(point), "0")
    goodputs = ";".join(["2", *["1"] * (point.scenario.n_flows - 1)])
    row = replace(row, goodputs_mbps=goodputs, host_goodputs_mbps="1", within_jain=0.9)
    own = of_run(1, point, row)
    assert (own.max_min_ratio, math.isnan(own.within_jain)) == (2.0, True)


def test_report_tells_of_hosts() -> None:
    number = number_of("start", "stop", without=("hops",))
    (one,) = plan(1, [number], HOSTS_QDISCS, "uml", hosts=True)
    made = scenarios()[number - 1]
    said = report.describe(one)
    assert f"of {len(made.rtts_ms)} hosts {arena()[number - 1].options['sessions']}" in said
    flows = list(zip(made.sessions_of, made.lives_s, strict=True))
    joining = sum(own for own, (start, _) in flows if start > 0)
    leaving = sum(own for own, (_, stop) in flows if stop is not None)
    assert f"{joining} join, {leaving} leave" in said
    (bout,) = bouts([one], [])
    found = replace(bout, figures={name: figures(number) for name in HOSTS_QDISCS})
    lines = report.render([found]).splitlines()
    assert any("within" in line for line in lines)
    assert any(line.startswith("hosts ") for line in lines), "its class"
    assert [name for name, holds in CLASSES.items() if name == "hosts" and holds(made)]
