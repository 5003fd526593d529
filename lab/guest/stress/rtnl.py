# SPDX-License-Identifier: GPL-2.0
"""Qdiscs by raw netlink messages, well-formed or not."""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

from lab.guest.stress import contract
from lab.guest.stress.contract import Values

NLMSG_ERROR, NLMSG_DONE = 2, 3
RTM_NEWQDISC, RTM_DELQDISC, RTM_GETQDISC = 36, 37, 38
RTM_NEWTCLASS, RTM_GETTCLASS = 40, 42
REQUEST, ACK, ECHO, EXCL, CREATE, REPLACE, DUMP = 0x001, 0x004, 0x008, 0x200, 0x400, 0x100, 0x300
TCA_KIND, TCA_OPTIONS, TCA_STATS2 = 1, 2, 7
TCA_STATS_BASIC, TCA_STATS_APP = 1, 4
ROOT = 0xFFFFFFFF

NLMSGHDR = struct.Struct("=IHHII")
TCMSG = struct.Struct("=BxxxiIII")
XSTATS = struct.Struct("=12Q10IQ4IQ")
STATISTICS = (
    "packets_in ecn_mark drop_mark drop_limit purged hint_ok hint_bad hint_clamped "
    "hint_stripped idle_events overflow_events evicted prob alpha delay_us rtt_avg_us flows "
    "flows_hinted flows_handshake backlog_packets maxq dq_rate drop_late flows_marked "
    "flows_timestamps memory_used limit_now dq_rate64"
).split()
ROOM = 1 << 16


@dataclass(frozen=True)
class Place:
    """Where a qdisc is or may be."""

    ifindex: int
    parent: int = ROOT


@dataclass(frozen=True)
class Qdisc:
    """One as the kernel shows it."""

    place: Place
    handle: int
    kind: str
    values: Values
    sent: int
    """Packets, by the basic statistics."""
    xstats: dict[str, int]

    def adds_up(self) -> bool:
        """Whether all packets are accounted for."""
        gone = ("drop_mark", "drop_limit", "drop_late", "purged", "backlog_packets")
        return self.xstats["packets_in"] == self.sent + sum(self.xstats[name] for name in gone)

    def moved(self) -> set[str]:
        """Names of the statistics that are not 0."""
        return {name for name, value in self.xstats.items() if value}


def _attributes(data: bytes) -> dict[int, bytes]:
    found = {}
    while len(data) >= contract.HEADER.size:
        length, kind = contract.HEADER.unpack_from(data)
        found[kind & contract.TYPE_MASK] = data[contract.HEADER.size : length]
        data = data[length + -length % contract.ALIGN :]
    return found


def _qdisc(message: bytes) -> Qdisc:
    _, ifindex, handle, parent, _ = TCMSG.unpack_from(message)
    parts = _attributes(message[TCMSG.size :])
    kind = parts[TCA_KIND].rstrip(b"\0").decode()
    values: Values = {}
    xstats: dict[str, int] = {}
    stats = _attributes(parts.get(TCA_STATS2, b""))
    if kind == contract.KIND:
        options = _attributes(parts[TCA_OPTIONS])
        values = {n: int.from_bytes(value, "little") for n, value in options.items() if value}
        xstats = dict(zip(STATISTICS, XSTATS.unpack_from(stats[TCA_STATS_APP]), strict=True))
    sent = struct.unpack_from("=QI", stats[TCA_STATS_BASIC])[1]
    return Qdisc(Place(ifindex, parent), handle, kind, values, sent, xstats)


def request(place: Place, verb: int, flags: int, options: bytes | None) -> bytes:
    """A message about a qdisc of ours."""
    body = TCMSG.pack(0, place.ifindex, 0, place.parent, 0)
    if verb == RTM_NEWQDISC:
        body += contract.encode(TCA_KIND, contract.KIND.encode() + b"\0")
    if options is not None:
        body += contract.encode(TCA_OPTIONS | contract.NESTED, options)
    return NLMSGHDR.pack(NLMSGHDR.size + len(body), verb, REQUEST | ACK | flags, 0, 0) + body


class Rtnl:
    """A socket of the network namespace that it is opened in."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE)

    def send(self, message: bytes) -> None:
        """The kernel works it off before this returns."""
        self._socket.send(message)

    def answers(self) -> list[tuple[int, bytes]]:
        """Type and body of all that is there to be read."""
        found = []
        while True:
            try:
                data = self._socket.recv(ROOM, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return found
            while data:
                length, kind = NLMSGHDR.unpack_from(data)[:2]
                found.append((kind, data[NLMSGHDR.size : length]))
                data = data[length + -length % contract.ALIGN :]

    def ask(self, message: bytes) -> int | None:
        """The error it has, 0 for none; None if the kernel does not answer."""
        self.send(message)
        errors = [struct.unpack_from("=i", body)[0] for kind, body in self.answers()
                  if kind == NLMSG_ERROR]  # fmt: skip
        return -errors[-1] if errors else None

    def put(self, place: Place, values: Values, flags: int = CREATE | REPLACE) -> int | None:
        """Sets values at a place; by the default flags, makes the qdisc if need be."""
        return self.ask(request(place, RTM_NEWQDISC, flags, contract.encode_values(values)))

    def delete(self, place: Place) -> int | None:
        """Takes the qdisc away."""
        return self.ask(request(place, RTM_DELQDISC, 0, None))

    def get(self, place: Place) -> Qdisc | None:
        """What is at a place."""
        self.send(request(place, RTM_GETQDISC, ECHO, None))
        shown = [body for kind, body in self.answers() if kind == RTM_NEWQDISC]
        return _qdisc(shown[0]) if shown else None

    def dump(self) -> list[Qdisc]:
        """All qdiscs of the namespace."""
        return [_qdisc(body) for body in self._dump(0, RTM_GETQDISC, RTM_NEWQDISC)]

    def classes(self, ifindex: int) -> int:
        """How many classes the qdiscs of a device have."""
        return len(self._dump(ifindex, RTM_GETTCLASS, RTM_NEWTCLASS))

    def _dump(self, ifindex: int, verb: int, answer: int) -> list[bytes]:
        self.send(request(Place(ifindex, 0), verb, DUMP, None))
        shown = []
        while not shown or shown[-1][0] not in (NLMSG_DONE, NLMSG_ERROR):
            answers = self.answers()
            if not answers:
                raise RuntimeError("the dump broke off")
            shown += answers
        return [body for kind, body in shown if kind == answer]
