# SPDX-License-Identifier: GPL-2.0
"""Builds a topology from Mininet's namespaces and links, with settings of our own.

Ports are called NODE-NEIGHBOUR. ACKs are delayed, by netem on the router's port
towards the sender, by the RTT of the whole path: for why, see lab/net/topology.py.
Neighbours are permanent, so that no packet waits for ARP.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lab.mininet.topologies import Link, Topology
from lab.model.units import format_ms
from lab.net.network import NETEM_LIMIT_PACKETS, TCP_BUFFERS, htb

PACKAGE = "mininet"


class MininetError(RuntimeError):
    """Mininet is not there, or a network could not be made."""


def port(node: str, link: Link) -> str:
    """The name of the end of a link."""
    return f"{node}-{link.other(node)}"


def _mac(topology: Topology, node: str, link: Link) -> str:
    number = topology.links.index(link)
    return f"02:00:00:{number >> 8:02x}:{number & 255:02x}:{1 + link.ends.index(node):02x}"


def _addresses(topology: Topology, node: str) -> Iterator[str]:
    """Of ip: the node's ports."""
    for link in topology.links_of(node):
        peer, name = link.other(node), port(node, link)
        yield f"ip addr flush dev {name}"
        yield f"ip addr add {topology.address(node, link)}/24 dev {name}"
        yield f"ip link set {name} up mtu {topology.mtu}"
        peer_mac = _mac(topology, peer, link)
        to_peer = topology.address(peer, link)
        yield f"ip neigh add {to_peer} lladdr {peer_mac} dev {name} nud permanent"


def _htb(name: str, rate_bps: int) -> Iterator[str]:
    """Of tc."""
    yield f"tc qdisc add dev {name} root handle 1: htb default 1"
    yield f"tc class add dev {name} parent 1: classid 1:1 {htb(rate_bps)}"


def _host_script(topology: Topology, host: str, *, ecn: bool) -> Iterator[str]:
    (link,) = topology.links_of(host)
    name, router = port(host, link), link.other(host)
    yield from _addresses(topology, host)
    yield f"ip link set {name} gso_max_segs 1"
    ecn_feature = " features ecn" if ecn else ""
    yield f"ip route add default via {topology.address(router, link)}{ecn_feature}"
    for setting in TCP_BUFFERS:
        yield f"sysctl -qw {setting}"
    if link.rate_bps:
        yield from _htb(name, link.rate_bps)


def _router_script(topology: Topology, router: str, qdisc: str) -> Iterator[str]:
    yield "sysctl -qw net.ipv4.ip_forward=1"
    yield from _addresses(topology, router)
    neighbours = {link.other(router): link for link in topology.links_of(router)}
    for node, neighbour in topology.next_hops(router).items():
        if node in topology.hosts and node != neighbour:
            network = topology.network(topology.links_of(node)[0])
            gateway = topology.address(neighbour, neighbours[neighbour])
            yield f"ip route add {network} via {gateway}"
    rtts = {flow.sender: flow.rtt_ms for flow in topology.flows}
    for neighbour, link in neighbours.items():
        name = port(router, link)
        if neighbour in rtts:
            delay = format_ms(rtts[neighbour])
            yield f"tc qdisc add dev {name} root netem delay {delay} limit {NETEM_LIMIT_PACKETS}"
        elif link.rate_bps:
            yield from _htb(name, link.rate_bps)
        if link.bottleneck:
            words = shlex.join(shlex.split(qdisc))
            yield f"tc qdisc add dev {name} parent 1:1 handle 2: {words}"


def _configure(node: Any, script: Iterator[str]) -> None:
    """Runs commands in a node; the first that fails ends it."""
    _, err, status = node.pexec("sh", "-ec", "\n".join(script))
    if status:
        raise MininetError(f"{node.name}: {err.strip() or f'status {status}'}")


def absent() -> str:
    """What to do without Mininet."""
    return (
        f"no Mininet for {sys.executable}: apt-get install --no-install-recommends {PACKAGE}, "
        "and run with Debian's /usr/bin/python3"
    )


def _mininet() -> Any:
    """Mininet's modules. Only this command needs them, so they are imported here."""
    try:
        from mininet import cli, link, log, net, node
    except ImportError as error:
        raise MininetError(absent()) from error
    log.setLogLevel("output")  # of the nodes, but not of what Mininet does
    return cli, link, net, node


@contextmanager
def built(topology: Topology, qdisc: str, *, ecn: bool) -> Iterator[Any]:
    """The running network, deleted when the caller is done. Needs root."""
    _, links, nets, nodes = _mininet()
    net = nets.Mininet(controller=None, switch=None, build=False)
    try:
        for name in topology.routers:
            net.addHost(name, cls=nodes.Node)
        for name in topology.hosts:
            net.addHost(name)
        for link in topology.links:
            a, b = link.ends
            links.Link(
                net[a], net[b], intfName1=port(a, link), intfName2=port(b, link),
                addr1=_mac(topology, a, link), addr2=_mac(topology, b, link),
            )  # fmt: skip
        net.build()
        for name in topology.routers:
            _configure(net[name], _router_script(topology, name, qdisc))
        for name in topology.hosts:
            _configure(net[name], _host_script(topology, name, ecn=ecn))
        yield net
    finally:
        net.stop()


def command_line(net: Any) -> None:
    """Mininet's own, until the user is done: `s1 ping d1`, `n1 tc -s qdisc`."""
    cli = _mininet()[0]
    cli.CLI(net)
