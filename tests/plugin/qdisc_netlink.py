# SPDX-License-Identifier: GPL-2.0
"""The little of rtnetlink's qdisc messages that the plugin tests need."""

from __future__ import annotations

import struct

RTM_NEWQDISC = 36
TCA_KIND = 1
TCA_OPTIONS = 2
TCA_STATS2 = 7
TCA_STATS_BASIC = 1
TCA_STATS_QUEUE = 3
TCA_STATS_APP = 4
TC_H_ROOT = 0xFFFFFFFF
NLA_F_NESTED = 0x8000

_NLMSGHDR = struct.Struct("=IHHII")
_TCMSG = struct.Struct("=BxxxiIII")
_RTATTR = struct.Struct("=HH")
_ALIGN = 4


def attr(kind: int, payload: bytes) -> bytes:
    """One attribute, padded."""
    padding = -len(payload) % _ALIGN
    return _RTATTR.pack(_RTATTR.size + len(payload), kind) + payload + bytes(padding)


def parse_attrs(data: bytes) -> list[tuple[int, bytes]]:
    """All attributes of a block, in order."""
    found = []
    while data:
        length, kind = _RTATTR.unpack_from(data)
        assert _RTATTR.size <= length <= len(data), "malformed attribute"
        found.append((kind, data[_RTATTR.size : length]))
        data = data[length + -length % _ALIGN :]
    return found


def qdisc_message(options: bytes, xstats: bytes | None = None) -> bytes:
    """What the kernel sends for a zrtt qdisc at the root of the first device."""
    body = _TCMSG.pack(0, 1, 0x80010000, TC_H_ROOT, 2)
    body += attr(TCA_KIND, b"zrtt\0")
    body += attr(TCA_OPTIONS | NLA_F_NESTED, options)
    if xstats is not None:
        basic = attr(TCA_STATS_BASIC, struct.pack("=QII", 1500, 1, 0))
        queue = attr(TCA_STATS_QUEUE, struct.pack("=IIIII", 0, 0, 0, 0, 0))
        app = attr(TCA_STATS_APP, xstats)
        body += attr(TCA_STATS2 | NLA_F_NESTED, basic + queue + app)
    return _NLMSGHDR.pack(_NLMSGHDR.size + len(body), RTM_NEWQDISC, 0, 0, 0) + body


def qdisc_options(message: bytes) -> tuple[int, bytes]:
    """Type with its flags, and payload, of TCA_OPTIONS in a request."""
    for kind, payload in parse_attrs(message[_NLMSGHDR.size + _TCMSG.size :]):
        if kind & ~NLA_F_NESTED == TCA_OPTIONS:
            return kind, payload
    raise AssertionError("the request carries no options")
