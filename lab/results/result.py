# SPDX-License-Identifier: GPL-2.0
"""Computes a result from a guest's measurements, and checks that they agree."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import pairwise
from statistics import fmean
from typing import Any

from lab.engines.job import GuestError, GuestOutput
from lab.model.churn import Completion, ShortFlows, by_size
from lab.model.ect1 import EcnClass, EcnResult
from lab.model.ports import SHORT_PORT, UDP_PORT
from lab.model.scenario import Flow, Scenario
from lab.model.spoof import Spoof, SpoofResult
from lab.model.thin import Thin, ThinResult
from lab.model.udp import UdpResult
from lab.model.wire import HEADER_BYTES, expansion, headers
from lab.net import network
from lab.results import hosts as hosts_of
from lab.results import line as line_of
from lab.results.hosts import HostResult, jain
from lab.results.line import LineResult
from lab.results.readings import QueueReadings, QueueResult, ResultError, Sojourn, sections

RATE_SLACK = 1.02
TIME_SLACK = 0.01
STARVED_MAX = 0.2
"""A receiver with many holes to keep may briefly close its window: up to 7 % seen."""


DERIVED = ("tcp_share", "min_phase_utilisation", "max_class_ratio", "drop_rate", "host_due")
"""Figures that follow from the others, in the JSON for its readers."""


@dataclass(frozen=True)
class FlowResult:
    """One flow over the measured interval."""

    rtt_ms: float
    cc: str
    hinted: bool
    goodput_mbps: float
    retransmits: int
    marks: int
    """Packets that left the queue with CE, retransmissions included."""
    min_rtt_ms: float
    starved: float
    """Share of the time that a buffer of an end held it back, not the path."""
    wire_mbps: float
    """Goodput with the headers it needed, retransmissions not counted."""
    ecn: bool = True
    """Negotiated; a host whose first SYN is lost does without."""
    hop: int = 0
    """The only router it crosses; 0: all."""
    held_mbps: float = 0.0
    """Of wire_mbps, what had arrived before the interval, and waited behind a hole."""
    acks_mbps: float = 0.0
    """Of its receiver, on the wire."""

    @property
    def expansion(self) -> float:
        """Bytes on the wire for each that it carries."""
        return self.wire_mbps / self.goodput_mbps if self.goodput_mbps else 1.0


@dataclass(frozen=True)
class PhaseResult:
    """A part of the measured interval in which the rate stayed."""

    from_s: float
    to_s: float
    rate_mbps: float
    utilisation: float


@dataclass(frozen=True)
class Result:
    """A finished run. Its fields are the keys of the JSON."""

    label: str
    """The qdisc under test, as typed."""
    jain: float
    max_min_ratio: float | None
    """None if a flow received nothing."""
    utilisation: float
    """Of the rate, by all that was received, with the headers it needed."""
    sojourn_ms: Sojourn
    marks: int
    drops: int
    packets: int
    goodput_mbps: float
    rate_mbps: float
    measured_s: float
    flows: list[FlowResult]
    samples: list[list[int]]
    """Rows of [ms, bytes received by each flow so far]."""
    qdisc: dict[str, Any]
    kernel: str
    clock: str
    gso: bool
    ecn: bool
    seed: int
    reruns: int
    wall_s: float
    cpu_s: float
    command: str
    phases: list[PhaseResult] = field(default_factory=list)
    udp: list[UdpResult] = field(default_factory=list)
    spoof: list[SpoofResult] = field(default_factory=list)
    thin: list[ThinResult] = field(default_factory=list)
    """Classes of thin traffic."""
    ecn_classes: list[EcnResult] = field(default_factory=list)
    """All traffic by the ECN field with which it came; empty if none was ECT(1)."""
    short_flows: ShortFlows | None = None
    cross: list[FlowResult] = field(default_factory=list)
    """Flows that cross one router only."""
    reverse: list[FlowResult] = field(default_factory=list)
    """Flows the other way."""
    queues: list[QueueResult] = field(default_factory=list)
    """All bottlenecks; the figures above are of those that the flows cross."""
    hosts: list[HostResult] = field(default_factory=list)
    """Or subscribers, where hosts are theirs."""
    host_jain: float = math.nan
    """Of their goodput divided by their weights (lab/results/hosts.py)."""
    within_jain: float = math.nan
    """Of the flows of one host, the worst."""
    host_error: float = math.nan
    """How far the worst host's share is from the mean, relative to it."""
    receiver_jain: float | None = None
    """Of the addresses of the receivers' side; None if there is one."""
    line: LineResult | None = None
    """A second bottleneck behind the queue; sojourn_ms is that of the first alone."""

    @property
    def host_due(self) -> float:
        """What the worst-off host has, to its weighted max-min fair share; UDP beside it asks
        for what it sends."""
        known = [host.of_due for host in self.hosts if not math.isnan(host.of_due)]
        return min(known, default=math.nan)

    @property
    def hosts_differ(self) -> bool:
        """Whether by hosts means anything else than by flows."""
        if self.receiver_jain is not None:
            return True
        return any(h.flows != 1 or h.weight != 1 or h.udp_mbps for h in self.hosts)

    @property
    def tcp_share(self) -> float:
        """Utilisation by TCP alone."""
        others_mbps = sum(stream.delivered_mbps for stream in self.udp)
        others_mbps += sum(thin.mbps for thin in self.thin)
        return self.utilisation - others_mbps / self.rate_mbps

    @property
    def drop_rate(self) -> float:
        """Of the packets that came to the queues; a super-packet that is dropped counts as one."""
        return self.drops / (self.packets + self.drops)

    @property
    def min_phase_utilisation(self) -> float:
        """Of the worst of the phases."""
        if self.line:
            return self.line.min_utilisation
        return min((phase.utilisation for phase in self.phases), default=self.utilisation)

    @property
    def max_class_ratio(self) -> float:
        """The mean goodput of the best-off congestion control's flows, to that of all.

        nan if none of them received anything, as beside others that cross one router only.
        """
        if not self.goodput_mbps:
            return math.nan
        classes: dict[str, list[float]] = {}
        for flow in self.flows:
            classes.setdefault(flow.cc, []).append(flow.goodput_mbps)
        return max(map(fmean, classes.values())) * len(self.flows) / self.goodput_mbps

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON, as Python has it: JSON has neither nan nor inf, but null."""
        made = asdict(self) | {name: getattr(self, name) for name in DERIVED}
        return {name: _finite(value) for name, value in made.items()}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Result:
        """Reads what to_dict() wrote."""
        own = {field.name: content[field.name] for field in fields(cls) if field.name in content}
        own["sojourn_ms"] = Sojourn(**own["sojourn_ms"])
        for name, kind in _LISTS.items():
            absent = math.inf if name in ("thin", "ecn_classes") else math.nan
            own[name] = [kind(**_absent(part, absent)) for part in own.get(name, [])]
        own |= _absent({name: own[name] for name in _BY_HOSTS if name in own}, math.nan)
        own["queues"] = [QueueResult.from_dict(queue) for queue in own.get("queues", [])]
        if own.get("short_flows"):
            own["short_flows"] = ShortFlows.from_dict(own["short_flows"])
        if own.get("line"):
            own["line"] = LineResult.from_dict(own["line"])
        return cls(**own)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _absent(content: dict[str, Any], value: float) -> dict[str, Any]:
    """With a value for each that is null."""
    return {name: value if known is None else known for name, known in content.items()}


_BY_HOSTS = ("host_jain", "within_jain", "host_error")
_LISTS: dict[str, type] = {
    "flows": FlowResult, "cross": FlowResult, "reverse": FlowResult, "phases": PhaseResult,
    "hosts": HostResult, "udp": UdpResult, "spoof": SpoofResult, "thin": ThinResult,
    "ecn_classes": EcnResult,
}  # fmt: skip


def _flow_result(flow: Flow, reading: dict[str, Any], marks: int, seconds: float) -> FlowResult:
    begin, end = reading["begin"], reading["end"]
    mss = end["snd_mss"]
    goodput = (end["bytes_received"] - begin["bytes_received"]) * 8 / seconds / 1e6
    expanded = (mss + headers(hinted=flow.hint == "packet")) / mss if mss else 0.0
    return FlowResult(
        rtt_ms=flow.rtt_ms,
        cc=flow.cc,
        hinted=flow.hint != "none",
        goodput_mbps=goodput,
        retransmits=end["retransmits"] - begin["retransmits"],
        marks=marks,
        min_rtt_ms=end["min_rtt_us"] / 1000,
        starved=(end["starved_us"] - begin["starved_us"]) / 1e6 / seconds,
        wire_mbps=goodput * expanded,
        ecn=end["ecn"],
        hop=flow.hop,
        held_mbps=begin["held_bytes"] * 8 / seconds / 1e6 * expanded,
        acks_mbps=(end["acks"] - begin["acks"]) * HEADER_BYTES * 8 / seconds / 1e6,
    )


def _short_flows(scenario: Scenario, traffic: dict[str, Any], marks: int,
                 seconds: float) -> ShortFlows:  # fmt: skip
    """Those that arrived within the measured interval; what was received, of all.

    Who has not finished took until the end of the interval at least, and counts with that: left
    out, he would shorten the mean of the qdisc that starves him.
    """
    since_ms, to_ms, times, finished = traffic["from_ms"], traffic["to_ms"], [], 0
    for flow, (start_ms, end_ms) in zip(scenario.short_flows, traffic["shorts"], strict=True):
        if flow.at_ms >= since_ms:
            finished += end_ms >= 0
            until_ms = end_ms if end_ms >= 0 else max(to_ms, start_ms)
            times.append((flow.size_bytes, (until_ms - start_ms) / 1000))
    first, last = traffic["readings"][0], traffic["readings"][-1]
    goodput_mbps = (last["short"] - first["short"]) * 8 / seconds / 1e6
    return ShortFlows(
        count=len(times),
        finished=finished,
        unfinished=len(times) - finished,
        marks=marks,
        goodput_mbps=goodput_mbps,
        wire_mbps=goodput_mbps * expansion(scenario.hint != "none"),
        completion_s=Completion.of(times),
        by_size=by_size(times),
    )


def _spoof(attackers: Sequence[Spoof], traffic: dict[str, Any],
           flows: Sequence[FlowResult]) -> list[SpoofResult]:  # fmt: skip
    sent = traffic["spoofed"] if attackers else []
    return [
        SpoofResult(spoof.flow, spoof.kind.value, packets, flows[spoof.flow].goodput_mbps)
        for spoof, packets in zip(attackers, sent, strict=True)
    ]


def _sojourn_ms(of_hops: Sequence[Mapping[str, int]]) -> dict[str, float]:
    """Of a class, in the worst of the queues that it crosses; inf if nothing left the last one,
    so that to lose all is nowhere taken for no delay."""
    if not of_hops[-1]["packets_out"]:
        return dict.fromkeys(("mean_ms", "p95_ms", "p99_ms", "max_ms"), math.inf)
    worst = max(of_hops, key=lambda reading: reading["p99_us"])
    return {
        "mean_ms": worst["mean_ns"] / 1e6,
        "p95_ms": worst["p95_us"] / 1000,
        "p99_ms": worst["p99_us"] / 1000,
        "max_ms": worst["max_us"] / 1000,
    }


def _thin(thin: Thin, hops: Sequence[QueueReadings], seconds: float) -> ThinResult:
    """A class, from the readings of all queues that it crosses."""
    of_hops = [queue.thin(thin.kind.number) for queue in hops]
    sent, left = of_hops[0]["packets_in"], of_hops[-1]["packets_out"]
    return ThinResult(
        name=thin.kind.value,
        streams=thin.streams,
        sent=sent,
        lost=max(0, sent - left),
        mbps=of_hops[-1]["bytes_out"] * 8 / seconds / 1e6,
        **_sojourn_ms(of_hops),
    )


def _ecn(ecn: EcnClass, hops: Sequence[QueueReadings], seconds: float) -> EcnResult:
    """A class, from the readings of all queues that it crosses."""
    of_hops = [queue.ecn(ecn.number) for queue in hops]
    return EcnResult(
        name=ecn.value,
        sent=of_hops[0]["packets_in"],
        mbps=of_hops[-1]["bytes_out"] * 8 / seconds / 1e6,
        **_sojourn_ms(of_hops),
    )


def _ecn_classes(scenario: Scenario, hops: Sequence[QueueReadings],
                 seconds: float) -> list[EcnResult]:  # fmt: skip
    if not scenario.ect1_tcp and not scenario.ect1.udp:
        return []
    found = [_ecn(ecn, hops, seconds) for ecn in EcnClass]
    return [one for one in found if one.sent]


def _used_mbps(scenario: Scenario, flows: Sequence[FlowResult], others_mbps: float) -> float:
    """Rate received across the least used router."""
    everywhere = sum(flow.wire_mbps for flow in flows if not flow.hop) + others_mbps
    hops = range(1, scenario.hops + 1)
    return everywhere + min(sum(f.wire_mbps for f in flows if f.hop == hop) for hop in hops)


def _phases(scenario: Scenario, readings: list[dict[str, Any]],
            flows: list[FlowResult], thin_mbps: float) -> list[PhaseResult]:  # fmt: skip
    """The phases, from the bytes received at their ends; thin traffic is the same in all."""
    found = []
    for phase, (begin, end) in zip(scenario.phases, pairwise(readings), strict=True):
        seconds = (end["ms"] - begin["ms"]) / 1000
        # The long flows and those that cross one router, as if each of their segments were full.
        seen = [
            replace(flow, wire_mbps=(after - before) * 8 / seconds / 1e6 * flow.expansion)
            for flow, before, after in zip(flows, begin["flows"], end["flows"], strict=False)
        ]
        short_mbps = (end["short"] - begin["short"]) * 8 / seconds / 1e6
        others_mbps = short_mbps * expansion(scenario.hint != "none") + thin_mbps
        others_mbps += sum(
            stream.mbps(after - before, seconds)
            for stream, (_, before), (_, after) in zip(
                scenario.udp, begin["udp"], end["udp"], strict=True
            )
        )
        rate_mbps = phase.rate_bps / 1e6
        utilisation = _used_mbps(scenario, seen, others_mbps) / rate_mbps
        found.append(PhaseResult(phase.from_s, phase.to_s, rate_mbps, utilisation))
    return found


def _flow_problems(scenario: Scenario, flows: list[FlowResult]) -> list[str]:
    """Of all bulk flows."""
    starved = [f"{i} ({f.starved:.0%})" for i, f in enumerate(flows) if f.starved > STARVED_MAX]
    planned = scenario.all_flows
    wrong = [str(i) for i, flow in enumerate(flows) if flow.ecn and not planned[i].ecn]
    deaf = [
        str(i) for i, flow in enumerate(flows)
        if planned[i].ect1 and flow.goodput_mbps and not flow.ecn
    ]  # fmt: skip
    problems = []
    if not any(flow.goodput_mbps for flow in flows):
        problems.append("no flow received anything")
    if starved:
        problems.append(f"flows held back by a buffer of an end: {', '.join(starved)}")
    if wrong:
        problems.append(f"flows with ECN that should have none: {', '.join(wrong)}")
    if deaf:
        problems.append(f"flows without ECN that should be ECT(1): {', '.join(deaf)}")
    return problems


def _queue_problems(result: Result, scenario: Scenario, queue: QueueReadings) -> list[str]:
    """Whether what the meter counted is what the ends received."""
    hop = queue.queue.hop
    flows = [*scenario.flows, *scenario.cross_flows] if hop else scenario.reverse_flows
    ports = [flow.port for flow in flows if flow.hop in (0, hop)] + [SHORT_PORT]
    if hop and scenario.ect1.udp:
        ports += [UDP_PORT + index for index in range(len(scenario.udp))]
    received = [*result.flows, *result.cross] if hop else result.reverse
    if hop:
        used = result.utilisation * result.rate_mbps
    else:
        used = sum(flow.wire_mbps for flow in received)
    used -= sum(flow.held_mbps for flow in received)
    left = queue.left_mbps(result.measured_s)
    # ACKs of flows the other way are ECT where these have Accurate ECN
    acks = bool(scenario.reverse) and any(flow.ect1 for flow in scenario.all_flows)
    problems = queue.problems(ports, gso=scenario.gso, others=acks)
    room = math.inf if scenario.line else result.rate_mbps * RATE_SLACK
    if left > room or used > left * RATE_SLACK:
        problems.append(
            f"{queue.queue.name}, Mbit/s: {used:.3f} received, {left:.3f} left the queue,"
            f" {result.rate_mbps:.3f} is the rate"
        )
    return problems


def _check(result: Result, scenario: Scenario, queues: list[QueueReadings]) -> None:
    """Raises ResultError unless the independent countings agree."""
    problems: list[str] = []
    if abs(result.measured_s - scenario.duration_s) > TIME_SLACK * scenario.duration_s:
        problems.append(f"measured {result.measured_s:.3f} s, not {scenario.duration_s:g}")
    problems += [f"no packet of {thin.name} was sent" for thin in result.thin if not thin.sent]
    problems += _flow_problems(scenario, [*result.flows, *result.cross, *result.reverse])
    for queue in queues:
        problems += _queue_problems(result, scenario, queue)
    if problems:
        raise ResultError("the numbers do not add up: " + "; ".join(problems))


def _bulk_flows(scenario: Scenario, traffic: dict[str, Any], queues: list[QueueReadings],
                seconds: float) -> list[FlowResult]:  # fmt: skip
    """The long flows, those that cross one router, those the other way."""
    last_of_hop = {queue.queue.hop: queue for queue in queues}

    def last(flow: Flow) -> QueueReadings:
        return last_of_hop[0 if flow.reverse else flow.hop or scenario.hops]

    return [
        _flow_result(flow, reading, last(flow).marks(flow.port), seconds)
        for flow, reading in zip(scenario.all_flows, traffic["flows"], strict=True)
    ]


def compute(scenario: Scenario, output: GuestOutput, release: str, clock: str,
            command: str) -> Result:  # fmt: skip
    """The result of a run. Raises ResultError if it does not add up."""
    if output.rc:
        raise GuestError(f"the guest's script failed with status {output.rc}", output.console)
    found = sections(output.result)
    traffic = found["traffic"]
    readings = traffic["readings"]
    seconds = (traffic["to_ms"] - traffic["from_ms"]) / 1000
    of_queues = [QueueReadings.of(found, queue) for queue in network.queues(scenario)]
    line = line_of.compute(scenario, found, of_queues[0])
    rate_mbps = line.rate_mbps if line else scenario.mean_rate_bps() / 1e6
    queues = [queue.result(rate_mbps, seconds) for queue in of_queues]
    hops = queues[: scenario.hops]
    bulk = _bulk_flows(scenario, traffic, of_queues, seconds)
    n_long, n_forward = len(scenario.flows), len(scenario.flows) + len(scenario.cross_flows)
    flows, forward = bulk[:n_long], bulk[:n_forward]
    short_marks = of_queues[scenario.hops - 1].marks(SHORT_PORT)
    short = _short_flows(scenario, traffic, short_marks, seconds) if scenario.churn else None
    udp = [
        UdpResult.of(stream, begin, end, seconds)
        for stream, begin, end in zip(
            scenario.udp, readings[0]["udp"], readings[-1]["udp"], strict=True
        )
    ]
    thin = [_thin(one, of_queues[: scenario.hops], seconds) for one in scenario.thin]
    thin_mbps = sum(one.mbps for one in thin)
    others_mbps = sum(stream.delivered_mbps for stream in udp) + thin_mbps
    others_mbps += short.wire_mbps if short else 0
    goodputs = [flow.goodput_mbps for flow in flows]
    of_hosts = hosts_of.compute(
        scenario, readings, traffic["samples"], goodputs, [flow.wire_mbps for flow in flows],
        udp, [flow.acks_mbps for flow in bulk[n_forward:]], seconds,
    )  # fmt: skip
    result = Result(
        label=scenario.qdisc,
        jain=jain(goodputs),
        max_min_ratio=max(goodputs) / min(goodputs) if min(goodputs) else None,
        utilisation=_used_mbps(scenario, forward, others_mbps) / rate_mbps,
        sojourn_ms=max((queue.sojourn_ms for queue in hops), key=lambda sojourn: sojourn.p95),
        marks=sum(queue.marks for queue in hops),
        drops=sum(queue.drops for queue in hops),
        packets=sum(queue.packets for queue in hops),
        goodput_mbps=sum(goodputs),
        rate_mbps=rate_mbps,
        measured_s=seconds,
        flows=flows,
        samples=[row[: 1 + n_long] for row in traffic["samples"]],
        qdisc=hops[0].qdisc,
        kernel=release,
        clock=clock,
        gso=scenario.gso,
        ecn=scenario.ecn,
        seed=scenario.seed,
        reruns=output.reruns,
        wall_s=output.wall_s,
        cpu_s=output.cpu_s,
        command=command,
        phases=_phases(scenario, readings, forward, thin_mbps),
        udp=udp,
        spoof=_spoof(scenario.spoof, traffic, flows),
        thin=thin,
        ecn_classes=_ecn_classes(scenario, of_queues[: scenario.hops], seconds),
        short_flows=short,
        cross=bulk[n_long:n_forward],
        reverse=bulk[n_forward:],
        queues=queues,
        hosts=of_hosts.hosts,
        host_jain=of_hosts.jain,
        within_jain=of_hosts.within,
        host_error=of_hosts.error,
        receiver_jain=None if math.isnan(of_hosts.receivers_jain) else of_hosts.receivers_jain,
        line=line,
    )
    _check(result, scenario, of_queues)
    return result
