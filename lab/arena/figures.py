# SPDX-License-Identifier: GPL-2.0
"""The figures of an arena's runs, and which qdisc is behind by how much."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.arena.due import dues
from lab.arena.plan import Scenario
from lab.model.grid import Point
from lab.model.thin import Kind, ThinResult
from lab.results.result import jain
from lab.results.table import Row

RIVALS = ("fq_codel", "cake")
"""A qdisc is judged by the better of these; they, by the other one."""
JAIN_BEHIND, JAIN_FAR_BEHIND = 0.002, 0.01
UTILISATION_BEHIND = 0.005
REVERSE_BEHIND = 0.98
"""Of the better rival's goodput the other way."""


@dataclass(frozen=True)
class Figures:
    """The figures of a run; nan if unknown."""

    scenario: int
    """Its number."""
    qdisc: str
    jain: float
    """Of TCP flows that are there for the whole of the measured interval: the long ones and
    those that cross one router only, which are due the same. Where hosts have different numbers
    of flows, of the hosts."""
    max_min_ratio: float
    """Of them; inf if one received nothing."""
    utilisation: float
    sojourn_p95_ms: float
    """Of all packets."""
    fct_mean_s: float
    """Completion time of short flows."""
    short_unfinished: float
    reverse_mbps: float
    """Mean goodput of a flow the other way."""
    tcp_of_due: float
    """What TCP got to what it was due beside UDP; nan if no UDP asks for more than its share."""
    thin: tuple[ThinResult, ...] = ()
    """Calls, games, queries, pings: those of them that there are."""
    l4s_p99_ms: float = math.nan
    """Sojourn of ECT(1) packets of scalable flows."""
    ect1_share: float = math.nan
    """Rate of the best-off sender of ECT(1) that is not scalable, to its due share."""
    within_jain: float = math.nan
    """Jain's index of the flows of one host, the worst, where hosts are compared."""
    least_used: float = math.nan
    """Share of a line that is used at the rate at which it is used least."""
    whole_mean_ms: float = math.nan
    """Sojourn in the queue and in the FIFO of the line behind it."""
    whole_p95_ms: float = math.nan
    jain_lead: float = math.nan
    """Jain's index less that of the better rival: below 0 if behind."""
    utilisation_lead: float = math.nan
    """Likewise."""
    fct_ratio: float = math.nan
    """Completion time to that of the better rival: below 1 if sooner."""
    reverse_ratio: float = math.nan
    """Goodput the other way to that of the better rival: below 1 if less."""

    @property
    def thin_p99_ms(self) -> float:
        """Sojourn of the worst class of thin traffic; nan if there is none."""
        return max((thin.p99_ms for thin in self.thin), default=math.nan)

    @property
    def loss(self) -> float:
        """How far behind in Jain's index or in utilisation, in units of what is no matter: to
        sort by. 0 if in neither, or if there is no rival."""
        losses = (-self.jain_lead / JAIN_BEHIND, -self.utilisation_lead / UTILISATION_BEHIND)
        return max(0.0, *(0.0 if math.isnan(loss) else loss for loss in losses))


def _shares(point: Point, row: Row) -> list[float]:
    """Goodput of those who are due the same, and are there all the time."""
    scenario = point.scenario
    if not scenario.sessions_of:
        return [row.goodputs[index] for index in scenario.steady] + row.cross_goodputs
    hosts = sorted({scenario.host_of[index] for index in scenario.steady})
    return [row.host_goodputs[host] for host in hosts] + row.cross_goodputs


def of_run(number: int, point: Point, row: Row) -> Figures:
    """The figures of one run, from its row in a table."""
    scenario = point.scenario
    due = dues(scenario)
    shares = _shares(point, row)
    slowest = min(shares, default=1.0)
    fastest = max(shares, default=1.0)
    return Figures(
        scenario=number,
        qdisc=point.qdisc,
        jain=jain(shares) if shares else 1.0,
        max_min_ratio=fastest / slowest if slowest else math.inf,
        utilisation=row.utilisation,
        sojourn_p95_ms=row.sojourn_p95_ms,
        fct_mean_s=row.fct_mean_s,
        short_unfinished=row.short_unfinished if scenario.churn else math.nan,
        reverse_mbps=row.reverse_mean_mbps,
        tcp_of_due=row.tcp_share / due.tcp if due.contested and due.tcp else math.nan,
        thin=tuple(row.thin_classes),
        l4s_p99_ms=row.l4s_p99_ms,
        ect1_share=row.ect1_share,
        within_jain=row.within_jain if scenario.sessions_of else math.nan,
        least_used=row.min_phase_utilisation if scenario.line else math.nan,
        whole_mean_ms=row.whole_mean_ms,
        whole_p95_ms=row.whole_p95_ms,
    )


def _known(values: Iterable[float]) -> list[float]:
    return [value for value in values if not math.isnan(value)]


def _judged(own: Figures, rivals: Sequence[Figures]) -> Figures:
    """The figures with its leads over the rivals, if there are any."""
    if not rivals:
        return own
    soonest = min(_known(rival.fct_mean_s for rival in rivals), default=math.nan)
    most = max(_known(rival.reverse_mbps for rival in rivals), default=math.nan)
    return replace(
        own,
        jain_lead=own.jain - max(rival.jain for rival in rivals),
        utilisation_lead=own.utilisation - max(rival.utilisation for rival in rivals),
        fct_ratio=own.fct_mean_s / soonest,
        reverse_ratio=own.reverse_mbps / most if most else math.nan,
    )


@dataclass(frozen=True)
class Bout:
    """A scenario and the figures of those of its runs that exist."""

    scenario: Scenario
    figures: Mapping[str, Figures]
    """By the qdisc's name, in the order of the plan."""

    @property
    def number(self) -> int:
        return self.scenario.drawn.number

    @property
    def missing(self) -> list[str]:
        """Qdiscs without a run."""
        return [name for name in self.scenario.points if name not in self.figures]

    @property
    def whole(self) -> bool:
        """Whether all qdiscs have a run: without one, others would be compared with less."""
        return not self.missing


def bouts(plan: Iterable[Scenario], rows: Iterable[Row]) -> list[Bout]:
    """All scenarios of a plan with their figures; of several rows of one run the last counts.

    There are leads in those alone of which no run is missing."""
    by_command = {row.command: row for row in rows}
    found = []
    for scenario in plan:
        own = {
            name: of_run(scenario.drawn.number, point, by_command[point.command])
            for name, point in scenario.points.items()
            if point.command in by_command
        }
        bout = Bout(scenario, own)
        if bout.whole:
            judged = {
                name: _judged(one, [own[r] for r in RIVALS if r in own and r != name])
                for name, one in own.items()
            }
            bout = replace(bout, figures=judged)
        found.append(bout)
    return found


def by_qdisc(found: Sequence[Bout]) -> dict[str, list[Figures]]:
    """The runs of each qdisc, in the order of the plan, in the scenarios that all have."""
    runs: dict[str, list[Figures]] = {}
    for bout in found:
        for name in bout.scenario.points if bout.whole else ():
            runs.setdefault(name, []).append(bout.figures[name])
    return runs


def by_thin(found: Sequence[Bout]) -> dict[str, list[ThinResult]]:
    """Thin traffic of these runs, by class and qdisc."""
    runs = by_qdisc(found)
    made = {
        f"{kind} {name}": [thin for one in own for thin in one.thin if thin.name == kind]
        for kind in Kind
        for name, own in runs.items()
    }
    return {name: own for name, own in made.items() if own}
