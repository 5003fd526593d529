# SPDX-License-Identifier: GPL-2.0
"""Hosts that have flows in several queues of a device: one host, as tc lists it."""

from __future__ import annotations

import itertools

import pytest
from cases import HOST_ENDS
from guests import Report, unaccounted

SOURCES, TARGETS = HOST_ENDS
FLOWS = SOURCES * TARGETS
OWN, ALL = TARGETS, 2 * TARGETS
"""Flows of a source in a queue, and in both."""


def flows_of_hosts(report: Report, part: str, queue: int) -> list[int]:
    """Of the host of each flow of a queue: how many it has."""
    lines = report.lines(f"joint.{part}.{queue}")
    return [int(dict(itertools.pairwise(line.split()))["host_flows"]) for line in lines]


def test_experiment_ran_to_its_end(report: Report) -> None:
    assert report.lines("joint.rc") == ["0"], report.part("joint.rc")


@pytest.mark.parametrize("queue", [1, 2])
@pytest.mark.parametrize("part", ["both", "alike", "grown", "reset", "back"])
def test_host_has_the_flows_of_both_queues(report: Report, part: str, queue: int) -> None:
    assert flows_of_hosts(report, part, queue) == [ALL] * FLOWS


@pytest.mark.parametrize("part", ["silent", "differ", "weighted", "gone"])
def test_queue_that_has_no_such_hosts_is_forgotten(report: Report, part: str) -> None:
    """It is silent, is another qdisc, or means others."""
    assert flows_of_hosts(report, part, 1) == [OWN] * FLOWS


def test_hosts_of_another_kind_are_the_queues_own(report: Report) -> None:
    assert flows_of_hosts(report, "differ", 2) == [SOURCES] * FLOWS
    assert flows_of_hosts(report, "weighted", 2) == [OWN] * FLOWS


@pytest.mark.parametrize("queue", [1, 2])
@pytest.mark.parametrize(("part", "flows"), [("dsthost", 2 * SOURCES), ("mark 0xff", 2 * FLOWS)])
def test_hosts_of_each_kind_are_shared(
    report: Report, part: str, flows: int, queue: int
) -> None:
    assert flows_of_hosts(report, part, queue) == [flows] * FLOWS


@pytest.mark.parametrize("queue", [1, 2])
def test_hosts_of_both_ends_are_shared(report: Report, queue: int) -> None:
    """A flow is of the end that has more."""
    assert flows_of_hosts(report, "dualhost", queue) == [ALL] * FLOWS


def test_every_packet_is_accounted_for(report: Report) -> None:
    found = report.qdiscs("joint.end")
    assert {qdisc["parent"] for qdisc in found} == {"1:1", "1:2"}
    assert [unaccounted(qdisc) for qdisc in found] == [0, 0]
