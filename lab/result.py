# SPDX-License-Identifier: GPL-2.0
"""Turns what a guest measured into a result, and checks that it adds up."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise
from statistics import fmean
from typing import Any

from lab.churn import Completion, ShortFlows, by_size
from lab.engine import GuestError, GuestOutput
from lab.scenario import Flow, Scenario
from lab.spec import FIRST_PORT, SHORT_PORT, meter_class
from lab.udp import UdpResult, frames_mbps
from lab.wire import expansion, headers

METER_HANDLE, QDISC_HANDLE = "2:", "3:"
METER_CLASS = re.compile(
    r"class meter 2:([0-9a-f]+) parent 2: \n Sent [^(]*\(dropped \d+, overlimits (\d+)"
)
"""iproute2 6.1 prints classes as text even when asked for JSON. The class of the
qdisc under test has no counters, and must not take those of the next one."""
SOJOURN_SOURCE = "meter"
DUMP_SLACK_PACKETS = 10
"""Packets may pass while tc reads one qdisc after the other."""
RATE_SLACK = 1.02
TIME_SLACK = 0.01
STARVED_MAX = 0.2
"""A receiver with many holes to keep may briefly close its window: up to 7 % seen."""


DERIVED = ("tcp_share", "min_phase_utilisation", "max_class_ratio")
"""Figures that follow from the others, in the JSON for its readers."""


class ResultError(RuntimeError):
    """A run whose numbers do not add up."""


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


@dataclass(frozen=True)
class PhaseResult:
    """A part of the measured interval in which the rate stayed."""

    from_s: float
    to_s: float
    rate_mbps: float
    utilisation: float


@dataclass(frozen=True)
class Sojourn:
    """Time in the qdisc under test, milliseconds, each packet counted once."""

    mean: float
    p50: float
    p95: float
    p99: float
    max: float
    source: str = SOJOURN_SOURCE


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
    short_flows: ShortFlows | None = None

    @property
    def tcp_share(self) -> float:
        """Utilisation by TCP alone."""
        short_mbps = self.short_flows.wire_mbps if self.short_flows else 0.0
        return (sum(flow.wire_mbps for flow in self.flows) + short_mbps) / self.rate_mbps

    @property
    def min_phase_utilisation(self) -> float:
        """Of the worst of the phases."""
        return min((phase.utilisation for phase in self.phases), default=self.utilisation)

    @property
    def max_class_ratio(self) -> float:
        """The mean goodput of the best-off congestion control's flows, to that of all."""
        classes: dict[str, list[float]] = {}
        for flow in self.flows:
            classes.setdefault(flow.cc, []).append(flow.goodput_mbps)
        return max(map(fmean, classes.values())) * len(self.flows) / self.goodput_mbps

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON, as Python has it."""
        return asdict(self) | {name: getattr(self, name) for name in DERIVED}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Result:
        """Reads what to_dict() wrote."""
        own = {field.name: content[field.name] for field in fields(cls) if field.name in content}
        own["sojourn_ms"] = Sojourn(**own["sojourn_ms"])
        for name, kind in (("flows", FlowResult), ("phases", PhaseResult), ("udp", UdpResult)):
            own[name] = [kind(**part) for part in own.get(name, [])]
        if own.get("short_flows"):
            own["short_flows"] = ShortFlows.from_dict(own["short_flows"])
        return cls(**own)


def jain(values: list[float]) -> float:
    """Jain's fairness index: 1 = all equal, 1/n = one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def _sections(text: str) -> dict[str, Any]:
    """Splits a guest's result into its documents: JSON, but for tc's classes."""
    sections: dict[str, Any] = {}
    for section in text.split("@")[1:]:
        name, _, body = section.partition("\n")
        try:
            sections[name] = body if name == "classes" else json.loads(body)
        except json.JSONDecodeError as error:
            raise ResultError(f"the guest's {name} is not JSON: {error}") from error
    missing = {"traffic", "begin", "end", "classes"} - set(sections)
    if missing:
        raise ResultError(f"the guest returned no {', '.join(sorted(missing))}")
    return sections


