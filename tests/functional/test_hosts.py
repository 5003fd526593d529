# SPDX-License-Identifier: GPL-2.0
"""Hosts, subscribers and weights, on real packets."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from dataclasses import dataclass

import pytest
from cases import HOST_ENDS, HOST_FRAMES
from guests import Report, unaccounted

SOURCES, TARGETS = HOST_ENDS
FLOWS = SOURCES * TARGETS


def hosts(report: Report, part: str) -> tuple[int, int]:
    """Live flows, and the hosts that they are of."""
    qdisc = report.qdisc(f"hosts.{part}")
    return qdisc["flows"], qdisc["hosts"]


@dataclass(frozen=True)
class Shown:
    """What tc lists of a flow; rates in bits per second."""

    rate: float
    host_rate: float
    host_due: float
    host_penalty: float
    host_flows: int
    host: int
    host_end: str
    host_mark: str


def _bits(text: str) -> float:
    number, unit = re.fullmatch(r"(\d+)([KMG]?)bit", text).groups()  # type: ignore[union-attr]
    return float(number) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[unit]


def classes(report: Report, part: str) -> list[Shown]:
    """All flows of a part."""
    found = []
    for line in report.lines(f"hosts.{part}"):
        words = line.split()
        said = dict(itertools.pairwise(words))
        rates = (_bits(said[name]) for name in ("rate", "host_rate", "host_due"))
        numbers = float(said["host_penalty"]), int(said["host_flows"]), int(said["host"])
        found.append(Shown(*rates, *numbers, said.get("host_end", ""), said.get("host_mark", "")))
    return found


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    ("fair", "expected"),
    [("flow", 0), ("srchost", SOURCES), ("dsthost", TARGETS)],
)
def test_hosts_are_told_apart(report: Report, fair: str, expected: int, version: int) -> None:
    assert len(HOST_FRAMES[version]) == FLOWS
    assert hosts(report, f"{fair}{version}") == (FLOWS, expected)


@pytest.mark.parametrize("version", [4, 6])
def test_hosts_of_both_ends(report: Report, version: int) -> None:
    """A flow is of the end with more flows, and at first nobody knows which that is."""
    flows, found = hosts(report, f"dualhost{version}")
    assert flows == FLOWS
    assert SOURCES <= found <= SOURCES + TARGETS


@pytest.mark.parametrize(
    ("part", "expected"),
    # they differ in bits 57 to 64: 1, and of all but the last one 2 and 3 are one
    [("prefix1", 1), ("prefix56", 1), ("prefix63", 2), ("prefix128", SOURCES)],
)
def test_prefix_of_ipv6_is_the_host(report: Report, part: str, expected: int) -> None:
    assert hosts(report, part) == (FLOWS, expected)


@pytest.mark.parametrize("part", ["tunnel", "tunnel_nat"])
def test_flows_in_a_tunnel_are_of_the_host_outside(report: Report, part: str) -> None:
    """Its sender may write inside what it likes."""
    assert hosts(report, part) == (FLOWS, 1)


def test_mark_is_the_subscriber(report: Report) -> None:
    assert hosts(report, "mark") == (FLOWS, 1)
    assert {flow.host_mark for flow in classes(report, "classes")} == {"0x12"}
    assert all(flow.host_rate > 0 for flow in classes(report, "classes"))


@pytest.mark.parametrize(
    ("part", "end", "hosts_", "flows"),
    [
        ("classes", "", 1, FLOWS),
        ("weightless.classes", "src", SOURCES, TARGETS),
        ("dsthost.classes", "dst", TARGETS, SOURCES),
    ],
)
def test_class_names_its_host(
    report: Report, part: str, end: str, hosts_: int, flows: int
) -> None:
    """By a number that its flows share, and the end of them that it is."""
    found = classes(report, part)
    assert {flow.host_end for flow in found} == {end}
    number_of = Counter(flow.host for flow in found)
    assert min(number_of) >= 1
    assert list(number_of.values()) == [flows] * hosts_
    assert {flow.host_flows for flow in found} == {flows}
    assert {flow.host_penalty for flow in found} == {1}


def test_flow_moves_with_its_mark(report: Report) -> None:
    moved = classes(report, "moved")
    assert len(moved) == FLOWS
    assert {flow.host_mark for flow in moved} == {"0x56"}


def test_rates_of_weighted_flows_are_what_passed(report: Report) -> None:
    weighted, plain = (classes(report, f"{part}.classes") for part in ("weighted", "weightless"))
    assert len(weighted) == len(plain) == FLOWS
    # the same packets may be of two epochs or of three
    for name in ("rate", "host_rate"):
        least, most = (pick(getattr(flow, name) for flow in plain) for pick in (min, max))
        assert all(0.5 * least <= getattr(flow, name) <= 2 * most for flow in weighted), name


def test_hosts_change_while_packets_wait(report: Report) -> None:
    """None is refused, none is lost but by BLUE, whose limit is passed for a while."""
    waiting, after = report.qdisc("hosts.change.waiting"), report.qdisc("hosts.change")
    sent = FLOWS * (20 + 15)
    assert waiting["packets_in"] == sent
    assert waiting["backlog_packets"] > 0
    assert after["drops"] == after["drop_mark"] <= sent // 50
    assert report.lines("hosts.change.got") == [str(sent - after["drops"])]
    assert unaccounted(after) == 0


def test_what_does_not_go_together_is_refused(report: Report) -> None:
    ceil = "sch_zrtt: ceil needs fair srchost, dsthost or mark, and no l4s"
    overlap = "sch_zrtt: mark_rtt, fair mark and weight mark must not share bits."
    assert [line.rstrip(".") for line in report.lines("hosts.refused")] == [
        ceil,
        ceil,
        ceil,
        overlap.rstrip("."),
        overlap.rstrip("."),
        "sch_zrtt: fair needs mode zrtt",
        "sch_zrtt: weight needs mode zrtt",
        "sch_zrtt: weight needs mode zrtt",
    ]
