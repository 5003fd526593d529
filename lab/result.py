# SPDX-License-Identifier: GPL-2.0
"""Turns what a guest measured into a result, and checks that it adds up."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from lab.engine import GuestError, GuestOutput
from lab.scenario import Flow, Scenario

SOJOURN_SOURCE = "meter"
HEADER_BYTES = 66
"""Ethernet 14, IPv4 20, TCP with time stamps 32."""
HINT_BYTES = 4
DUMP_SLACK_PACKETS = 10
"""Packets may pass while tc reads one qdisc after the other."""
RATE_SLACK = 1.02
TIME_SLACK = 0.01


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
    """Packets acknowledged with ECE, as the sender's kernel counts them."""
    min_rtt_ms: float
    wire_mbps: float
    """Goodput with the headers it needed, retransmissions not counted."""


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

    def to_dict(self) -> dict[str, Any]:
        """The contract's JSON, as Python has it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Result:
        """Reads what to_dict() wrote."""
        own = {field.name: content[field.name] for field in fields(cls)}
        own["sojourn_ms"] = Sojourn(**own["sojourn_ms"])
        own["flows"] = [FlowResult(**flow) for flow in own["flows"]]
        return cls(**own)


def jain(values: list[float]) -> float:
    """Jain's fairness index: 1 = all equal, 1/n = one has all."""
    squares = sum(v * v for v in values)
    return sum(values) ** 2 / (len(values) * squares) if squares else 0.0


def _sections(text: str) -> dict[str, Any]:
    """Splits a guest's result into its JSON documents."""
    sections: dict[str, Any] = {}
    for section in text.split("@")[1:]:
        name, _, body = section.partition("\n")
        try:
            sections[name] = json.loads(body)
        except json.JSONDecodeError as error:
            raise ResultError(f"the guest's {name} is not JSON: {error}") from error
    missing = {"traffic", "begin", "end"} - set(sections)
    if missing:
        raise ResultError(f"the guest returned no {', '.join(sorted(missing))}")
    return sections


def _by_handle(qdiscs: list[dict[str, Any]], handle: str) -> dict[str, Any]:
    for qdisc in qdiscs:
        if qdisc.get("handle") == handle:
            return qdisc
    raise ResultError(f"no qdisc {handle} in the guest's statistics")


def _flow_result(flow: Flow, reading: dict[str, Any], seconds: float) -> FlowResult:
    begin, end = reading["begin"], reading["end"]
    mss = end["snd_mss"]
    goodput = (end["bytes_received"] - begin["bytes_received"]) * 8 / seconds / 1e6
    overhead = HEADER_BYTES + (HINT_BYTES if flow.hint == "packet" else 0)
    return FlowResult(
        rtt_ms=flow.rtt_ms,
        cc=flow.cc,
        hinted=flow.hint != "none",
        goodput_mbps=goodput,
        retransmits=end["retransmits"] - begin["retransmits"],
        marks=end["delivered_ce"] - begin["delivered_ce"],
        min_rtt_ms=end["min_rtt_us"] / 1000,
        wire_mbps=goodput * (mss + overhead) / mss if mss else 0.0,
    )


def _delta(begin: dict[str, Any], end: dict[str, Any], key: str) -> int:
    return int(end[key]) - int(begin[key])


def _check(scenario: Scenario, seconds: float, flows: list[FlowResult], rate_mbps: float,
           meter: tuple[dict[str, Any], dict[str, Any]],
           qdisc: tuple[dict[str, Any], dict[str, Any]]) -> None:  # fmt: skip
    """Raises ResultError unless the independent countings agree."""
    problems: list[str] = []
    if abs(seconds - scenario.duration_s) > TIME_SLACK * scenario.duration_s:
        problems.append(f"measured {seconds:.3f} s instead of {scenario.duration_s:g}")
    silent = [i for i, flow in enumerate(flows) if not flow.wire_mbps]
    if len(silent) == len(flows):
        problems.append("no flow received anything")
    wire = sum(flow.wire_mbps for flow in flows)
    if wire > rate_mbps * RATE_SLACK:
        problems.append(f"goodput {wire:.3f} Mbit/s exceeds the rate {rate_mbps:.3f}")
    out_mbps = _delta(*meter, "bytes_out") * 8 / seconds / 1e6
    if out_mbps > rate_mbps * RATE_SLACK or wire > out_mbps * RATE_SLACK:
        problems.append(f"rate {rate_mbps:.3f}, left the queue {out_mbps:.3f}, goodput {wire:.3f}")
    if not scenario.gso:
        entered = _delta(*meter, "packets_in")
        gone = _delta(*meter, "packets_out") + _delta(*qdisc, "drops")
        queued = _delta(*qdisc, "qlen")
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
    traffic, begin, end = sections["traffic"], sections["begin"], sections["end"]
    seconds = (traffic["to_ms"] - traffic["from_ms"]) / 1000
    meter = _by_handle(begin, "2:"), _by_handle(end, "2:")
    qdisc = _by_handle(begin, "3:"), _by_handle(end, "3:")
    flows = [
        _flow_result(flow, reading, seconds)
        for flow, reading in zip(scenario.flows, traffic["flows"], strict=True)
    ]
    rate_mbps = scenario.mean_rate_bps() / 1e6
    _check(scenario, seconds, flows, rate_mbps, meter, qdisc)
    goodputs = [flow.goodput_mbps for flow in flows]
    last = meter[1]
    return Result(
        label=scenario.qdisc,
        jain=jain(goodputs),
        max_min_ratio=max(goodputs) / min(goodputs) if min(goodputs) else None,
        utilisation=sum(flow.wire_mbps for flow in flows) / rate_mbps,
        sojourn_ms=Sojourn(
            mean=last["mean_ns"] / 1e6,
            p50=last["p50_us"] / 1000,
            p95=last["p95_us"] / 1000,
            p99=last["p99_us"] / 1000,
            max=last["max_us"] / 1000,
        ),
        marks=_delta(*meter, "ce_out") - _delta(*meter, "ce_in"),
        drops=_delta(*qdisc, "drops"),
        packets=_delta(*meter, "packets_out"),
        goodput_mbps=sum(goodputs),
        rate_mbps=rate_mbps,
        measured_s=seconds,
        flows=flows,
        samples=traffic["samples"],
        qdisc=qdisc[1],
        kernel=release,
        clock=clock,
        gso=scenario.gso,
        ecn=scenario.ecn,
        seed=scenario.seed,
        reruns=output.reruns,
        wall_s=output.wall_s,
        cpu_s=output.cpu_s,
        command=command,
    )
