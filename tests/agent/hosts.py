# SPDX-License-Identifier: GPL-2.0
"""A sender, a router and a receiver, each a network namespace.

    a: a0 ------------- ra : r : rb ------------- b0 : b
    10.1.0.1   10.1.0.254       10.2.0.254   10.2.0.1
    fd01::1    fd01::ff         fd02::ff     fd02::1

The agent is at a0. The router cuts large packets and finishes checksums, as a
real network card would: what b sees is what there is on a wire. Both ends have
public addresses, too, of those kept for documentation.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from capture import Capture

from lab.host import netns
from lab.host.netns import Namespace

FAMILIES = (4, 6)
LOCAL = {4: "10.1.0.1", 6: "fd01::1"}
GATEWAY = {4: "10.1.0.254", 6: "fd01::ff"}
REMOTE = {4: "10.2.0.1", 6: "fd02::1"}
PUBLIC = {4: "203.0.113.1", 6: "2001:db8:2::1"}
"""Of b."""
PUBLIC_ON_LINK = {4: "198.51.100.254", 6: "2001:db8:1::ff"}
"""Of r, in a network that a is in."""
OFFLOADS = {
    "tso": "tso on tx on",
    "gso": "tso off tx on",
    "no checksum": "tx off",
    "neither": "tso off tx off",
}
"""What a0 leaves to a network card, and how to tell it."""


@dataclass(frozen=True)
class Port:
    """An end of a link."""

    device: str
    host: str
    mac: str
    addresses: tuple[str, ...]
    """With the lengths of their prefixes."""


_LINKS = (
    (
        Port("a0", "a", "02:00:00:00:00:01",
             ("10.1.0.1/24", "198.51.100.1/24", "fd01::1/64", "2001:db8:1::1/64")),
        Port("ra", "r", "02:00:00:00:00:02",
             ("10.1.0.254/24", "198.51.100.254/24", "fd01::ff/64", "2001:db8:1::ff/64")),
    ),
    (
        Port("rb", "r", "02:00:00:00:00:03",
             ("10.2.0.254/24", "203.0.113.254/24", "fd02::ff/64", "2001:db8:2::ff/64")),
        Port("b0", "b", "02:00:00:00:00:04",
             ("10.2.0.1/24", "203.0.113.1/24", "fd02::1/64", "2001:db8:2::1/64")),
    ),
)  # fmt: skip
_GATEWAYS = {"a": ("10.1.0.254", "fd01::ff"), "b": ("10.2.0.254", "fd02::ff")}


@dataclass(frozen=True)
class Network:
    """The three of them."""

    a: Namespace
    r: Namespace
    b: Namespace

    def space(self, name: str) -> Namespace:
        """One by its letter."""
        return {"a": self.a, "r": self.r, "b": self.b}[name]

    def features(self, device: str, words: str) -> None:
        """Switches offloads of a port, as one tells ethtool: "tso off gso off"."""
        (host,) = [port.host for link in _LINKS for port in link if port.device == device]
        self.space(host).run("ethtool", "-K", device, *words.split())

    def delay(self, milliseconds: float, verb: str = "add") -> None:
        """The RTT, on the way of the ACKs."""
        self.r.tc("qdisc", verb, "dev", "ra", "root", "netem", "delay", f"{milliseconds}ms")

    @contextmanager
    def seen(self, name: str, device: str) -> Iterator[Capture]:
        """Records what passes a device."""
        recorded = Capture(self.space(name), device)
        try:
            yield recorded
        finally:
            recorded.close()

    def ping(self, family: int, *options: str) -> None:
        """Has a ask b for an echo, and wait for it."""
        applet = "ping" if family == 4 else "ping6"
        self.a.run("busybox", applet, "-q", "-c", "1", "-W", "2", *options, REMOTE[family])


def _port_lines(port: Port, peer: Port) -> Iterator[str]:
    """Of ip: addresses, and no search for neighbours."""
    for address in port.addresses:
        nodad = " nodad" if ":" in address else ""
        yield f"addr add {address} dev {port.device}{nodad}"
    yield f"link set {port.device} up"
    for address in peer.addresses:
        plain = address.partition("/")[0]
        yield f"neigh add {plain} lladdr {peer.mac} dev {port.device} nud permanent"


def _configure(net: Network) -> None:
    for one, other in _LINKS:
        near, far = net.space(one.host), net.space(other.host)
        near.ip(
            "link", "add", one.device, "address", one.mac, "type", "veth",
            "peer", "name", other.device, "address", other.mac, "netns", far.name,
        )  # fmt: skip
        near.ip_batch(_port_lines(one, other))
        far.ip_batch(_port_lines(other, one))
    for version in FAMILIES:
        net.r.set(f"ipv{version}/conf/all/forwarding", "1")
    for name, gateways in _GATEWAYS.items():
        net.space(name).ip_batch(f"route add default via {gateway}" for gateway in gateways)
    net.features("rb", "tx off tso off gso off")


@contextmanager
def network() -> Iterator[Network]:
    """The network; it is gone when the caller is done."""
    with netns.made("a", "r", "b") as (a, r, b):
        net = Network(a, r, b)
        _configure(net)
        yield net
