# SPDX-License-Identifier: GPL-2.0
"""The networks of the papers, as data: who is linked to whom, who sends to whom.

Where a paper does not say a figure, the one taken here is named as a reading.
Each RTT is that of a flow's whole path; lab/mininet/network.py delays ACKs by it.
"""

from __future__ import annotations

import textwrap
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import IPv4Network

from lab.model.scenario import ScenarioError

MAX_HOSTS = 100
"""Pairs of a dumbbell."""
NETWORK = IPv4Network("10.0.0.0/8")
_LINK_ADDRESSES = 256
DESCRIPTION_WIDTH = 80


@dataclass(frozen=True)
class Link:
    """Two nodes and the wire between them."""

    ends: tuple[str, str]
    rate_bps: int | None = None
    """Both ways, but not of ACKs to a sender; None = as fast as it goes."""
    bottleneck: bool = False
    """Has the qdisc under test at both ends."""

    def other(self, node: str) -> str:
        """The node at the other end."""
        return self.ends[1 - self.ends.index(node)]


@dataclass(frozen=True)
class Flow:
    """One TCP connection."""

    sender: str
    receiver: str
    rtt_ms: float
    group: str
    """Flows of a group have the same task; Jain's index is given for each."""


@dataclass(frozen=True)
class Topology:
    """A network and its traffic. A host either sends or receives."""

    name: str
    source: str
    """The paper, and what was read into it."""
    drawing: str
    routers: tuple[str, ...]
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    qdisc: str
    """The paper's, with its buffer, as typed to tc."""
    mtu: int = 1500

    @property
    def hosts(self) -> tuple[str, ...]:
        """All nodes that are no routers."""
        return tuple(name for flow in self.flows for name in (flow.sender, flow.receiver))

    @property
    def bottlenecks(self) -> tuple[Link, ...]:
        return tuple(link for link in self.links if link.bottleneck)

    def links_of(self, node: str) -> list[Link]:
        return [link for link in self.links if node in link.ends]

    def address(self, node: str, link: Link) -> str:
        """Of a node's port: the first or the second address of the link's network."""
        return str(self.network(link)[1 + link.ends.index(node)])

    def network(self, link: Link) -> IPv4Network:
        """Each link has one of its own."""
        first = NETWORK[self.links.index(link) * _LINK_ADDRESSES]
        return IPv4Network((first, 24))

    def host_address(self, host: str) -> str:
        """Of the host's only port."""
        return self.address(host, self.links_of(host)[0])

    def next_hops(self, node: str) -> Mapping[str, str]:
        """For each node that can be reached, the neighbour on the shortest way to it."""
        found: dict[str, str] = {}
        waiting = deque((link.other(node), link.other(node)) for link in self.links_of(node))
        while waiting:
            here, first = waiting.popleft()
            if here in found or here == node:
                continue
            found[here] = first
            if here in self.routers:
                waiting += [(link.other(here), first) for link in self.links_of(here)]
        return found

    def path(self, flow: Flow) -> list[str]:
        """The nodes a flow's data pass, both ends included."""
        nodes = [flow.sender]
        while nodes[-1] != flow.receiver:
            nodes.append(self.next_hops(nodes[-1])[flow.receiver])
        return nodes

    def with_rate(self, rate_bps: int) -> Topology:
        """The same with other bottlenecks."""
        links = (replace(ln, rate_bps=rate_bps) if ln.bottleneck else ln for ln in self.links)
        return replace(self, links=tuple(links))

    def with_rtts(self, rtts_ms: Sequence[float]) -> Topology:
        """The same with other RTTs, of the first flows if there are fewer."""
        if len(rtts_ms) > len(self.flows):
            raise ScenarioError(
                f"--rtts: {self.name} has {len(self.flows)} flows, not {len(rtts_ms)}"
            )
        changed = [
            replace(flow, rtt_ms=rtt) for flow, rtt in zip(self.flows, rtts_ms, strict=False)
        ]
        return replace(self, flows=(*changed, *self.flows[len(changed) :]))


def _access(flows: Sequence[Flow], routers: Mapping[str, str]) -> tuple[Link, ...]:
    """The link of each host to its router."""
    hosts = [name for flow in flows for name in (flow.sender, flow.receiver)]
    return tuple(Link((host, routers[host])) for host in hosts)


def dumbbell(hosts: int = 10) -> Topology:
    """Zhang and Ye 2004, Fig. 1."""
    if not 1 <= hosts <= MAX_HOSTS:
        raise ScenarioError(f"--hosts: 1 to {MAX_HOSTS}")
    numbers = range(1, hosts + 1)
    flows = [Flow(f"s{i}", f"d{i}", 20.0 * i, "flows") for i in numbers]
    routers = {f"s{i}": "n1" for i in numbers} | {f"d{i}": "n2" for i in numbers}
    return Topology(
        name="dumbbell",
        source="Zhang and Ye 2004 (ZRTT), Fig. 1: the RTT of a connection is proportional to its "
        "number. Readings: 20 Mbit/s, and 20 ms times the number. BLUE's q_lim is 100 packets.",
        drawing="s1 ... sN -- n1 ====== n2 -- d1 ... dN",
        routers=("n1", "n2"),
        links=(Link(("n1", "n2"), 20_000_000, bottleneck=True), *_access(flows, routers)),
        flows=tuple(flows),
        qdisc="zrtt mode paper limit 100",
    )


