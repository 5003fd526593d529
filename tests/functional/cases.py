# SPDX-License-Identifier: GPL-2.0
"""What the experiments are fed with, and what must come of it."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from frames import (
    AH,
    CE,
    DESTINATION,
    ECT0,
    ECT1,
    FRAGMENT,
    HOP_BY_HOP,
    IPV4_TYPE,
    MORE_FRAGMENTS,
    NO_NEXT_HEADER,
    NOP,
    NOT_ECT,
    QINQ,
    ROUTING,
    TCP,
    VLAN,
    Frame,
    extension,
    ipv4_hint,
    ipv6_hint,
    tcp_hint,
)
from uapi import ATTRIBUTES

EXPERIMENTS = (
    "module", "parameters", "refusals", "live", "attach", "accounts", "hints", "strip", "edge",
    "ecn", "tap", "mark", "handshake", "timestamps", "sharing",
    "shaper", "cgroup", "super", "peeked", "reasons", "quick", "nat",
)  # fmt: skip
"""On each kernel: what asks it for more than packets that come and go."""
ALIKE = ("classes", "limits", "growth", "hosts", "joint", "line", "l4s", "late", "peers")
"""On one kernel, as no code of theirs differs: tables, limits and rates, under load."""

MODULE_LIFE = ("users", "reload")
LINK_LIFE = ("links", "removed")
LOADS = int(os.environ.get("MODULE_LOADS", "50"))
"""`make module-life` has 1,000."""
ROUNDS = LOADS // 20
"""How often links, and namespaces, come and go."""
LIFE_DATA = {"loads": [str(LOADS)], "rounds": [str(ROUNDS)]}
LIFE_TIMEOUT_S = 7200 + 5 * LOADS

P_ONE = 1 << 30
ALPHA_ONE = 1 << 16
HINT = 1250
"""In units of 32 us: 40 ms."""


# Parameters


@dataclass(frozen=True)
class Parameter:
    """A parameter at both ends of its range: typed, and as JSON shows it."""

    name: str
    low: str
    low_shown: object
    high: str
    high_shown: object

    def typed(self, end: str) -> str:
        """What to type after zrtt."""
        word = self.low if end == "low" else self.high
        bare = isinstance(self.low_shown, bool) or self.name in ("atm", "ceil")
        return word if bare else f"{self.name} {word}"

    def shown(self, end: str) -> object:
        """What tc -j shows."""
        return self.low_shown if end == "low" else self.high_shown


PARAMETERS = [
    Parameter("mode", "zrtt", "zrtt", "blue", "blue"),
    Parameter("limit", "1", 1, "1000000", 1_000_000),
    Parameter("memory_limit", "1", 1, "512m", 512 << 20),
    Parameter("controller", "blue", "blue", "pi2", "pi2"),
    Parameter("target", "100us", 100, "1s", 1_000_000),
    Parameter("tupdate", "1ms", 1000, "1s", 1_000_000),
    Parameter("threshold", "1", 1, "1000000", 1_000_000),
    Parameter("freeze", "1ms", 1000, "10s", 10_000_000),
    Parameter("increment", "0.0000001%", 1 / P_ONE, "100%", 1.0),
    Parameter("decrement", "0.0000001%", 1 / P_ONE, "100%", 1.0),
    Parameter("alpha", "0", 0.0, "4", 4.0),
    Parameter("alpha_max", "0", 0.0, "4", 4.0),
    Parameter("pth", "0.01%", 0.0001, "100%", 1.0),
    Parameter("feedback", "0", 0, "3", 3),
    Parameter("mark_max", "0%", 0.0, "100%", 1.0),
    Parameter("flows", "64", 64, "4194304", 4_194_304),
    Parameter("hint", "clamp", "clamp", "ignore", "ignore"),
    Parameter("mark_rtt", "0", "0", "0xffff0000", "0xffff0000"),
    Parameter("strip", "nostrip", False, "strip", True),
    Parameter("handshake", "nohandshake", False, "handshake", True),
    Parameter("timestamps", "notimestamps", False, "timestamps", True),
    Parameter("quic", "quic", True, "noquic", False),
    Parameter("ecn", "noecn", False, "ecn", True),
    Parameter("split_gso", "no_split_gso", False, "split_gso", True),
    Parameter("names", "nonames", False, "names", True),
    # both off at the high end, where the mode is blue
    Parameter("lanes", "lanes", True, "nolanes", False),
    Parameter("l4s", "l4s", True, "nol4s", False),
    Parameter("fair", "dualhost", "dualhost", "flow", "flow"),
    Parameter("prefix6", "1", 1, "128", 128),
    Parameter("nat", "nonat", False, "nat", True),
    Parameter("bandwidth", "8kbit", 1000, "1tbit", 125_000_000_000),
    Parameter("overhead", "-64", -64, "256", 256),
    Parameter("mpu", "0", 0, "256", 256),
    Parameter("atm", "noatm", "noatm", "ptm", "ptm"),
    # what it needs, the ends of others do not have
    Parameter("ceil", "noceil", 0, "noceil", 0),
]

_LOW = " ".join(parameter.typed("low") for parameter in PARAMETERS)
_HIGH = " ".join(parameter.typed("high") for parameter in PARAMETERS)

# verb, end of the range: each verb sees both ends, and each end both others
PARAMETER_RUNS = [
    ("add", "low"),
    ("change", "high"),
    ("replace", "low"),
    ("del", ""),
    ("add", "high"),
    ("change", "low"),
    ("replace", "high"),
]
PARAMETER_LINES = [
    f"{verb} {_LOW if end == 'low' else _HIGH if end else ''}" for verb, end in PARAMETER_RUNS
]
PARAMETER_PARTS = [run for run in PARAMETER_RUNS if run[0] != "del"]


# Bad values

REFUSED_BY_TC = [
    "limit 0",
    "limit 1000001",
    "limit many",
    "memory_limit 0",
    "memory_limit 4g",
    "memory_limit much",
    "target 99us",
    "freeze 11s",
    "increment 0",
    "mark_max 101%",
    "alpha 4.1",
    "flows 100",
    "mode red",
    "controller pie",
    "hint believe",
    "mark_rtt 0x5",
    "mark_rtt 0x1ffff",
    "feedback 4",
    "bandwidth 7kbit",
    "ceil 7kbit",
    "ceil 101gbit",
    "max 11gbit",
    "min 7kbit",
    "overhead 257",
    "mpu -1",
    "fair host",
    "fair mark 0x5",
    "prefix6 0",
    "weight dscp EF:0",
    "tupdate",
]


@dataclass(frozen=True)
class BadAttribute:
    """A value that the kernel must refuse."""

    name: str
    size: int
    value: int

    @property
    def keyword(self) -> str:
        """What the message must call it."""
        words = {"FAIR_MASK": "fair mark", "WEIGHT_MASK": "weight mark", "WEIGHT_DSCP": "weight dscp"}
        words |= {"AUTO": "bandwidth auto", "AUTO_MIN": "min", "AUTO_MAX": "max"}
        return {"ALPHA_LAW": "alpha", **words}.get(self.name, self.name.lower())

    def line(self) -> str:
        """As the program nlset reads it."""
        return f"{ATTRIBUTES[self.name].number} {self.size} {self.value}"

    def __str__(self) -> str:
        return f"{self.keyword}={self.value}/{self.size}"


U32_MAX = (1 << 32) - 1
_BAD_VALUES = {
    "MODE": (5, U32_MAX),
    "LIMIT": (0, 1_000_001, U32_MAX),
    "CONTROLLER": (3, U32_MAX),
    "TARGET": (0, 99, 1_000_001, U32_MAX),
    "TUPDATE": (0, 999, 1_000_001, U32_MAX),
    "THRESHOLD": (0, 1_000_001, U32_MAX),
    "FREEZE": (0, 999, 10_000_001, U32_MAX),
    "INCREMENT": (0, P_ONE + 1, U32_MAX),
    "DECREMENT": (0, P_ONE + 1, U32_MAX),
    "ALPHA_LAW": (3, U32_MAX),
    "ALPHA": (4 * ALPHA_ONE + 1, U32_MAX),
    "ALPHA_MAX": (4 * ALPHA_ONE + 1, U32_MAX),
    "PTH": (0, P_ONE // 10000 - 1, P_ONE + 1, U32_MAX),
    "FEEDBACK": (4, U32_MAX),
    "MARK_MAX": (P_ONE + 1, U32_MAX),
    "FLOWS": (0, 1, 32, 63, 65, 96, 4_194_303, 8_388_608, U32_MAX),
    "HINT": (3, U32_MAX),
    "MARK_RTT": (5, 0x1FFFF, 0x80000001, U32_MAX),
    "STRIP": (2, 255),
    "HANDSHAKE": (2, 255),
    "TIMESTAMPS": (2, 255),
    "QUIC": (2, 255),
    "ECN": (2, 255),
    "SPLIT_GSO": (2, 255),
    "NAMES": (2, 255),
    "LANES": (2, 255),
    "L4S": (2, 255),
    "CEIL": (1, 999, 12_500_000_001, (1 << 64) - 1),
    "BANDWIDTH": (1, 999, 125_000_000_001, (1 << 64) - 1),
    "OVERHEAD": (257, U32_MAX - 64, 1 << 31),
    "MPU": (257, U32_MAX),
    "ATM": (3, U32_MAX),
    "MEMORY_LIMIT": (0, U32_MAX),
    "AUTO": (3, U32_MAX),
    "AUTO_MIN": (0, 999, 1_250_000_001, (1 << 64) - 1),
    "AUTO_MAX": (0, 999, 1_250_000_001, (1 << 64) - 1),
}
BAD_ATTRIBUTES = [
    BadAttribute(name, ATTRIBUTES[name].bytes, value)
    for name, values in _BAD_VALUES.items()
    for value in values
] + [
    # good values of the wrong size
    BadAttribute(name, size, 64)
    for name, right in ATTRIBUTES.items()
    for size in (0, 1, 2, 4, 8)
    if size != right.bytes
]
UNKNOWN_ATTRIBUTE_LINE = f"{max(its.number for its in ATTRIBUTES.values()) + 1} 4 1"


# Frames

_PORTS = count(10000)

ESP = 50

NONE, OK, BAD = "none", "ok", "bad"


@dataclass(frozen=True)
class HintCase:
    """A frame, and what the qdisc must read in it."""

    name: str
    frame: Frame
    want: str
    device: str = "a0"

    def line(self) -> str:
        """As the experiment reads it."""
        return f"{self.device} {self.frame.line()}"


def _v4(options: bytes = b"", **more: object) -> Frame:
    return Frame(next(_PORTS), ip_options=options).with_(**more)


def _v6(*extensions: tuple[int, bytes], **more: object) -> Frame:
    return Frame(next(_PORTS), version=6, extensions=extensions).with_(**more)


def _tcp(options: bytes = b"", **more: object) -> Frame:
    return Frame(next(_PORTS), proto=TCP, tcp_options=options).with_(**more)


_V4 = ipv4_hint(HINT)
_V6 = (HOP_BY_HOP, extension(ipv6_hint(HINT)))
_TCP = tcp_hint(HINT)
_TIMESTAMP = bytes([NOP, NOP, 8, 10]) + bytes(8)
_ROUTING = (ROUTING, bytes([0, 3, 0, 0, 0, 0, 0]))
_EMPTY = (DESTINATION, extension(b""))
_VXLAN = bytes([8, 0, 0, 0, 0, 0, 7, 0])

HINT_CASES = [
    # well-formed
    HintCase("ipv4", _v4(_V4), OK),
    HintCase("ipv4 behind nops", _v4(bytes([NOP] * 7) + _V4), OK),
    HintCase("ipv4 behind router alert", _v4(bytes([0x94, 4, 0, 0]) + _V4), OK),
    HintCase("ipv4 at the end of a full area", _v4(bytes([NOP] * 36) + _V4), OK),
    HintCase("ipv4 with tcp", _v4(_V4, proto=TCP), OK),
    HintCase("ipv6 hop-by-hop", _v6(_V6), OK),
    HintCase("ipv6 destination", _v6((DESTINATION, _V6[1])), OK),
    HintCase("ipv6 destination behind routing", _v6(_ROUTING, (DESTINATION, _V6[1])), OK),
    HintCase("ipv6 with tcp", _v6(_V6, proto=TCP), OK),
    HintCase("ipv6 within 512 bytes", _v6((DESTINATION, extension(bytes(440))), _V6), OK),
    HintCase("ipv6 in both headers", _v6(_V6, (DESTINATION, extension(ipv6_hint(9)))), OK),
    HintCase("tcp", _tcp(_TCP), OK),
    HintCase("tcp behind timestamps", _tcp(_TIMESTAMP + _TCP), OK),
    HintCase("tcp at an odd offset", _tcp(bytes([NOP]) + _TCP + bytes([NOP])), OK),
    HintCase("tcp over ipv6", _v6(proto=TCP, tcp_options=_TCP), OK),
    HintCase("ipv4 before tcp", _v4(_V4, proto=TCP, tcp_options=tcp_hint(1)), OK),
    HintCase("largest value", _v4(ipv4_hint(65534)), OK),
    # encapsulated
    HintCase("vlan in the frame", _v4(_V4, tags=((VLAN, 7),)), OK),
    HintCase("vlan in the frame, ipv6", _v6(_V6, tags=((VLAN, 7),)), OK),
    HintCase("vlan beside the frame", _v4(_V4), OK, "a0.5"),
    HintCase("vlan beside the frame, tcp", _tcp(_TCP), OK, "a0.5"),
    HintCase("qinq", _v4(_V4, tags=((QINQ, 3), (VLAN, 7))), OK),
    HintCase("qinq, tcp over ipv6", _v6(proto=TCP, tcp_options=_TCP, tags=((QINQ, 3), (VLAN, 7))), OK),
    HintCase("pppoe", _v4(_V4, pppoe=True), OK),
    HintCase("pppoe, ipv6", _v6(_V6, pppoe=True), OK),
    HintCase("pppoe in a vlan", _tcp(_TCP, pppoe=True, tags=((VLAN, 7),)), OK),
    HintCase("first fragment", _v4(_V4, fragment=MORE_FRAGMENTS), OK),
    HintCase("later fragment", _v4(_V4, fragment=100), OK),
    # not there
    HintCase("no hint", _v4(), NONE),
    HintCase("no hint, tcp", _tcp(_TIMESTAMP), NONE),
    HintCase("no hint, ipv6", _v6(), NONE),
    HintCase("unknown value", _v4(ipv4_hint(0)), NONE),
    HintCase("reserved value", _v4(ipv4_hint(65535)), NONE),
    HintCase("behind the end of the list", _v4(bytes(1) + _V4), NONE),
    HintCase("inside another option", _v4(bytes([0x44, 8, 5, 0]) + _V4), NONE),
    HintCase("inside vxlan", _v4(payload=_VXLAN + _v4(_V4).bytes()), NONE),
    HintCase("other experiment", _tcp(bytes([0xFE, 6, 0xF9, 0x89, 0, 9])), NONE),
    HintCase("ipv6 beyond 512 bytes", _v6((DESTINATION, extension(bytes(456))), _V6), NONE),
    HintCase("seven extension headers", _v6(_EMPTY, _EMPTY, _EMPTY, _EMPTY, _EMPTY, _EMPTY, _V6), NONE),
    HintCase("third vlan tag", _v4(_V4, tags=((QINQ, 3), (VLAN, 7), (VLAN, 8))), NONE),
    HintCase("tcp of a later fragment", _tcp(fragment=100, payload=_TCP), NONE),
    HintCase("ipv6 fragment", _v6((FRAGMENT, bytes([0, 0, 8, 0, 0, 0, 9])), payload=ipv6_hint(9)), NONE),
    # malformed
    HintCase("ipv4 length 0", _v4(bytes([IPV4_TYPE, 0, 4, 226])), BAD),
    HintCase("ipv4 length 1", _v4(bytes([IPV4_TYPE, 1, 4, 226])), BAD),
    HintCase("ipv4 length 3", _v4(bytes([IPV4_TYPE, 3, 4, 226])), BAD),
    HintCase("ipv4 length 5", _v4(bytes([IPV4_TYPE, 5, 4, 226, 0])), BAD),
    HintCase("ipv4 over-long", _v4(bytes([IPV4_TYPE, 40, 4, 226])), BAD),
    HintCase("ipv4 other option loops", _v4(bytes([0x44, 0, 0, 0]) + _V4), BAD),
    HintCase("ipv4 other option over-long", _v4(bytes([0x44, 255, 0, 0]) + _V4), BAD),
    HintCase("ipv4 overlapping", _v4(bytes([0x44, 5, 0, 0]) + _V4), BAD),
    HintCase("ipv4 truncated", _v4(bytes([NOP, NOP, IPV4_TYPE, 4])), BAD),
    HintCase("ipv4 ihl beyond the packet", _v4(_V4, ihl=15, payload=b""), BAD),
    HintCase("ipv4 ihl below 5", _v4(_V4, ihl=4), NONE),
    HintCase("ipv4 cut inside the options", _v4(_V4, cut=14 + 22), BAD),
    HintCase("ipv4 cut inside the header", _v4(_V4, cut=14 + 12), NONE),
    HintCase("ipv4 nothing but a type", _v4(cut=14), NONE),
    HintCase("ipv4 wrong total length", _v4(_V4, total_length=65535), OK),
    HintCase("ipv6 length 3", _v6((HOP_BY_HOP, extension(bytes([0x1E, 3, 4, 226, 0])))), BAD),
    HintCase("ipv6 over-long", _v6((HOP_BY_HOP, extension(bytes([0x1E, 200, 4, 226])))), BAD),
    HintCase("ipv6 truncated", _v6((HOP_BY_HOP, extension(bytes([1, 2, 0, 0, 0x1E, 2])))), BAD),
    HintCase("ipv6 header beyond the packet", _v6((HOP_BY_HOP, bytes([255]) + ipv6_hint(9) + bytes(2)), payload=b""), BAD),
    HintCase("ipv6 cut inside the options", _v6(_V6, cut=14 + 40 + 5), BAD),
    HintCase("ipv6 cut before the options", _v6(_V6, cut=14 + 40 + 1), NONE),
    HintCase("ipv6 jumbo length", _v6(_V6, total_length=0), OK),
    HintCase("ipv6 cut inside the header", _v6(_V6, cut=14 + 20), NONE),
    HintCase("tcp length 0", _tcp(bytes([0xFE, 0, 0x5A, 0x52, 4, 226])), BAD),
    HintCase("tcp length 4", _tcp(bytes([0xFE, 4, 0x5A, 0x52])), BAD),
    HintCase("tcp over-long", _tcp(bytes([0xFE, 60, 0x5A, 0x52, 4, 226])), BAD),
    HintCase("ipv4 and tcp over-long", _tcp(bytes([0xFE, 60, 0x5A, 0x52]), ip_options=bytes([IPV4_TYPE, 40, 4, 226])), BAD),
    HintCase("tcp doff beyond the packet", _tcp(_TCP, doff=15, payload=b""), BAD),
    HintCase("tcp doff below 5", _tcp(_TCP, doff=4), NONE),
    HintCase("tcp cut inside the header", _tcp(_TCP, cut=14 + 20 + 10), NONE),
    HintCase("tcp cut inside the options", _tcp(_TCP, cut=14 + 20 + 20 + 3), BAD),
    HintCase("vlan cut inside the tag", _v4(_V4, tags=((VLAN, 7),), cut=14 + 2), NONE),
    HintCase("pppoe cut inside the header", _v4(_V4, pppoe=True, cut=14 + 5), NONE),
]  # fmt: skip

HINTED_FLOWS = [
    _v4(_V4), _v4(_V4, proto=TCP), _v6(_V6), _tcp(_TCP), _tcp(_TIMESTAMP + _TCP),
    # the first one counts
    _v4(_V4, proto=TCP, tcp_options=tcp_hint(9)), _v6(_V6, (DESTINATION, extension(ipv6_hint(9)))),
]  # fmt: skip


PLAIN_FLOWS = [_v4(), _v4(proto=TCP), _v6(), _tcp()]


@dataclass(frozen=True)
class StripCase:
    """A frame with a hint, and the same as it must leave the queue."""

    name: str
    sent: Frame
    want: Frame
    device: str = "a0"

    @property
    def stripped(self) -> bool:
        """Whether there is something to remove, and it may be removed."""
        return self.sent != self.want


def _cut(name: str, frame: Frame, device: str = "a0", **more: object) -> StripCase:
    """The IPv4 option, or the extension header that holds it, is gone."""
    want = frame.with_(
        ip_options=frame.ip_options.replace(_V4, b""),
        extensions=tuple(header for header in frame.extensions if _HINT6 not in header[1]),
        **more,
    )
    return StripCase(name, frame, want, device)


def _blank(name: str, frame: Frame, hint: bytes, blank: bytes, device: str = "a0") -> StripCase:
    """The option is padding now."""

    def blanked(options: bytes) -> bytes:
        return options.replace(hint, blank)

    want = frame.with_(
        ip_options=blanked(frame.ip_options),
        tcp_options=blanked(frame.tcp_options),
        extensions=tuple((kind, blanked(rest)) for kind, rest in frame.extensions),
    )
    return StripCase(name, frame, want, device)


def _keep(name: str, frame: Frame) -> StripCase:
    return StripCase(name, frame, frame)


def _alone(area: bytes) -> tuple[int, bytes]:
    """A destination header of 8 bytes."""
    return (DESTINATION, bytes(1) + area)


_HINT6 = ipv6_hint(HINT)
_NOPS4, _NOPS6, _PADN = bytes([NOP] * 4), bytes([NOP] * 6), bytes([1, 2, 0, 0])
_ALERT4, _ALERT6 = bytes([0x94, 4, 0, 0]), bytes([5, 2, 0, 0])
_TAGGED, _QINQ = ((VLAN, 7),), ((QINQ, 3), (VLAN, 7))
_AH_REST = bytes([4, 0, 0]) + bytes(20)
_AO, _MD5 = bytes([29, 16, 1, 1]) + bytes(range(12)), bytes([19, 18]) + bytes(range(16))
_TO_AH = (FRAGMENT, bytes([0, 0, 1, 0, 0, 0, 9]))
_TO_TCP = (FRAGMENT, bytes([0, 0, 8, 0, 0, 0, 9]))

STRIP_CASES = [
    # IPv4: taken out
    _cut("ipv4", _v4(_V4)),
    _cut("ipv4 with tcp", _v4(_V4, proto=TCP)),
    _cut("ipv4 with a second hint in tcp", _v4(_V4, proto=TCP, tcp_options=_TCP)),
    _cut("ipv4 at an odd offset", _v4(bytes([NOP]) + _V4 + bytes([NOP] * 3))),
    _cut("ipv4 behind router alert", _v4(_ALERT4 + _V4)),
    _cut("ipv4 before router alert", _v4(_V4 + _ALERT4)),
    _cut("ipv4 at the end of a full area", _v4(bytes([NOP] * 36) + _V4)),
    _cut("ipv4 in a vlan", _v4(_V4, tags=_TAGGED)),
    _cut("ipv4 in qinq", _v4(_V4, tags=_QINQ)),
    _cut("ipv4 in pppoe", _v4(_V4, pppoe=True)),
    _cut("ipv4 in pppoe in a vlan", _v4(_V4, pppoe=True, tags=_TAGGED)),
    _cut("ipv4 first fragment", _v4(_V4, fragment=MORE_FRAGMENTS)),
    _cut("ipv4 later fragment", _v4(_V4, fragment=100)),
    _cut("ipv4 wrong total length", _v4(_V4, total_length=65535), total_length=65531),
    _blank("ipv4 without total length", _v4(_V4, total_length=0), _V4, _NOPS4),
    _keep("ipv4 before ah", _v4(_V4, proto=AH)),
    # IPv6: header taken out
    _cut("ipv6 hop-by-hop", _v6(_V6)),
    _cut("ipv6 with tcp", _v6(_V6, proto=TCP)),
    _cut("ipv6 destination", _v6((DESTINATION, _V6[1]))),
    _cut("ipv6 between other headers", _v6(_EMPTY, _ROUTING, (DESTINATION, _V6[1]), _EMPTY)),
    _cut("ipv6 before a fragment", _v6(_V6, _TO_TCP, proto=TCP)),
    _cut("ipv6 before nothing", _v6(_V6, proto=NO_NEXT_HEADER)),
    _cut("ipv6 and two pad1", _v6(_alone(_HINT6 + bytes(2)))),
    _cut("ipv6 behind two pad1", _v6(_alone(bytes(2) + _HINT6))),
    _cut("ipv6 between two pad1", _v6(_alone(bytes(1) + _HINT6 + bytes(1)))),
    _cut("ipv6 behind padn", _v6(_alone(bytes([1, 0]) + _HINT6))),
    _cut("ipv6 in a vlan", _v6(_V6, tags=_TAGGED)),
    _cut("ipv6 in qinq", _v6(_V6, tags=_QINQ)),
    _cut("ipv6 in pppoe", _v6(_V6, pppoe=True)),
    # IPv6: blanked in a header that holds, or may hold, something else
    _blank("ipv6 behind router alert", _v6((HOP_BY_HOP, extension(_ALERT6 + _HINT6))), _HINT6, _PADN),
    _blank("ipv6 before router alert", _v6((HOP_BY_HOP, extension(_HINT6 + _ALERT6))), _HINT6, _PADN),
    _blank("ipv6 in a padded header", _v6((HOP_BY_HOP, extension(bytes(8) + _HINT6))), _HINT6, _PADN),
    _blank("ipv6 and a short option", _v6(_alone(_HINT6 + bytes([0x3E, 0]))), _HINT6, _PADN),
    _blank("ipv6 behind a short option", _v6(_alone(bytes([0x3E, 0]) + _HINT6)), _HINT6, _PADN),
    _blank("ipv6 and a broken option", _v6(_alone(_HINT6 + bytes([0, 0x3E]))), _HINT6, _PADN),
    _blank("ipv6 jumbo length", _v6(_V6, total_length=0), _HINT6, _PADN),
    _keep("ipv6 before ah", _v6(_V6, (AH, _AH_REST))),
    _keep("ipv6 before ah behind others", _v6(_V6, _ROUTING, (AH, _AH_REST), proto=TCP)),
    _keep("ipv6 before a fragment of ah", _v6(_V6, _TO_AH, proto=AH)),
    # TCP: blanked
    _blank("tcp", _tcp(_TCP), _TCP, _NOPS6),
    _blank("tcp at an odd offset", _tcp(bytes([NOP]) + _TCP + bytes([NOP])), _TCP, _NOPS6),
    _blank("tcp behind timestamps", _tcp(_TIMESTAMP + _TCP), _TCP, _NOPS6),
    _blank("tcp over ipv6", _v6(proto=TCP, tcp_options=_TCP), _TCP, _NOPS6),
    _blank("tcp in qinq", _tcp(_TCP, tags=_QINQ), _TCP, _NOPS6),
    # TCP: the MAC of RFC 5925 may cover options, that of RFC 2385 does not
    _keep("tcp before tcp-ao", _tcp(_TCP + _AO)),
    _keep("tcp behind tcp-ao", _tcp(_AO + _TIMESTAMP + _TCP)),
    _keep("tcp behind tcp-ao over ipv6", _v6(proto=TCP, tcp_options=_AO + _TCP)),
    _cut("ipv4 with tcp-ao", _v4(_V4, proto=TCP, tcp_options=_AO)),
    _blank("tcp with md5", _tcp(_MD5 + _TCP), _TCP, _NOPS6),
    _keep("nothing to strip", _tcp(_TIMESTAMP)),
    _keep("nothing to strip, ipv6", _v6(_EMPTY)),
    _keep("nothing to strip, unknown value", _v4(ipv4_hint(0))),
    _keep("nothing to strip, reserved value", _v4(ipv4_hint(65535))),
    _keep("nothing to strip, malformed", _v4(bytes([IPV4_TYPE, 40, 4, 226]))),
    # VLAN tag beside the frame: sent last
    _cut("ipv4 in a vlan beside the frame", _v4(_V4), "a0.5"),
    _cut("ipv6 in a vlan beside the frame", _v6(_V6), "a0.5"),
    _blank("tcp in a vlan beside the frame", _tcp(_TCP), _TCP, _NOPS6, "a0.5"),
]  # fmt: skip

ECN_FRAMES = [
    Frame(next(_PORTS), version=version, proto=proto, ecn=ecn, ip_options=options)
    for version, options in ((4, b""), (4, _V4), (6, b""))
    for proto in (TCP, 17)
    for ecn in (NOT_ECT, ECT0, ECT1, CE)
]

LOAD_LINE = Frame(9999, payload=bytes(958)).line()
"""1000 bytes with the Ethernet header."""

PATTERN = bytes(range(256)) * 3
"""As payload: too long for thin."""

_WRAPS: dict[str, dict[str, Any]] = {
    "plain": {}, "vlan": {"tags": _TAGGED}, "qinq": {"tags": _QINQ}, "pppoe": {"pppoe": True},
    "pppoe in vlan": {"tags": _TAGGED, "pppoe": True},
}  # fmt: skip


@dataclass(frozen=True)
class L4sCase:
    """A frame of a flow of its own, and the device that it leaves by."""

    frame: Frame
    device: str = "a0"

    def __str__(self) -> str:
        tags = "-".join(["beside"] * (self.device != "a0") + [f"{t:x}" for t, _ in self.frame.tags])
        words = (f"ipv{self.frame.version}", "options" * bool(self.frame.ip_options), tags,
                 "pppoe" * self.frame.pppoe, "tcp" if self.frame.proto == TCP else "udp",
                 ("NotECT", "ECT1", "ECT0", "CE")[self.frame.ecn])  # fmt: skip
        return "-".join(filter(None, words))


def _in_lanes(version: int, device: str = "a0", **how: Any) -> list[L4sCase]:
    return [
        L4sCase(Frame(next(_PORTS), version, proto, ecn, dscp=10, payload=PATTERN, **how), device)
        for proto in (TCP, 17)
        for ecn in (NOT_ECT, ECT0, ECT1, CE)
    ]


L4S_CASES = [
    *(case for v in (4, 6) for how in _WRAPS.values() for case in _in_lanes(v, **how)),
    *_in_lanes(4, ip_options=_V4),
    *(case for v in (4, 6) for case in _in_lanes(v, "a0.5")),
]

L4S_FILL = Frame(9998, ecn=ECT1, payload=bytes(958)).line()
"""1000 bytes of a flow that waits in the lane."""

L4S_SUPER = [
    Frame(next(_PORTS), version, TCP, ecn, dscp=10, payload=PATTERN * 12)
    for ecn in (ECT1, ECT0)
    for version in (4, 6)
]
"""While nothing is in bulk the lane takes all of new flows."""
L4S_GSO_SIZE = 1400

L4S_PAGED = [
    Frame(next(_PORTS), version, TCP, ecn, dscp=10, payload=PATTERN * 8, tags=tags)
    for ecn in (ECT1, ECT0)
    for version in (4, 6)
    for tags in ((), _TAGGED)
]
"""Longer than a page, so that their headers may be outside of the linear part."""

L4S_MIXED = [
    Frame(9997, ecn=ecn, dscp=10, payload=bytes([number]) + PATTERN)
    for number, ecn in enumerate((ECT1, NOT_ECT, ECT1, CE, NOT_ECT, ECT1))
]
"""One flow, whose packets that cannot be marked follow the others."""

L4S_NUMBERED = [
    Frame(9996, ecn=ECT1, payload=number.to_bytes(2, "big") + bytes(956)) for number in range(100)
]

LATE_FRAMES = [Frame(next(_PORTS), payload=bytes(958)) for _ in range(48)]
"""As long, and of as many flows."""

FULL_LINE = Frame(9999, payload=bytes(1472)).line()
"""1514 bytes."""

QUEUED_FRAMES = [Frame(next(_PORTS), payload=bytes(958)) for _ in range(300)]

NAMED_FRAMES = [
    _v4(_V4, proto=TCP),
    _v6(_V6),
    _v4(proto=ESP, payload=bytes(8)),
    _v4(fragment=100),
    _v4(tags=((VLAN, 7),)),
]
"""TCP and UDP with hints; what has no ports; and a frame with a tag."""

INSIDE = (bytes([192, 168, 1, 2]), bytes([198, 51, 100, 3]))
TUNNELED_FRAMES = [_v4(ends=INSIDE) for _ in range(4)]
"""What is sent through tunnels, with the addresses in there."""
_TUNNELS = [
    TUNNELED_FRAMES[0].in_ipip(4), TUNNELED_FRAMES[1].in_ipip(6), TUNNELED_FRAMES[2].in_gre(),
    TUNNELED_FRAMES[3].in_gretap(),
]  # fmt: skip

GSO_SIZE = 1448


@dataclass(frozen=True)
class SuperCase:
    """A GSO packet, and how many it stands for."""

    name: str
    frame: Frame
    segments: int


SUPER_CASES = [
    SuperCase("full segments", _v4(proto=TCP, payload=bytes(10 * GSO_SIZE)), 10),
    SuperCase("a byte more", _tcp(_TIMESTAMP, payload=bytes(10 * GSO_SIZE + 1)), 11),
    SuperCase("64 KB", _tcp(_TIMESTAMP, payload=bytes(65_000)), 45),
    SuperCase("ipv6", _v6(proto=TCP, tcp_options=_TIMESTAMP, payload=bytes(10 * GSO_SIZE)), 10),
    # TCP refuses to split it
    SuperCase("no more than a segment", _v4(proto=TCP, payload=bytes(GSO_SIZE)), 1),
]

MANY_FRAMES = [Frame(port) for port in range(20000, 25000)]

HELD_FRAMES = [_v4(_V4) for _ in MANY_FRAMES]
TABLE_SIZES = (1 << 19, 1 << 20, 1 << 16)
"""At first, larger, and smaller: the last one's slots but one are shown as classes."""
HOLDS_DATA = {
    "held": [frame.line() for frame in HELD_FRAMES],
    "sizes": [" ".join(map(str, TABLE_SIZES))],
}


