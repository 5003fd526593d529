# SPDX-License-Identifier: GPL-2.0
"""The pieces of a guest's network: hosts, links and the bottleneck, as lines of its script."""

from __future__ import annotations

import shlex

from lab.scenario import Scenario
from lab.units import format_ms
from lab.wire import FRAME_BYTES

BURST_S = 0.0002
RX_ADDRESS = "10.255.0.2"
ROUTER_RX_ADDRESS = "10.255.0.1"
RX_MAC, ROUTER_RX_MAC = "02:00:00:00:ff:02", "02:00:00:00:ff:01"
NETEM_LIMIT_PACKETS = 1_000_000


def _host_mac(kind: int, host: int, side: int) -> str:
    return f"02:00:00:{kind:02x}:{host:02x}:{side:02x}"


def _link_up(netns: str, device: str, address: str, peer: str, peer_mac: str) -> list[str]:
    return [
        f"ip -n {netns} -batch - <<-END",
        f"addr add {address}/24 dev {device}",
        f"link set {device} up",
        f"neigh add {peer} lladdr {peer_mac} dev {device} nud permanent",
    ]


def _source_lines(name: str, port: str, kind: int, host: int, settings: list[str]) -> list[str]:
    """A host that sends and its link to the router, with settings of the host for ip."""
    here, there = f"10.{kind}.{host}.2", f"10.{kind}.{host}.1"
    mac, router_mac = _host_mac(kind, host, 2), _host_mac(kind, host, 1)
    return [
        f"ip netns add {name}",
        f"ip link add {port} address {router_mac} netns router type veth"
        f" peer name eth0 address {mac} netns {name}",
        *_link_up("router", port, there, here, mac),
        "END",
        *_link_up(name, "eth0", here, there, router_mac),
        *settings,
        "END",
    ]


def host_lines(scenario: Scenario, host: int) -> list[str]:
    """The host of an RTT."""
    ecn = " features ecn" if scenario.ecn else ""
    gso = [] if scenario.gso else ["link set eth0 gso_max_segs 1"]
    route = f"route add default via 10.0.{host}.1{ecn}"
    lines = _source_lines(f"h{host}", f"r{host}", 0, host, [*gso, route])
    if scenario.churn:  # short flows of a host stand for many hosts, that remember nothing
        lines.append(f"ip netns exec h{host} sysctl -qw net.ipv4.tcp_no_metrics_save=1")
    return lines


def udp_host_lines(stream: int) -> list[str]:
    """The host of an UDP stream."""
    route = f"route add default via 10.1.{stream}.1"
    return _source_lines(f"u{stream}", f"ru{stream}", 1, stream, [route])


def receiver_lines() -> list[str]:
    """The receivers' host behind the bottleneck."""
    return [
        "ip netns add rx",
        f"ip link add bot address {ROUTER_RX_MAC} netns router type veth"
        f" peer name eth0 address {RX_MAC} netns rx",
        *_link_up("router", "bot", ROUTER_RX_ADDRESS, RX_ADDRESS, RX_MAC),
        "END",
        *_link_up("rx", "eth0", RX_ADDRESS, ROUTER_RX_ADDRESS, ROUTER_RX_MAC),
        f"route add default via {ROUTER_RX_ADDRESS}",
        "END",
    ]


def htb(verb: str, rate_bps: int) -> str:
    """A burst so small that it makes no queue elsewhere, enough for a late timer."""
    burst = max(FRAME_BYTES, round(rate_bps / 8 * BURST_S))
    return (
        f"class {verb} dev bot parent 1: classid 1:1 htb rate {rate_bps}bit"
        f" burst {burst} cburst {burst} quantum {FRAME_BYTES}"
    )


def netem(verb: str, host: int, delay_ms: float) -> str:
    """The whole RTT of a host, on its way back."""
    delay = f"delay {format_ms(delay_ms)} limit {NETEM_LIMIT_PACKETS}"
    return f"qdisc {verb} dev r{host} root netem {delay}"


def qdisc_lines(scenario: Scenario) -> list[str]:
    """The bottleneck with the qdisc under test, and the RTTs."""
    return [
        "tc -n router -batch - <<-'END'",
        "qdisc add dev bot root handle 1: htb default 1",
        htb("add", scenario.rate_bps),
        "qdisc add dev bot parent 1:1 handle 2: meter",
        *[netem("add", host, rtt) for host, rtt in enumerate(scenario.rtts_ms)],
        "END",
        f"tc -n router qdisc add dev bot parent 2:1 handle 3: {shlex.join(scenario.qdisc_words)}",
    ]
