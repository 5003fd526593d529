# SPDX-License-Identifier: GPL-2.0
"""Hosts, routers and bottlenecks of a guest, as lines of its script."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from lab.model.hosts import MAX_RECEIVERS
from lab.model.line import MAX_BUFFER_BYTES, Line
from lab.model.ports import SHORT_PORT, UDP_PORT
from lab.model.scenario import Link, Scenario
from lab.model.units import format_ms
from lab.model.wire import FRAME_BYTES

BURST_S = 0.0002
LINE_TRACE = "$LAB/line"
"""The file of a line's trace, in a guest."""
UNLIMITED_BPS = 40_000_000_000
WIRE_BURST_S = 0.000001
NETEM_LIMIT_PACKETS = 1_000_000
TCP_MEMORY_PAGES = 4 * 1024 * 1024
"""Under memory pressure TCP would quietly stop opening its windows."""
BUFFER_MAX_BYTES = 64 * 1024 * 1024
"""Of a socket: more than the largest path holds."""
TCP_BUFFERS = (
    f"net.ipv4.tcp_rmem='4096 2097152 {BUFFER_MAX_BYTES}'",
    f"net.ipv4.tcp_wmem='4096 16384 {BUFFER_MAX_BYTES}'",
)
"""Settings of sysctl."""
FEW_SHORT_FLOWS = 25_000
PORTS = "10240 65535"
"""Of a host's connections, where there are more than that, and none of them may be done."""
# Second octets of the hosts' addresses; LINKS of those between routers.
LONG, UDP, CROSS, SPOOF, THIN, LINKS = 0, 1, 2, 3, 4, 255
HOSTS_NET = "10.0.0.0/9"
LATE = "late"
"""A host's own device that has its RTT."""
VARY = "vary"
"""The receivers' device that varies the delay of what comes to them."""
FIRST_RECEIVER = 10
"""Last octet of the first receiver's address, where there are several."""
ECT1_MARK = 1
"""SO_MARK of sockets whose data are ECT(1), as lab/guest/traffic/net.c has it."""


@dataclass(frozen=True)
class Host:
    """A host that opens connections, sends UDP, or sends in another's name."""

    name: str
    kind: int
    number: int
    """Among its kind."""
    hop: int
    """Of the router it is at."""
    last_hop: int
    """Behind that one is whom it talks to."""
    rtt_ms: float | None

    @property
    def port(self) -> str:
        """The router's end of its link."""
        return f"r{self.name}" if self.kind else f"r{self.number}"

    def peer(self, *, plain: bool, receiver: int | None = None) -> str:
        """Address of its peer; the plain one is for flows without ECN."""
        return far_address(self.last_hop, plain=plain, receiver=receiver)


@dataclass(frozen=True)
class Queue:
    """A bottleneck: htb, the meter and the qdisc under test, each with the same handles."""

    name: str
    netns: str
    device: str
    hop: int
    """0: of the way back."""
    link: Link = Link.SHAPER
    line: Line | None = None
    """In place of htb."""

    @property
    def tc(self) -> str:
        """The tc command, in the queue's namespace."""
        return f"tc -n {self.netns}"

    @property
    def wire(self) -> bool:
        """Whether htb works as a device of that rate: it takes one packet after the other."""
        return self.link == Link.WIRE

    def htb(self, verb: str, rate_bps: int) -> str:
        """The htb class: the link's rate, or practically unlimited if the qdisc shapes."""
        own = self.link == Link.OWN
        rate = htb(UNLIMITED_BPS if own else rate_bps, wire=self.wire)
        return f"class {verb} dev {self.device} parent 1: classid 1:1 {rate}"

    def root(self, rate_bps: int) -> list[str]:
        """What limits the rate: arguments of tc."""
        place = f"qdisc add dev {self.device} root handle 1:"
        if not self.line:
            return [f"{place} htb default 1", self.htb("add", rate_bps)]
        rate = f"rate {self.line.rates[0][1]}" if self.line.rates else f"trace {LINE_TRACE}"
        before = " before" if self.line.before else ""
        return [f"{place} line limit {self.line.buffer_bytes} {rate}{before}"]

    def change(self, qdisc: str, rate_bps: int) -> str:
        """The command that changes the rate while traffic runs."""
        if self.link != Link.OWN:
            return f"{self.tc} {self.htb('change', rate_bps)}"
        place = f"dev {self.device} parent 2:1 handle 3:"
        return f"{self.tc} qdisc change {place} {qdisc} bandwidth {rate_bps}bit"