def libra_parking_lot() -> Topology:
    """Marfia et al. 2007, Fig. 2."""
    long = [Flow(f"s{i}", f"d{i}", rtt, "long") for i, rtt in enumerate((180, 180, 90, 90), 1)]
    short = [Flow(f"s{i}", f"d{i}", 30.0, "short") for i in range(5, 9)]
    names = [f"n{i}" for i in range(1, 9)]
    routers = {f"s{i}": "n1" for i in range(1, 5)} | {f"d{i}": "n8" for i in range(1, 5)}
    for pair, flow in enumerate(short):
        routers |= {flow.sender: names[2 * pair], flow.receiver: names[2 * pair + 1]}
    between = [
        Link((a, b), 100_000_000, bottleneck=True) for a, b in zip(names, names[1:], strict=False)
    ]
    return Topology(
        name="libra-parking-lot",
        source="Marfia et al. 2007 (TCP Libra), Fig. 2: flows 1 and 2 of 180 ms, 3 and 4 of 90 ms "
        "over 9 links, 5 to 8 of 30 ms over 3, 100 Mbit/s, packets of 1000 bytes, 375 of them "
        "in the buffer. Reading: each short flow crosses a link of its own, every second one.",
        drawing="s1-s4 -- n1 == n2 == n3 == n4 == n5 == n6 == n7 == n8 -- d1-d4\n"
        "         s5    d5   s6    d6   s7    d7   s8    d8",
        routers=tuple(names),
        links=(*between, *_access([*long, *short], routers)),
        flows=(*long, *short),
        qdisc="pfifo limit 375",
        mtu=1000,
    )


def libra_dumbbell() -> Topology:
    """Marfia et al. 2007, Fig. 7."""
    main = [Flow("s1", "r1", 238.0, "main"), Flow("s2", "r2", 42.0, "main")]
    forward = [Flow(f"b{i}", f"c{i}", 42.0, "forward") for i in range(1, 5)]
    back = [Flow(f"c{i}", f"b{i}", 42.0, "backward") for i in range(5, 9)]
    routers = {name: "n1" for name in ("s1", "s2", *(f"b{i}" for i in range(1, 9)))}
    routers |= {name: "n2" for name in ("r1", "r2", *(f"c{i}" for i in range(1, 9)))}
    flows = (*main, *forward, *back)
    return Topology(
        name="libra-dumbbell",
        source="Marfia et al. 2007 (TCP Libra), Fig. 7: one way 119 ms from s1 to r1, 21 ms else, "
        "100 Mbit/s, packets of 1000 bytes, four long-lived flows of background each way. "
        "Reading: the pipe that the buffer holds is that of 42 ms, 525 packets. The paper's 25 "
        "small flows and web traffic are not there.",
        drawing="s1 s2 b1-b8 -- n1 ====== n2 -- r1 r2 c1-c8",
        routers=("n1", "n2"),
        links=(Link(("n1", "n2"), 100_000_000, bottleneck=True), *_access(flows, routers)),
        flows=flows,
        qdisc="pfifo limit 525",
        mtu=1000,
    )


def nrhstcp() -> Topology:
    """Phillips and Hu, Fig. 2."""
    main = [Flow("s1", "d1", 75.0, "main"), Flow("s2", "d2", 250.0, "main")]
    pairs = (("r1a", "r2a"), ("r1b", "r2b"), ("r2c", "r3b"), ("r2d", "r3a"))
    background = [Flow(sender, receiver, 37.5, "background") for sender, receiver in pairs]
    routers = {"s1": "n1", "s2": "n1", "d1": "n3", "d2": "n3"}
    routers |= {name: f"n{name[1]}" for pair in pairs for name in pair}
    slow = [replace(link, rate_bps=100_000_000) for link in _access(background, routers)]
    core = [Link(ends, 1_000_000_000, bottleneck=True) for ends in (("n1", "n2"), ("n2", "n3"))]
    return Topology(
        name="nrhstcp",
        source="Phillips and Hu (NR-HSTCP), Fig. 2: 75 ms against 75 to 250 ms over two hops of "
        "1 Gbit/s with 500 packets of buffer, two standard TCP flows beside them on each, from "
        "links of 100 Mbit/s. Reading: their RTT is half of 75 ms.",
        drawing="s1 s2 ---- n1 ====== n2 ====== n3 ---- d1 d2\n"
        "    r1a r1b      r2a r2b     r3a r3b\n"
        "                 r2c r2d",
        routers=("n1", "n2", "n3"),
        links=(*core, *_access(main, routers), *slow),
        flows=(*main, *background),
        qdisc="pfifo limit 500",
    )


TOPOLOGIES = {
    "dumbbell": dumbbell,
    "libra-dumbbell": libra_dumbbell,
    "libra-parking-lot": libra_parking_lot,
    "nrhstcp": nrhstcp,
}


def groups(flows: Sequence[Flow]) -> dict[str, list[int]]:
    """The numbers of the flows of each group."""
    found: dict[str, list[int]] = {}
    for number, flow in enumerate(flows):
        found.setdefault(flow.group, []).append(number)
    return found


def describe(topology: Topology) -> str:
    """How hosts are called, where they are, who sends to whom."""
    lines = [textwrap.fill(topology.source, DESCRIPTION_WIDTH), "", topology.drawing, ""]
    for flow in topology.flows:
        address = topology.host_address(flow.receiver)
        lines.append(f"{flow.sender:4} -> {flow.receiver:4} {address:12} {flow.rtt_ms:6g} ms")
    rates = sorted({link.rate_bps or 0 for link in topology.bottlenecks})
    mbps = " or ".join(f"{rate / 1e6:g}" for rate in rates)
    ends = ", ".join("-".join(link.ends) for link in topology.bottlenecks)
    lines += ["", f"bottlenecks, {mbps} Mbit/s each way: {ends}"]
    return "\n".join(lines)
