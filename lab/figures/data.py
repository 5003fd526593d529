# SPDX-License-Identifier: GPL-2.0
"""Selects the data of a figure from the table of a sweep."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean

from lab.model.scenario import parse_rtts
from lab.results import share, summary
from lab.results.report import ReportError
from lab.results.table import Row


@dataclass(frozen=True)
class Load:
    """A cell by its load: connections, and sessions of each."""

    connections: int
    sessions: int
    ecn: str

    def __str__(self) -> str:
        plural = "" if self.sessions == 1 else "s"
        return f"{self.connections} connections of {self.sessions} session{plural}"


@dataclass(frozen=True)
class Spread:
    """The spread of a figure over the seeds."""

    mean: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of one value per seed."""
        return cls(mean(values), min(values), max(values))


def _per_connection(row: Row) -> list[float]:
    """Goodput of each connection: of all its sessions together."""
    goodputs = row.goodputs
    return [
        sum(goodputs[first : first + row.sessions])
        for first in range(0, len(goodputs), row.sessions)
    ]


class Runs:
    """The runs of one kernel, by load and method."""

    def __init__(self, rows: Iterable[Row], kernel: str) -> None:
        self._found: dict[tuple[Load, str], Sequence[Row]] = {}
        for key, group in summary.group(rows).items():
            if key.kernel != kernel:
                continue
            first = group[0]
            if not first.sessions:
                raise ReportError(f"no figure shows cell {key.cell}: hosts differ in their flows")
            load = Load(first.flows // first.sessions, first.sessions, first.ecn)
            other = self._found.setdefault((load, key.qdisc), group)
            if other is not group:
                raise ReportError(
                    f"cells {other[0].cell} and {key.cell} both are {load}, ecn {load.ecn}: "
                    "a figure can show but one of them"
                )
        if not self._found:
            raise ReportError(f"no runs on {kernel} in the table")

    @property
    def any(self) -> Row:
        """One of the runs, for the options that all share."""
        return next(iter(self._found.values()))[0]

    def seeds(self, ecn: str) -> str:
        """How many there are, in words."""
        counts = {len(group) for (load, _), group in self._found.items() if load.ecn == ecn}
        least, most = min(counts, default=0), max(counts, default=0)
        number = str(most) if least == most else f"{least} to {most}"
        return f"{number} seed{'' if most == 1 else 's'}"

    def note(self, ecn: str) -> str:
        """The note below a figure: where the data come from."""
        one = self.any
        return (
            f"{one.cc}, {one.rate}, ECN {ecn}, hints: {one.hint}, "
            f"Linux {one.release.partition('-')[0]}; "
            f"mean, least and most of {self.seeds(ecn)}"
        )

    def methods(self, load: Load) -> set[str]:
        """All methods that were run under a load."""
        return {method for known, method in self._found if known == load}

    def loads(self, ecn: str) -> list[Load]:
        """All loads that were run, in ascending order."""
        found = {load for load, _ in self._found if load.ecn == ecn}
        return sorted(found, key=lambda load: (load.connections, load.sessions))

    def rtts_ms(self, load: Load, method: str) -> tuple[float, ...]:
        """RTTs of the connections."""
        return parse_rtts(self._found[load, method][0].rtts)

    def goodputs(self, load: Load, method: str) -> list[Spread]:
        """Mbit/s of each connection."""
        per_seed = [_per_connection(row) for row in self._found[load, method]]
        return [Spread.of(values) for values in zip(*per_seed, strict=True)]

    def fair_mbps(self, load: Load, method: str) -> float:
        """The fair share of a connection: of all its sessions together."""
        return load.sessions * share.of_row(self._found[load, method][0])

    def jain(self, load: Load, method: str) -> Spread:
        """Jain's index of all flows."""
        return Spread.of([row.jain for row in self._found[load, method]])
