# SPDX-License-Identifier: GPL-2.0
"""Reads a guest's output: the traffic program's JSON and tc's statistics of each queue."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lab.model.ports import meter_class
from lab.net.network import Queue

METER_HANDLE, QDISC_HANDLE = "2:", "3:"
METER_CLASS = re.compile(
    r"class meter 2:([0-9a-f]+) parent 2: \n Sent [^(]*\(dropped \d+, overlimits (\d+)"
)
"""iproute2 6.1 prints classes as text even when asked for JSON. The class of the
qdisc under test has no counters, and must not take those of the next one."""
LIMIT_DROPS = ("drop_limit", "drop_overlimit", "overlimit")
"""What queues call drops because they were full: zrtt; fq_codel and codel; pie."""
DUMP_SLACK_PACKETS = 10
"""Packets may pass while tc reads one qdisc after the other."""


class ResultError(RuntimeError):
    """A run whose numbers do not add up."""


@dataclass(frozen=True)
class Sojourn:
    """Time in the qdisc under test, milliseconds, each packet counted once."""

    mean: float
    p50: float
    p95: float
    p99: float
    max: float
    source: str = "meter"


@dataclass(frozen=True)
class QueueResult:
    """One bottleneck over the measured interval."""

    name: str
    """hop N, from the first router on, or reverse."""
    utilisation: float
    """Of the rate, by all that left."""
    sojourn_ms: Sojourn
    marks: int
    drops: int
    packets: int
    qdisc: dict[str, Any]
    """What tc said of it at the end."""
    limit_drops: int | None = None
    """Of the drops, those of a full queue; None if the qdisc does not tell them apart."""

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> QueueResult:
        """Reads what asdict() wrote."""
        return cls(**{**content, "sojourn_ms": Sojourn(**content["sojourn_ms"])})


def sections(text: str, needed: str = "traffic") -> dict[str, Any]:
    """Splits a guest's result into its documents: JSON, but for tc's classes and sockets."""
    found: dict[str, Any] = {}
    for section in text.split("@")[1:]:
        name, _, body = section.partition("\n")
        try:
            found[name] = body if name.startswith(("classes", "sockets")) else json.loads(body)
        except json.JSONDecodeError as error:
            raise ResultError(f"the guest's {name} is not JSON: {error}") from error
    if needed not in found:
        raise ResultError(f"the guest returned no {needed}")
    return found


@dataclass(frozen=True)
class Span:
    """The statistics of a qdisc at both ends of the measured interval."""

    begin: dict[str, Any]
    end: dict[str, Any]

    def delta(self, key: str) -> int:
        """How much a counter grew."""
        return int(self.end[key]) - int(self.begin[key])


@dataclass(frozen=True)
class QueueReadings:
    """All statistics of a bottleneck from tc."""

    queue: Queue
    meter: Span
    qdisc: Span
    _marks: Mapping[int, int]
    """Of each class of the meter."""

    @classmethod
    def of(cls, found: Mapping[str, Any], queue: Queue) -> QueueReadings:
        """Selects the readings of a queue from a guest's documents."""
        parts = [found.get(f"{name}-{queue.netns}") for name in ("begin", "end", "classes")]
        if None in parts:
            raise ResultError(f"the guest did not read {queue.name}")
        begin, end, classes = parts

        def span(handle: str) -> Span:
            both = [q for part in (begin, end) for q in part if q.get("handle") == handle]
            if len(both) != 2:
                raise ResultError(f"no qdisc {handle} in the statistics of {queue.name}")
            return Span(*both)

        marks = {int(minor, 16): int(count) for minor, count in METER_CLASS.findall(classes)}
        return cls(queue, span(METER_HANDLE), span(QDISC_HANDLE), marks)

    def marks(self, port: int) -> int:
        """CE packets that went to a port, retransmissions included."""
        return self._marks.get(meter_class(port), 0)

    def thin(self, number: int) -> dict[str, int]:
        """What the meter says of a class of thin traffic."""
        reading: dict[str, int] = self.meter.end["thin"][number]
        return reading

    def ecn(self, number: int) -> dict[str, int]:
        """What the meter says of a class by the ECN field."""
        reading: dict[str, int] = self.meter.end["ecn"][number]
        return reading

    def left_mbps(self, seconds: float) -> float:
        """Rate of what left the queue."""
        return self.meter.delta("bytes_out") * 8 / seconds / 1e6

    def limit_drops(self) -> int | None:
        """Of the drops, those of a full queue; None if the qdisc does not tell them apart."""
        told = [self.qdisc.delta(key) for key in LIMIT_DROPS if key in self.qdisc.end]
        return sum(told) if told else None

    def result(self, rate_mbps: float, seconds: float) -> QueueResult:
        """Its figures."""
        end = self.meter.end
        return QueueResult(
            name=self.queue.name,
            utilisation=self.left_mbps(seconds) / rate_mbps,
            sojourn_ms=Sojourn(
                mean=end["mean_ns"] / 1e6,
                p50=end["p50_us"] / 1000,
                p95=end["p95_us"] / 1000,
                p99=end["p99_us"] / 1000,
                max=end["max_us"] / 1000,
            ),
            marks=self.meter.delta("ce_out") - self.meter.delta("ce_in"),
            drops=self.qdisc.delta("drops"),
            packets=self.meter.delta("packets_out"),
            qdisc=self.qdisc.end,
            limit_drops=self.limit_drops(),
        )

    def problems(self, ports: Iterable[int], *, gso: bool, others: bool) -> list[str]:
        """Inconsistencies, given the destination ports of ECN packets, and whether there are
        others."""
        found = []
        of_ports = sum(map(self.marks, ports))
        left = self.meter.delta("ce_out")
        more = left - of_ports
        if more < -DUMP_SLACK_PACKETS or (more > DUMP_SLACK_PACKETS and not others):
            found.append(f"marks: {of_ports} by flow, {left} in all")
        entered, out = self.meter.delta("packets_in"), self.meter.delta("packets_out")
        drops, queued = self.qdisc.delta("drops"), self.qdisc.delta("qlen")
        if not gso and abs(entered - out - drops - queued) > DUMP_SLACK_PACKETS:
            found.append(f"packets: {entered} in, {out + drops} out or dropped, {queued:+d} queued")
        return [f"{self.queue.name}: {problem}" for problem in found]