@dataclass(frozen=True)
class Span:
    """The statistics of a qdisc at both ends of the measured interval."""

    begin: dict[str, Any]
    end: dict[str, Any]

    @classmethod
    def of(cls, sections: dict[str, Any], handle: str) -> Span:
        """Picks a qdisc by its handle."""
        found = [
            qdisc
            for name in ("begin", "end")
            for qdisc in sections[name]
            if qdisc.get("handle") == handle
        ]
        if len(found) != 2:
            raise ResultError(f"no qdisc {handle} in the guest's statistics")
        return cls(*found)

    def delta(self, key: str) -> int:
        """How much a counter grew."""
        return int(self.end[key]) - int(self.begin[key])


def _marks(classes: str) -> Callable[[int], int]:
    """CE packets that went to a port, from the meter's class of it."""
    marks = {int(minor, 16): int(count) for minor, count in METER_CLASS.findall(classes)}
    return lambda port: marks.get(meter_class(port), 0)


def _flow_result(flow: Flow, reading: dict[str, Any], marks: int, seconds: float) -> FlowResult:
    begin, end = reading["begin"], reading["end"]
    mss = end["snd_mss"]
    goodput = (end["bytes_received"] - begin["bytes_received"]) * 8 / seconds / 1e6
    overhead = headers(hinted=flow.hint == "packet")
    return FlowResult(
        rtt_ms=flow.rtt_ms,
        cc=flow.cc,
        hinted=flow.hint != "none",
        goodput_mbps=goodput,
        retransmits=end["retransmits"] - begin["retransmits"],
        marks=marks,
        min_rtt_ms=end["min_rtt_us"] / 1000,
        starved=(end["starved_us"] - begin["starved_us"]) / 1e6 / seconds,
        wire_mbps=goodput * (mss + overhead) / mss if mss else 0.0,
    )


def _short_flows(scenario: Scenario, traffic: dict[str, Any], marks: int,
                 seconds: float) -> ShortFlows:  # fmt: skip
    """Those that arrived within the measured interval; what was received, of all."""
    since_ms, count, done = traffic["from_ms"], 0, []
    for flow, (start_ms, end_ms) in zip(scenario.short_flows, traffic["shorts"], strict=True):
        if flow.at_ms >= since_ms:
            count += 1
            if end_ms >= 0:
                done.append((flow.size_bytes, (end_ms - start_ms) / 1000))
    first, last = traffic["readings"][0], traffic["readings"][-1]
    goodput_mbps = (last["short"] - first["short"]) * 8 / seconds / 1e6
    return ShortFlows(
        count=count,
        finished=len(done),
        unfinished=count - len(done),
        marks=marks,
        goodput_mbps=goodput_mbps,
        wire_mbps=goodput_mbps * expansion(scenario.hint != "none"),
        completion_s=Completion.of(done),
        by_size=by_size(done),
    )


def _phases(scenario: Scenario, readings: list[dict[str, Any]],
            flows: list[FlowResult]) -> list[PhaseResult]:  # fmt: skip
    """What each phase was used for, from what had been received at its ends."""
    overheads = [flow.wire_mbps / flow.goodput_mbps if flow.goodput_mbps else 1 for flow in flows]
    found = []
    for phase, (begin, end) in zip(scenario.phases, pairwise(readings), strict=True):
        seconds = (end["ms"] - begin["ms"]) / 1000
        bytes_seen = zip(begin["flows"], end["flows"], overheads, strict=True)
        tcp_bits = sum((after - before) * 8 * overhead for before, after, overhead in bytes_seen)
        frames = sum(received for _, received in end["udp"])
        frames -= sum(received for _, received in begin["udp"])
        tcp_bits += (end["short"] - begin["short"]) * 8 * expansion(scenario.hint != "none")
        wire_mbps = tcp_bits / seconds / 1e6 + frames_mbps(frames, seconds)
        rate_mbps = phase.rate_bps / 1e6
        found.append(PhaseResult(phase.from_s, phase.to_s, rate_mbps, wire_mbps / rate_mbps))
    return found


