# SPDX-License-Identifier: GPL-2.0
"""Disables the steps of mode zrtt one at a time and measures the effect."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from lab.ablation import steps as ablations
from lab.ablation.steps import CELLS, CHANGES, LADDER, LADDER_CELLS, STEPS, ZRTT
from lab.model import grid
from lab.model.grid import Cell, Point, Sweep
from lab.results import summary
from lab.results.summary import Key
from lab.results.table import Row
from lab.runs import sweep, sweepfile
from lab.toolchain import variant

KERNEL = "uml"
LADDER_NAME = "ladder"
"""Of all rungs, where a step's name is asked for."""
MODULE = "sch_zrtt"


@dataclass(frozen=True)
class Edited(Point):
    """A run with a module built from edited sources."""

    @property
    def command(self) -> str:
        """The command that repeats this run and one of unchanged zrtt."""
        name = _step(self.qdisc)
        words = ["--only", name, "--cell", self.cell, "--seeds", str(self.scenario.seed)]
        return shlex.join(["python3", "-m", "lab", "ablation", *words])


class Guests(sweep.RealGuests):
    """Guests that load the module of their point, edited or not."""

    def builds(self, point: Point) -> dict[str, Path]:
        made = super().builds(point)
        edits = CHANGES[point.qdisc].edits
        if edits:
            made[MODULE] = variant.module(MODULE, self.kernel(point.scenario.kernel), edits)
        return made


@dataclass(frozen=True)
class Figure:
    """The effect of a step on one figure of a cell, by seed."""

    step: str
    cell: str
    metric: str
    zrtt: Sequence[float]
    without: Sequence[float]


def _chosen(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    return [
        name for name in names
        if not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)
    ]  # fmt: skip


def _step(change: str) -> str:
    """What --only calls it."""
    return LADDER_NAME if change in LADDER else change


def _refuse_idle(option: str, patterns: Iterable[str], names: Iterable[str]) -> None:
    """Raises GridError if a pattern selects none of what is run."""
    grid.refuse_idle(
        option, patterns, lambda pattern: any(fnmatchcase(name, pattern) for name in names)
    )


def points(only: Sequence[str], cells: Sequence[str], seeds: Sequence[int]) -> list[Point]:
    """All runs of the steps and cells that match, seed by seed. Raises GridError if none do, or
    none of those of a pattern."""
    steps = _chosen([*STEPS, LADDER_NAME], only)
    rungs = LADDER if LADDER_NAME in steps else ()
    found = []
    for name in _chosen(CELLS, cells):
        changes = [step for step in steps if step in STEPS and name in STEPS[step].shows]
        changes += rungs if name in LADDER_CELLS else ()
        if changes:
            options = {**sweepfile.DEFAULTS, **ablations.COMMON, **CELLS[name]}
            found.append(Cell(name, options, (ZRTT, *changes)))
    if not found:
        _refuse_idle("--only", only, [*STEPS, LADDER_NAME])
        _refuse_idle("--cell", cells, CELLS)
        raise grid.GridError(f"no step {' '.join(only)} in a cell {' '.join(cells)}")
    _refuse_idle("--only", only, {_step(change) for cell in found for change in cell.qdiscs[1:]})
    _refuse_idle("--cell", cells, {cell.name for cell in found})
    qdiscs = {name: f"zrtt {change.words}".strip() for name, change in CHANGES.items()}
    made = Sweep("ablation", Path(), (KERNEL,), tuple(seeds), qdiscs, tuple(found), ()).points()
    return [Edited(**vars(one)) if CHANGES[one.qdisc].edits else one for one in made]


def _values(groups: summary.Groups, cell: str, name: str, metric: str) -> list[float]:
    return [float(getattr(row, metric)) for row in groups.get(Key(KERNEL, cell, name), ())]


def figures(rows: Sequence[Row]) -> list[Figure]:
    """The figures of each step in each of its cells that was run."""
    groups = summary.group(rows)
    found = [
        Figure(name, cell, metric, _values(groups, cell, ZRTT, metric),
               _values(groups, cell, name, metric))
        for name, step in STEPS.items()
        for cell, metrics in step.shows.items()
        for metric in metrics
    ]  # fmt: skip
    return [figure for figure in found if figure.zrtt and figure.without]


Rungs = Mapping[str, Mapping[tuple[str, str], Sequence[float]]]
"""By rung, then by cell and metric."""


def ladder(rows: Sequence[Row]) -> Rungs:
    """The results of each rung, from the paper's law to zrtt; empty if none was run."""
    groups = summary.group(rows)
    columns = [(cell, metric) for cell, metrics in LADDER_CELLS.items() for metric in metrics]
    found = {
        rung: {column: _values(groups, column[0], rung, column[1]) for column in columns}
        for rung in (*LADDER, ZRTT)
    }
    return found if any(values for rung in LADDER for values in found[rung].values()) else {}
