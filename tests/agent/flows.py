# SPDX-License-Identifier: GPL-2.0
"""TCP connections from a to b, held at both ends by the test itself."""

from __future__ import annotations

import select
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from hosts import REMOTE, Network

from lab.host.netns import Namespace

FAMILY = {4: socket.AF_INET, 6: socket.AF_INET6}
PATTERN = bytes(range(251)) * 521
"""Its length is odd, so that a packet out of place shows."""
CHUNK_BYTES = 1 << 16
TOTAL_RETRANS_AT, MIN_RTT_AT, TCP_INFO_BYTES = 100, 148, 152
LIMIT_S = 10.0
_SENT = PATTERN + PATTERN[:CHUNK_BYTES]


@dataclass
class Connection:
    """Both ends of one."""

    near: socket.socket
    far: socket.socket
    sent: int = field(default=0, init=False)
    received: int = field(default=0, init=False)

    def push(self, count: int) -> None:
        """Sends so many bytes and sees them arrive as they were sent."""
        end = self.sent + count
        while self.received < end:
            readable, writable, _ = select.select(
                [self.far], [self.near] if self.sent < end else [], [], LIMIT_S
            )
            assert readable or writable, f"stalled after {self.received} of {end} bytes"
            if writable:
                at = self.sent % len(PATTERN)
                self.sent += self.near.send(_SENT[at : at + min(CHUNK_BYTES, end - self.sent)])
            if readable:
                self._receive()

    def _receive(self) -> None:
        got = self.far.recv(CHUNK_BYTES)
        assert got, "the connection broke"
        at = self.received % len(PATTERN)
        assert got == _SENT[at : at + len(got)], f"bytes at {self.received} are not those sent"
        self.received += len(got)

    def trickle(self, seconds: float, every_s: float = 0.002, count: int = 4000) -> None:
        """Sends some bytes every now and then."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.push(count)
            time.sleep(every_s)

    def _info(self, at: int) -> int:
        info = self.near.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
        (value,) = struct.unpack_from("I", info, at)
        return value

    @property
    def min_rtt_us(self) -> int:
        """What the sender knows."""
        return self._info(MIN_RTT_AT)

    @property
    def retransmits(self) -> int:
        """Packets that the sender sent again."""
        return self._info(TOTAL_RETRANS_AT)

    @property
    def ports(self) -> tuple[int, int]:
        """The sender's and the receiver's: two connections may share one of them."""
        return self.port, self.near.getpeername()[1]

    @property
    def port(self) -> int:
        """The sender's."""
        return self.near.getsockname()[1]


@contextmanager
def connection(net: Network, family: int, address: str = "", host: Namespace | None = None, *,
               ip_options: bytes = b"") -> Iterator[Connection]:  # fmt: skip
    """A connection from a to an address of a host, b's unless said; closed in the end."""
    with listening(net, family, address, host) as server, net.a.entered():
        near = socket.socket(FAMILY[family])
        with near:
            if ip_options:
                near.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, ip_options)
            near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            near.settimeout(LIMIT_S)
            near.connect(server.getsockname()[:2])
            far, _ = server.accept()
            with far:
                near.setblocking(False)
                yield Connection(near, far)


@contextmanager
def listening(net: Network, family: int, address: str = "",
              host: Namespace | None = None) -> Iterator[socket.socket]:  # fmt: skip
    """A server there, at a port of its own."""
    with (host or net.b).entered():
        server = socket.create_server((address or REMOTE[family], 0), family=FAMILY[family])
    with server:
        server.settimeout(LIMIT_S)
        yield server


def come_and_go(net: Network, family: int, count: int) -> None:
    """So many connections, one after the other, with some bytes each."""
    with listening(net, family) as server, net.a.entered():
        target = server.getsockname()[:2]
        for _ in range(count):
            with socket.create_connection(target, LIMIT_S) as near, server.accept()[0] as far:
                near.sendall(PATTERN[:100])
                assert far.recv(CHUNK_BYTES)
