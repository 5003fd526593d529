# SPDX-License-Identifier: GPL-2.0
"""Hours of virtual time: nothing drifts, no counter goes back, no clock's wrap is noticed."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from lab import cli
from lab.trials import longrun
from lab.trials.longrun import LongRun, Part

PARTS, MINUTES = 4, 24
"""The clock of microseconds wraps after 72 minutes, and the last part begins at the 73rd."""
PART = Part(jain=0.999, utilisation=0.9, delay_ms=17.0, rtt_avg_ms=90.0, prob=0.04, flows=12.0)


@cache
def slice_of_a_day() -> LongRun:
    """A short form of `make long-run`."""
    return longrun.run(PARTS, MINUTES * 60)


def reading(**changes: Any) -> dict[str, Any]:
    """What tc said, as far as it matters."""
    said = {
        "kind": "zrtt", "packets_in": 100, "packets": 80, "drop_mark": 10, "drop_limit": 5,
        "drop_late": 1, "purged": 0, "backlog_packets": 4, "qlen": 4, "prob": 0.5,
        "memory_used": 9000, "limit_now": 1200,
    }  # fmt: skip
    return said | changes


def test_last_part_is_as_the_first() -> None:
    assert not slice_of_a_day().problems
    assert len(slice_of_a_day().parts) == PARTS


def test_clocks_have_wrapped() -> None:
    assert slice_of_a_day().us_wraps == 1
    assert slice_of_a_day().jiffies_wrapped


def test_flows_are_busy_in_all_parts() -> None:
    """Else the parts might be alike because nothing happens."""
    for part in slice_of_a_day().parts:
        assert part.jain > 0.99
        assert part.utilisation > 0.8
        assert part.flows > len(longrun.scenario(PARTS, MINUTES * 60).flows)
        assert 10 < part.delay_ms < 45  # short flows come and go, too: 31 to 43
        assert part.prob > 0.01


def test_counters_may_not_fall() -> None:
    gauges = {"qlen": 0, "prob": 0.1, "memory_used": 0, "limit_now": 1000}
    fallen = longrun.went_back([reading(), reading(drop_late=0, **gauges)])
    assert fallen == ["drop_late went back from 1 to 0"]


def test_statistics_may_not_stand_still() -> None:
    moving = [reading(), reading(packets_in=101, prob=0.6)]
    stuck = [reading(), reading(packets_in=101)]
    assert longrun.stood_still(moving, stuck) == ["prob stands still at 0.5"]
    assert not longrun.stood_still(stuck, moving)


def test_packets_must_be_accounted_for() -> None:
    assert not longrun.unaccounted([reading()])
    lost = longrun.unaccounted([reading(), reading(backlog_packets=3)])
    assert lost == ["100 packets came, 99 are accounted for"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"jain": 0.9935}, "Jain's index went from 0.999 to 0.9935"),
        ({"utilisation": 0.879}, "utilisation went from 0.9 to 0.879"),
        ({"rtt_avg_ms": 100.0}, "RTT_avg, ms went from 90 to 100"),
    ],
)
def test_drift_is_told(change: dict[str, float], said: str) -> None:
    assert longrun.drifted(PART, replace(PART, **change)) == [said]


def test_small_differences_are_no_drift() -> None:
    last = replace(PART, jain=0.995, utilisation=0.882, rtt_avg_ms=98.0)
    assert not longrun.drifted(PART, last)


def test_parts_are_told_apart_by_time() -> None:
    """The second half goes to one flow alone, at twice the delay."""
    minutes = range(1, 21)
    first = [1000 * minute for minute in minutes]
    second = [1000 * min(minute, 11) for minute in minutes]
    samples = [[60_000 * m, a, b] for m, a, b in zip(minutes, first, second, strict=True)]
    readings = [
        reading(delay_us=10_000 if minute < 11 else 20_000, rtt_avg_us=50_000, flows=2)
        for minute in range(21)
    ]
    one, other = longrun.split(samples, readings, parts=2, part_s=600)
    assert (one.jain, one.delay_ms) == (1.0, 10.0)
    assert (other.jain, other.delay_ms) == (0.5, 20.0)
    assert other.utilisation == pytest.approx(one.utilisation / 2)


@pytest.mark.parametrize("options", ["--parts 1", "--parts 31", "--minutes 9"])
def test_nonsense_is_refused(
    options: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "longrun", *options.split()])
    assert cli.main() == 1
    assert f"lab: {options.split()[0]}: " in capsys.readouterr().err
