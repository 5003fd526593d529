# SPDX-License-Identifier: GPL-2.0
"""Writes the script that builds the network in a guest and runs the traffic.

One host per RTT, all in network namespaces of one guest::

    h0 eth0 ---- r0 \\                                  / htb RATE
    h1 eth0 ---- r1  > router: forwards   bot ------- rx \\- meter
    ...             /             |                         \\- qdisc under test
    hN eth0 ---- rN              netem on r0..rN
                                 (the whole RTT, towards the hosts)

Data run h -> router -> rx, through the bottleneck on `bot`. ACKs run back and
are delayed by netem: delaying ACKs can never reorder data, and netem need not
hold a window of them. MAC addresses are fixed and neighbours permanent, so no
packet waits for ARP. Sizes: MTU 1500, so 1514 bytes a frame.
"""

from __future__ import annotations

import random
import shlex

from lab.scenario import CCS, Flow, Scenario, Step
from lab.units import format_ms

MODULES = ("veth", "sch_htb", "sch_netem")
FRAME_BYTES = 1514
BURST_S = 0.0002
START_SPREAD_MS = 3000
FIRST_PORT = 5001
METER_CLASS_FLOWS, METER_FLOWS = 2, 4096
RX_ADDRESS = "10.255.0.2"
ROUTER_RX_ADDRESS = "10.255.0.1"
RX_MAC, ROUTER_RX_MAC = "02:00:00:00:ff:02", "02:00:00:00:ff:01"
SEND_BUFFER_BYTES = (128 * 1024, 32 * 1024 * 1024)
BUFFER_MAX_BYTES = 64 * 1024 * 1024
TCP_MEMORY_PAGES = 4 * 1024 * 1024
QUEUE_ALLOWANCE_MS = 100
NETEM_LIMIT_PACKETS = 1_000_000

# Kernel modules of qdiscs that are not called sch_KIND or are built in.
_QDISC_MODULES = {"fq_codel": "", "pfifo": "", "bfifo": "", "zrtt": "", "meter": ""}


def modules(scenario: Scenario) -> list[str]:
    """The guest kernel's modules a scenario needs."""
    qdisc = _QDISC_MODULES.get(scenario.qdisc_kind, f"sch_{scenario.qdisc_kind}")
    congestion = [CCS[cc] for cc in scenario.cc if cc != "reno"]
    return [*MODULES, *([qdisc] if qdisc else []), *dict.fromkeys(congestion)]


def meter_class(flow: Flow) -> int:
    """Minor number of the meter's class that counts a flow (lab/kmod/sch_meter.c)."""
    return METER_CLASS_FLOWS + (FIRST_PORT + flow.index) % METER_FLOWS


def _host_mac(host: int, side: int) -> str:
    return f"02:00:00:00:{host:02x}:{side:02x}"


def _link_up(netns: str, device: str, address: str, peer: str, peer_mac: str) -> list[str]:
    return [
        f"ip -n {netns} -batch - <<-END",
        f"addr add {address}/24 dev {device}",
        f"link set {device} up",
        f"neigh add {peer} lladdr {peer_mac} dev {device} nud permanent",
    ]


def _host_lines(scenario: Scenario, host: int) -> list[str]:
    """One sender host and its link to the router."""
    name, port = f"h{host}", f"r{host}"
    here, there = f"10.0.{host}.2", f"10.0.{host}.1"
    ecn = " features ecn" if scenario.ecn else ""
    gso = [] if scenario.gso else ["link set eth0 gso_max_segs 1"]
    return [
        f"ip netns add {name}",
        f"ip link add {port} address {_host_mac(host, 1)} netns router type veth"
        f" peer name eth0 address {_host_mac(host, 2)} netns {name}",
        *_link_up("router", port, there, here, _host_mac(host, 2)),
        "END",
        *_link_up(name, "eth0", here, there, _host_mac(host, 1)),
        *gso,
        f"route add default via {there}{ecn}",
        "END",
    ]


def _receiver_lines() -> list[str]:
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


def _htb(verb: str, rate_bps: int) -> str:
    """A burst so small that it makes no queue elsewhere, enough for a late timer."""
    burst = max(FRAME_BYTES, round(rate_bps / 8 * BURST_S))
    return (
        f"class {verb} dev bot parent 1: classid 1:1 htb rate {rate_bps}bit"
        f" burst {burst} cburst {burst} quantum {FRAME_BYTES}"
    )