def htb(rate_bps: int, *, wire: bool = False) -> str:
    """Parameters of htb: a burst too small for a queue elsewhere, enough for a late timer.

    On a wire each packet takes its time, but for what a timer may be late: of two that
    come together, the second leaves that much later.
    """
    least, seconds = (1, WIRE_BURST_S) if wire else (FRAME_BYTES, BURST_S)
    burst = max(least, round(rate_bps / 8 * seconds))
    return f"htb rate {rate_bps}bit burst {burst} cburst {burst} quantum {FRAME_BYTES}"


def memory_line() -> str:
    """Gives TCP as much memory as it may want."""
    pages = " ".join([str(TCP_MEMORY_PAGES)] * 3)
    return f"sysctl -qw net.ipv4.tcp_mem='{pages}' {' '.join(TCP_BUFFERS)}"


def router(hop: int) -> str:
    """The network namespace of the router whose bottleneck is that hop, from 1 on."""
    return f"router{hop}" if hop > 1 else "router"


def n_hops(scenario: Scenario) -> int:
    """Number of hops from the hosts to the receivers.

    The bottleneck of the way back is at a router of its own: a sender whose own
    device is slow holds back (TCP small queues) and never fills a queue.
    """
    return scenario.hops + (1 if scenario.reverse else 0)


def behind(scenario: Scenario, hop: int) -> str:
    """Where a hop leads: the next router, or the receivers' host."""
    return "rx" if hop == n_hops(scenario) else router(hop + 1)


def far_address(hop: int, *, plain: bool = False, receiver: int | None = None) -> str:
    """Address of what is behind a hop; a second, plain one is for flows without ECN.

    `receiver` is the index of one of the scenario's receivers, behind the last hop.
    """
    if receiver is None:
        return f"10.{LINKS}.{hop - 1}.{3 if plain else 2}"
    first = FIRST_RECEIVER + (MAX_RECEIVERS if plain else 0)
    return f"10.{LINKS}.{hop - 1}.{first + receiver}"


def _more_addresses(scenario: Scenario, hop: int) -> list[str]:
    """Those behind a hop beside the first: plain ones, and receivers behind the last."""
    receivers: list[int | None] = [None]
    if hop == n_hops(scenario):
        receivers += range(len(scenario.receivers))
    found = [far_address(hop, receiver=receiver) for receiver in receivers[1:]]
    if scenario.ecn_mixed:
        found += [far_address(hop, plain=True, receiver=receiver) for receiver in receivers]
    return found


def udp_host(scenario: Scenario, index: int) -> str:
    """The name of the host that a UDP stream comes from."""
    host = scenario.udp[index].host
    return f"u{index}" if host is None else f"h{host}"


def hosts(scenario: Scenario) -> list[Host]:
    """One for each RTT, UDP stream, attacker, class of thin traffic, flow that crosses a router."""
    last = n_hops(scenario)
    found = [Host(f"h{i}", LONG, i, 1, last, rtt) for i, rtt in enumerate(scenario.rtts_ms)]
    found += [
        Host(udp_host(scenario, i), UDP, i, 1, last, None)
        for i, stream in enumerate(scenario.udp) if stream.host is None
    ]
    found += [Host(f"a{i}", SPOOF, i, 1, last, None) for i in range(len(scenario.spoof))]
    found += [
        Host(f"t{thin.kind.number}", THIN, thin.kind.number, 1, last, None)
        for thin in scenario.thin
    ]
    found += [
        Host(f"c{flow.host}", CROSS, flow.host, flow.hop, flow.hop, flow.rtt_ms)
        for flow in scenario.cross_flows
    ]
    return found


def queues(scenario: Scenario) -> list[Queue]:
    """All bottlenecks, in the order that data cross them, then the one of the way back."""
    hops = range(1, scenario.hops + 1)
    link = scenario.link
    line = scenario.line
    found = [Queue(f"hop {hop}", router(hop), "bot", hop, link, line) for hop in hops]
    way_back = Queue("reverse", router(n_hops(scenario)), "eth0", 0, link)
    return [*found, way_back] if scenario.reverse else found


