# SPDX-License-Identifier: GPL-2.0
"""Computes the cost of a packet from qbench's ticks; reads and writes results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles

from lab.bench.subjects import Cell
from lab.host import files
from lab.results.readings import ResultError
from lab.results.report import ReportError

COUNTED_TICKS_PER_MS = 1_000_000
"""Of a machine that takes 1 ns for each instruction."""
COUNTED_SLACK = 100


@dataclass(frozen=True)
class Slice:
    """The ticks of a slice of packets."""

    enqueued: int
    dequeued: int
    enqueue_ticks: int
    dequeue_ticks: int
    marked: int
    dropped: int


@dataclass(frozen=True)
class Probed:
    """How many packets took the slow path of the header parser, of how many."""

    packets: int
    slow: int


@dataclass(frozen=True)
class Reading:
    """The output of one run of qbench."""

    empty_ticks: int
    """That timing nothing takes."""
    ticks_per_ms: int
    slices: Sequence[Slice]
    probed: Probed | None = None

    @property
    def counted(self) -> bool:
        """Whether ticks are instructions."""
        return abs(self.ticks_per_ms - COUNTED_TICKS_PER_MS) <= COUNTED_SLACK

    @property
    def per_tick(self) -> float:
        """Instructions or nanoseconds per tick."""
        return 1.0 if self.counted else COUNTED_TICKS_PER_MS / self.ticks_per_ms


def _reading(block: str) -> Reading:
    lines, _, last = block.partition("probed ")
    head, *slices = [[int(word) for word in line.split()] for line in lines.splitlines()]
    empty_ticks, ticks_per_ms = head
    probed = Probed(*map(int, last.split())) if last else None
    return Reading(empty_ticks, ticks_per_ms, [Slice(*line) for line in slices], probed)


def parse(text: str) -> list[Reading]:
    """Reads the runs of a guest, in order."""
    readings = []
    for block in text.strip().split("\n\n"):
        try:
            readings.append(_reading(block))
        except (TypeError, ValueError) as error:
            raise ResultError(f"qbench said {block!r}") from error
    return readings


@dataclass(frozen=True)
class Cost:
    """The cost of a packet in instructions or nanoseconds: medians over all slices."""

    name: str
    qdisc: str
    flows: int
    enqueue: float
    dequeue: float
    total: float
    low: float
    """First quartile of the total."""
    high: float
    """Third quartile."""
    marked: float
    """Share of the packets."""
    dropped: float
    shape: str = "linear"
    """Of the packets; older files have no other."""
    slow: float | None = None
    """Share that took the slow path through the headers; None if it was not counted."""


def cost(cell: Cell, readings: Sequence[Reading]) -> Cost:
    """The cost of a packet, from all runs of a cell."""
    enqueue, dequeue = [], []
    for reading in readings:
        empty, unit = reading.empty_ticks, reading.per_tick
        for part in reading.slices:
            if not part.dequeued:
                raise ResultError(f"{cell}: no packet came through")
            enqueue.append((part.enqueue_ticks / part.enqueued - empty) * unit)
            dequeue.append((part.dequeue_ticks / part.dequeued - empty) * unit)
    totals = [sum(pair) for pair in zip(enqueue, dequeue, strict=True)]
    low, _, high = quantiles(totals, n=4, method="inclusive") if len(totals) > 1 else 3 * totals
    slices = [part for reading in readings for part in reading.slices]
    offered = sum(part.enqueued for part in slices)
    probed = [reading.probed for reading in readings if reading.probed]
    return Cost(
        name=cell.subject.name,
        qdisc=cell.subject.qdisc,
        flows=cell.flows,
        enqueue=median(enqueue),
        dequeue=median(dequeue),
        total=median(totals),
        low=low,
        high=high,
        marked=sum(part.marked for part in slices) / offered,
        dropped=sum(part.dropped for part in slices) / offered,
        shape=cell.shape,
        slow=sum(p.slow for p in probed) / sum(p.packets for p in probed) if probed else None,
    )


@dataclass(frozen=True)
class Settings:
    """The settings that all cells of a run share."""

    kernel: str
    packets: int
    """Timed per cell and round."""
    rounds: int
    slices: int
    """Of a round."""
    backlog: int
    gap_ns: int
    ect: bool
    hashed: bool
    """Packets come with a hash."""
    seed: int


@dataclass(frozen=True)
class Bench:
    """The costs of all cells, with settings, kernel and command."""

    settings: Settings
    release: str
    unit: str
    empty: float
    """What timing nothing takes, already taken off."""
    command: str
    costs: Sequence[Cost]

    def save(self, path: Path) -> None:
        """Writes what load() reads."""
        files.write(path, json.dumps(asdict(self), indent=1) + "\n")


def load(path: Path) -> Bench:
    """Reads what save() wrote."""
    try:
        content = json.loads(path.read_text())
        settings = Settings(**content.pop("settings"))
        costs = [Cost(**one) for one in content.pop("costs")]
        return Bench(settings=settings, costs=costs, **content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{path}: not a result of lab bench: {error!r}") from error
