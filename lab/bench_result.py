# SPDX-License-Identifier: GPL-2.0
"""From the ticks that qbench counts to the cost of a packet, and its file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles

from lab.bench_subjects import Cell
from lab.readings import ResultError
from lab.report import ReportError

COUNTED_TICKS_PER_MS = 1_000_000
"""Of a machine that takes 1 ns for each instruction."""
COUNTED_SLACK = 100


@dataclass(frozen=True)
class Slice:
    """What qbench says of some packets."""

    enqueued: int
    dequeued: int
    enqueue_ticks: int
    dequeue_ticks: int
    marked: int
    dropped: int


@dataclass(frozen=True)
class Reading:
    """What qbench says of a run."""

    empty_ticks: int
    """That timing nothing takes."""
    ticks_per_ms: int
    slices: Sequence[Slice]

    @property
    def counted(self) -> bool:
        """Ticks are instructions."""
        return abs(self.ticks_per_ms - COUNTED_TICKS_PER_MS) <= COUNTED_SLACK

    @property
    def per_tick(self) -> float:
        """Instructions or nanoseconds."""
        return 1.0 if self.counted else COUNTED_TICKS_PER_MS / self.ticks_per_ms


def parse(text: str) -> list[Reading]:
    """The runs of a guest, in their order."""
    readings = []
    for block in text.strip().split("\n\n"):
        try:
            head, *lines = [[int(word) for word in line.split()] for line in block.splitlines()]
            empty_ticks, ticks_per_ms = head
            readings.append(Reading(empty_ticks, ticks_per_ms, [Slice(*line) for line in lines]))
        except (TypeError, ValueError) as error:
            raise ResultError(f"qbench said {block!r}") from error
    return readings


@dataclass(frozen=True)
class Cost:
    """Of a packet: instructions, or nanoseconds, the medians of all slices."""

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


def cost(cell: Cell, readings: Sequence[Reading]) -> Cost:
    """Of a packet, by all runs of a cell."""
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
    )


@dataclass(frozen=True)
class Settings:
    """What all cells of a run have in common."""

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
    """A run and where it came from."""

    settings: Settings
    release: str
    unit: str
    empty: float
    """What timing nothing takes, already taken off."""
    command: str
    costs: Sequence[Cost]

    def save(self, path: Path) -> None:
        """Writes what load() reads."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")


def load(path: Path) -> Bench:
    """Reads what save() wrote."""
    try:
        content = json.loads(path.read_text())
        settings = Settings(**content.pop("settings"))
        costs = [Cost(**one) for one in content.pop("costs")]
        return Bench(settings=settings, costs=costs, **content)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"{path}: not a result of lab bench: {error!r}") from error
