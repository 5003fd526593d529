# SPDX-License-Identifier: GPL-2.0
"""Which TCP connections had something to send, from the kernel's tables of sockets.

A flow that a queue starves sends few packets or none, as one does that has nothing to send:
the sockets tell them apart.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Address

from lab.exec.plan import LEFT, RIGHT, Plan
from lab.exec.rtts import Ends

NAMES = ("sockets-first", "sockets-last")
"""Of both readings."""
ANSWERED = "03"
"""A SYN whose SYN-ACK was not acknowledged (SYN_RECV): it has no queue."""
SOCKET = re.compile(
    r"(?m)^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) ([0-9A-F]+):([0-9A-F]{4}) (..) ([0-9A-F]{8}):"
)
"""Local and remote address and port, state, and what was not acknowledged."""


def times_s(plan: Plan) -> tuple[float, float]:
    """When they are read: what waits at both was there for the share of time that counts."""
    return plan.warmup_s + (1 - plan.present) * plan.duration_s, plan.total_s


def _address(digits: str) -> str:
    """The last four bytes, lowest first; IPv6 sockets have IPv4 addresses there, too."""
    return str(IPv4Address(bytes.fromhex(digits[-8:])[::-1]))


def _waiting(plan: Plan, text: str) -> set[Ends]:
    sides = {host.address: host.side for host in plan.hosts}
    return {
        ends
        for local, sport, remote, dport, state, unsent in SOCKET.findall(text)
        if int(unsent, 16) or state == ANSWERED
        if (ends := ("tcp", _address(local), int(sport, 16), _address(remote), int(dport, 16)))
        if {sides.get(ends[1]), sides.get(ends[3])} == {LEFT, RIGHT}
    }


def waiting(plan: Plan, first: str, last: str) -> set[Ends]:
    """Flows between both sides that had unacknowledged data both times."""
    return _waiting(plan, first) & _waiting(plan, last)