def _between(source: int, target: int, version: int) -> Frame:
    """Of two hosts; those of IPv6 differ in the last byte of their first 64 bits."""
    if version == 4:
        ends = bytes([10, 0, 0, source]), bytes([10, 0, 1, target])
    else:
        source_end, target_end = (
            bytes([0xFD, *[0] * 6, number, *[0] * 7, 1]) for number in (source, 0x80 + target)
        )
        ends = source_end, target_end
    return Frame(9000, version=version, ends=ends)


HOST_ENDS = (3, 4)
"""Hosts at either end; each sends to each at the other."""
HOST_FRAMES = {
    version: [
        _between(source, target, version)
        for source in range(1, HOST_ENDS[0] + 1)
        for target in range(1, HOST_ENDS[1] + 1)
    ]
    for version in (4, 6)
}
LARGE_FRAMES = [replace(frame, payload=bytes(1000)) for frame in HOST_FRAMES[4]]
"""A quarter of their bytes is hardly rounded."""
NAT_HOSTS = (1, 3, 4)
OUTSIDE, ROUTER = bytes([10, 0, 0, 2]), bytes([10, 9, 0, 1])


def _behind(host: int, port: int) -> Frame:
    """Of a host behind NAT."""
    return Frame(port, ends=(bytes([10, 0, 0, host]), OUTSIDE))


