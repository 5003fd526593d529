# SPDX-License-Identifier: GPL-2.0
"""Tables of millions of flows: whom they hold up, and who pays for them."""

from __future__ import annotations

import pytest
from cases import HELD_FRAMES, TABLE_SIZES
from guests import Report

LONGEST_NS = 200_000
"""An instruction takes 1 ns here. To visit each slot of the first table takes 25 times as long."""
SLOT_BYTES = 64
NAME_BYTES = 44
CONNS_BYTES = 512 << 10
NOISE_BYTES = 4 << 20
UNPRIVILEGED = "sch_zrtt: flows above 65536 need CAP_NET_ADMIN in the initial user namespace"


# Locks


def test_holds_ran_to_its_end(held: Report) -> None:
    assert held.lines("holds.rc") == ["0"], held.text


def test_kernel_log_is_clean_of_tables(held: Report) -> None:
    assert not held.trouble()


@pytest.mark.parametrize("event", ["larger", "smaller", "reset"])
def test_lock_is_never_held_for_long(held: Report, event: str) -> None:
    holds, longest_ns = map(int, held.lines(f"holds.{event}"))
    assert holds > 0  # else the probes saw nothing
    assert 0 < longest_ns < LONGEST_NS


@pytest.mark.parametrize("when", ["after_larger", "after_reset", "after_smaller"])
def test_flows_and_their_rtts_are_carried_over(held: Report, when: str) -> None:
    before, after = held.qdisc("holds.learnt"), held.qdisc(f"holds.{when}")
    assert before["flows"] == before["flows_hinted"] == len(HELD_FRAMES)
    for name in ("flows", "flows_hinted", "rtt_avg_us"):
        assert after[name] == before[name], name


def test_all_flows_are_listed_once_they_were_moved(held: Report) -> None:
    assert held.qdisc("holds.after_smaller")["options"]["flows"] == TABLE_SIZES[-1]
    (listed,) = held.lines("holds.classes")
    assert 0 <= len(HELD_FRAMES) - int(listed) <= 1  # the last slot has no number


# Memory cgroups


def charged(report: Report, when: str) -> int:
    """Bytes that the cgroup has, more than at first."""
    return int(report.part(f"cgroup.{when}")) - int(report.part("cgroup.nothing"))


def test_tables_are_charged_to_who_asks_for_them(report: Report) -> None:
    names_bytes = (SLOT_BYTES + NAME_BYTES) * (1 << 18)
    assert charged(report, "table") == pytest.approx(SLOT_BYTES << 19, abs=NOISE_BYTES)
    assert charged(report, "names") == pytest.approx(names_bytes + CONNS_BYTES, abs=NOISE_BYTES)
    assert charged(report, "given_back") < NOISE_BYTES


@pytest.mark.parametrize(("part", "refusals"), [("change", 1), ("add", 2)])
def test_table_beyond_a_cgroup_is_refused(report: Report, part: str, refusals: int) -> None:
    lines = report.lines(f"cgroup.{part}")
    assert [line for line in lines if line.startswith("rc=")] == ["rc=2"] * refusals
    assert sum("Cannot allocate memory" in line for line in lines) == refusals


def test_refusal_by_a_cgroup_leaves_the_qdisc_alone(report: Report) -> None:
    assert report.part("cgroup.before") == report.part("cgroup.after")
    options = report.qdisc("cgroup.after")["options"]
    assert (options["flows"], options["limit"], options["names"]) == (1 << 18, 88, True)
    assert charged(report, "refused") == pytest.approx(charged(report, "names"), abs=NOISE_BYTES)


def test_refusal_by_a_cgroup_kills_nobody(report: Report) -> None:
    events = dict(line.split() for line in report.lines("cgroup.events"))
    assert int(events["max"]) > 0
    assert int(events["oom_kill"]) == 0


def test_tables_of_who_has_no_rights_are_bounded(report: Report) -> None:
    lines = report.lines("cgroup.unprivileged")
    assert lines[0] == "added"
    assert [line for line in lines if line.startswith("rc=")] == ["rc=2"] * 2
    assert sum(UNPRIVILEGED in line for line in lines) == 2


def test_bound_is_for_new_tables_only(report: Report) -> None:
    *message, shown = report.lines("cgroup.kept")
    assert UNPRIVILEGED in " ".join(message)
    assert [line for line in message if line.startswith("rc=")] == ["rc=2"]
    assert '"flows":131072' in shown
    assert '"limit":77' in shown
