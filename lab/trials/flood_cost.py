# SPDX-License-Identifier: GPL-2.0
"""Instructions per packet when some packets belong to new flows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.bench import guest
from lab.bench.cost_table import heading
from lab.bench.measure import SETTLE_MS
from lab.bench.result import Cost, cost, parse
from lab.bench.subjects import Cell, Subject
from lab.engines.select import get_engine
from lab.results.readings import ResultError

KERNEL = "6.12"
GAP_NS = 12_000
"""1 Gbit/s of full frames, as in lab bench."""
BACKLOG = 50
SHAPE = "linear"
SUBJECTS = (
    Subject("zrtt", "zrtt"),
    Subject("zrtt-large", "zrtt flows 1048576"),
    Subject("fq_codel", "fq_codel"),
)


@dataclass(frozen=True)
class Load:
    """Packets of known flows in random order, and of new ones between them."""

    flows: int
    fresh: int
    """Percent of all packets, each of a flow of its own."""

    def __str__(self) -> str:
        known = heading(self.flows)
        return f"{known}, {self.fresh}% new" if self.fresh else known


FEW, MANY, MOST = 20, 10_000, 1_000_000
QUIET, BUSY = Load(FEW, 0), Load(MANY, 0)
SOME, FLOOD = Load(FEW, 20), Load(FEW, 100)
LOADS = (QUIET, SOME, Load(FEW, 50), FLOOD, BUSY, Load(MOST, 0))
# What a packet costs on the left may be so much of what it costs on the right: a flood
# beside few flows, and one that is all there is against as many packets of old flows. A new
# flow is found no slot, gets one, and its packet is of another lane than those of old flows.
PAIRS = ((SOME, QUIET), (FLOOD, BUSY))
MOST_GROWTH = 1.35

Costs = dict[tuple[str, Load], Cost]
"""By the name of a subject."""


def measure(packets: int, subjects: Sequence[Subject] = SUBJECTS, loads: Sequence[Load] = LOADS,
            seed: int = 1) -> Costs:  # fmt: skip
    """Measures all in one guest. Raises what guest.run() raises."""
    cells = [(Cell(subject, load.flows, SHAPE), load) for subject in subjects for load in loads]
    lines = [
        guest.line(
            cell, backlog=BACKLOG, packets=packets, settle_ms=SETTLE_MS, gap_ns=GAP_NS,
            seed=seed, fresh=load.fresh,
        )
        for cell, load in cells
    ]  # fmt: skip
    readings = parse(guest.run(get_engine(KERNEL), "bench.sh", lines, seed))
    if not all(reading.counted for reading in readings):
        raise ResultError("the guest's clock does not count instructions")
    return {
        (cell.subject.name, load): cost(cell, [reading])
        for (cell, load), reading in zip(cells, readings, strict=True)
    }


def problems(costs: Costs, name: str = "zrtt") -> list[str]:
    """Floods that cost a qdisc more than they may."""
    found = []
    for flood, without in PAIRS:
        growth = costs[name, flood].total / costs[name, without].total
        if growth > MOST_GROWTH:
            found.append(f"{name}: {flood} takes {growth:.2f} times what {without} takes")
    return found
