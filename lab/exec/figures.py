# SPDX-License-Identifier: GPL-2.0
"""Goodput and sojourn of flows and classes, from the meter's count of each 5-tuple."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from lab.engines.job import GuestOutput
from lab.exec import rtts, sockets
from lab.exec.network import queues
from lab.exec.plan import LEFT, RIGHT, Class, Plan
from lab.exec.rtts import Ends, Rtt
from lab.exec.samples import Samples
from lab.results.readings import QueueReadings, QueueResult, ResultError, Sojourn, sections
from lab.results.result import jain

STEPS = 32
"""Buckets of an octave (lab/kmod/meter.h)."""
PROTOCOLS = {1: "icmp", 6: "tcp", 17: "udp"}
TUPLE = re.compile(
    r"(?m)^ tuple (\d+) (\S+) (\d+) (\S+) (\d+)((?: [a-z_]+ \d+)+) buckets((?: \d+:\d+)*)$"
)


@dataclass(frozen=True)
class Counts:
    """What the meter counted of packets that came within the measured time."""

    packets_in: int = 0
    packets_out: int = 0
    bytes_out: int = 0
    """With link-layer headers."""
    payload_in: int = 0
    """Bytes behind the headers of TCP or UDP."""
    payload_out: int = 0
    ce_out: int = 0
    sojourn_ns: int = 0
    """Sum over packets."""
    max_us: int = 0
    buckets: dict[int, int] = field(default_factory=dict)
    """Packets by bucket of their sojourn."""

    @classmethod
    def total(cls, parts: Iterable[Counts]) -> Counts:
        """The sum."""
        parts, buckets = list(parts), dict[int, int]()
        for part in parts:
            for bucket, packets in part.buckets.items():
                buckets[bucket] = buckets.get(bucket, 0) + packets
        sums = ("packets_in", "packets_out", "bytes_out", "payload_in", "payload_out", "ce_out",
                "sojourn_ns")  # fmt: skip
        return cls(
            **{name: sum(getattr(part, name) for part in parts) for name in sums},
            max_us=max((part.max_us for part in parts), default=0),
            buckets=buckets,
        )

    def percentile_ms(self, share: float) -> float:
        """Upper edge of the bucket in which that share of the packets is reached; at most the
        longest sojourn. 3 % too much, or 1 us."""
        wanted, seen = share * self.packets_out, 0
        for bucket in sorted(self.buckets):
            seen += self.buckets[bucket]
            if seen >= wanted:
                return min(upper_edge_us(bucket), self.max_us) / 1000
        return 0.0

    def sojourn(self) -> Sojourn:
        """In milliseconds; 0 without packets."""
        return Sojourn(
            mean=self.sojourn_ns / self.packets_out / 1e6 if self.packets_out else 0.0,
            p50=self.percentile_ms(0.5),
            p95=self.percentile_ms(0.95),
            p99=self.percentile_ms(0.99),
            max=self.max_us / 1000,
        )


def upper_edge_us(bucket: int) -> int:
    """Of a bucket of the meter, exclusive: sojourns there are less."""
    octave, within = divmod(bucket, STEPS)
    return within + 1 if octave == 0 else (STEPS + within + 1) << (octave - 1)


@dataclass(frozen=True)
class Tuple:
    """A 5-tuple in one direction, as the meter knows it."""

    protocol: str
    saddr: str
    sport: int
    daddr: str
    dport: int
    first_s: float
    """When its first packet came, from the begin of the measured time."""
    last_s: float
    counts: Counts

    @property
    def ends(self) -> Ends:
        """What tells it from others."""
        return self.protocol, self.saddr, self.sport, self.daddr, self.dport

    @classmethod
    def read(cls, classes: str) -> list[Tuple]:
        """All of tc's classes of a meter."""
        return [cls._of(match) for match in TUPLE.finditer(classes)]

    @classmethod
    def _of(cls, match: re.Match[str]) -> Tuple:
        number, saddr, sport, daddr, dport, words, buckets = match.groups()
        names = words.split()
        values = dict(zip(names[::2], map(int, names[1::2]), strict=True))
        first_us, last_us = values.pop("first_us"), values.pop("last_us")
        pairs = (pair.split(":") for pair in buckets.split())
        return cls(
            protocol=PROTOCOLS.get(int(number), number),
            saddr=saddr, sport=int(sport), daddr=daddr, dport=int(dport),
            first_s=first_us / 1e6, last_s=last_us / 1e6,
            counts=Counts(**values, buckets={int(b): int(packets) for b, packets in pairs}),
        )  # fmt: skip


