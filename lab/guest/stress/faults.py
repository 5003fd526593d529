# SPDX-License-Identifier: GPL-2.0
"""Fails each allocation of an operation in turn.

A task's n-th allocation from now on fails (/proc/PID/fail-nth), whoever asks for
it: the operation, or what the kernel does on the way. A second pass counts and
fails those only that sch_zrtt has on its stack.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from lab.guest.stress import contract, network, options
from lab.guest.stress.contract import NUMBER, Values
from lab.guest.stress.health import DEBUG, MODULE
from lab.guest.stress.network import RIGHT, World
from lab.guest.stress.rtnl import (
    CREATE,
    DUMP,
    ECHO,
    EXCL,
    REPLACE,
    RTM_DELQDISC,
    RTM_GETQDISC,
    RTM_NEWQDISC,
    Place,
    request,
)

INJECTORS = (DEBUG / "failslab", DEBUG / "fail_page_alloc")
SITES_MAX = 2000
"""An operation with more allocations never ends."""
SMALL = {NUMBER["FLOWS"]: 64}
LARGE = {NUMBER["FLOWS"]: 4096}
"""A table of more pages than the kernel likes to give in one piece."""
TIMED = {NUMBER["TIMESTAMPS"]: 1}
STRIPPING = {NUMBER["STRIP"]: 1}
UDP_SEGMENT = 103
PORT = 9
SUPER_PACKET = bytes(20_000)
HINT = bytes((0x9E, 4, 4, 0xE2))


class FaultError(AssertionError):
    """An operation that failed left something behind."""


def configure() -> None:
    """Lets all kinds of allocations fail, without log messages."""
    for injector in INJECTORS:
        (injector / "ignore-gfp-wait").write_text("N")
        (injector / "verbose").write_text("0")
    (DEBUG / "fail_page_alloc" / "ignore-gfp-highmem").write_text("N")
    (DEBUG / "fail_page_alloc" / "min-order").write_text("0")


@contextmanager
def below_module() -> Iterator[None]:
    """Counts only allocations on behalf of sch_zrtt, direct or indirect."""
    start = int(Path(f"/sys/module/{MODULE}/sections/.text").read_text(), 16)
    modules = (line.split() for line in Path("/proc/modules").read_text().splitlines())
    size = next(int(words[1]) for words in modules if words[0] == MODULE)
    _require(start, start + size)
    try:
        yield
    finally:
        _require(0, (1 << 64) - 1)


def _require(start: int, end: int) -> None:
    for injector in INJECTORS:
        (injector / "require-start").write_text(str(start))
        (injector / "require-end").write_text(str(end))


class Bench:
    """Where operations are done: a qdisc on a router's port, and a host behind it."""

    def __init__(self, world: World) -> None:
        self.rtnl = world.rtnl
        self.place = Place(world.ifindex("x0"))
        self._space = world.r
        with world.b.entered():
            self._server = socket.create_server(("", PORT))
        self._open: list[socket.socket] = []

    def values(self) -> Values | None:
        """What the qdisc shows; None if there is none of ours."""
        qdisc = self.rtnl.get(self.place)
        return qdisc.values if qdisc and qdisc.kind == contract.KIND else None

    def has(self, values: Values | None) -> None:
        """Creates the qdisc with these values only; deletes it if there are none."""
        self.rtnl.delete(self.place)
        if values is not None and self.rtnl.put(self.place, values, CREATE | EXCL):
            raise FaultError(f"{values} refused")

    def ask(self, verb: int, flags: int = 0, values: Values | None = None) -> Callable[[], None]:
        """What sends a request and ignores the answer, which may get lost."""
        encoded = contract.encode_values(values) if values is not None else None
        message = request(self.place, verb, flags, encoded)
        return lambda: self.rtnl.send(message)

    def drain(self) -> None:
        """Discards answers."""
        with suppress(OSError):
            while self.rtnl.answers():
                pass

    def _client(self, kind: int) -> socket.socket:
        for end in self._open:
            end.close()
        with self._space.entered():
            client = socket.socket(socket.AF_INET, kind)
        self._open = [client]
        return client

    def tcp(self) -> Callable[[], object]:
        """Sends some packets of a connection, each with a hint."""
        client = self._client(socket.SOCK_STREAM)
        client.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, HINT)
        client.connect((network.addresses(RIGHT)[0], PORT))
        self._open.append(self._server.accept()[0])
        client.setblocking(False)
        return lambda: client.send(SUPER_PACKET)

    def udp(self) -> Callable[[], object]:
        """Sends a packet that the qdisc is to split."""
        client = self._client(socket.SOCK_DGRAM)
        client.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        client.connect((network.addresses(RIGHT)[0], PORT))
        return lambda: client.send(SUPER_PACKET)


