# SPDX-License-Identifier: GPL-2.0
"""Writes the traffic program's specification: who sends what when, and what is done meanwhile."""

from __future__ import annotations

import random

from lab import network
from lab.scenario import Flow, Scenario, Step

START_SPREAD_MS = 3000
# The meter tells flows apart by the low 12 bits of this port.
FIRST_PORT = 5001
METER_CLASS_FLOWS, METER_FLOWS = 2, 4096
# Those that no flow has.
UDP_PORT = 9001
SHORT_PORT = 9020
SEND_BUFFER_BYTES = (128 * 1024, 32 * 1024 * 1024)
QUEUE_ALLOWANCE_MS = 100


def meter_class(port: int) -> int:
    """Minor number of the meter's class that counts what goes there (lab/kmod/sch_meter.c)."""
    return METER_CLASS_FLOWS + port % METER_FLOWS


def send_buffer_bytes(scenario: Scenario, flow: Flow) -> int:
    """Room for the path at ten times the fair share: never what limits a flow.

    The kernel doubles it for its own overhead.
    """
    smallest, largest = SEND_BUFFER_BYTES
    share_bps = scenario.rate_bps * min(1.0, 10 / len(scenario.flows))
    path_bytes = share_bps / 8 * (flow.rtt_ms + QUEUE_ALLOWANCE_MS) / 1000
    return round(min(max(path_bytes, smallest), largest))


def _ms(seconds: float) -> int:
    return round(seconds * 1000)


def _step_commands(scenario: Scenario, step: Step) -> list[str]:
    commands = []
    if step.rate_bps is not None:
        commands.append(f"tc -n router {network.htb('change', step.rate_bps)}")
    if step.delay_ms is not None:
        commands += [
            f"tc -n router {network.netem('change', host, rtt + step.delay_ms)}"
            for host, rtt in enumerate(scenario.rtts_ms)
        ]
    return commands


def _commands(scenario: Scenario) -> list[tuple[int, str]]:
    """What happens while traffic runs: readings of the qdiscs, and steps."""
    show = "tc -n router -s -j qdisc show dev bot >/tmp"
    per_flow = "tc -n router -s class show dev bot parent 2: >/tmp/classes"
    reset = "tc -n router qdisc change dev bot parent 1:1 handle 2: meter reset"
    timed = [
        (_ms(scenario.warmup_s), f"{reset} && {show}/begin"),
        (_ms(scenario.total_s), f"{show}/end && {per_flow}"),
    ]
    for step in scenario.steps:
        timed += [(_ms(step.at_s), c) for c in _step_commands(scenario, step)]
    return sorted(timed, key=lambda item: item[0])


def _short_lines(scenario: Scenario) -> list[str]:
    return [
        f"short h{arrival.host} {scenario.cc_of(index)} {arrival.at_ms} {arrival.size_bytes}"
        f" {scenario.hint_of(index)}"
        for index, arrival in enumerate(scenario.short_flows)
    ]


def spec(scenario: Scenario) -> str:
    """The traffic program's specification."""
    spread = random.Random(scenario.seed)
    lines = [
        "receiver rx",
        f"measure {_ms(scenario.warmup_s)} {_ms(scenario.total_s)}",
        *[f"phase {_ms(phase.from_s)}" for phase in scenario.phases[1:]],
        f"sample {scenario.sample_ms}",
        *[f"at {at_ms} {command}" for at_ms, command in _commands(scenario)],
    ]
    for flow in scenario.flows:
        start_ms = spread.randrange(START_SPREAD_MS)
        lines.append(
            f"flow h{flow.host} {network.RX_ADDRESS} {FIRST_PORT + flow.index} {flow.cc} {start_ms}"
            f" {send_buffer_bytes(scenario, flow)}"
            f" {flow.hint} {round(flow.hint_factor * 1000)}"
        )
    for index, stream in enumerate(scenario.udp):
        to_s = scenario.total_s if stream.to_s is None else stream.to_s
        lines.append(
            f"udp u{index} {network.RX_ADDRESS} {UDP_PORT + index} {stream.interval_ns}"
            f" {_ms(stream.from_s)} {_ms(to_s)}"
        )
    if scenario.churn:
        lines += [f"server {network.RX_ADDRESS} {SHORT_PORT}", *_short_lines(scenario)]
    return "\n".join(lines) + "\n"