def _check(result: Result, scenario: Scenario, meter: Span, qdisc: Span) -> None:
    """Raises ResultError unless the independent countings agree."""
    problems: list[str] = []
    if abs(result.measured_s - scenario.duration_s) > TIME_SLACK * scenario.duration_s:
        problems.append(f"measured {result.measured_s:.3f} s, not {scenario.duration_s:g}")
    if not result.goodput_mbps:
        problems.append("no flow received anything")
    starved = [
        f"{i} ({f.starved:.0%})" for i, f in enumerate(result.flows) if f.starved > STARVED_MAX
    ]
    if starved:
        problems.append(f"flows held back by a buffer of an end: {', '.join(starved)}")
    wire = result.utilisation * result.rate_mbps
    left = meter.delta("bytes_out") * 8 / result.measured_s / 1e6
    if left > result.rate_mbps * RATE_SLACK or wire > left * RATE_SLACK:
        problems.append(
            f"Mbit/s: {wire:.3f} received, {left:.3f} left the queue, {result.rate_mbps:.3f} is"
            " the rate"
        )
    flow_marks = sum(flow.marks for flow in result.flows)
    flow_marks += result.short_flows.marks if result.short_flows else 0
    if abs(flow_marks - result.marks) > DUMP_SLACK_PACKETS:
        problems.append(f"marks: {flow_marks} by flow, {result.marks} in all")
    if not scenario.gso:
        entered = meter.delta("packets_in")
        gone = meter.delta("packets_out") + result.drops
        queued = qdisc.delta("qlen")
        if abs(entered - gone - queued) > DUMP_SLACK_PACKETS:
            problems.append(f"packets: {entered} in, {gone} out or dropped, {queued:+d} queued")
    if problems:
        raise ResultError("the numbers do not add up: " + "; ".join(problems))


def compute(scenario: Scenario, output: GuestOutput, release: str, clock: str,
            command: str) -> Result:  # fmt: skip
    """The result of a run. Raises ResultError if it does not add up."""
    if output.rc:
        raise GuestError(f"the guest's script failed with status {output.rc}", output.console)
    sections = _sections(output.result)
    traffic = sections["traffic"]
    seconds = (traffic["to_ms"] - traffic["from_ms"]) / 1000
    meter = Span.of(sections, METER_HANDLE)
    qdisc = Span.of(sections, QDISC_HANDLE)
    marks = _marks(sections["classes"])
    flows = [
        _flow_result(flow, reading, marks(FIRST_PORT + flow.index), seconds)
        for flow, reading in zip(scenario.flows, traffic["flows"], strict=True)
    ]
    readings = traffic["readings"]
    short = _short_flows(scenario, traffic, marks(SHORT_PORT), seconds) if scenario.churn else None
    udp = [
        UdpResult.of(stream, begin, end, seconds)
        for stream, begin, end in zip(
            scenario.udp, readings[0]["udp"], readings[-1]["udp"], strict=True
        )
    ]
    goodputs = [flow.goodput_mbps for flow in flows]
    rate_mbps = scenario.mean_rate_bps() / 1e6
    wire_mbps = sum(flow.wire_mbps for flow in flows) + (short.wire_mbps if short else 0.0)
    result = Result(
        label=scenario.qdisc,
        jain=jain(goodputs),
        max_min_ratio=max(goodputs) / min(goodputs) if min(goodputs) else None,
        utilisation=(wire_mbps + sum(stream.delivered_mbps for stream in udp)) / rate_mbps,
        sojourn_ms=Sojourn(
            mean=meter.end["mean_ns"] / 1e6,
            p50=meter.end["p50_us"] / 1000,
            p95=meter.end["p95_us"] / 1000,
            p99=meter.end["p99_us"] / 1000,
            max=meter.end["max_us"] / 1000,
        ),
        marks=meter.delta("ce_out") - meter.delta("ce_in"),
        drops=qdisc.delta("drops"),
        packets=meter.delta("packets_out"),
        goodput_mbps=sum(goodputs),
        rate_mbps=rate_mbps,
        measured_s=seconds,
        flows=flows,
        samples=traffic["samples"],
        qdisc=qdisc.end,
        kernel=release,
        clock=clock,
        gso=scenario.gso,
        ecn=scenario.ecn,
        seed=scenario.seed,
        reruns=output.reruns,
        wall_s=output.wall_s,
        cpu_s=output.cpu_s,
        command=command,
        phases=_phases(scenario, readings, flows),
        udp=udp,
        short_flows=short,
    )
    _check(result, scenario, meter, qdisc)
    return result