NAT_FRAMES = [_behind(host, 9000 + host) for host in NAT_HOSTS]
NAT_TWO = [_behind(1, 9001), _behind(3, 9003)]
NAT_REUSED = [_behind(3, 9001), _behind(3, 9003)]
NAT_IN = [Frame(9000 + host, ends=(OUTSIDE, ROUTER)) for host in NAT_HOSTS]

A, B = bytes([10, 0, 0, 1]), bytes([10, 0, 1, 2])


def _timed(ends: tuple[bytes, bytes], tsval: int, tsecr: int, seq: int = 1) -> Frame:
    """Of a connection of two equal ports."""
    options = bytes([NOP, NOP, 8, 10]) + struct.pack("!II", tsval, tsecr)
    return Frame(9, proto=TCP, tcp_options=options, seq=seq, ends=ends)


def _from_b(frame: Frame) -> str:
    """Its line, of which b's device is the source."""
    line = frame.line()
    return line[12:24] + line[:12] + line[24:]


TIMED_OUT = [_timed((A, B), 100, 0), _timed((A, B), 200, 500), _timed((A, B), 300, 600)]
TIMED_BACK = [_timed((B, A), 500, 100), _timed((B, A), 600, 200)]
SPOOFED_OUT = [_timed((A, B), tsval, 500, seq=0x5EED << 16) for tsval in (201, 1 << 30)]
SPOOFED_BACK = [_timed((B, A), 550, tsecr, seq=0x5EED << 16) for tsecr in (200, 1 << 30)]
"""Of a third party, which sees the timestamps but not the sequence numbers."""

