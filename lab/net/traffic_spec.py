# SPDX-License-Identifier: GPL-2.0
"""Writes the specification of the traffic program: flows, times, readings and commands."""

from __future__ import annotations

import random

from lab.model.ports import SHORT_PORT, THIN_PORT, UDP_PORT
from lab.model.scenario import START_SPREAD_S, Flow, Scenario
from lab.model.step import Step
from lab.model.thin import DRAIN_S
from lab.net import network
from lab.net.network import Host, Queue

THIN_SPREAD_MS = 1000
START_SPREAD_MS = START_SPREAD_S * 1000
SEND_BUFFER_BYTES = (128 * 1024, 32 * 1024 * 1024)
QUEUE_ALLOWANCE_MS = 100


def _due_share(scenario: Scenario, flow: Flow) -> float:
    """Of the link, the most that a queue may mean to give it: by flows, or by hosts."""
    by_flow = 1 / scenario.n_flows
    if scenario.even:
        return by_flow
    if flow.hop or flow.reverse or len(set(scenario.receivers)) > 1:
        return 1.0
    weights = dict(zip(scenario.groups, scenario.host_weights, strict=True))
    own = scenario.groups[flow.host]
    flows = sum(
        count for count, group in zip(scenario.host_sessions, scenario.groups, strict=True)
        if group == own
    )  # fmt: skip
    return max(by_flow, weights[own] / sum(weights.values()) / flows)


def send_buffer_bytes(scenario: Scenario, flow: Flow) -> int:
    """Room for the path at ten times the fair share: never what limits a flow.

    Of a path that changes, for the highest rate and the longest RTT. BBR may take all of the
    link, and have twice of what the path holds on its way. The kernel doubles it for its own
    overhead.
    """
    smallest, largest = SEND_BUFFER_BYTES
    shares = 2 if flow.cc == "bbr" else min(1.0, 10 * _due_share(scenario, flow))
    rates_bps = [scenario.rate_bps, *(step.rate_bps or 0 for step in scenario.steps)]
    peak_bps = scenario.line.peak_bps if scenario.line else max(rates_bps)
    share_bps = peak_bps * shares
    rtt_ms = flow.rtt_ms + max((step.delay_ms or 0 for step in scenario.steps), default=0)
    path_bytes = share_bps / 8 * (rtt_ms + QUEUE_ALLOWANCE_MS) / 1000
    if scenario.line:
        path_bytes += 2 * scenario.line.buffer_bytes
    return round(min(max(path_bytes, smallest), largest))


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _step_commands(scenario: Scenario, step: Step) -> list[str]:
    commands = []
    if step.rate_bps is not None:
        commands += [
            queue.change(scenario.qdisc_words[0], step.rate_bps)
            for queue in network.queues(scenario)
        ]  # fmt: skip
    if step.delay_ms is not None or step.jitter_ms is not None:
        more_ms, jitter_ms = step.delay_ms or 0, step.jitter_ms or 0
        delayed = [
            (network.delayed_at(scenario, host), network.back_ms(scenario, host.rtt_ms) + more_ms)
            for host in network.hosts(scenario)
            if host.rtt_ms is not None
        ]
        if scenario.jitter_ms:
            delayed.append((("rx", network.VARY), scenario.jitter_ms))
        commands += [
            f"tc -n {netns} {network.netem('change', device, delay_ms, jitter_ms)}"
            for (netns, device), delay_ms in delayed
        ]
    return commands


def _readings(scenario: Scenario, queue: Queue) -> list[tuple[int, str]]:
    """Of a queue, at both ends of the measured interval."""
    device, netns = queue.device, queue.netns
    show = f"{queue.tc} -s -j qdisc show dev {device} >/tmp"
    per_flow = f"{queue.tc} -s class show dev {device} parent 2: >/tmp/classes-{netns}"
    reset = f"{queue.tc} qdisc change dev {device} parent 1:1 handle 2: meter reset"
    return [
        (_ms(scenario.warmup_s), f"{reset} && {show}/begin-{netns}"),
        (_ms(scenario.total_s), f"{show}/end-{netns} && {per_flow}"),
    ]


def _line_commands(scenario: Scenario, queue: Queue) -> list[tuple[int, str]]:
    """Of a line: its trace begins, its rate changes, its figures at both ends of each phase."""
    line = scenario.line
    if not line:
        return []
    change = f"{queue.tc} qdisc change dev {queue.device} root handle 1: line"
    show = f"{queue.tc} -s -j qdisc show dev {queue.device}"
    timed = [(0, f"{change} start"), (_ms(scenario.warmup_s), f"{change} reset")]
    for index, phase in enumerate(line.phases(scenario.warmup_s, scenario.total_s)):
        timed += [
            (_ms(phase.from_s), f"{show} >/tmp/line-{index}-begin"),
            (_ms(phase.to_s), f"{show} >/tmp/line-{index}-end"),
        ]
    return timed + [(_ms(at_s), f"{change} rate {rate}") for at_s, rate in line.rates[1:]]


def _commands(scenario: Scenario) -> list[tuple[int, str]]:
    """Commands while traffic runs: readings of the queues, and steps."""
    queues = network.queues(scenario)
    timed = [item for queue in queues for item in _readings(scenario, queue)]
    timed += [item for queue in queues for item in _line_commands(scenario, queue)]
    for step in scenario.steps:
        timed += [(_ms(step.at_s), c) for c in _step_commands(scenario, step)]
    return sorted(timed, key=lambda item: item[0])


