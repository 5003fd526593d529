# SPDX-License-Identifier: GPL-2.0
"""A host, a router, a host: tagged and not, with several queues, with conntrack.

    a  a0 ------- y0  r  x0 ------- b0  b
       a0.5       y0.5    x0.5      b0.5         802.1Q
       a0.9.7     y0.9.7  x0.9.7    b0.9.7       802.1Q in 802.1ad

Each pair of networks has the router between it. zrtt is on x0, on y0, or on
ifb0, which takes what comes in at y0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from lab.guest.stress.rtnl import Rtnl
from lab.host import netns
from lab.host.netns import Namespace

TAGS = ("", ".5", ".9.7")
DEVICES = ("x0", "y0", "ifb0")
QUEUES = ("numtxqueues", "2", "numrxqueues", "2")
LEFT, RIGHT = 1, 2
SETTINGS = {
    "ipv4/ip_forward": "1",
    "ipv4/tcp_ecn": "1",
    "ipv6/conf/all/forwarding": "1",
}
TRACK = """
table inet t {
	chain nat { type nat hook postrouting priority 100; oifname "x0*" masquerade; }
	chain forward { type filter hook forward priority 0; ct state invalid counter; }
}
"""


@dataclass(frozen=True)
class World:
    """The three namespaces, and a socket of netlink in the router."""

    a: Namespace
    r: Namespace
    b: Namespace
    rtnl: Rtnl

    def ifindex(self, device: str) -> int:
        """Index of a device of the router; it changes whenever the device is created."""
        return int(self.r.run("cat", f"/sys/class/net/{device}/ifindex"))


def _networks(side: int) -> Iterator[tuple[str, str]]:
    """The start of the addresses in each, and the width."""
    for tag in range(len(TAGS)):
        yield f"10.{side}.{tag}.", "24"
        yield f"fd00:{side}:{tag}::", "64"


def addresses(side: int) -> list[str]:
    """Of the host of that side, IPv4 and IPv6 in turns."""
    return [f"{start}2" for start, _ in _networks(side)]


def _port(device: str, side: int, end: int) -> Iterator[str]:
    """Lines of ip: the devices of the tags, up, with addresses."""
    yield f"link set {device} up"
    yield f"link add link {device} name {device}.5 up type vlan id 5"
    yield f"link add link {device} name {device}.9 up type vlan proto 802.1ad id 9"
    yield f"link add link {device}.9 name {device}.9.7 up type vlan id 7"
    names = [device + tag for tag in TAGS for _ in range(2)]
    for name, (start, width) in zip(names, _networks(side), strict=True):
        nodad = "nodad" if ":" in start else ""
        yield f"addr add {start}{end}/{width} dev {name} {nodad}"


def _routes(side: int) -> Iterator[str]:
    """Routes from one host to the other."""
    theirs = _networks(LEFT + RIGHT - side)
    for (mine, _), (other, width) in zip(_networks(side), theirs, strict=True):
        yield f"route add {other.rstrip(':')}{'::' if ':' in other else '0'}/{width} via {mine}1"


def cable(world: World, device: str) -> None:
    """Builds the devices between the router and the host on that side."""
    host, end, side = (world.b, "b0", RIGHT) if device == "x0" else (world.a, "a0", LEFT)
    world.r.ip("link", "add", device, *QUEUES, "type", "veth",
               "peer", "name", end, *QUEUES, "netns", host.name)  # fmt: skip
    world.r.ip_batch(_port(device, side, 1))
    host.ip_batch([*_port(end, side, 2), *_routes(side)])


@contextmanager
def made(number: int, *, track: bool) -> Iterator[World]:
    """A world, deleted when the caller is done."""
    with netns.made(*(f"{name}{number}" for name in "arb")) as (a, r, b):
        for space in (a, r, b):
            for name, value in SETTINGS.items():
                space.set(name, value)
        with r.entered():
            world = World(a, r, b, Rtnl())
        for device in ("x0", "y0"):
            cable(world, device)
        r.ip("link", "add", "ifb0", *QUEUES[:2], "type", "ifb")
        r.ip("link", "set", "ifb0", "up")
        if track:
            r.run("nft", TRACK)
        yield world
