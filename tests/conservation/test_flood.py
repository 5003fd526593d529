# SPDX-License-Identifier: GPL-2.0
"""A flood of spoofed flows: the flows beside it stay alike, and packets cost little more."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache

import pytest

from lab import cli
from lab.bench.result import Cost
from lab.trials import flood, flood_cost
from lab.trials.flood import Flooded
from lab.trials.flood_cost import BUSY, FLOOD, QUIET, SOME, SUBJECTS, Costs

SECONDS = 30
SHARE = max(flood.SHARES)
SMALL = "zrtt flows 1024"
PACKETS = 300_000
"""A table that the flood is still filling costs more."""


@cache
def flooded(qdisc: str, share: float) -> Flooded:
    """A short run."""
    return flood.run_one(qdisc, share, SECONDS)


@cache
def costs() -> Costs:
    """Of the loads that are judged."""
    return flood_cost.measure(PACKETS, SUBJECTS[:1], (QUIET, SOME, FLOOD, BUSY))


def costing(**totals: float) -> Costs:
    """Costs of the loads of those names."""
    cost = Cost("zrtt", "zrtt", 1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    loads = {"quiet": QUIET, "some": SOME, "flood": FLOOD, "busy": BUSY}
    return {("zrtt", loads[name]): replace(cost, total=total) for name, total in totals.items()}


def test_flows_stay_alike() -> None:
    runs = [flooded(SMALL, 0.0), flooded(SMALL, SHARE)]
    assert not flood.problems(runs)
    assert runs[0].result.jain > 0.99


def test_flood_takes_its_share_only() -> None:
    lost = flooded(SMALL, 0.0).goodput - flooded(SMALL, SHARE).goodput
    assert lost == pytest.approx(SHARE, abs=0.01)


def test_large_flood_leaves_half() -> None:
    """Of the link and of the lanes: flows that never send twice have one."""
    large = flood.run_one("zrtt", 0.6, 8.0)
    assert large.goodput > 0.4
    assert large.result.jain > 0.99
    assert large.result.qdisc["drop_limit"] > 0.05 * large.packets


def test_there_was_a_flood() -> None:
    run, quiet = flooded(SMALL, SHARE), flooded(SMALL, 0.0)
    came, others = (one.result.qdisc["packets_in"] for one in (run, quiet))
    assert came - others > 0.9 * run.packets > 10_000


def test_packets_cost_little_more() -> None:
    assert not flood_cost.problems(costs())


def test_new_flows_cost_something() -> None:
    """Else the packets are not what they are said to be."""
    quiet, some, all_new = (costs()["zrtt", load].total for load in (QUIET, SOME, FLOOD))
    assert quiet < some < all_new


@pytest.mark.parametrize(
    ("totals", "said"),
    [
        ((100, 110, 300, 280), []),
        ((100, 136, 300, 280), ["20 flows, 20% new takes 1.36 times what 20 flows takes"]),
        ((100, 110, 381, 280), ["20 flows, 100% new takes 1.36 times what 10k flows takes"]),
    ],
)
def test_floods_that_cost_too_much_are_told(totals: tuple[float, ...], said: list[str]) -> None:
    found = costing(**dict(zip(("quiet", "some", "flood", "busy"), totals, strict=True)))
    assert flood_cost.problems(found) == [f"zrtt: {words}" for words in said]


def test_unfairness_is_told() -> None:
    quiet, loud = flooded(SMALL, 0.0), flooded(SMALL, SHARE)
    unlike = replace(loud, result=replace(loud.result, jain=quiet.result.jain - 0.021))
    (problem,) = flood.problems([quiet, unlike])
    assert problem.startswith("zrtt flows 1024: Jain's index 0.97")
    assert not flood.problems([replace(quiet, qdisc="pie"), replace(unlike, qdisc="pie")])


def test_share_is_told_as_it_was_asked_for() -> None:
    """Less than half of a percent is no run without a flood."""
    assert list(map(flood.as_percent, (0.0, 0.004, 0.07, 2.0))) == ["0%", "0.4%", "7%", "200%"]


@pytest.mark.parametrize(
    "options", ["--packets 0", "--duration 0", "--share 0", "--share 201", "--share nan"]
)
def test_nonsense_is_refused(
    options: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "flood", *options.split()])
    assert cli.main() == 1
    assert f"lab: {options.split()[0]}: " in capsys.readouterr().err
