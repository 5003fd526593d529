# SPDX-License-Identifier: GPL-2.0
"""The zrtts below one mq: one rate, split by what flows are due, and one controller."""

from __future__ import annotations

import pytest
from guests import Report, unaccounted

FRAMES = 20
"""To each queue, all at once."""
FRAME_US = 8000
"""At 1 Mbit/s."""
CLOSE = 0.12
"""Queues come one after the other, and each has the whole rate until others ask for theirs."""
MODES = ("paper", "mrtt", "prto", "blue")
SPENT = {
    "one": 1, "two": 2, "four": 4, "without_third": 2,
    **dict.fromkeys(MODES, 2), "replaced": 2, "deleted": 2, "again": 3, "two_left": 2, "one_left": 1, "four_again": 4, "hosts_on_some": 4,
}  # fmt: skip
"""Queues that have frames: the link is busy as long as with all of them in one."""


def busy_us(report: Report, part: str, queues: int) -> int:
    """From the first frame's arrival to the last one's."""
    times = [int(line) for line in report.lines(f"peers.{part}")]
    assert len(times) == queues * FRAMES
    return times[-1] - times[0]


def test_experiment_ran_to_its_end(report: Report) -> None:
    assert report.lines("peers.rc") == ["0"], report.part("peers.rc")


@pytest.mark.parametrize("part", SPENT)
def test_rate_is_that_of_all_queues(report: Report, part: str) -> None:
    """The first frame of each takes no time."""
    frames = SPENT[part] * (FRAMES - 1)
    assert busy_us(report, part, SPENT[part]) == pytest.approx(frames * FRAME_US, rel=CLOSE)


def test_change_delays_nothing(report: Report) -> None:
    """The 20 frames that come last may be hit instead, as the queues are long."""
    times = [int(line) for line in report.lines("peers.changed")]
    assert 4 * FRAMES <= len(times) <= 5 * FRAMES
    assert times[-1] - times[0] == pytest.approx(len(times) * FRAME_US, rel=CLOSE)


@pytest.mark.parametrize("part", ["least", "taken_away"])
def test_least_rate_counts(report: Report, part: str) -> None:
    """Also that of a queue that the device uses no longer."""
    assert busy_us(report, part, 2) == pytest.approx(2 * FRAMES * 2 * FRAME_US, rel=CLOSE)


@pytest.mark.parametrize("mode", MODES)
def test_rate_counts_again_in_mode_zrtt(report: Report, mode: str) -> None:
    """250 kbit/s."""
    spent_us = busy_us(report, f"{mode}_back", 2)
    assert spent_us == pytest.approx(2 * FRAMES * 4 * FRAME_US, rel=CLOSE)


def test_who_is_not_below_mq_has_its_own_rate(report: Report) -> None:
    assert busy_us(report, "below_htb", 2) < 1.5 * FRAMES * FRAME_US


def test_queue_is_marked_for_the_others(report: Report) -> None:
    """The controller is one: a queue that hardly waits has the P_b of the one that does."""
    first, second, third, fourth = sorted(
        report.qdiscs("peers.marked"), key=lambda qdisc: qdisc["parent"]
    )
    assert first["prob"] > 0 < second["prob"]
    assert second["prob"] == pytest.approx(third["prob"], rel=0.5)
    assert fourth["packets_in"] == fourth["prob"] == 0


@pytest.mark.parametrize("part", ["counted", "regrouped", "marked", "end"])
def test_every_packet_is_accounted_for(report: Report, part: str) -> None:
    for qdisc in report.qdiscs(f"peers.{part}"):
        assert unaccounted(qdisc) == 0


def test_queues_come_and_go(report: Report) -> None:
    found = {qdisc["parent"]: qdisc for qdisc in report.qdiscs("peers.end")}
    assert set(found) == {f"1:{queue}" for queue in range(1, 5)}
    assert found["1:4"]["packets"] == FRAMES
    assert all(qdisc["qlen"] == 0 for qdisc in found.values())


def test_two_processors_ran_to_their_end(two_cpus: Report) -> None:
    assert two_cpus.lines("together.rc") == ["0"], two_cpus.part("together.rc")


def test_both_processors_have_a_part_of_the_rate(two_cpus: Report) -> None:
    """And no packet is lost count of, as one of the queues comes and goes."""
    found = two_cpus.qdiscs("together.end")
    assert {qdisc["parent"] for qdisc in found} == {"1:1", "1:2"}
    for qdisc in found:
        assert qdisc["packets"] > 0
        assert unaccounted(qdisc) == 0


def test_kernel_log_is_clean(two_cpus: Report) -> None:
    assert not two_cpus.trouble()
