# SPDX-License-Identifier: GPL-2.0
"""Shares of hosts: of all that each sends, and of the flows within each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from lab.model.hosts import SETTLED_S
from lab.model.scenario import START_SPREAD_S, Scenario
from lab.model.udp import UdpResult
from lab.model.wire import expansion
from lab.results.dues import dues_mbps


def jain(values: Sequence[float]) -> float:
    """Jain's fairness index: 1 = all equal, 1/n = one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


@dataclass(frozen=True)
class HostResult:
    """A host, or the hosts of a subscriber, over the measured interval."""

    number: int
    """Of the host, from 0 on; of the subscriber, as given."""
    weight: int
    flows: int
    """Long ones."""
    goodput_mbps: float
    """All that was received of it: long and short flows, UDP and ACKs from it."""
    short_mbps: float
    udp_mbps: float
    acks_mbps: float
    """Of flows the other way, as payload that takes as much of the wire."""
    jain: float
    """Of its long flows."""
    of_due: float
    """What it took on the wire, to its weighted max-min fair share of the link; nan if it is due
    nothing."""


@dataclass(frozen=True)
class Hosts:
    """What is said of all of them."""

    hosts: list[HostResult]
    jain: float
    """Of what each received, divided by its weight; the least of the times between changes
    of who sends, of those that send."""
    within: float
    """The worst Jain's index of the flows of one host."""
    error: float
    """How far the worst-off or best-off host is from the mean, to the mean, divided by weights."""
    receivers_jain: float
    """Of the receivers' addresses, all of one weight; nan if there is one."""


def _short_mbps(scenario: Scenario, readings: Sequence[Mapping[str, Any]],
                seconds: float) -> list[float]:  # fmt: skip
    """Goodput of the short flows of each host."""
    hosts = len(scenario.rtts_ms)
    if not scenario.churn:
        return [0.0] * hosts
    first, last = (
        [*reading["short_of"], *[0] * hosts][:hosts] for reading in (readings[0], readings[-1])
    )
    return [(b - a) * 8 / seconds / 1e6 for a, b in zip(first, last, strict=True)]


def _udp_mbps(scenario: Scenario, udp: Sequence[UdpResult],
              hosts: Sequence[int]) -> tuple[float, float]:  # fmt: skip
    """On the wire and without headers, of the streams of these hosts."""
    streams = [
        (done.delivered_mbps, stream.payload_bytes / stream.frame_bytes)
        for stream, done in zip(scenario.udp, udp, strict=True)
        if stream.host in hosts
    ]
    return sum(mbps for mbps, _ in streams), sum(mbps * part for mbps, part in streams)


def _acks_mbps(scenario: Scenario, acks: Sequence[float], host: int) -> float:
    """On the wire, of the flows to a host."""
    flows = zip(scenario.reverse_flows, acks, strict=True)
    return sum(mbps for flow, mbps in flows if flow.host == host)


def _steady(scenario: Scenario) -> set[int]:
    """Hosts that send for the whole of the measured interval; all, if none does."""
    found = {
        host for host, (start, stop) in enumerate(scenario.lives_s)
        if start + START_SPREAD_S <= scenario.warmup_s and stop in (None, scenario.total_s)
    }  # fmt: skip
    return found or set(range(len(scenario.rtts_ms)))


def _between_changes(scenario: Scenario,
                     samples: Sequence[Sequence[int]]) -> list[list[float]]:  # fmt: skip
    """Goodput divided by weight of the groups that send, by their long flows, each time that
    the same ones do, from SETTLED_S after a change on."""
    assert scenario.idle
    found = []
    for begin_s, end_s, on in scenario.idle.times(scenario.total_s):
        first = max(scenario.warmup_s, begin_s + SETTLED_S if begin_s else 0.0) * 1000
        rows = [row for row in samples if first <= row[0] <= end_s * 1000]
        if len(rows) < 2 or end_s * 1000 - first < SETTLED_S * 1000:
            continue
        seconds = (rows[-1][0] - rows[0][0]) / 1000
        shares: dict[int, float] = {}
        for flow in scenario.flows:
            if on or not scenario.idles(flow.host):
                group = scenario.groups[flow.host]
                got = (rows[-1][1 + flow.index] - rows[0][1 + flow.index]) * 8 / seconds / 1e6
                weight = scenario.host_weights[flow.host]
                shares[group] = shares.get(group, 0.0) + got / weight
        found.append(list(shares.values()))
    return found


def _receivers_jain(scenario: Scenario, goodputs: Sequence[float]) -> float:
    found = [0.0] * len(scenario.receivers)
    for flow in scenario.flows:
        if flow.receiver is not None:
            found[flow.receiver] += goodputs[flow.index]
    return jain(found) if len(found) > 1 else math.nan


def _error(shares: Sequence[float]) -> float:
    mean = fmean(shares)
    return max(abs(share / mean - 1) for share in shares) if mean else math.nan


def compute(scenario: Scenario, readings: Sequence[Mapping[str, Any]],
            samples: Sequence[Sequence[int]], goodputs: Sequence[float],
            wires: Sequence[float], udp: Sequence[UdpResult], acks: Sequence[float],
            seconds: float) -> Hosts:  # fmt: skip
    """From the goodput of the long flows in Mbit/s, that with headers, the ACKs of flows the other
    way with headers, and the readings."""
    short = _short_mbps(scenario, readings, seconds)
    members: dict[int, list[int]] = {}
    for host, group in enumerate(scenario.groups):
        members.setdefault(group, []).append(host)
    dues = dues_mbps(scenario)
    found = []
    for group, hosts in members.items():
        flows = [flow.index for flow in scenario.flows if flow.host in hosts]
        own, short_mbps = [goodputs[i] for i in flows], sum(short[host] for host in hosts)
        on_wire, udp_mbps = _udp_mbps(scenario, udp, hosts)
        acked = sum(_acks_mbps(scenario, acks, host) for host in hosts)
        acks_mbps = acked / expansion(scenario.hint != "none")
        on_wire += sum(wires[i] for i in flows)
        on_wire += short_mbps * expansion(scenario.hint != "none") + acked
        found.append(
            HostResult(
                number=group if scenario.subscribers else hosts[0],
                weight=scenario.host_weights[hosts[0]],
                flows=len(flows),
                goodput_mbps=sum(own) + short_mbps + udp_mbps + acks_mbps,
                short_mbps=short_mbps,
                udp_mbps=udp_mbps,
                acks_mbps=acks_mbps,
                jain=jain(own),
                of_due=on_wire / dues[group] if dues[group] else math.nan,
            )
        )
    steady = {scenario.groups[host] for host in _steady(scenario)}
    compared = [h for group, h in zip(members, found, strict=True) if group in steady]
    shares = [host.goodput_mbps / host.weight for host in compared]
    windows = (_between_changes(scenario, samples) if scenario.idle else []) or [shares]
    return Hosts(
        hosts=found,
        jain=min(map(jain, windows)),
        within=min(host.jain for host in compared),
        error=max(map(_error, windows)),
        receivers_jain=_receivers_jain(scenario, goodputs),
    )
