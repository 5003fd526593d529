# SPDX-License-Identifier: GPL-2.0
"""Whom the server listens to, on this machine; what it says is tested in a guest."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import pytest
from canned import Canned, program

PATIENCE_S = 20.0
PER_ADDRESS = 8
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def free_port() -> int:
    """One that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def connect(address: str, port: int, source: str = "") -> socket.socket:
    """Once it listens."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            bound = (source, 0) if source else None
            return socket.create_connection((address, port), PATIENCE_S, bound)
        except ConnectionRefusedError:
            assert time.monotonic() < end
            time.sleep(0.05)


def answer(sock: socket.socket) -> bytes:
    """The first line of that to a request; empty if it hung up."""
    try:
        sock.sendall(REQUEST)
        return sock.makefile("rb").readline()
    except ConnectionError:
        return b""


@contextmanager
def serving(kernel: Canned, address: str) -> Iterator[int]:
    """A port of an address, while it listens there."""
    port = free_port()
    command = [program(), "--listen", f"{address}:{port}"]
    with subprocess.Popen(command, env=kernel.environment) as server:
        try:
            yield port
        finally:
            server.terminate()


@pytest.mark.parametrize("client", ["127.0.0.1", "::1"])
def test_any_address_is_of_both_families(kernel: Canned, client: str) -> None:
    with serving(kernel, "[::]") as port, connect(client, port) as sock:
        assert answer(sock).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(("method", "status"), [(b"HEAD", b"200"), (b"POST", b"405")])
def test_methods(kernel: Canned, method: bytes, status: bytes) -> None:
    """HEAD has the header of GET, and no body; what else there is, a refusal names."""
    with serving(kernel, "127.0.0.1") as port, connect("127.0.0.1", port) as sock:
        sock.sendall(REQUEST.replace(b"GET", method))
        header, _, body = sock.makefile("rb").read().partition(b"\r\n\r\n")
    assert header.startswith(b"HTTP/1.1 %s " % status)
    refused = method == b"POST"
    assert (b"\r\nAllow: GET, HEAD\r\n" in header, bool(body)) == (refused, refused)


def test_scope_of_an_address(kernel: Canned) -> None:
    """The number of a device, or, of an address of a link, its name."""
    with serving(kernel, "[::1%1]") as port, connect("::1", port) as sock:
        assert answer(sock).startswith(b"HTTP/1.1 200 ")
    assert kernel.run("--listen", "[fe80::1%nowhere0]:9788").status == 2


def test_one_address_does_not_keep_others_out(kernel: Canned) -> None:
    with serving(kernel, "127.0.0.1") as port, ExitStack() as silent:
        for _ in range(2 * PER_ADDRESS):
            silent.enter_context(connect("127.0.0.1", port))
        began = time.monotonic()
        with connect("127.0.0.1", port, "127.0.0.2") as sock:
            assert answer(sock).startswith(b"HTTP/1.1 200 ")
        # sooner than silence is noticed
        assert time.monotonic() - began < 3


def test_a_proxy_may_have_several_connections(kernel: Canned) -> None:
    with serving(kernel, "127.0.0.1") as port, ExitStack() as stack:
        socks = [stack.enter_context(connect("127.0.0.1", port)) for _ in range(PER_ADDRESS)]
        assert all(answer(sock).startswith(b"HTTP/1.1 200 ") for sock in socks)