@dataclass(frozen=True)
class FlowFigures:
    """One 5-tuple, in one direction."""

    flow_class: str
    protocol: str
    source: str
    """host:port"""
    destination: str
    goodput_mbps: float
    """Payload of TCP or UDP that left the queue, over the whole measured time."""
    first_s: float
    """When its first packet came, from the begin of the measured time."""
    last_s: float
    packets: int
    """That came."""
    lost: int
    marks: int
    """Packets that left with CE."""
    sojourn_ms: Sojourn
    counted: bool
    """It has part in Jain's index: that much came of it, or its sender had more to send."""
    rtt: Rtt | None
    """None where the qdisc does not say."""


@dataclass(frozen=True)
class ClassFigures:
    """All flows of a class, in one direction."""

    name: str
    flows: int
    goodput_mbps: float
    packets: int
    lost: int
    marks: int
    sojourn_ms: Sojourn


@dataclass(frozen=True)
class Direction:
    """What crossed one bottleneck."""

    name: str
    rate_mbps: float
    seconds: float
    """Between the readings, on the guest's clock."""
    jain: float | None
    """Over the flows that count; None with fewer than two."""
    queue: QueueResult
    classes: list[ClassFigures]
    flows: list[FlowFigures]

    def class_means(self) -> dict[str, float]:
        """Mean goodput of the flows of each class that count, Mbit/s; h20 before h100."""
        found: dict[str, list[float]] = {}
        for flow in self.flows:
            if flow.counted:
                found.setdefault(flow.flow_class, []).append(flow.goodput_mbps)
        return {name: fmean(found[name]) for name in sorted(found, key=lambda name: (len(name), name))}

    def class_ratio(self) -> float | None:
        """The highest of these to the lowest; None with fewer than two, or if one got nothing."""
        means = self.class_means().values()
        return max(means) / min(means) if len(means) > 1 and min(means) else None


@dataclass(frozen=True)
class Figures:
    """A finished run. Its fields are the keys of the JSON."""

    qdisc: str
    kernel: str
    clock: str
    seed: int
    reruns: int
    command: str
    ended: dict[str, int | None]
    """Of each command its exit status, None if it was ended with the run."""
    directions: list[Direction]
    samples: dict[str, Samples] = field(default_factory=dict)
    """Of each command that has some."""

    def metrics(self) -> dict[str, float | None]:
        """What targets are about, of the first direction."""
        way = self.directions[0]
        found: dict[str, float | None] = {
            "jain": way.jain,
            "class_ratio": way.class_ratio(),
            "utilisation": way.queue.utilisation,
            "sojourn_mean_ms": way.queue.sojourn_ms.mean,
            "sojourn_p95_ms": way.queue.sojourn_ms.p95,
        }
        for name, of in self.samples.items():
            found |= {f"{name}.median": of.median, f"{name}.p95": of.p95}
        return found


