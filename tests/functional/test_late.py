# SPDX-License-Identifier: GPL-2.0
"""A link that slows down: packets that waited for too long are dropped."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from cases import DATA
from guests import Report, assert_empty, unaccounted

LATE_MS = 10 * 15 + 15 / 2
"""10 targets above what a queue that stands is held at."""
LATE_KEPT = 32
LATE_BATCH = 9
FRAME_MS = 1000 * 8 / 4000
"""Of the load, on the link that slowed down."""
JIFFY_MS = 1000 / 250
"""Of the kernel; departures look at the clock once in it."""


def longest_ping_ms(report: Report, controller: str) -> float:
    """The longest time that a ping spent in the queue."""
    found = re.search(r"= [\d.]+/[\d.]+/([\d.]+)", report.part(f"late.{controller}.pings"))
    assert found, report.part(f"late.{controller}.pings")
    return float(found[1])


@pytest.mark.parametrize("controller", ["pi2", "pblue"])
def test_late_packets_are_dropped(report: Report, controller: str) -> None:
    assert report.qdisc(f"late.{controller}.fast")["drop_late"] == 0
    assert report.qdisc(f"late.{controller}.slow")["drop_late"] > 0
    longest_ms = longest_ping_ms(report, controller)
    assert 0.8 * LATE_MS < longest_ms < LATE_MS + JIFFY_MS + LATE_KEPT * FRAME_MS


def test_nothing_is_late_for_blue(report: Report) -> None:
    assert report.qdisc("late.blue.drained")["drop_late"] == 0
    assert longest_ping_ms(report, "blue") > 2 * LATE_MS


@pytest.mark.parametrize("controller", ["pi2", "pblue", "blue"])
@pytest.mark.parametrize("when", ["fast", "slow", "drained"])
def test_late_packets_are_accounted_for(report: Report, controller: str, when: str) -> None:
    assert unaccounted(report.qdisc(f"late.{controller}.{when}")) == 0


@pytest.mark.parametrize("controller", ["pi2", "pblue", "blue"])
def test_late_drops_leave_no_trace(report: Report, controller: str) -> None:
    assert_empty(report, f"late.{controller}.drained")


def survivors(late: Sequence[str]) -> list[str]:
    """Of packets that are late: one leaves after each batch, and the last are kept."""
    left, kept = [], list(late)
    while len(kept) > LATE_KEPT:
        kept = kept[min(LATE_BATCH, len(kept) - LATE_KEPT) :]
        left.append(kept.pop(0))
    return left + kept


def test_late_packets_are_dropped_at_the_head_but_never_the_last(report: Report) -> None:
    sent, got = DATA["late"], report.lines("late.received")
    qdisc = report.qdisc("late.kept")
    assert qdisc["drop_late"] == len(sent) - len(got) > 0
    assert unaccounted(qdisc) == 0
    in_time = next(i for i, frame in enumerate(got) if frame != sent[i])
    assert got == sent[:in_time] + survivors(sent[in_time:])