def _mac(kind: int, number: int, side: int) -> str:
    return f"02:00:00:{kind:02x}:{number:02x}:{side:02x}"


def _link_up(netns: str, device: str, address: str, peer: str, peer_mac: str) -> list[str]:
    return [
        f"ip -n {netns} -batch - <<-END",
        f"addr add {address}/24 dev {device}",
        f"link set {device} up addrgenmode none",
        f"neigh add {peer} lladdr {peer_mac} dev {device} nud permanent",
    ]


def _segments(scenario: Scenario) -> list[str]:
    return [f"link set eth0 gso_max_segs {scenario.gso_segs}"] if scenario.gso_segs else []


def host_lines(scenario: Scenario, host: Host) -> list[str]:
    """A host and its link to its router."""
    here, there = (f"10.{host.kind}.{host.number}.{end}" for end in (2, 1))
    mac, router_mac = (_mac(host.kind, host.number, side) for side in (2, 1))
    ecn = " features ecn" if scenario.ecn and host.rtt_ms is not None else ""
    settings = [*_segments(scenario), f"route add default via {there}{ecn}"]
    if scenario.ecn_mixed:
        receivers = range(len(scenario.receivers) if host.kind == LONG else 0)
        settings += [
            f"route add {host.peer(plain=True, receiver=receiver)} via {there}"
            for receiver in (None, *receivers)
        ]
    lines = [
        f"ip netns add {host.name}",
        f"ip link add {host.port} address {router_mac} netns {router(host.hop)} type veth"
        f" peer name eth0 address {mac} netns {host.name}",
        *_link_up(router(host.hop), host.port, there, here, mac),
        "END",
        *_link_up(host.name, "eth0", here, there, router_mac),
        *settings,
        "END",
    ]
    rate_bps = scenario.background.rate_bps
    if rate_bps and host.kind == CROSS:
        lines += [
            f"tc -n {host.name} qdisc add dev eth0 root handle 1: htb default 1",
            f"tc -n {host.name} class add dev eth0 parent 1: classid 1:1 {htb(rate_bps)}",
        ]
    if scenario.churn:  # short flows of a host stand for many hosts, that remember nothing
        lines.append(f"ip netns exec {host.name} sysctl -qw net.ipv4.tcp_no_metrics_save=1")
    if host.kind == LONG and not scenario.timestamps_of(host.number):
        lines.append(f"ip netns exec {host.name} sysctl -qw net.ipv4.tcp_timestamps=0")
    if scenario.planned_short_flows > FEW_SHORT_FLOWS:
        lines.append(f"ip netns exec {host.name} sysctl -qw net.ipv4.ip_local_port_range='{PORTS}'")
    return lines


def router_lines(hop: int) -> list[str]:
    """A router, without its links."""
    return [
        f"ip netns add {router(hop)}",
        f"ip netns exec {router(hop)} sysctl -qw net.ipv4.ip_forward=1",
    ]


def hop_lines(scenario: Scenario, hop: int) -> list[str]:
    """What is behind a router, and the link to there."""
    near, far = router(hop), behind(scenario, hop)
    near_address = f"10.{LINKS}.{hop - 1}.1"
    near_mac, far_mac = (_mac(hop - 1, 255, side) for side in (1, 2))
    more = _more_addresses(scenario, hop)
    last = far == "rx"
    return [
        *(["ip netns add rx"] if last else router_lines(hop + 1)),
        f"ip link add bot address {near_mac} netns {near} type veth"
        f" peer name eth0 address {far_mac} netns {far}",
        *_link_up(near, "bot", near_address, far_address(hop), far_mac),
        *([] if last else [f"route add default via {far_address(hop)}"]),
        *[f"neigh add {address} lladdr {far_mac} dev bot nud permanent" for address in more],
        "END",
        *_link_up(far, "eth0", far_address(hop), near_address, near_mac),
        *[f"addr add {address}/24 dev eth0" for address in more],
        *(_segments(scenario) if last and scenario.reverse else []),
        f"route add {'default' if last else HOSTS_NET} via {near_address}",
        "END",
    ]  # fmt: skip


