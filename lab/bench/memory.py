# SPDX-License-Identifier: GPL-2.0
"""Measures what memory a qdisc takes: slabs and vmalloc, before and after it is added."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.bench import guest
from lab.bench.cost_table import heading
from lab.bench.subjects import Cell
from lab.engines.select import get_engine
from lab.host import files
from lab.output import text_table
from lab.results.readings import ResultError

SUBJECTS = ("pfifo", "fq_codel", "cake", "zrtt", "zrtt-large")
"""The first takes next to nothing, and shows how much the measuring errs."""
FLOWS = (1, 10_000, 1_000_000)
PACKETS = 1000
"""After a pass over all flows."""


@dataclass(frozen=True)
class Memory:
    """The memory of a cell, in bytes."""

    name: str
    qdisc: str
    flows: int
    added: int
    """By adding the qdisc."""
    used: int
    """The same and what packets of all flows added."""
    shape: str
    """Of the packets."""


def parse(cells: Sequence[Cell], text: str) -> list[Memory]:
    """Reads the guest's result for each cell."""
    try:
        readings = [[int(word) for word in line.split()] for line in text.splitlines()]
        return [
            Memory(cell.subject.name, cell.subject.qdisc, cell.flows, added - before,
                   used - before, cell.shape)
            for cell, (before, added, used) in zip(cells, readings, strict=True)
        ]  # fmt: skip
    except ValueError as error:
        raise ResultError(f"the guest said of its memory {text!r}") from error


def run(cells: Sequence[Cell], kernel: str, seed: int) -> list[Memory]:
    """Measures the cells. Raises what guest.run() raises."""
    lines = [guest.line(cell, packets=PACKETS, passes=1) for cell in cells]
    # the first run grows caches that the others find: it is done once more
    text = guest.run(get_engine(kernel), "bench_memory.sh", [lines[0], *lines], seed)
    return parse(cells, text.partition("\n")[2])


def save(memories: Iterable[Memory], path: Path) -> None:
    """Writes the figures as JSON."""
    files.write(path, json.dumps([asdict(memory) for memory in memories], indent=1) + "\n")


def render(memories: Sequence[Memory], *, markdown: bool) -> str:
    """A line per qdisc, KiB."""
    flows = sorted({memory.flows for memory in memories})
    lines = [["KiB", "added", *map(heading, flows)]]
    for name in dict.fromkeys(memory.name for memory in memories):
        own = {memory.flows: memory for memory in memories if memory.name == name}
        used = [own[number].used if number in own else None for number in flows]
        sizes = [next(iter(own.values())).added, *used]
        lines.append([name, *("-" if size is None else f"{size / 1024:.0f}" for size in sizes)])
    return "\n".join((text_table.markdown if markdown else text_table.aligned)(lines))
