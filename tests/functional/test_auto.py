# SPDX-License-Identifier: GPL-2.0
"""`bandwidth auto`: the rate of a line whose queue the router does not see."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

import pytest
from guests import Report, unaccounted

MBIT = 125_000
SETTLED = {"untimed": 8, "untimed_fell": 3, "found": 8, "fell": 3, "rose": 8, "again": 8, "ahead": 8}
READINGS = (1, 2, 3)
PARTS = (
    "bounded", "told", "blind", "lossy", *(f"{part}.{i}" for part in SETTLED for i in READINGS),
)  # fmt: skip


def test_experiment_ran_to_its_end(report: Report) -> None:
    assert report.lines("line.rc") == ["0"], report.part("line.rc")


def is_found(qdisc: dict[str, Any], rate: float) -> bool:
    return (
        qdisc["line"]["measured"] == pytest.approx(rate, rel=0.15)
        and 0.7 * rate <= qdisc["options"]["bandwidth"] <= 1.25 * rate
        and qdisc["line"]["state"] in ("hold", "grow", "queue")
    )


@pytest.mark.parametrize("part", SETTLED)
def test_rate_is_the_lines(report: Report, part: str) -> None:
    """Of three readings two, as one may be in a dip."""
    read = [report.qdisc(f"line.{part}.{i}") for i in READINGS]
    assert all(qdisc["line"]["rate"] == qdisc["options"]["bandwidth"] for qdisc in read)
    off = [qdisc["line"] for qdisc in read if not is_found(qdisc, SETTLED[part] * MBIT)]
    assert len(off) <= 1, off


def backlog(report: Report, part: str) -> int:
    shown = json.loads(report.part(f"line.{part}.fifo"))
    (fifo,) = [qdisc for qdisc in shown if qdisc["kind"] == "tbf"]
    return int(fifo["backlog"])


@pytest.mark.parametrize("part", SETTLED)
def test_queue_stays_in_the_router(report: Report, part: str) -> None:
    """Without it, a megabyte is on the line; the middle one of three readings."""
    parts = [f"{part}.{i}" for i in READINGS]
    assert median(backlog(report, one) for one in parts) <= 60_000
    assert median(report.qdisc(f"line.{one}")["line"]["queue_us"] for one in parts) <= 80_000


def test_line_that_drops_is_followed(report: Report) -> None:
    line = report.qdisc("line.lossy")["line"]
    assert line["lost"] > 0
    assert 0.6 * 8 * MBIT <= line["rate"] <= 1.25 * 8 * MBIT
    assert line["ceiling"] == pytest.approx(8 * MBIT, rel=0.25)
    assert line["queue_us"] <= 10_000


def test_what_is_said_counts_again(report: Report) -> None:
    bounded, told = report.qdisc("line.bounded"), report.qdisc("line.told")
    assert bounded["options"]["bandwidth"] == bounded["options"]["max"] == 5 * MBIT
    assert told["options"]["bandwidth"] == 6 * MBIT
    assert "auto" not in told["options"]
    assert "line" not in told


def test_without_answers_the_rate_stays(report: Report) -> None:
    qdisc = report.qdisc("line.blind")
    assert qdisc["line"]["state"] == "blind"
    assert qdisc["options"]["bandwidth"] == pytest.approx(8 * MBIT, rel=0.3)


@pytest.mark.parametrize("part", PARTS)
def test_packets_are_accounted_for(report: Report, part: str) -> None:
    assert unaccounted(report.qdisc(f"line.{part}")) == 0


def test_what_cannot_be_is_refused(report: Report) -> None:
    assert [line.rstrip(".") for line in report.lines("line.refused")] == [
        "sch_zrtt: min must be 8kbit to 10gbit, and not above max",
        "sch_zrtt: bandwidth auto needs timestamps",
        *["sch_zrtt: bandwidth auto is for a queue of its own, not for those below mq"] * 2,
    ]


def test_queues_of_htb_are_one(report: Report) -> None:
    """On a device that has several, too."""
    assert report.lines("line.below_htb") == ["1"]


def test_any_number_may_ask(report: Report) -> None:
    assert report.lines("line.many") == ["40"]
    assert report.lines("line.many_gone") == ["1"]


def test_who_cannot_ask_is_told_so(report: Report) -> None:
    """Until a number is free: the last of them has it then."""
    assert report.lines("line.warned") == [
        "9 Warning: sch_zrtt: 31 queues have bandwidth auto already: this one sees loss alone.",
        "0",
        "1",
    ]
