# SPDX-License-Identifier: GPL-2.0
"""Hosts behind NAT, whose addresses the kernel's connection tracking knows."""

from __future__ import annotations

import pytest
from cases import NAT_FRAMES
from guests import Report


@pytest.mark.parametrize(("nat", "hosts"), [("off", 1), ("on", len(NAT_FRAMES))])
def test_hosts_behind_nat_are_told_apart(report: Report, nat: str, hosts: int) -> None:
    qdisc = report.qdisc(f"nat.{nat}")
    assert (qdisc["flows"], qdisc["hosts"]) == (len(NAT_FRAMES), hosts)
