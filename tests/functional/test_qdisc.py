# SPDX-License-Identifier: GPL-2.0
"""The qdisc as an administrator meets it: loading, parameters, statistics."""

from __future__ import annotations

import math
import re
from collections import Counter

import pytest
from cases import (
    BAD_ATTRIBUTES,
    DATA,
    EXPERIMENTS,
    PARAMETER_PARTS,
    PARAMETERS,
    REFUSED_BY_TC,
    SUPER_CASES,
    BadAttribute,
    Parameter,
    SuperCase,
)
from guests import TROUBLE, Report, assert_empty, unaccounted
from uapi import ATTRIBUTES

PING_PACKETS = 3
LOAD_PACKETS = 2000
TABLE_KB = 4_194_304 * 64 // 1024
NOISE_KB = 4096


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_experiment_ran_to_its_end(report: Report, experiment: str) -> None:
    assert report.lines(f"{experiment}.rc") == ["0"], report.text


def test_kernel_log_is_clean(report: Report) -> None:
    assert not report.trouble()


# Module


def test_module_is_held_by_its_qdiscs(report: Report) -> None:
    assert report.lines("module.busy")[-1] == "refused"


def test_module_unloads(report: Report) -> None:
    assert report.lines("module.unloaded") == ["0"]


def test_module_loads_again(report: Report) -> None:
    assert report.lines("module.reloaded") == ["158", "1"]


def test_option_type_is_a_module_parameter(report: Report) -> None:
    assert report.lines("module.option") == ["94"]


def test_option_type_is_checked(report: Report) -> None:
    refused = [f"refused {bad}" for bad in ("0", "1", "256", "x")]
    assert report.lines("module.option_refused") == [*refused, "94"]
    assert report.lines("module.insmod_refused")[-1] == "refused"


# Parameters


@pytest.mark.parametrize("parameter", PARAMETERS, ids=lambda p: p.name)
@pytest.mark.parametrize(("verb", "end"), PARAMETER_PARTS)
def test_parameter_is_set_and_shown(
    report: Report, verb: str, end: str, parameter: Parameter
) -> None:
    part = f"parameters.{PARAMETER_PARTS.index((verb, end))}"
    shown = report.qdisc(part)["options"][parameter.name]
    want = parameter.shown(end)
    if isinstance(want, float):
        assert math.isclose(shown, want, rel_tol=1e-4)
    else:
        assert shown == want


@pytest.mark.parametrize("words", REFUSED_BY_TC)
def test_bad_value_is_refused_by_tc(report: Report, words: str) -> None:
    *message, status = report.lines(f"refusals.tc.{REFUSED_BY_TC.index(words)}")
    assert status == "rc=1"
    assert words.split()[0] in " ".join(message)


@pytest.mark.parametrize("bad", BAD_ATTRIBUTES, ids=str)
def test_bad_value_is_refused_by_the_kernel(report: Report, bad: BadAttribute) -> None:
    answer = report.lines("refusals.kernel")[BAD_ATTRIBUTES.index(bad)]
    error, attribute, message = answer.split(" ", 2)
    assert int(error) < 0
    assert int(attribute) == ATTRIBUTES[bad.name].number
    assert message.startswith(f"sch_zrtt: {bad.keyword} must be ")


def test_unknown_attribute_is_refused(report: Report) -> None:
    error, _, message = report.lines("refusals.kernel")[-1].split(" ", 2)
    assert int(error) < 0
    assert message


def test_lanes_need_their_mode(report: Report) -> None:
    *message, status = report.lines("refusals.lanes")
    assert status == "rc=2"
    assert "sch_zrtt: lanes need mode zrtt" in " ".join(message)


def test_bounds_need_auto(report: Report) -> None:
    """Also where tc cannot know whether the queue has it."""
    lines = report.lines("refusals.bounds")
    assert lines.count("rc=2") == 2
    assert " ".join(lines).count("sch_zrtt: min and max need bandwidth auto") == 2


def test_refusals_change_nothing(report: Report) -> None:
    assert report.part("refusals.before") == report.part("refusals.after")


# Changes while packets are queued


def test_change_loses_no_packet(report: Report) -> None:
    assert report.qdisc("live.loaded")["backlog_packets"] > LOAD_PACKETS / 2
    assert report.qdisc("live.changed")["backlog_packets"] > LOAD_PACKETS / 4
    assert report.lines("live.received") == [str(LOAD_PACKETS)]
    assert report.qdisc("live.drained")["packets"] == LOAD_PACKETS


@pytest.mark.parametrize("part", ["live.kept", "live.kept_again"])
def test_change_keeps_what_was_learnt(report: Report, part: str) -> None:
    before, after = report.qdisc("live.learnt"), report.qdisc(part)
    assert before["prob"] == pytest.approx(0.3, rel=1e-3)
    assert after["prob"] == pytest.approx(before["prob"], rel=1e-3)
    assert before["flows"] == after["flows"] == 1
    assert after["packets_in"] == before["packets_in"] > 0


# Places


@pytest.mark.parametrize("place", ["root", "back", "htb", "prio", "ifb"])
def test_packets_pass_where_it_is_attached(report: Report, place: str) -> None:
    qdiscs = report.qdiscs(f"attach.{place}")
    assert sum(qdisc["packets_in"] for qdisc in qdiscs) == PING_PACKETS
    assert sum(qdisc["packets"] for qdisc in qdiscs) == PING_PACKETS


def test_it_is_a_child_of_mq(report: Report) -> None:
    assert {qdisc["parent"] for qdisc in report.qdiscs("attach.mq")} == {"1:1", "1:2"}


def test_it_needs_no_plugin_without_parameters(report: Report) -> None:
    assert report.part("attach.no_plugin").startswith("qdisc zrtt")