def _peer(scenario: Scenario, host: Host, index: int, receiver: int | None = None) -> str:
    plain = scenario.ecn_mixed and not scenario.ecn_of(index)
    return host.peer(plain=plain, receiver=receiver)


def _start_ms(scenario: Scenario, flow: Flow) -> int:
    """The earliest that it starts."""
    late = scenario.starts_s and not flow.hop and not flow.reverse
    return _ms(scenario.starts_s[flow.host]) if late else 0


def _stop_ms(scenario: Scenario, flow: Flow) -> int:
    """When it is reset; -1: never."""
    own = scenario.stops_s and not flow.hop and not flow.reverse
    stop_s = scenario.stops_s[flow.host] if own else None
    return -1 if stop_s is None else _ms(stop_s)


def _flow_line(scenario: Scenario, flow: Flow, host: Host, start_ms: int) -> str:
    return (
        f"{'reverse' if flow.reverse else 'flow'} {host.name}"
        f" {_peer(scenario, host, flow.index, flow.receiver)}"
        f" {flow.port} {flow.cc} {start_ms} {_stop_ms(scenario, flow)}"
        f" {send_buffer_bytes(scenario, flow)}"
        f" {flow.hint} {round(flow.hint_factor * 1000)} {int(flow.ect1)}"
    )


def _idle_lines(scenario: Scenario, flow: Flow) -> list[str]:
    """When it has nothing to send, if there are such times."""
    if scenario.idle is None or flow.hop or flow.reverse or not scenario.idles(flow.host):
        return []
    return [f"idle {_ms(scenario.idle.on_s)} {_ms(scenario.idle.off_s)}"]


def _short_peer(scenario: Scenario, host: Host, index: int) -> str:
    """Short flows go to the receivers in turn."""
    receivers = len(scenario.receivers)
    return _peer(scenario, host, index, index % receivers if receivers else None)


def _short_lines(scenario: Scenario) -> list[str]:
    hosts = [host for host in network.hosts(scenario) if host.kind == network.LONG]
    return [
        f"short {hosts[arrival.host].name} {_short_peer(scenario, hosts[arrival.host], index)}"
        f" {scenario.background_cc_of(index)} {arrival.at_ms} {arrival.size_bytes}"
        f" {scenario.hint_of(index)} {int(scenario.short_ect1(index))}"
        for index, arrival in enumerate(scenario.short_flows)
    ]


def _udp_lines(scenario: Scenario) -> list[str]:
    address = network.far_address(network.n_hops(scenario))
    return [
        f"udp {network.udp_host(scenario, index)} {address} {UDP_PORT + index}"
        f" {stream.interval_ns}"
        f" {_ms(stream.from_s)} {_ms(scenario.total_s if stream.to_s is None else stream.to_s)}"
        f" {int(scenario.ect1.udp)} {stream.payload_bytes}"
        for index, stream in enumerate(scenario.udp)
    ]


def _spoof_lines(scenario: Scenario) -> list[str]:
    flows = scenario.flows
    return [
        f"spoof a{index} {flows[spoof.flow].port} {spoof.kind} {spoof.interval_ns}"
        f" {_ms(spoof.from_s)} {_ms(scenario.total_s if spoof.to_s is None else spoof.to_s)}"
        f" {int(spoof.ect)}"
        for index, spoof in enumerate(scenario.spoof)
    ]


def _thin_lines(scenario: Scenario) -> list[str]:
    """Streams of a class start at random, so that they do not send together."""
    chance = random.Random(f"thin {scenario.seed}")
    address = network.far_address(network.n_hops(scenario))
    streams = [thin for thin in scenario.thin for _ in range(thin.streams)]
    return [
        f"thin t{thin.kind.number} {address} {THIN_PORT + index}"
        f" {thin.shape.how} {thin.shape.payload_bytes} {thin.shape.interval_ns}"
        f" {chance.randrange(THIN_SPREAD_MS)} {_ms(scenario.total_s - DRAIN_S)}"
        f" {chance.getrandbits(32)}"
        for index, thin in enumerate(streams)
    ]


def spec(scenario: Scenario) -> str:
    """The traffic program's specification."""
    spread = random.Random(scenario.seed)
    found = {(host.kind, host.number): host for host in network.hosts(scenario)}
    lines = [
        "receiver rx",
        f"measure {_ms(scenario.warmup_s)} {_ms(scenario.total_s)}",
        *[f"phase {_ms(phase.from_s)}" for phase in scenario.phases[1:]],
        f"sample {scenario.samples_ms}",
        *[f"at {at_ms} {command}" for at_ms, command in _commands(scenario)],
    ]
    for flow in scenario.all_flows:
        host = found[network.CROSS if flow.hop else network.LONG, flow.host]
        lines.append(f"receiver {network.behind(scenario, host.last_hop)}")
        start_ms = _start_ms(scenario, flow) + spread.randrange(START_SPREAD_MS)
        lines += [_flow_line(scenario, flow, host, start_ms), *_idle_lines(scenario, flow)]
    lines.append("receiver rx")
    lines += _udp_lines(scenario)
    lines += _spoof_lines(scenario)
    lines += _thin_lines(scenario)
    if scenario.churn:
        lines += [f"server {SHORT_PORT}", *_short_lines(scenario)]
    return "\n".join(lines) + "\n"