def _netem(verb: str, host: int, delay_ms: float) -> str:
    delay = f"delay {format_ms(delay_ms)} limit {NETEM_LIMIT_PACKETS}"
    return f"qdisc {verb} dev r{host} root netem {delay}"


def _qdisc_lines(scenario: Scenario) -> list[str]:
    return [
        "tc -n router -batch - <<-'END'",
        "qdisc add dev bot root handle 1: htb default 1",
        _htb("add", scenario.rate_bps),
        "qdisc add dev bot parent 1:1 handle 2: meter",
        *[_netem("add", host, rtt) for host, rtt in enumerate(scenario.rtts_ms)],
        "END",
        f"tc -n router qdisc add dev bot parent 2:1 handle 3: {shlex.join(scenario.qdisc_words)}",
    ]


def script(scenario: Scenario) -> str:
    """The script a guest runs: builds the network, runs the traffic, collects."""
    lines = [
        "#!/bin/sh",
        "set -eu",
        # Under memory pressure TCP would quietly stop opening its windows.
        f"sysctl -qw net.ipv4.tcp_mem='{TCP_MEMORY_PAGES} {TCP_MEMORY_PAGES} {TCP_MEMORY_PAGES}'"
        f" net.ipv4.tcp_rmem='4096 2097152 {BUFFER_MAX_BYTES}'"
        f" net.ipv4.tcp_wmem='4096 16384 {BUFFER_MAX_BYTES}'",
        "ip netns add router",
        "ip netns exec router sysctl -qw net.ipv4.ip_forward=1",
        *_receiver_lines(),
        *[line for host in range(len(scenario.rtts_ms)) for line in _host_lines(scenario, host)],
        *_qdisc_lines(scenario),
        '"$LAB/traffic" "$LAB/spec" /tmp/traffic',
        "for part in traffic begin end classes; do",
        '	echo "@$part"; cat /tmp/$part',
        'done >"$RESULT"',
    ]
    return "\n".join(lines) + "\n"


def send_buffer_bytes(scenario: Scenario, flow: Flow) -> int:
    """Room for the path at ten times the fair share: never what limits a flow.

    The kernel doubles it for its own overhead.
    """
    smallest, largest = SEND_BUFFER_BYTES
    share_bps = scenario.rate_bps * min(1.0, 10 / len(scenario.flows))
    path_bytes = share_bps / 8 * (flow.rtt_ms + QUEUE_ALLOWANCE_MS) / 1000
    return round(min(max(path_bytes, smallest), largest))


def _step_commands(scenario: Scenario, step: Step) -> list[str]:
    commands = []
    if step.rate_bps is not None:
        commands.append(f"tc -n router {_htb('change', step.rate_bps)}")
    if step.delay_ms is not None:
        commands += [
            f"tc -n router {_netem('change', host, rtt + step.delay_ms)}"
            for host, rtt in enumerate(scenario.rtts_ms)
        ]
    return commands


def _commands(scenario: Scenario) -> list[tuple[int, str]]:
    """What happens while traffic runs: readings of the qdiscs, and steps."""
    show = "tc -n router -s -j qdisc show dev bot >/tmp"
    per_flow = "tc -n router -s class show dev bot parent 2: >/tmp/classes"
    reset = "tc -n router qdisc change dev bot parent 1:1 handle 2: meter reset"
    timed = [
        (round(scenario.warmup_s * 1000), f"{reset} && {show}/begin"),
        (round(scenario.total_s * 1000), f"{show}/end && {per_flow}"),
    ]
    for step in scenario.steps:
        timed += [(round(step.at_s * 1000), c) for c in _step_commands(scenario, step)]
    return sorted(timed, key=lambda item: item[0])


def spec(scenario: Scenario) -> str:
    """The traffic program's specification."""
    spread = random.Random(scenario.seed)
    lines = [
        "receiver rx",
        f"measure {round(scenario.warmup_s * 1000)} {round(scenario.total_s * 1000)}",
        f"sample {scenario.sample_ms}",
        *[f"at {at_ms} {command}" for at_ms, command in _commands(scenario)],
    ]
    for flow in scenario.flows:
        start_ms = spread.randrange(START_SPREAD_MS)
        lines.append(
            f"flow h{flow.host} {RX_ADDRESS} {FIRST_PORT + flow.index} {flow.cc} {start_ms}"
            f" {send_buffer_bytes(scenario, flow)}"
            f" {flow.hint} {round(flow.hint_factor * 1000)}"
        )
    return "\n".join(lines) + "\n"
