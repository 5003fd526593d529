# SPDX-License-Identifier: GPL-2.0
"""Netlink messages about qdiscs and classes, as bytes."""

from __future__ import annotations

import re
import socket
import struct
from collections.abc import Mapping, Sequence

from plugin import uapi_contract
from plugin.qdisc_netlink import (
    NLA_F_NESTED,
    RTM_NEWQDISC,
    TC_H_ROOT,
    TCA_KIND,
    TCA_OPTIONS,
    TCA_STATS2,
    TCA_STATS_APP,
    TCA_STATS_BASIC,
    TCA_STATS_QUEUE,
    attr,
)

RTM_NEWTCLASS = 40
TCA_STATS_PKT64 = 8
TCA_HTB_PARMS, TCA_HTB_CEIL64 = 1, 7
TCA_TBF_PARMS, TCA_TBF_RATE64 = 1, 4
LOOPBACK = 1
"""Index of a device that is always there."""
P_ONE, ALPHA_ONE, PENALTY_ONE = 1 << 30, 1 << 16, 1 << 16
ENDS = ("src", "dst")
SOURCES = ("none", "hint", "mark", "timestamps", "handshake", "quic")

_FLOW_ENUM = uapi_contract.HEADER.read_text().split("TCA_ZRTT_FLOW_UNSPEC,")[1].split("}")[0]
FLOW_ATTRS = {
    name: number
    for number, name in enumerate(re.findall(r"^\tTCA_ZRTT_FLOW_(\w+)", _FLOW_ENUM, re.M), start=1)
}


def message(kind: int, body: bytes) -> bytes:
    """A netlink message, padded."""
    return struct.pack("=IHHII", 16 + len(body), kind, 2, 0, 0) + body + bytes(-len(body) % 4)


def tcm(handle: int, parent: int, ifindex: int) -> bytes:
    """struct tcmsg."""
    return struct.pack("=BxxxiIII", 0, ifindex, handle, parent, 0)


def nest(kind: int, attrs: Mapping[int, bytes]) -> bytes:
    """An attribute made of others."""
    return attr(kind | NLA_F_NESTED, b"".join(attr(*pair) for pair in attrs.items()))


def stats(xstats: bytes, sent: tuple[int, int] = (1500, 1), backlog: int = 0) -> bytes:
    """TCA_STATS2, with bytes and packets sent."""
    attrs = {
        TCA_STATS_BASIC: struct.pack("=QII", sent[0], sent[1] & 0xFFFFFFFF, 0),
        TCA_STATS_PKT64: struct.pack("=Q", sent[1]),
        TCA_STATS_QUEUE: struct.pack("=IIIII", 3, backlog, 4, 5, 6),
        TCA_STATS_APP: xstats,
    }
    return nest(TCA_STATS2, attrs)


def xstats(**values: int) -> bytes:
    """struct tc_zrtt_xstats before there were lanes.

    What is not given counts up from 1, so that all differ.
    """
    return uapi_contract.pack_xstats(numbered(**values))


def lanes(first: int = 101) -> list[dict[str, int]]:
    """Statistics of all lanes, which count up from a number."""
    size = len(uapi_contract.LANE_STATS)
    return [
        {field: first + size * lane + i for i, (field, _) in enumerate(uapi_contract.LANE_STATS)}
        for lane in range(len(uapi_contract.LANES))
    ]


def xstats_with_lanes(lane: Sequence[Mapping[str, int]], **values: int) -> bytes:
    """struct tc_zrtt_xstats before there were hosts."""
    return uapi_contract.pack_xstats(numbered(**values), lane)


HOSTS = {field: 1001 + i for i, (field, _) in enumerate(uapi_contract.HOST_STATS)}
"""Statistics of hosts; where they are not asked for, there are none."""


def xstats_whole(lane: Sequence[Mapping[str, int]], **values: int) -> bytes:
    """struct tc_zrtt_xstats with all that there is."""
    hosts = {field: values.pop(field, 0) for field in HOSTS}
    later = {name: values.pop(name) for name, _ in uapi_contract.LATER_STATS if name in values}
    return uapi_contract.pack_xstats(numbered(**values), lane, hosts, later)


def numbered(**values: int) -> dict[str, int]:
    """Its fields."""
    return {
        field: values.get(field, number)
        for number, (field, _) in enumerate(uapi_contract.XSTATS, start=1)
    }