def autorate_lines(scenario: Scenario) -> tuple[list[str], list[str]]:
    """Starts what sets the rate, and ends it; the script fails if it had failed."""
    if not scenario.autorate:
        return [], []
    (queue,) = queues(scenario)
    rates = " ".join(f"{bps / 1000:g}" for bps in scenario.autorate.rates_bps)
    start = (
        f'ip netns exec {queue.netns} "$LAB/autorate" {queue.device} 2:1 3:'
        f" {far_address(queue.hop)} {rates} >/tmp/autorate & autorate=$!"
    )
    return [start], ["kill $autorate", "wait $autorate", "cat /tmp/autorate"]


def slow_lines(scenario: Scenario) -> list[str]:
    """What comes from one host is shaped as it arrives, by a device of its own."""
    slow = scenario.slow
    if not slow:
        return []
    parent, loss = "1:1", list[str]()
    if slow.loss_percent:
        # what it drops is dropped before the FIFO; no limit of its own
        dropped = f"loss {slow.loss_percent:g}% limit {MAX_BUFFER_BYTES}"
        parent, loss = "2:1", [f"qdisc add dev slow parent 1:1 handle 2: netem {dropped}"]
    return _arriving(
        "rx", "slow", f"flower src_ip 10.{LONG}.{slow.host}.2",
        "qdisc add dev slow root handle 1: htb default 1",
        f"class add dev slow parent 1: classid 1:1 {htb(slow.rate_bps, wire=True)}",
        *loss,
        f"qdisc add dev slow parent {parent} bfifo limit {slow.buffer_bytes}",
    )  # fmt: skip


def vary_lines(scenario: Scenario) -> list[str]:
    """What comes to the receivers has a delay that can vary, part of the RTT from the start."""
    jitter_ms = scenario.jitter_ms
    return _arriving("rx", VARY, "matchall", netem("add", VARY, jitter_ms)) if jitter_ms else []


def ect1_lines(scenario: Scenario) -> list[str]:
    """Rewrites ECT(0) to ECT(1) in what sockets with the mark ECT1_MARK send.

    Linux' TCP marks its data ECT(0), whatever the congestion control. SYNs and ACKs that
    are Not-ECT stay so. The rule is at both ends: with Accurate ECN, ACKs are ECT, too.
    A SYN that is lost must not leave a flow without ECN.
    """
    ends = [host.name for host in hosts(scenario) if host.rtt_ms is not None]
    receivers = {behind(scenario, host.last_hop) for host in hosts(scenario)}
    # The server of short flows has one congestion control for all; where it has AccECN
    # it answers with that who asks for it.
    server = ["ip netns exec rx sysctl -qw net.ipv4.tcp_ecn=5 2>/dev/null || true"]
    return (server if scenario.churn else []) + [
        line
        for end in [*ends, *sorted(receivers)]
        for line in (
            f"ip netns exec {end} sysctl -qw net.ipv4.tcp_ecn_fallback=0",
            f"tc -n {end} -batch - <<-'END'",
            "qdisc replace dev eth0 clsact",
            f"filter add dev eth0 egress prio 1 protocol ip handle {ECT1_MARK} fw"
            " action goto chain 1",
            "filter add dev eth0 egress chain 1 prio 1 protocol ip flower ip_tos 0x02/0x03"
            " action pedit ex munge ip tos set 0x01 retain 0x03 pipe csum ip4h",
            "END",
        )
    ]


def mark_lines(scenario: Scenario, host: Host) -> list[str]:
    """Marks what a host sends as it comes to its router, and sets its DSCP (RFC 2474).

    A mark does not cross a link, so it is set behind the one from the host.
    """
    actions = []
    if host.kind == LONG and scenario.marks:
        actions.append(f"action skbedit mark {scenario.marks[host.number]:#x}")
    if host.kind == LONG and scenario.dscps:
        field = scenario.dscps[host.number] << 2
        actions += [
            f"action pedit ex munge ip tos set {field:#04x} retain 0xfc", "action csum ip4h",
        ]  # fmt: skip
    if not actions:
        return []
    rule = f"filter add dev {host.port} ingress prio 1 protocol ip matchall"
    return [
        f"tc -n {router(host.hop)} qdisc add dev {host.port} clsact",
        f"tc -n {router(host.hop)} {rule} {' pipe '.join(actions)}",
    ]


