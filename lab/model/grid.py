# SPDX-License-Identifier: GPL-2.0
"""A grid of scenarios, and the targets their results must meet; lab/runs/sweepfile.py reads it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from lab.model.churn import Background, Churn
from lab.model.ect1 import Ect1
from lab.model.hosts import (
    Idle,
    parse_dscps,
    parse_receivers,
    parse_sessions,
    parse_subscribers,
    parse_weights,
)
from lab.model.line import Line, Slow
from lab.model.scenario import (
    Scenario,
    Step,
    parse_cc,
    parse_ecn,
    parse_gso,
    parse_hint,
    parse_hops,
    parse_liars,
    parse_link,
    parse_rtts,
    parse_starts,
    parse_stops,
    parse_timestamps,
)
from lab.model.spoof import Spoof
from lab.model.thin import parse_thin
from lab.model.udp import Udp
from lab.model.units import parse_rate

Options = Mapping[str, Any]
Place = tuple[str, str, str, int]
"""Kernel, cell, qdisc and seed of a run: of two with the same, the later one counts."""


class GridError(ValueError):
    """A sweep file that makes no sense; the message names the file and the key."""


# What an option of `lab run` means for the Scenario.
FIELDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "rate": lambda text: {"rate_bps": parse_rate(text)},
    "rtts": lambda text: {"rtts_ms": parse_rtts(text)},
    "sessions": parse_sessions,
    "cc": lambda text: {"cc": parse_cc(text)},
    "ecn": lambda text: dict(zip(("ecn", "ecn_share"), parse_ecn(text), strict=True)),
    "gso": lambda text: {"gso_segs": parse_gso(text)},
    "hint": lambda text: dict(zip(("hint", "hint_share"), parse_hint(text), strict=True)),
    "liar": lambda texts: {"liars": parse_liars(texts)},
    "ect1": lambda text: {"ect1": Ect1.parse(text)},
    "timestamps": lambda text: {"timestamps_share": parse_timestamps(text)},
    "warmup": lambda text: {"warmup_s": float(text)},
    "duration": lambda text: {"duration_s": float(text)},
    "step": lambda texts: {"steps": tuple(map(Step.parse, texts))},
    "udp": lambda texts: {"udp": tuple(map(Udp.parse, texts))},
    "spoof": lambda texts: {"spoof": tuple(map(Spoof.parse, texts))},
    "thin": lambda text: {"thin": parse_thin(text)},
    "churn": lambda text: {"churn": Churn.parse(text)},
    "reverse": lambda text: {"reverse": int(text)},
    "hops": lambda text: dict(zip(("hops", "cross_rtts_ms"), parse_hops(text), strict=True)),
    "back": lambda text: {"back": text},
    "link": lambda text: {"link": parse_link(text)},
    "start": lambda text: {"starts_s": parse_starts(text)},
    "stop": lambda text: {"stops_s": parse_stops(text)},
    "background": lambda text: {"background": Background.parse(text)},
    "weights": lambda text: {"weights": parse_weights(text)},
    "subscribers": lambda text: {"subscribers": parse_subscribers(text)},
    "dscp": lambda text: {"dscps": parse_dscps(text)},
    "receivers": lambda text: {"receivers": parse_receivers(text)},
    "idle": lambda text: {"idle": Idle.parse(text)},
    "line": lambda text: {"line": Line.parse(text)},
    "slow": lambda text: {"slow": Slow.parse(text)},
}
REPEATED = ("liar", "step", "udp", "spoof")
HOSTS = ("weights", "subscribers", "dscp", "receivers", "idle")
"""Options about hosts."""
EXTRAS = (
    *REPEATED, "ect1", "timestamps", "thin", "churn", "reverse", "hops", "back", "link", "start", "stop",
    "background", "line", "slow", *HOSTS,
)  # fmt: skip
"""Options that few cells have."""


@dataclass(frozen=True)
class Point:
    """One run of a sweep."""

    sweep: str
    cell: str
    qdisc: str
    """Its name in the sweep file; scenario.qdisc has its words."""
    options: Options
    scenario: Scenario

    @property
    def command(self) -> str:
        """The shell command that repeats this run."""
        scenario = self.scenario
        words = ["--kernel", scenario.kernel, "--qdisc", scenario.qdisc]
        for name, value in self.options.items():
            for text in value if name in REPEATED else [value]:
                words += [f"--{name}", text]
        words += ["--seed", str(scenario.seed)]
        return shlex.join(["python3", "-m", "lab", "run", *words])

    @property
    def extra(self) -> str:
        """Its options beyond those that have columns of their own, for tables."""
        return "; ".join(
            f"{name} {', '.join(value) if name in REPEATED else value}"
            for name, value in self.options.items()
            if value and (name in EXTRAS or name == "sessions" and "," in value)
        )

    @property
    def place(self) -> Place:
        """Where its result stands."""
        return (self.scenario.kernel, self.cell, self.qdisc, self.scenario.seed)

    @property
    def label(self) -> str:
        """For messages."""
        return f"{self.cell} {self.qdisc} seed {self.scenario.seed} on {self.scenario.kernel}"


@dataclass(frozen=True)
class Target:
    """What the runs of a qdisc must reach, whatever the seed, or on average."""

    qdisc: str
    cells: tuple[str, ...]
    """Patterns."""
    metric: str
    min: float | None
    max: float | None
    beats: tuple[str, ...] = ()
    to: str = ""
    """A qdisc: the bounds are on the ratio of the means over the seeds, to that qdisc's."""
    to_cell: str = ""
    """A cell: they are on the ratio to the means there, as of a run without what the cell has."""
    mean: bool = False
    """The bounds are on the mean over all cells and seeds."""

    def covers(self, cell: str) -> bool:
        """Whether it is about that cell."""
        return any(fnmatchcase(cell, pattern) for pattern in self.cells)