@dataclass(frozen=True)
class Operation:
    """An operation on a qdisc, with its values."""

    name: str
    before: Values | None
    prepare: Callable[[Bench], Callable[[], object]]


def _new(values: Values, flags: int) -> Callable[[Bench], Callable[[], object]]:
    return lambda bench: bench.ask(RTM_NEWQDISC, flags, values)


def operations(rng: Random) -> list[Operation]:
    """Set-up, change, dump, removal; packets that the qdisc has to make room for."""
    some = {**options.valid(rng), **SMALL}
    return [
        Operation("add", None, _new(some, CREATE | EXCL)),
        Operation("add large", None, _new({**LARGE, **TIMED}, CREATE | EXCL)),
        Operation("change", SMALL, _new(some, 0)),
        Operation("change flows", SMALL, _new(LARGE, 0)),
        Operation("change timestamps", SMALL, _new(TIMED, 0)),
        Operation("change both", SMALL, _new({**LARGE, **TIMED}, 0)),
        Operation("replace", {**LARGE, **TIMED}, _new(SMALL, CREATE | REPLACE)),
        Operation("show", TIMED, lambda bench: bench.ask(RTM_GETQDISC, ECHO)),
        Operation("dump", TIMED, lambda bench: bench.ask(RTM_GETQDISC, DUMP)),
        Operation("delete", TIMED, lambda bench: bench.ask(RTM_DELQDISC)),
        Operation("TCP", STRIPPING, Bench.tcp),
        Operation("UDP GSO", SMALL, Bench.udp),
    ]


def _sweep(bench: Bench, operation: Operation) -> int:
    """Fails the allocations of one operation; returns how many there were."""
    control = os.open("/proc/thread-self/fail-nth", os.O_RDWR)
    seen: list[Values | None] = []
    for number in count(1):
        bench.has(operation.before)
        before = bench.values()
        act = operation.prepare(bench)
        os.pwrite(control, str(number).encode(), 0)
        with suppress(OSError):
            act()
        left = int(os.pread(control, 16, 0))
        os.pwrite(control, b"0", 0)
        bench.drain()
        after = bench.values()
        if left:
            break
        if after != before:
            seen.append(after)
        if number > SITES_MAX:
            raise FaultError(f"{operation.name}: no end after {SITES_MAX} allocations")
    os.close(control)
    if any(values != after for values in seen):
        raise FaultError(f"{operation.name}: done by half: {seen}, wanted {after}")
    return number - 1


def run(rng: Random, times: int) -> str:
    """Goes through all operations so many times, and says how many allocations each has."""
    configure()
    totals: dict[str, list[int]] = {}
    with network.made(0, track=False) as world:
        bench = Bench(world)
        for _ in range(times):
            for operation in operations(rng):
                found = totals.setdefault(operation.name, [0, 0])
                found[0] += _sweep(bench, operation)
                with below_module():
                    found[1] += _sweep(bench, operation)
    parts = (f"{name} {every} ({own})" for name, (every, own) in totals.items())
    return f"allocations failed, and those of {MODULE}: {', '.join(parts)}"
