# SPDX-License-Identifier: GPL-2.0
"""What the queue holds at most, in packets and in memory, and what is done with the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import pytest
from cases import DATA
from guests import Report, unaccounted

BATCH = 64
"""Packets that a departure drops."""
LIMIT = 10
MEMORY = {"memory": 20 << 10, "one": 1}
LOWERED = ("packets", *MEMORY)
FRAME_BYTES = 1000
OFFERED = 27 * 50
READINGS = range(9)
NARROW = 64 << 10
FEW = 20
LEAST = 1000
MOST = 1_000_000


# Defaults and ends


def machine(report: Report) -> int:
    """Bytes of memory that the guest has."""
    return int(report.part("limits.machine"))


@pytest.mark.parametrize(("mode", "limit"), [("zrtt", MOST), ("blue", LEAST)])
def test_defaults(report: Report, mode: str, limit: int) -> None:
    options = report.qdisc(f"limits.mode.{mode}")["options"]
    assert options["limit"] == limit
    assert options["memory_limit"] == min(machine(report) // 16, 1 << 30)


def test_all_memory_may_be_used(report: Report) -> None:
    memory = machine(report)
    assert report.qdisc(f"limits.memory_limit.{memory}")["options"]["memory_limit"] == memory


def test_more_memory_than_there_is_is_refused(report: Report) -> None:
    *message, status = report.lines("limits.beyond")
    assert status == "rc=2"
    assert "sch_zrtt: memory_limit must be above 0 and at most the machine's memory" in (
        " ".join(message)
    )


# Lowered while packets are queued


def truesize(report: Report, part: str) -> int:
    """What the kernel charges for a frame, all of which are alike."""
    qdisc = report.qdisc(part)
    size, rest = divmod(qdisc["memory_used"], qdisc["backlog_packets"])
    assert rest == 0
    assert size > FRAME_BYTES
    return size


def room(report: Report, how: str) -> int:
    """Packets that fit in."""
    if how == "packets":
        return LIMIT
    return max(MEMORY[how] // truesize(report, f"limits.{how}.loaded"), 1)


def survivors(queued: Sequence[str], fit: int) -> list[str]:
    """Each departure drops at the head what does not fit in, up to a batch."""
    left, kept = [], list(queued)
    while kept:
        kept = kept[min(BATCH, max(len(kept) - fit, 0)) :]
        left.append(kept.pop(0))
    return left


@pytest.mark.parametrize("how", LOWERED)
def test_lowered_limit_drops_at_the_head(report: Report, how: str) -> None:
    sent, got = DATA["queued"], report.lines(f"limits.{how}.received")
    before = next((i for i, frame in enumerate(got) if frame != sent[i]), 0)
    assert before > 0
    assert got == sent[:before] + survivors(sent[before:], room(report, how))


@pytest.mark.parametrize("how", LOWERED)
def test_lowered_limit_holds_after_some_departures(report: Report, how: str) -> None:
    loaded, trimmed = (report.qdisc(f"limits.{how}.{when}") for when in ("loaded", "trimmed"))
    assert loaded["backlog_packets"] > 3 * BATCH
    assert trimmed["backlog_packets"] <= room(report, how)
    if how == "memory":
        assert 0 < trimmed["memory_used"] <= MEMORY[how]


@pytest.mark.parametrize("how", LOWERED)
def test_lowered_limit_drops_are_those_of_the_limit(report: Report, how: str) -> None:
    lost = len(DATA["queued"]) - len(report.lines(f"limits.{how}.received"))
    drained = report.qdisc(f"limits.{how}.drained")
    assert drained["drop_limit"] == drained["drops"] == lost > 0
    assert drained["drop_late"] == drained["drop_mark"] == drained["purged"] == 0


@pytest.mark.parametrize("how", [*LOWERED, "raised"])
@pytest.mark.parametrize("when", ["loaded", "trimmed", "drained"])
def test_lowered_limit_keeps_the_accounts(report: Report, how: str, when: str) -> None:
    parent, zrtt = json.loads(report.part(f"limits.{how}.{when}"))
    assert unaccounted(zrtt) == 0
    assert zrtt["packets_in"] == len(DATA["queued"])
    assert (zrtt["qlen"], zrtt["backlog"]) == (parent["qlen"], parent["backlog"])
    assert zrtt["qlen"] == zrtt["backlog_packets"]
    assert bool(zrtt["memory_used"]) == bool(zrtt["qlen"])
    if when == "drained":
        assert zrtt["qlen"] == 0


def test_other_limit_drops_nothing(report: Report) -> None:
    assert report.lines("limits.raised.received") == DATA["queued"]
    assert report.qdisc("limits.raised.drained")["drops"] == 0
    assert report.qdisc("limits.raised.drained")["idle_events"] > 0


# Filled up


def readings(report: Report, how: str) -> list[dict[str, Any]]:
    """While packets are offered."""
    return [report.qdisc(f"limits.{how}.{number}") for number in READINGS]


def test_memory_limit_holds(report: Report) -> None:
    each = truesize(report, "limits.narrow.offered")
    for qdisc in readings(report, "narrow"):
        assert NARROW / 2 < qdisc["memory_used"] <= NARROW
        assert NARROW - each < qdisc["maxq"] * each <= NARROW
    assert max(qdisc["memory_used"] for qdisc in readings(report, "roomy")) > 4 * NARROW


def test_limit_holds(report: Report) -> None:
    assert {qdisc["limit_now"] for qdisc in readings(report, "few")} == {FEW}
    assert all(FEW / 2 < qdisc["backlog_packets"] <= FEW for qdisc in readings(report, "few"))
    assert report.qdisc("limits.few.offered")["maxq"] == FEW


@pytest.mark.parametrize("how", ["narrow", "few"])
def test_what_does_not_fit_in_is_dropped(report: Report, how: str) -> None:
    offered = report.qdisc(f"limits.{how}.offered")
    assert offered["packets_in"] == OFFERED
    assert offered["drop_limit"] == offered["drops"] > OFFERED / 2
    assert unaccounted(offered) == 0


@pytest.mark.parametrize("how", ["roomy", "narrow", "few"])
def test_empty_queue_takes_no_memory(report: Report, how: str) -> None:
    emptied = report.qdisc(f"limits.{how}.emptied")
    assert (emptied["qlen"], emptied["memory_used"]) == (0, 0)
    assert unaccounted(emptied) == 0


def rate_bit(report: Report, how: str) -> int:
    """Of the one flow, as the qdisc sees it."""
    (rate,) = re.findall(r"rate (\d+)(K|M)?bit", report.part(f"limits.{how}.flow"))
    return int(rate[0]) * {"": 1, "K": 1000, "M": 1_000_000}[rate[1]]


@pytest.mark.parametrize("how", ["narrow", "few"])
def test_what_does_not_fit_in_is_its_flows(report: Report, how: str) -> None:
    """Else who overflows a queue looks modest to it."""
    assert report.qdisc("limits.roomy.offered")["drops"] == 0
    assert rate_bit(report, how) == pytest.approx(rate_bit(report, "roomy"), rel=0.2)


# Unless a limit is set


@pytest.mark.parametrize("how", ["slow", "fast", "pblue", "blue"])
def test_queue_begins_with_room_for_a_burst(report: Report, how: str) -> None:
    assert report.qdisc(f"growth.{how}.idle")["limit_now"] == LEAST


def test_slow_link_has_room_for_a_burst(report: Report) -> None:
    assert report.qdisc("growth.slow")["limit_now"] == LEAST


@pytest.mark.parametrize(("how", "bit"), [("fast", 2e8), ("pblue", 2e8), ("faster", 8e8)])
def test_room_grows_with_the_rate(report: Report, how: str, bit: float) -> None:
    """Half a second of the packets that TCP made: four epochs of 2^27 ns."""
    qdisc = report.qdisc(f"growth.{how}")
    half_second = bit / 8 * 4 * 2**27 / 1e9 * qdisc["packets"] / qdisc["bytes"]
    assert qdisc["limit_now"] == pytest.approx(half_second, rel=0.1)
    assert qdisc["limit_now"] > 5 * LEAST


def test_blue_has_a_fixed_limit(report: Report) -> None:
    assert report.qdisc("growth.blue")["limit_now"] == LEAST


@pytest.mark.parametrize(("how", "limit"), [("ceiling", 2000), ("below", 300)])
def test_limit_that_is_set_is_a_ceiling(report: Report, how: str, limit: int) -> None:
    assert report.qdisc(f"growth.{how}")["limit_now"] == limit
