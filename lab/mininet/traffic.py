# SPDX-License-Identifier: GPL-2.0
"""TCP flows between the nodes of a network, all run by this process.

It enters the namespaces of nodes to open sockets there, and then needs few
system calls: those are what costs time in a guest.
"""

from __future__ import annotations

import ctypes
import os
import random
import re
import selectors
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from lab.mininet.network import MininetError
from lab.mininet.topologies import Flow, Topology

PORT = 5001
CHUNK_BYTES = 256 * 1024
LOWAT_BYTES = 64 * 1024
"""A receiver is woken for that much at a time."""
TCP_INFO_BYTES, BYTES_RECEIVED_OFFSET = 256, 128
"""Of struct tcp_info in linux/tcp.h."""
START_SPREAD_S = 2.0
_CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)


def _enter(namespace: int) -> None:
    if _libc.setns(namespace, _CLONE_NEWNET):
        raise MininetError(f"setns: {os.strerror(ctypes.get_errno())}")


@contextmanager
def inside(pid: int) -> Iterator[None]:
    """Sockets opened here are those of that process's namespace."""
    with open("/proc/self/ns/net") as own, open(f"/proc/{pid}/ns/net") as other:
        _enter(other.fileno())
        try:
            yield
        finally:
            _enter(own.fileno())


@dataclass
class _Connection:
    """A flow and its sockets."""

    flow: Flow
    start_s: float
    listener: socket.socket
    sender: socket.socket | None = None
    receiver: socket.socket | None = None

    def received_bytes(self) -> int:
        """As the kernel counts them; more may wait to be read."""
        if not self.receiver:
            return 0
        info = self.receiver.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TCP_INFO_BYTES)
        (received,) = struct.unpack_from("=Q", info, BYTES_RECEIVED_OFFSET)
        return int(received)


class Traffic:
    """Flows that send as fast as TCP lets them."""

    def __init__(self, net: Any, topology: Topology, cc: str, seed: int) -> None:
        self._net, self._topology, self._cc = net, topology, cc
        self._selector = selectors.DefaultSelector()
        self._chunk, self._sink = bytes(CHUNK_BYTES), bytearray(CHUNK_BYTES)
        spread = random.Random(seed)
        self._connections = [
            _Connection(flow, spread.uniform(0, START_SPREAD_S), self._listen(flow))
            for flow in topology.flows
        ]

    def _listen(self, flow: Flow) -> socket.socket:
        with inside(self._net[flow.receiver].pid):
            listener = socket.create_server(("", PORT))
        listener.setblocking(False)
        return listener

    def _start(self, connection: _Connection) -> None:
        with inside(self._net[connection.flow.sender].pid):
            sender = socket.socket()
        sender.setblocking(False)
        try:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, self._cc.encode())
        except OSError as error:
            raise MininetError(f"this kernel has no congestion control {self._cc}") from error
        sender.connect_ex((self._topology.host_address(connection.flow.receiver), PORT))
        connection.sender = sender
        self._selector.register(sender, selectors.EVENT_WRITE, connection)
        self._selector.register(connection.listener, selectors.EVENT_READ, connection)

    def _accept(self, connection: _Connection) -> None:
        receiver, _ = connection.listener.accept()
        self._selector.unregister(connection.listener)
        receiver.setblocking(False)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, LOWAT_BYTES)
        connection.receiver = receiver
        self._selector.register(receiver, selectors.EVENT_READ, connection)

    def _serve(self, connection: _Connection, ready: object) -> None:
        try:
            if ready is connection.listener:
                self._accept(connection)
            elif ready is connection.sender:
                while connection.sender.send(self._chunk):
                    pass
            elif connection.receiver:
                while connection.receiver.recv_into(self._sink, 0, socket.MSG_TRUNC):
                    pass
        except BlockingIOError:
            pass
        except OSError as error:
            flow = connection.flow
            raise MininetError(f"{flow.sender} to {flow.receiver}: {error.strerror}") from error

    def _run_until(self, began: float, until_s: float) -> tuple[float, list[int]]:
        """Returns when it ended, and the bytes that each flow had received by then."""
        while (now := time.monotonic() - began) < until_s:
            waiting = [c for c in self._connections if not c.sender]
            for connection in waiting:
                if connection.start_s <= now:
                    self._start(connection)
            due = min([until_s, *(c.start_s for c in waiting if not c.sender)])
            for key, _ in self._selector.select(max(0.0, due - now)):
                self._serve(key.data, key.fileobj)
        return now, [connection.received_bytes() for connection in self._connections]

    def goodputs(self, warmup_s: float, duration_s: float) -> list[float]:
        """Runs the flows; Mbit/s of each after the warm-up."""
        began = time.monotonic()
        from_s, before = self._run_until(began, warmup_s)
        to_s, after = self._run_until(began, warmup_s + duration_s)
        return [
            (end - begin) * 8 / (to_s - from_s) / 1e6
            for begin, end in zip(before, after, strict=True)
        ]

    def close(self) -> None:
        """Closes all sockets."""
        for connection in self._connections:
            for sock in (connection.sender, connection.receiver, connection.listener):
                if sock:
                    sock.close()
        self._selector.close()


def ping_ms(net: Any, topology: Topology, flow: Flow, count: int = 3) -> float:
    """The shortest of some RTTs from sender to receiver."""
    address = topology.host_address(flow.receiver)
    said, _, _ = net[flow.sender].pexec("ping", "-c", str(count), "-i", "0.2", address)
    times = [float(text) for text in re.findall(r"time=([\d.]+)", said)]
    if not times:
        raise MininetError(f"no answer from {flow.receiver} to {flow.sender}: {said.strip()}")
    return min(times)
