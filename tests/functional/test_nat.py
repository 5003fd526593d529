# SPDX-License-Identifier: GPL-2.0
"""Hosts behind NAT, whose addresses the kernel's connection tracking knows."""

from __future__ import annotations

import re

import pytest
from cases import NAT_FRAMES, NAT_IN, NAT_REUSED, NAT_TWO
from guests import Report


@pytest.mark.parametrize(("nat", "hosts"), [("off", 1), ("on", len(NAT_FRAMES))])
def test_hosts_behind_nat_are_told_apart(report: Report, nat: str, hosts: int) -> None:
    qdisc = report.qdisc(f"nat.{nat}")
    assert (qdisc["flows"], qdisc["hosts"]) == (len(NAT_FRAMES), hosts)


@pytest.mark.parametrize(
    ("part", "flows", "hosts"),
    [
        ("two", len(NAT_TWO), 2),
        ("reused", len(NAT_REUSED), 1),
        ("in", len(NAT_IN), len(NAT_IN)),
        ("in.again", len(NAT_IN), len(NAT_IN)),
    ],
)
def test_flows_follow_what_connection_tracking_says(
    report: Report, part: str, flows: int, hosts: int
) -> None:
    """An entry may be made after a flow's first packet, be another one later, or be gone."""
    found = re.findall(r" host_flows (\d+) host (\d+) ", report.part(f"nat.{part}"))
    assert len(found) == flows
    assert len({host for _, host in found}) == hosts
    assert {int(flows_of_host) for flows_of_host, _ in found} == {flows // hosts}