def qdisc(kind: str = "zrtt", *parts: bytes, handle: int = 0x20000, parent: int = TC_H_ROOT,
          ifindex: int = LOOPBACK) -> bytes:  # fmt: skip
    """A qdisc, with further attributes."""
    body = tcm(handle, parent, ifindex) + attr(TCA_KIND, kind.encode() + b"\0") + b"".join(parts)
    return message(RTM_NEWQDISC, body)


def zrtt(sent: tuple[int, int] = (1500, 1), *, handle: int = 0x20000, parent: int = TC_H_ROOT,
         ifindex: int = LOOPBACK, target_us: int = 15000, bandwidth: int = 0,
         prefix6: int = 64, nat: bool = False,
         backlog: int = 0, lane: Sequence[Mapping[str, int]] | None = None,
         **fields: int) -> bytes:  # fmt: skip
    """A zrtt; its lanes count up, too."""
    app = xstats_whole(lanes(), **fields) if lane is None else xstats_with_lanes(lane, **fields)
    wanted = {"TARGET": target_us, "BANDWIDTH": bandwidth, "PREFIX6": prefix6, "NAT": nat}
    options = dict(uapi_contract.pack_option(*option) for option in wanted.items())
    return qdisc(
        "zrtt", nest(TCA_OPTIONS, options), stats(app, sent, backlog),
        handle=handle, parent=parent, ifindex=ifindex,
    )  # fmt: skip


def tclass(kind: str, options: Mapping[int, bytes], *, handle: int, parent: int) -> bytes:
    """A class of the first device."""
    body = tcm(handle, parent, LOOPBACK) + attr(TCA_KIND, kind.encode() + b"\0")
    return message(RTM_NEWTCLASS, body + nest(TCA_OPTIONS, options))


def addresses(protocol: int, src: str, dst: str, ports: tuple[int, int] | None) -> dict[int, bytes]:
    """What a qdisc with names remembers of a flow."""
    family = socket.AF_INET6 if ":" in src else socket.AF_INET
    attrs = {
        FLOW_ATTRS["PROTOCOL"]: bytes([protocol]),
        FLOW_ATTRS["SRC"]: socket.inet_pton(family, src),
        FLOW_ATTRS["DST"]: socket.inet_pton(family, dst),
    }
    if ports:
        attrs[FLOW_ATTRS["SPORT"]] = struct.pack("!H", ports[0])
        attrs[FLOW_ATTRS["DPORT"]] = struct.pack("!H", ports[1])
    return attrs


def host(number: int, rate: int = 0, due: int = 0, flows: int = 1, penalty: int = PENALTY_ONE, *,
         end: str = "src", mark: int | None = None) -> dict[int, bytes]:  # fmt: skip
    """What a qdisc with hosts says of that of a flow."""
    attrs = {
        FLOW_ATTRS["HOST"]: struct.pack("=I", number),
        FLOW_ATTRS["HOST_RATE"]: struct.pack("=Q", rate),
        FLOW_ATTRS["HOST_DUE"]: struct.pack("=Q", due),
        FLOW_ATTRS["HOST_FLOWS"]: struct.pack("=I", flows),
        FLOW_ATTRS["HOST_PENALTY"]: struct.pack("=I", penalty),
    }
    if mark is None:
        return attrs | {FLOW_ATTRS["HOST_END"]: bytes([ENDS.index(end)])}
    return attrs | {FLOW_ATTRS["HOST_MARK"]: struct.pack("=I", mark)}


def flow(slot: int, rtt_us: int, source: str = "hint", rate: int = 0, prob: int = 0,
         names: Mapping[int, bytes] | None = None, *, qdisc: int = 0x20000) -> bytes:  # fmt: skip
    """A live flow."""
    options = {
        FLOW_ATTRS["RTT"]: struct.pack("=I", rtt_us),
        FLOW_ATTRS["SOURCE"]: struct.pack("=I", SOURCES.index(source)),
        FLOW_ATTRS["RATE"]: struct.pack("=Q", rate),
        FLOW_ATTRS["PROB"]: struct.pack("=I", prob),
    }
    return tclass("zrtt", options | dict(names or {}), handle=qdisc + slot + 1, parent=qdisc)
