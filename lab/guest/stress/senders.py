# SPDX-License-Identifier: GPL-2.0
"""Traffic of all kinds between the hosts of a world, in processes that are killed at the end.

Each sleeps between two things it does: where time is virtual, nothing else lets
it pass.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from random import Random

from lab.guest.stress import network
from lab.guest.stress.frames import frame
from lab.guest.stress.network import DEVICES, RIGHT, World
from lab.host.netns import Namespace

PORT = 9
FLOWS = 4
CLOSED = 0.02
"""Of connections, each time."""
PAUSE_S = (0.002, 0.03)
NICE = 10
"""In real time they would leave a slow machine no time for anything else."""
IPV6_HOPOPTS, IPV6_DSTOPTS, UDP_SEGMENT, SOL_PACKET, PACKET_VNET_HDR = 54, 59, 103, 263, 15
CONGESTION = (b"reno", b"cubic", b"dctcp", b"bbr")
CHUNK = bytes(1 << 16)
GSO_TYPES = (0, 1, 3, 4, 5, 0x81)
"""None, TCPv4, the old UDP, TCPv6, UDP; ECN."""


def _accept(server: socket.socket, opened: list[socket.socket]) -> None:
    with suppress(OSError):
        opened.append(server.accept()[0])
        opened[-1].setblocking(False)
    for connection in list(opened):
        try:
            if not connection.recv(len(CHUNK), socket.MSG_TRUNC):
                raise ConnectionResetError
        except BlockingIOError:
            pass
        except OSError:
            connection.close()
            opened.remove(connection)


def sink(rng: Random) -> None:
    """Receives all TCP and UDP."""
    server = socket.create_server(("", PORT), family=socket.AF_INET6, dualstack_ipv6=True)
    server.setblocking(False)
    datagrams = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    datagrams.bind(("", PORT))
    datagrams.setblocking(False)
    opened: list[socket.socket] = []
    while True:
        _accept(server, opened)
        with suppress(OSError):
            datagrams.recv(1)
        _pause(rng)


def _pause(rng: Random) -> None:
    time.sleep(rng.uniform(*PAUSE_S))


def _extension(rng: Random) -> bytes:
    """An options header of IPv6 with a hint; the kernel sets its first byte."""
    return struct.pack("!BBBBHBB", 0, 0, 0x1E, 2, rng.getrandbits(16), 1, 0)


def _dress(rng: Random, client: socket.socket) -> None:
    """ECN bits, a mark, a hint: as an application may ask for."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_MARK, rng.randbytes(4))
    if client.family == socket.AF_INET:
        client.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, rng.getrandbits(8))
        if rng.random() < 0.5:
            hint = struct.pack("!BBH", 0x9E, 4, rng.getrandbits(16))
            client.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, hint)
        return
    client.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, rng.getrandbits(8))
    for option in (IPV6_HOPOPTS, IPV6_DSTOPTS):
        if rng.random() < 0.5:
            client.setsockopt(socket.IPPROTO_IPV6, option, _extension(rng))


def _client(rng: Random, kind: int) -> socket.socket:
    address = rng.choice(network.addresses(RIGHT))
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    client = socket.socket(family, kind | socket.SOCK_NONBLOCK)
    if kind == socket.SOCK_STREAM:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, rng.choice(CONGESTION))
    _dress(rng, client)
    with suppress(OSError):  # under way, or no route now
        client.connect((address, PORT))
    return client


def _datagrams(rng: Random) -> None:
    """A few: small, in fragments, or for the router to segment."""
    with _client(rng, socket.SOCK_DGRAM) as client, suppress(OSError):
        if rng.random() < 0.3:
            client.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, rng.randint(1, 1400))
        for _ in range(rng.randint(1, 8)):
            client.send(CHUNK[: rng.choice((0, 1, 500, 1472, rng.randint(0, 20_000)))])


def flows(rng: Random) -> None:
    """Connections that come and go, and datagrams beside them."""
    opened: list[socket.socket] = []
    while True:
        if len(opened) < FLOWS:
            opened.append(_client(rng, socket.SOCK_STREAM))
        chosen = rng.choice(opened)
        gone = rng.random() < CLOSED
        try:
            chosen.send(CHUNK)
        except BlockingIOError:
            pass
        except OSError:
            gone = True
        if gone:
            chosen.close()
            opened.remove(chosen)
        if rng.random() < 0.3:
            _datagrams(rng)
        _pause(rng)


def _super_header(rng: Random) -> bytes:
    """What tells the kernel that a frame is to be segmented, and how."""
    size, start = rng.choice((0, 1, 100, 1000)), rng.choice((34, 54, 66, rng.getrandbits(8)))
    flags = rng.choice((0, 1))
    return struct.pack("=BBHHHH", flags, rng.choice(GSO_TYPES), start + 20, size, start,
                       rng.choice((6, 16)))  # fmt: skip


def raw(rng: Random) -> None:
    """Frames straight into the router's queues, some of them to be segmented."""
    plain = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    large = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    large.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    while True:
        with suppress(OSError):
            for _ in range(rng.randint(1, 20)):
                device = (rng.choice(DEVICES), 0)
                if rng.random() < 0.9:
                    plain.sendto(frame(rng), device)
                else:
                    large.sendto(_super_header(rng) + frame(rng), device)
        _pause(rng)


class SenderError(RuntimeError):
    """A process ended that should run until it is killed."""


class Process:
    """One of the above, in a namespace."""

    def __init__(self, space: Namespace, work: Callable[[Random], None], rng: Random) -> None:
        self._name = f"{work.__name__} in {space.name}"
        seed = rng.getrandbits(32)
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.nice(NICE)
                with space.entered():
                    work(Random(seed))
            finally:
                traceback.print_exc()
                os._exit(1)

    def kill(self) -> None:
        """Ends it. Raises SenderError if it has ended by itself."""
        if os.waitpid(self._pid, os.WNOHANG)[0]:
            raise SenderError(f"{self._name} ended")
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def start(world: World, rng: Random) -> list[Process]:
    """All of a world."""
    works = ((world.b, sink), (world.a, flows), (world.r, raw))
    return [Process(space, work, rng) for space, work in works]
