# SPDX-License-Identifier: GPL-2.0
"""Packets of real connections take the quick path through their headers.

Probes count the calls of what is there for all the others, and of enqueue.
"""

from __future__ import annotations

import os
from functools import cache

import pytest
from guests import KERNELS as SHARED
from guests import Guest, Report, Reports, start
from shared import reports

KERNELS = tuple(os.environ.get("KERNELS", "6.1 6.12 7.x").split())
LARGE = ("segments", "whole", "vlan", "ipv6", "untimed", "untimed_ipv6")
"""GSO packets that the queue splits, and whole ones; VLAN, IPv6, no timestamps."""
CONNECTIONS = ("small", *LARGE)
"""TCP's own segments, too."""
HANDFUL = 10
"""Two SYNs and few ACKs, whose options are others, and what IPv6 says of neighbours."""
DATA, ACKS = 1400, 15
"""Packets that 2 MB take, at least."""


@cache
def _others() -> Reports:
    return start([Guest(kernel, ("quick",)) for kernel in KERNELS if kernel not in SHARED])


@pytest.fixture(params=KERNELS)
def quick(request: pytest.FixtureRequest) -> Report:
    """The connections on one kernel."""
    kernel = request.param
    return (reports() if kernel in SHARED else _others())[kernel].result()


def calls(report: Report, name: str, function: str = "slow") -> int:
    """Of a function that is watched, during a connection."""
    before, after = (
        sum(
            int(hits) + int(missed)
            for what, hits, missed in map(str.split, report.lines(f"quick.{name}.{when}"))
            if what == function
        )
        for when in ("before", "after")
    )
    return after - before


def packets(report: Report, name: str) -> tuple[int, int]:
    """That came, data and ACKs; a GSO packet counts as its segments."""
    data, acks = (report.qdisc(f"quick.{name}.{way}")["packets_in"] for way in ("data", "acks"))
    return data, acks


@pytest.mark.parametrize("name", CONNECTIONS)
def test_connection_takes_the_quick_path(quick: Report, name: str) -> None:
    data, acks = packets(quick, name)
    assert data > DATA
    assert acks > ACKS
    assert calls(quick, name) <= HANDFUL


@pytest.mark.parametrize("name", LARGE)
def test_gso_packets_came(quick: Report, name: str) -> None:
    assert calls(quick, name, "come") < sum(packets(quick, name)) / 2


def test_no_gso_packets_came(quick: Report) -> None:
    assert calls(quick, "small", "come") == sum(packets(quick, "small"))


def test_the_probe_counts(quick: Report) -> None:
    """Nobody looks for the options of these."""
    data, _ = packets(quick, "options")
    assert calls(quick, "options") >= data > DATA


def test_nothing_went_wrong(quick: Report) -> None:
    assert quick.part("quick.rc") == "0\n"
    assert quick.trouble() == []