@dataclass(frozen=True)
class Cell:
    """A scenario without qdisc, kernel and seed."""

    name: str
    options: Options
    qdiscs: tuple[str, ...]


@dataclass(frozen=True)
class Sweep:
    """A sweep file."""

    name: str
    path: Path
    kernels: tuple[str, ...]
    seeds: tuple[int, ...]
    qdiscs: Mapping[str, str]
    cells: tuple[Cell, ...]
    targets: tuple[Target, ...]

    def points(
        self,
        *,
        kernels: Iterable[str] = (),
        seeds: Iterable[int] = (),
        only: Iterable[str] = (),
    ) -> list[Point]:
        """All runs, or those asked for: seed by seed, so that half a sweep shows all cells.

        Raises GridError if a pattern of `only` selects none."""
        patterns = tuple(only)
        runs = [(cell, qdisc) for cell in self.cells for qdisc in cell.qdiscs]
        refuse_idle(
            f"{self.path}: --only", patterns,
            lambda pattern: any(_selects(pattern, cell.name, qdisc) for cell, qdisc in runs),
        )  # fmt: skip
        chosen = [
            (cell, qdisc)
            for cell, qdisc in runs
            if not patterns or any(_selects(pattern, cell.name, qdisc) for pattern in patterns)
        ]
        fields = {cell.name: self._fields(cell) for cell, _ in chosen}
        return [
            self._point(cell, qdisc, {"kernel": kernel, "seed": seed, **fields[cell.name]})
            for kernel in tuple(kernels) or self.kernels
            for seed in tuple(seeds) or self.seeds
            for cell, qdisc in chosen
        ]

    def _fields(self, cell: Cell) -> dict[str, Any]:
        """What the options of a cell mean."""
        fields: dict[str, Any] = {}
        for name, value in cell.options.items():
            try:
                fields |= FIELDS[name](value)
            except ValueError as error:  # of a unit, a scenario or a number
                raise GridError(f"{self.path}: cells.{cell.name}: {name}: {error}") from error
        return fields

    def _point(self, cell: Cell, qdisc: str, fields: Mapping[str, Any]) -> Point:
        try:
            scenario = Scenario(qdisc=self.qdiscs[qdisc], **fields)
            return Point(self.name, cell.name, qdisc, cell.options, scenario.check())
        except ValueError as error:
            raise GridError(f"{self.path}: cells.{cell.name}, qdiscs.{qdisc}: {error}") from error


def refuse_idle(option: str, patterns: Iterable[str], selects: Callable[[str], bool]) -> None:
    """Raises GridError if a pattern of that option selects nothing."""
    for pattern in patterns:
        if not selects(pattern):
            raise GridError(f"{option} {pattern}: matches nothing")


def _selects(pattern: str, cell: str, qdisc: str) -> bool:
    """Reads CELLGLOB[:QDISCGLOB]."""
    of_cell, _, of_qdisc = pattern.partition(":")
    return fnmatchcase(cell, of_cell) and fnmatchcase(qdisc, of_qdisc or "*")
