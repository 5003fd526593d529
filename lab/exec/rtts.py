# SPDX-License-Identifier: GPL-2.0
"""What sch_zrtt with `names` says of its flows' RTTs, beside those of the network."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lab.exec.plan import Plan

Ends = tuple[str, str, int, str, int]
"""Protocol, source and destination of a flow."""
UNITS_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0}
FLOW = re.compile(
    r"(?m)^class zrtt .*\brtt ([\d.]+)(us|ms|s) source (\w+) .*?"
    r"(\w+) (\d[\d.]*):(\d+) > (\d[\d.]*):(\d+)"
)


@dataclass(frozen=True)
class Rtt:
    """Of a flow, at the end of the run."""

    seen_ms: float
    """What the qdisc says, 0 = it does not know."""
    source: str
    path_ms: float
    """Of the hosts, without queues."""


def read(plan: Plan, classes: str) -> dict[Ends, Rtt]:
    """By flow, from tc's classes; nothing of other qdiscs, or without `names`."""
    paths = {host.address: host.rtt_ms for host in plan.hosts}
    found = {}
    for match in FLOW.finditer(classes):
        number, unit, source, protocol, saddr, sport, daddr, dport = match.groups()
        path_ms = paths.get(saddr, 0.0) + paths.get(daddr, 0.0)
        found[protocol, saddr, int(sport), daddr, int(dport)] = Rtt(
            float(number) * UNITS_MS[unit], source, path_ms
        )
    return found
