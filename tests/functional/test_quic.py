# SPDX-License-Identifier: GPL-2.0
"""RTTs of QUIC, from frames as its ends send them."""

from __future__ import annotations

import re
from concurrent.futures import Future
from dataclasses import replace
from functools import cache

import pytest
from frames import VLAN, Frame
from guests import KERNELS_ALIKE, Guest, Report, start, unaccounted

V1, V2 = 1, 0x6B3343CF
INITIAL, HANDSHAKE = 0, 2
GREASED = 0x40
GAP_MS, SLACK_MS = 100, 30
"""Between frames, and what it takes to start the program that sends the next."""
SHOWN = re.compile(r"rtt ([\d.]+)(us|ms) source (\w+) ")
KNOWN = ("client", "server", "v2", "ipv6", "greased", "tagged", "spin", "on")
UNKNOWN = ("again", "malformed", "elsewhere", "off")


def header(kind: int, version: int = V1, cid: int = 8) -> bytes:
    """A long header, its connection IDs of `cid` bytes."""
    first = 0xC0 | (kind + (version == V2)) % 4 << 4
    ids = bytes([cid]) + bytes(cid)
    return bytes([first]) + version.to_bytes(4, "big") + ids + ids


def initial(size: int, version: int = V1, cid: int = 8) -> bytes:
    """A packet of `size` bytes behind its length."""
    token = b"\0"
    return header(INITIAL, version, cid) + token + (0x4000 | size).to_bytes(2, "big") + bytes(size)


def handshake(version: int = V1) -> bytes:
    return header(HANDSHAKE, version) + b"\x20" + bytes(32)


def short(spin: int = 0) -> bytes:
    return bytes([0x40 | spin << 5]) + bytes(40)


HELLO = initial(1200)
FINISHED = initial(100) + handshake()
FLIGHT = initial(100, cid=5) + handshake()
FLOWS = {
    "client": (HELLO, FINISHED), "server": (FLIGHT, short()),
    "v2": (initial(1200, V2), initial(100, V2) + handshake(V2)),
    "ipv6": (HELLO, FINISHED), "greased": (bytes([HELLO[0] & ~GREASED]) + HELLO[1:], FINISHED),
    "tagged": (HELLO, FINISHED), "again": (HELLO, FINISHED),
    "malformed": (initial(1200, cid=21), FINISHED), "elsewhere": (initial(1200, V1 + 1), FINISHED),
    "spin": (handshake(), short()), "off": (HELLO, FINISHED), "on": (HELLO, FINISHED),
}  # fmt: skip
"""What each sends first and second; the rest has short headers."""


def _frame(name: str) -> Frame:
    frame = Frame(4430 + list(FLOWS).index(name))
    if name == "tagged":
        return replace(frame, tags=((VLAN, 5),))
    return replace(frame, version=6) if name == "ipv6" else frame


def _files() -> dict[str, list[str]]:
    files = {}
    for name, (first, second) in FLOWS.items():
        frame = _frame(name)
        files |= {f"quic_{name}_port": [str(frame.port)]}
        said = {"first": first, "second": second, "data": short()}
        files |= {f"quic_{name}_{what}": [frame.with_(payload=payload).line()]
                  for what, payload in said.items()}  # fmt: skip
    for spin in range(2):
        files[f"quic_spin_{spin}"] = [_frame("spin").with_(payload=short(spin)).line()]
    return files


@cache
def _reports() -> dict[str, Future[Report]]:
    return start([Guest(kernel, ("quic",), _files()) for kernel in KERNELS_ALIKE])


@pytest.fixture(params=KERNELS_ALIKE)
def quic(request: pytest.FixtureRequest) -> Report:
    """What a kernel's guest said."""
    return _reports()[request.param].result()


def seen(report: Report, name: str) -> tuple[float, str]:
    """RTT in milliseconds, and its source."""
    (found,) = SHOWN.findall(report.part(f"quic.{name}"))
    number, unit, source = found
    return float(number) * {"us": 1e-3, "ms": 1.0}[unit], source


@pytest.mark.parametrize("name", KNOWN)
def test_rtt_is_that_of_the_path(quic: Report, name: str) -> None:
    rtt_ms, source = seen(quic, name)
    assert source == "quic"
    assert GAP_MS <= rtt_ms <= GAP_MS + SLACK_MS


@pytest.mark.parametrize("name", UNKNOWN)
def test_nothing_else_shows_an_rtt(quic: Report, name: str) -> None:
    assert seen(quic, name) == (0, "none")


def test_flows_are_counted_by_their_source(quic: Report) -> None:
    qdisc = quic.qdisc("quic.seen")
    assert 0 < qdisc["flows_quic"] <= len(KNOWN)
    assert qdisc["flows_handshake"] == 0
    assert GAP_MS * 1000 <= qdisc["rtt_avg_us"] <= (GAP_MS + SLACK_MS) * 1000


def test_nothing_is_lost_on_the_way(quic: Report) -> None:
    qdisc = quic.qdisc("quic.end")
    assert unaccounted(qdisc) == 0
    assert qdisc["drops"] == 0
    assert not quic.trouble()
