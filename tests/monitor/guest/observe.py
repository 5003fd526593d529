# SPDX-License-Identifier: GPL-2.0
"""Watches the zrtt of a device in all forms that zrtt-mon has; prints what it saw as JSON."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from terminal import Terminal

MON = os.environ["LAB"] + "/zrtt-mon"
PORT = 9788
IDLE_CONNECTIONS = 40
SILENCE_S = 6.0
"""Longer than the server waits."""
GARBAGE = (
    b"\0" * 5000,
    b"\xff\xfe\r\n\r\n",
    b"GET " + b"A" * 100_000 + b" HTTP/1.1\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\n" + b"X: y\r\n" * 20_000,
    b"GET /metrics HTTP/9.9\r\n\r\n",
    b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    b"GET /metrics HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"GET /met",
)


def said(*command: str) -> str:
    """What a command prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def view(dev: str) -> dict[str, Any]:
    """The live view, through all its keys."""
    terminal = Terminal([MON, "-i", "1", dev], 100, 40)
    seen: dict[str, Any] = {"by_rate": terminal.look(3.5)}
    for name, key in (("by_rtt", "t"), ("by_prob", "P")):
        terminal.type(key)
        seen[name] = terminal.look(0.2)
    terminal.type("p")
    seen["paused"] = [terminal.look(0.2), terminal.look(3)]
    terminal.type("pr")
    seen["resumed"] = terminal.look(1.5)
    terminal.resize(60, 13)
    seen["small"] = terminal.look(1.5)
    terminal.type("\x1b[6~")
    seen["scrolled"] = terminal.look(0.2)
    terminal.resize(120, 60)
    seen["large"] = terminal.look(1.5)
    terminal.type("q")
    terminal.look(1)
    return seen | {"status": terminal.status()}


def beside_tc(dev: str) -> dict[str, Any]:
    """JSON, between two readings of tc."""
    before = said("tc", "-s", "-j", "qdisc", "show", "dev", dev)
    line = said(MON, "-j", "-n1", "-f", dev)
    after = said("tc", "-s", "-j", "qdisc", "show", "dev", dev)
    return {
        "before": json.loads(before), "line": json.loads(line), "after": json.loads(after),
    }  # fmt: skip


def answer(request: bytes, address: str = "127.0.0.1") -> str:
    """All that it says, up to its end of the connection."""
    text = b""
    with socket.create_connection((address, PORT), timeout=2 * SILENCE_S) as sock:
        try:
            sock.sendall(request)
            while piece := sock.recv(65536):
                text += piece
        except ConnectionError:  # it hung up on what was still being sent
            pass
    return text.decode()


def get(path: str, method: str = "GET", address: str = "127.0.0.1") -> str:
    """A proper request."""
    text = f"{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    return answer(text.encode(), address)


def crowd() -> str:
    """Who comes after many that say nothing, once they had their time."""
    idle = [socket.create_connection(("127.0.0.1", PORT)) for _ in range(IDLE_CONNECTIONS)]
    time.sleep(3 * SILENCE_S)
    text = get("/metrics")
    for sock in idle:
        sock.close()
    return text


@contextmanager
def serving(endpoint: str, dev: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """While it listens."""
    server = subprocess.Popen([MON, "--listen", endpoint, *options, dev])
    time.sleep(1)
    yield server
    server.terminate()
    server.wait()


def http(dev: str) -> dict[str, Any]:
    """The server, asked well and badly."""
    with serving(f"[::1]:{PORT}", dev):
        ipv6 = {"v6": get("/metrics", address="::1"), "v6_listening": said("ss", "-Hltn")}
    with serving(str(PORT), dev) as server:
        return ipv6 | asked_in_all_ways(dev) | {"alive": server.poll() is None}


def asked_in_all_ways(dev: str) -> dict[str, Any]:
    """What a server says."""
    second = subprocess.run(
        [MON, "--listen", str(PORT), dev], capture_output=True, text=True, check=False
    )
    return {
        "second": [second.returncode, second.stderr],
        "listening": said("ss", "-Hltn"),
        "metrics": get("/metrics"),
        "elsewhere": get("/"),
        "post": get("/metrics", "POST"),
        "garbage": [answer(garbage) for garbage in GARBAGE],
        "after_garbage": get("/metrics"),
        "after_crowd": crowd(),
    }


def main() -> None:
    """Watches the device once the traffic has run for a while."""
    dev, settle_s = sys.argv[1], float(sys.argv[2])
    time.sleep(settle_s)
    seen = {
        "tc": beside_tc(dev),
        "view": view(dev),
        "text": said(MON, dev),
        "lines": said(MON, "-j", "-n3", dev),
        "prometheus": said(MON, "--prometheus", dev),
        "http": http(dev),
    }
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
