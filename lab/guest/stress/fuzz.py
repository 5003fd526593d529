# SPDX-License-Identifier: GPL-2.0
"""Sends options that tc would never send, and compares the answers with the contract.

Three places are asked: both that a router's packets pass, and one that is always
full. After each burst all that is there must be shown, packets must add up, and
they must pass.
"""

from __future__ import annotations

import errno
import socket
import time
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from lab.guest.stress import contract, network, options
from lab.guest.stress.contract import ATTRIBUTES, NUMBER, Values
from lab.guest.stress.frames import frame
from lab.guest.stress.network import RIGHT, World
from lab.guest.stress.rtnl import (
    CREATE,
    EXCL,
    REPLACE,
    RTM_DELQDISC,
    RTM_NEWQDISC,
    Place,
    Qdisc,
    request,
)

BURST = 100
"""Messages between two looks at the packets."""
PROBES = 5
PROBE_S = 0.002
PORT = 9
LOAD = 50
"""Frames a burst, into 1 Mbit/s."""
FULL = ("htb", "rate", "1mbit", "burst", "2000", "cburst", "2000")
LARGE = options.LARGE_TABLE
"""Slots of a table that there may be no memory for."""
CHANGE, ADD, PUT = 0, CREATE | EXCL, CREATE | REPLACE


class FindingError(AssertionError):
    """The kernel violated the contract."""


@dataclass
class Counts:
    """How the messages were answered."""

    accepted: int = 0
    refused: int = 0
    damaged: int = 0
    passed: int = 0
    """Probes."""
    errors: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        errors = ", ".join(f"{name} {times}" for name, times in sorted(self.errors.items()))
        return (
            f"{self.accepted} messages accepted, {self.refused} refused ({errors}), "
            f"{self.damaged} damaged; {self.passed} probes passed"
        )


def _ours(qdisc: Qdisc | None) -> Values | None:
    """The parameters that the kernel shows of a qdisc; None if it is not zrtt."""
    return qdisc.values if qdisc and qdisc.kind == contract.KIND else None


def _compare(sent: bytes | None, flags: int, answer: int | None,
             before: Values | None, after: Values | None) -> None:  # fmt: skip
    """Raises FindingError if this is not what the contract says."""
    wanted = contract.judge(sent, before) if sent is not None else {}
    possible = not flags & EXCL if before is not None else flags & CREATE
    if answer == errno.ENOMEM and wanted and wanted.get(NUMBER["FLOWS"], 0) > LARGE:
        possible = False
    must = bool(possible) and wanted is not None
    if (answer == 0) != must:
        raise FindingError(f"answered {answer}, must {'accept' if must else 'refuse'} it")
    if not must:
        if after != before:
            raise FindingError(f"refused, but changed {before} to {after}")
        return
    if after is None or set(after) != set(ATTRIBUTES):
        raise FindingError(f"accepted, but shows {after}")
    for number, value in after.items():
        if not ATTRIBUTES[number].accepts(value):
            raise FindingError(f"shows {ATTRIBUTES[number].name} {value}")
        if wanted and wanted.get(number, value) != value:
            raise FindingError(f"shows {ATTRIBUTES[number].name} {value}, not {wanted[number]}")


class Fuzzer:
    """One guest's work."""

    def __init__(self, rng: Random, world: World) -> None:
        self._rng, self._rtnl = rng, world.rtnl
        world.r.tc("qdisc", "add", "dev", "ifb0", "root", "handle", "1:", "htb", "default", "1")
        world.r.tc("class", "add", "dev", "ifb0", "parent", "1:", "classid", "1:1", *FULL)
        self._places = (
            Place(world.ifindex("x0")),
            Place(world.ifindex("y0")),
            Place(world.ifindex("ifb0"), 0x10001),
        )
        with world.r.entered():
            self._load = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._load.bind(("ifb0", 0))
        with world.b.entered():
            self._receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._receiver.bind(("", PORT))
        with world.a.entered():
            self._sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sender.connect((network.addresses(RIGHT)[0], PORT))
        self.counts = Counts()

    def burst(self) -> None:
        """Some messages while packets are queued, then a look."""
        for _ in range(LOAD):
            with suppress(OSError):  # dropped
                self._load.send(frame(self._rng))
        for _ in range(BURST):
            self._message()
        self._look()

    def _message(self) -> None:
        rng, place = self._rng, self._rng.choice(self._places)
        before = _ours(self._rtnl.get(place))
        if rng.random() < 0.03:
            self._delete(place, before)
            return
        flags = rng.choice((CHANGE, CHANGE, PUT, PUT, ADD))
        sent = options.anything(rng) if rng.random() < 0.98 else None
        message = request(place, RTM_NEWQDISC, flags, sent)
        if rng.random() < 0.05:
            self._rtnl.ask(options.message(rng, message))
            self.counts.damaged += 1
            return
        answer = self._rtnl.ask(message)
        self._count(answer)
        try:
            _compare(sent, flags, answer, before, _ours(self._rtnl.get(place)))
        except FindingError as finding:
            raise FindingError(f"{finding}: {message.hex()}") from None

    def _delete(self, place: Place, before: Values | None) -> None:
        answer = self._rtnl.ask(request(place, RTM_DELQDISC, 0, None))
        self._count(answer)
        if (answer == 0) != (before is not None):
            raise FindingError(f"delete was answered {answer}, there was {before}")

    def _count(self, answer: int | None) -> None:
        if answer == 0:
            self.counts.accepted += 1
        else:
            name = errno.errorcode.get(answer or 0, "no answer")
            self.counts.refused += 1
            self.counts.errors[name] = self.counts.errors.get(name, 0) + 1

    def _look(self) -> None:
        for place in self._places:  # a shaper may hold packets back for longer than we wait
            self._rtnl.put(place, {NUMBER["BANDWIDTH"]: 0}, CHANGE)
        for _ in range(PROBES):
            self._sender.send(b"probe")
            time.sleep(PROBE_S)
            try:
                self._receiver.recv(16, socket.MSG_DONTWAIT)
            except BlockingIOError:
                raise FindingError("a packet did not pass") from None
            self.counts.passed += 1
        shown = [qdisc for qdisc in self._rtnl.dump() if qdisc.kind == contract.KIND]
        for qdisc in shown:
            if not qdisc.adds_up():
                raise FindingError(f"{qdisc} does not add up")


def run(rng: Random, messages: int) -> str:
    """Sends so many, and says what came of them."""
    with network.made(0, track=False) as world:
        fuzzer = Fuzzer(rng, world)
        for _ in range(messages // BURST):
            fuzzer.burst()
        return str(fuzzer.counts)
