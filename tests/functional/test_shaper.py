# SPDX-License-Identifier: GPL-2.0
"""The shaper: packets leave one by one, each when the link has sent the one before."""

from __future__ import annotations

from itertools import pairwise

import pytest
from guests import Report, unaccounted

FRAME_BYTES, NETWORK_BYTES = 1000, 986
FRAMES = 20
US_PER_BYTE = 8
"""At 1 Mbit/s."""
LATE_US = 300
"""Of a timer, and of who notes the time."""
BYTES = {
    "raw": FRAME_BYTES,
    "overhead": NETWORK_BYTES + 114,
    "atm": -(-NETWORK_BYTES // 48) * 53,
    "ptm": NETWORK_BYTES + -(-NETWORK_BYTES // 64),
}


def times(report: Report, part: str) -> list[int]:
    """When packets came, us after the first."""
    found = [int(line) for line in report.lines(part)]
    assert len(found) == FRAMES
    return found


@pytest.mark.parametrize("length", BYTES)
def test_packets_leave_at_the_rate(report: Report, length: str) -> None:
    each_us = BYTES[length] * US_PER_BYTE
    for number, at_us in enumerate(times(report, f"shaper.{length}")):
        assert abs(at_us - number * each_us) <= LATE_US


def test_packets_wait_for_a_slow_link(report: Report) -> None:
    assert report.qdisc("shaper.waiting")["qlen"] == FRAMES - 1
    assert report.qdisc("shaper.waiting")["overlimits"] > 0


def test_a_raised_rate_counts_at_once(report: Report) -> None:
    """The link was busy for a second with the first packet."""
    first, *rest = times(report, "shaper.raised")[1:]
    assert first < 500_000
    for before_us, after_us in pairwise([first, *rest]):
        assert abs(after_us - before_us - FRAME_BYTES * US_PER_BYTE) <= LATE_US


def test_without_a_rate_all_leave_at_once(report: Report) -> None:
    second, *_, last = times(report, "shaper.unlimited")[1:]
    assert second < 500_000
    assert last - second < FRAME_BYTES * US_PER_BYTE


def test_a_change_loses_and_forgets_nothing(report: Report) -> None:
    qdisc = report.qdisc("shaper.end")
    assert unaccounted(qdisc) == 0
    assert qdisc["packets"] == 6 * FRAMES
    assert qdisc["flows"] == 1