def is_line_first(scenario: Scenario) -> bool:
    """Whether there is a line, and it is before the router."""
    return scenario.line is not None and scenario.line.before


def delayed_at(scenario: Scenario, host: Host) -> tuple[str, str]:
    """The namespace and the device with the RTT of a host, on its way back.

    A line before the router is nearer to it than the host: what the router sends to the
    host passes the router's queue first, and then takes that time.
    """
    if is_line_first(scenario):
        return host.name, LATE
    return router(host.hop), host.port


def late_lines(scenario: Scenario, host: Host) -> list[str]:
    """What comes to a host whose RTT is its own gets a device for it, as it arrives."""
    netns, device = delayed_at(scenario, host)
    if host.rtt_ms is None or not is_line_first(scenario):
        return []
    return _arriving(netns, device, "matchall", netem("add", device, back_ms(scenario, host.rtt_ms)))


def _arriving(netns: str, device: str, match: str, *qdiscs: str) -> list[str]:
    """What arrives there and matches passes a device of its own, which has the qdiscs."""
    return [
        f"ip -n {netns} link add {device} type ifb",
        f"ip -n {netns} link set {device} up",
        f"tc -n {netns} -batch - <<-END",
        *qdiscs,
        "qdisc replace dev eth0 clsact",
        f"filter add dev eth0 ingress prio 1 protocol ip {match} action mirred egress redirect"
        f" dev {device}",
        "END",
    ]


def back_ms(scenario: Scenario, rtt_ms: float) -> float:
    """What a host's RTT has on the way back: all, but for what varies on the way there."""
    return rtt_ms - scenario.jitter_ms


def netem(verb: str, device: str, delay_ms: float, jitter_ms: float = 0) -> str:
    """A delay of that, or of up to that much more or less; a qdisc may be its child."""
    delay = f"delay {format_ms(delay_ms)}"
    if jitter_ms:
        # with a rate, netem keeps the order
        delay += f" {format_ms(jitter_ms)} rate 1gbit"
    delay += f" limit {NETEM_LIMIT_PACKETS}"
    return f"qdisc {verb} dev {device} root handle 1: netem {delay}"


def _liars(scenario: Scenario) -> list[int]:
    """Ports of what is ECT(1) and not entitled to it; of short flows, only if all are."""
    ports = [flow.port for flow in scenario.all_flows if flow.lies]
    if scenario.ect1.udp:
        ports += [UDP_PORT + index for index in range(len(scenario.udp))]
    short = {scenario.ect1.lies(cc) for cc in map(scenario.background_cc_of, range(len(scenario.cc)))}
    return ports + ([SHORT_PORT] if scenario.churn and short == {True} else [])


def queue_lines(scenario: Scenario, queue: Queue) -> list[str]:
    """A bottleneck with the qdisc under test, and the RTTs of the hosts at its router."""
    near = [host for host in hosts(scenario) if host.hop == queue.hop and host.rtt_ms is not None]
    own = f" bandwidth {scenario.rate_bps}bit" if queue.link == Link.OWN else ""
    late = is_line_first(scenario)
    return [
        f"{queue.tc} -batch - <<-END",
        *queue.root(scenario.rate_bps),
        f"qdisc add dev {queue.device} parent 1:1 handle 2: meter",
        *[
            netem("add", host.port, back_ms(scenario, host.rtt_ms or 0))
            for host in near if not late
        ],
        "END",
        f"{queue.tc} qdisc add dev {queue.device} parent 2:1 handle 3:"
        f" {shlex.join(scenario.qdisc_words)}{own}",
        *[
            f"{queue.tc} qdisc change dev {queue.device} parent 1:1 handle 2: meter {word}"
            for word, wanted in (
                ("poll", queue.wire),
                ("keep", queue.line is not None and not late),
                *((f"liar {port}", True) for port in _liars(scenario)),
            )
            if wanted
        ],
        *[
            f"{queue.tc} qdisc add dev {host.port} {'root' if late else 'parent 1:1'}"
            f" {shlex.join(scenario.back_words)}"
            for host in near
            if scenario.back
        ],
    ]