class _Names:
    """Hosts of addresses, and classes of 5-tuples."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._hosts = {host.address: host for host in plan.hosts}
        servers = [
            Class(command.name, command.host, command.listen.protocol, command.listen.port)
            for command in plan.commands
            if command.listen
        ]
        self._classes = [*plan.classes, *servers]

    def end(self, address: str, port: int) -> str:
        host = self._hosts.get(address)
        name = host.name if host else address
        return f"{name}:{port}" if port else name

    def class_of(self, of: Tuple) -> str:
        """The first class that an end of it has; else its host on the left."""
        ends = [(of.saddr, of.sport), (of.daddr, of.dport)]
        for rule in self._classes:
            if rule.protocol in (None, of.protocol) and any(
                self._matches(rule, address, port) for address, port in ends
            ):
                return rule.name
        left = [
            host.name
            for address, _ in ends
            if (host := self._hosts.get(address)) and host.side == LEFT
        ]
        return left[0] if left else "other"

    def _matches(self, rule: Class, address: str, port: int) -> bool:
        host = self._hosts.get(address)
        return rule.port in (None, port) and rule.host in (None, host.name if host else None)


def _flow(
    of: Tuple, names: _Names, seconds: float, plan: Plan, known: dict[Ends, Rtt],
    waiting: set[Ends],
) -> FlowFigures:
    counts = of.counts
    came = counts.payload_in * 8 / seconds >= plan.min_rate_bps
    there = of.last_s - of.first_s >= plan.present * seconds
    return FlowFigures(
        flow_class=names.class_of(of),
        protocol=of.protocol,
        source=names.end(of.saddr, of.sport),
        destination=names.end(of.daddr, of.dport),
        goodput_mbps=counts.payload_out * 8 / seconds / 1e6,
        first_s=of.first_s,
        last_s=of.last_s,
        packets=counts.packets_in,
        lost=counts.packets_in - counts.packets_out,
        marks=counts.ce_out,
        sojourn_ms=counts.sojourn(),
        counted=(came and there) or of.ends in waiting,
        rtt=known.get(of.ends),
    )


def _class(name: str, tuples: Sequence[Tuple], seconds: float) -> ClassFigures:
    counts = Counts.total(of.counts for of in tuples)
    return ClassFigures(
        name=name,
        flows=len(tuples),
        goodput_mbps=counts.payload_out * 8 / seconds / 1e6,
        packets=counts.packets_in,
        lost=counts.packets_in - counts.packets_out,
        marks=counts.ce_out,
        sojourn_ms=counts.sojourn(),
    )


def compute(plan: Plan, output: GuestOutput, *, qdisc: str, kernel: str, clock: str, seed: int,
            command: str) -> Figures:  # fmt: skip
    """The figures of a run. Raises ResultError if the meter has not seen all of it."""
    found = sections(output.result, "programs")
    names = _Names(plan)
    waiting = sockets.waiting(plan, *(found[name] for name in sockets.NAMES))
    sides = {host.address: host.side for host in plan.hosts}
    directions = []
    for side, (queue, rate_bps) in zip((LEFT, RIGHT), queues(plan), strict=False):
        readings = QueueReadings.of(found, queue)
        end: dict[str, Any] = readings.meter.end
        if end["tuples_unknown"]:
            raise ResultError(f"{queue.name}: more 5-tuples than the meter has room for")
        seconds = end["elapsed_ns"] / 1e9
        tuples = Tuple.read(found[f"classes-{queue.netns}"])
        known = rtts.read(plan, found[f"classes-below-{queue.netns}"])
        silent = {ends for ends in waiting if sides[ends[1]] == side} - {of.ends for of in tuples}
        tuples += [Tuple(*ends, first_s=0.0, last_s=0.0, counts=Counts()) for ends in sorted(silent)]
        flows = [_flow(of, names, seconds, plan, known, waiting) for of in tuples]
        by_class: dict[str, list[Tuple]] = {}
        for of, flow in zip(tuples, flows, strict=True):
            by_class.setdefault(flow.flow_class, []).append(of)
        counted = [flow.goodput_mbps for flow in flows if flow.counted]
        directions.append(
            Direction(
                name=queue.name,
                rate_mbps=rate_bps / 1e6,
                seconds=seconds,
                jain=jain(counted) if len(counted) > 1 else None,
                queue=readings.result(rate_bps / 1e6, seconds),
                classes=[_class(name, of, seconds) for name, of in sorted(by_class.items())],
                flows=sorted(flows, key=lambda flow: -flow.goodput_mbps),
            )
        )
    return Figures(
        qdisc=qdisc, kernel=kernel, clock=clock, seed=seed, reruns=output.reruns, command=command,
        ended=found["programs"], directions=directions,
    )  # fmt: skip