DATA = {
    "timed_out": [frame.line() for frame in TIMED_OUT],
    "timed_back": [_from_b(frame) for frame in TIMED_BACK],
    "spoofed_out": [frame.line() for frame in SPOOFED_OUT],
    "spoofed_back": [_from_b(frame) for frame in SPOOFED_BACK],
    "hosts_v4": [frame.line() for frame in HOST_FRAMES[4]],
    "hosts_large": [frame.line() for frame in LARGE_FRAMES],
    "hosts_v6": [frame.line() for frame in HOST_FRAMES[6]],
    "hosts_tunnel": [frame.in_ipip(6).line() for frame in HOST_FRAMES[4]],
    "nat": [frame.line() for frame in NAT_FRAMES],
    "nat_two": [frame.line() for frame in NAT_TWO],
    "nat_reused": [frame.line() for frame in NAT_REUSED],
    "nat_in": [frame.line() for frame in NAT_IN],
    "parameters": PARAMETER_LINES,
    "refused_by_tc": REFUSED_BY_TC,
    "refused_by_kernel": [bad.line() for bad in BAD_ATTRIBUTES] + [UNKNOWN_ATTRIBUTE_LINE],
    "load": [LOAD_LINE],
    "full": [FULL_LINE],
    "hints": [case.line() for case in HINT_CASES],
    "hinted_flows": [frame.line() for frame in HINTED_FLOWS],
    "plain_flows": [frame.line() for frame in PLAIN_FLOWS],
    "strip": [case.sent.line() for case in STRIP_CASES if case.device == "a0"],
    "strip_vlan": [case.sent.line() for case in STRIP_CASES if case.device == "a0.5"],
    "ecn": [frame.line() for frame in ECN_FRAMES],
    "tap": [Frame(8000, ecn=ECT0, ip_options=_V4).line()],
    "named": [frame.line() for frame in NAMED_FRAMES + _TUNNELS],
    "many": [frame.line() for frame in MANY_FRAMES],
    "late": [frame.line() for frame in LATE_FRAMES],
    "queued": [frame.line() for frame in QUEUED_FRAMES],
    "l4s": [case.frame.line() for case in L4S_CASES if case.device == "a0"],
    "l4s_vlan": [case.frame.line() for case in L4S_CASES if case.device == "a0.5"],
    "l4s_fill": [L4S_FILL],
    "l4s_super": [frame.line() for frame in L4S_SUPER],
    "l4s_gso_size": [str(L4S_GSO_SIZE)],
    "l4s_paged": [frame.line() for frame in L4S_PAGED],
    "l4s_mixed": [frame.line() for frame in L4S_MIXED],
    "l4s_first": [frame.line() for frame in L4S_NUMBERED[:60]],
    "l4s_second": [frame.line() for frame in L4S_NUMBERED[60:80]],
    "l4s_third": [frame.line() for frame in L4S_NUMBERED[80:]],
    "super": [case.frame.line() for case in SUPER_CASES],
}