def test_it_gives_way_to_another_qdisc(report: Report) -> None:
    assert report.qdiscs("attach.replaced") == []


# Statistics


@pytest.mark.parametrize(
    "part",
    ["split", "whole", "overload", "drained", "purged", "up_again"]
    + ["peeked", "peeked_overload", "peeked_drained"],
)
def test_every_packet_is_accounted_for(report: Report, part: str) -> None:
    qdisc = report.qdisc(f"accounts.{part}")
    assert qdisc["packets_in"] > 0
    assert unaccounted(qdisc) == 0


@pytest.mark.parametrize("way", ["whole", "split"])
@pytest.mark.parametrize("case", SUPER_CASES, ids=lambda case: case.name)
def test_segments_are_counted_if_nobody_has(report: Report, case: SuperCase, way: str) -> None:
    qdisc = report.qdisc(f"super.{way}.{SUPER_CASES.index(case)}")
    assert qdisc["packets_in"] == qdisc["packets"] == case.segments
    assert qdisc["drops"] == 0


def test_parent_that_peeks_through_another(report: Report) -> None:
    """Where that forgets what it peeked at, one packet is left behind."""
    (received,) = re.findall(r"(\d+) packets received", report.part("peeked.pings"))
    assert int(received) >= 9
    qdisc = report.qdisc("peeked.stats")
    assert unaccounted(qdisc) == 0
    assert qdisc["drop_late"] > 0


REASONS = {
    "skb": dict.fromkeys(("drop_limit", "drop_mark", "drop_late"), "QDISC_DROP"),
    "qdisc": {"drop_limit": "OVERLIMIT", "drop_mark": "CONGESTED", "drop_late": "CONGESTED"},
}
"""Linux before 6.14 knows one reason, and 7.1 has a tracepoint of its own for qdiscs."""


@pytest.mark.parametrize("cause", ["drop_limit", "drop_mark", "drop_late"])
def test_drops_have_a_reason(report: Report, cause: str) -> None:
    before, after = (report.qdisc(f"reasons.{cause}.{when}") for when in ("before", "after"))
    new = {name: after[name] - before[name] for name in REASONS["skb"]}
    wanted = Counter[str]()
    (kind,) = report.lines("reasons.kind")
    for name, drops in new.items():
        wanted[REASONS[kind][name]] += drops
    told = Counter(report.lines(f"reasons.{cause}"))
    assert {reason: told[reason] for reason in wanted} == wanted
    assert new[cause] > 0


def test_accounts_saw_what_they_were_to_see(report: Report) -> None:
    split, whole = report.qdisc("accounts.split"), report.qdisc("accounts.whole")
    segments = 3000 * 1024 // 1448
    assert split["packets"] >= segments
    assert whole["packets"] - split["packets"] >= segments
    assert report.qdisc("accounts.overload")["drop_limit"] > 0
    assert report.qdisc("accounts.overload")["backlog_packets"] > 0
    assert report.qdisc("accounts.drained")["backlog_packets"] == 0
    assert report.qdisc("accounts.purged")["purged"] > 0
    up_again = report.qdisc("accounts.up_again")["packets"]
    assert up_again - report.qdisc("accounts.purged")["packets"] >= 100 * 1024 // 1448


def test_backlog_agrees_with_the_core(report: Report) -> None:
    """One packet is one skb here: the load is UDP."""
    for part in ("live.loaded", "live.changed", "accounts.overload"):
        qdisc = report.qdisc(part)
        assert qdisc["backlog_packets"] == qdisc["qlen"]


def test_nothing_is_left_below_a_parent_that_peeks(report: Report) -> None:
    assert report.qdisc("accounts.peeked")["packets"] >= 1000 * 1024 // 1448
    assert report.qdisc("accounts.peeked_overload")["backlog_packets"] > 0
    assert report.qdisc("accounts.peeked_drained")["drop_late"] > 0
    for part in ("accounts.peeked", "accounts.peeked_drained"):
        assert_empty(report, part)


# Memory


def test_table_beyond_memory_is_refused(small: Report) -> None:
    assert small.lines("memory.rc") == ["0"]
    for part in ("memory.change", "memory.add"):
        refused = [line for line in small.lines(part) if line.startswith("rc=")]
        assert refused == ["rc=2"] * 8


def test_refused_table_leaves_the_qdisc_alone(small: Report) -> None:
    options = small.qdisc("memory.still")["options"]
    assert (options["flows"], options["limit"], options["timestamps"]) == (16384, 88, False)


def test_refused_table_leaks_nothing(small: Report) -> None:
    before, after = (small.memory(f"memory.{when}") for when in ("before", "after"))
    assert before["MemFree"] - after["MemFree"] < NOISE_KB
    assert after["Slab"] - before["Slab"] < NOISE_KB
    assert after["VmallocUsed"] - before["VmallocUsed"] < NOISE_KB


def test_lack_of_memory_does_no_harm(small: Report) -> None:
    harm = re.compile(f"{TROUBLE.pattern}|Out of memory|oom-kill|Killed")
    assert not [line for line in small.text.splitlines() if harm.search(line)]


# Two processors


def test_two_processors_are_used(two_cpus: Report) -> None:
    assert two_cpus.lines("smp.rc") == ["0"], two_cpus.text
    assert two_cpus.lines("smp.cpus") == ["2"]


@pytest.mark.parametrize("part", ["smp.changed", "smp.replaced"])
def test_accounts_hold_on_two_processors(two_cpus: Report, part: str) -> None:
    qdisc = two_cpus.qdisc(part)
    assert qdisc["packets_in"] > 0
    assert unaccounted(qdisc) == 0


def test_kernel_log_is_clean_on_two_processors(two_cpus: Report) -> None:
    assert not two_cpus.trouble()
