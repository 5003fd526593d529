# SPDX-License-Identifier: GPL-2.0
"""An arena as text: each scenario, totals, and the qdiscs that are behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from lab.arena.classes import by_class
from lab.arena.columns import OF_CLASS, OF_QDISC, OF_RUN, OF_THIN
from lab.arena.figures import (
    JAIN_BEHIND,
    JAIN_FAR_BEHIND,
    REVERSE_BEHIND,
    RIVALS,
    UTILISATION_BEHIND,
    Bout,
    Figures,
    by_qdisc,
    by_thin,
)
from lab.arena.plan import Scenario
from lab.html.tables import Column
from lab.model.grid import Point
from lab.model.units import parse_rate
from lab.output import text_table

JUDGED = "zrtt"
"""First word of the qdiscs that the verdict is about."""
NAMED = 8
"""Scenarios that a line names at most, the worst first."""


def _rtts(scenario: Scenario) -> str:
    options = next(iter(scenario.points.values())).scenario
    rtts = sorted(options.rtts_ms)
    return f"{rtts[0]:g} ms" if rtts[0] == rtts[-1] else f"{rtts[0]:g} to {rtts[-1]:g} ms"


def _link(point: Point) -> str:
    line = point.scenario.line
    if not line:
        return f"{parse_rate(point.options['rate']) / 1e6:g} Mbit/s"
    rates = [f"{rate_bps / 1e6:.3g}@{at_s:g}" for at_s, rate_bps in line.rates]
    place = " before the qdisc" if line.before else ""
    return f"a line of {', '.join(rates)} Mbit/s and {line.buffer_bytes / 1000:.3g} kB{place}"


def describe(scenario: Scenario) -> str:
    """A scenario in words: link, flows, and further options."""
    point = next(iter(scenario.points.values()))
    options, made = point.options, point.scenario
    flows = made.n_flows
    parts = [
        _link(point),
        f"{flows} flow{'s' if flows > 1 else ''} of {_rtts(scenario)}",
        *([f"of {len(made.sessions_of)} hosts {options['sessions']}"] if made.sessions_of else []),
        options["cc"].removeprefix("mix:").replace(",", "+"),
        f"ECN {options['ecn']}",
        f"hints {options['hint']}",
        f"GSO {options['gso']}",
        f"{options['warmup']}+{options['duration']} s",
    ]
    if len(made.steps) > 3:
        rates = [step.rate_bps for step in made.steps]
        parts.append(f"{len(rates)} rates of {min(rates) / 1e6:g} to {max(rates) / 1e6:g} Mbit/s")
    elif made.steps:
        parts += options["step"]
    parts += [f"UDP {stream}" for stream in options.get("udp", ())]
    parts += [f"{options['ect1']} as ECT(1)"] if "ect1" in options else []
    parts += [f"timestamps {options['timestamps']}"] if "timestamps" in options else []
    parts += [
        f"{name} {options[name]}" for name in ("churn", "reverse", "hops", "thin") if name in options
    ]
    lives = list(zip(made.lives_s, made.host_sessions, strict=True))
    joining = sum(flows for (start, _), flows in lives if start > 0)
    leaving = sum(flows for (_, stop), flows in lives if stop is not None)
    parts += [f"{joining} join"] if joining else []
    parts += [f"{leaving} leave"] if leaving else []
    return ", ".join(parts)


def command(scenario: Scenario) -> str:
    """The command that repeats the run of the first qdisc; for others, change --qdisc."""
    return next(iter(scenario.points.values())).command


def scenarios(plan: Iterable[Scenario]) -> str:
    """All scenarios, without results."""
    return "\n".join(
        f"{one.drawn.number}: {describe(one)}\n    {command(one)}" for one in plan
    )


def _told(columns: Sequence[Column], figures: Sequence[Any]) -> list[Column]:
    return [column for column in columns if column.tells(figures)]


def _lines(found: Sequence[Bout]) -> Iterator[tuple[Bout, list[tuple[str, ...]]]]:
    everything = [one for bout in found for one in bout.figures.values()]
    columns = _told(OF_RUN, everything)
    for bout in found:
        yield bout, [
            (str(bout.number), name, *(column.text(column.of([one])) for column in columns))
            for name, one in bout.figures.items()
        ]


def lacking(bout: Bout) -> str:
    """The runs of a scenario that are missing."""
    return f"no run of {', '.join(bout.missing)}" if bout.figures else "not run"


def _by_scenario(found: Sequence[Bout]) -> list[str]:
    everything = [one for bout in found for one in bout.figures.values()]
    head = ("", "qdisc", *(column.head for column in _told(OF_RUN, everything)))
    blocks = list(_lines(found))
    aligned = text_table.aligned([head, *(line for _, lines in blocks for line in lines)], left=2)
    made, waiting = [aligned[0], "-" * len(aligned[0])], iter(aligned[1:])
    for bout, lines in blocks:
        made += [f"{bout.number}: {describe(bout.scenario)}", f"    {command(bout.scenario)}"]
        made += [next(waiting) for _ in lines]
        made += [f"{bout.number}: {lacking(bout)}"] if bout.missing else []
        made.append("")
    return made


def _in_sum(runs: Mapping[str, Sequence[Any]], of: Sequence[Column],
            name: str) -> list[str]:  # fmt: skip
    """Totals, a line per name."""
    columns = _told(of, [one for own in runs.values() for one in own])
    head = (name, "scenarios", *(column.head for column in columns))
    lines = [
        (name, str(len(own)), *(column.text(column.of(own)) for column in columns))
        for name, own in runs.items()
    ]
    aligned = text_table.aligned([head, *lines])
    return [aligned[0], "-" * len(aligned[0]), *aligned[1:]]


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} scenarios ({part / whole:.1%})"


def _named(own: Sequence[Figures], key: Callable[[Figures], float], form: str) -> str:
    """Names the scenarios with the lowest figures, in ascending order."""
    worst = sorted(own, key=key)[:NAMED]
    named = ", ".join(f"{one.scenario} ({format(key(one), form)})" for one in worst)
    more = ", ..." if len(own) > NAMED else ""
    return f": {named}{more}" if named else ""


def _of_jain(own: Sequence[Figures]) -> Iterator[str]:
    known = [one for one in own if not math.isnan(one.jain_lead)]
    for bound in (JAIN_BEHIND, JAIN_FAR_BEHIND) if known else ():
        behind = [one for one in known if one.jain_lead < -bound]
        named = _named(behind, lambda one: one.jain_lead, "+.4f")
        yield f"behind by more than {bound} of Jain in {_share(len(behind), len(known))}{named}"


def _of_utilisation(own: Sequence[Figures], rivals: dict[str, list[Figures]]) -> Iterator[str]:
    known = [one for one in own if not math.isnan(one.utilisation_lead)]
    theirs = "".join(
        f", {name} {fmean(one.utilisation for one in runs):.2%}" for name, runs in rivals.items()
    )
    yield f"mean utilisation {fmean(one.utilisation for one in own):.2%}{theirs}"
    behind = [one for one in known if one.utilisation_lead < -UTILISATION_BEHIND]
    if known:
        points = f"{100 * UTILISATION_BEHIND:g} points"
        named = _named(behind, lambda one: one.utilisation_lead, "+.1%")
        yield f"behind by more than {points} of it in {_share(len(behind), len(known))}{named}"


def _of_short_flows(own: Sequence[Figures], rivals: dict[str, list[Figures]]) -> Iterator[str]:
    times = {one.scenario: one.fct_mean_s for one in own if not math.isnan(one.fct_mean_s)}
    both = [one for one in own if not math.isnan(one.fct_ratio)]
    if not both:
        return
    parts = []
    for name, runs in rivals.items():
        pairs = [(times[r.scenario], r.fct_mean_s) for r in runs if r.scenario in times]
        parts.append(f"than over {name} in {sum(ours < theirs for ours, theirs in pairs)}")
    sooner = sum(one.fct_ratio < 1 for one in both)
    later = _named([one for one in both if one.fct_ratio >= 1], lambda o: -o.fct_ratio, ".2f")
    yield (
        f"short flows done sooner than over the better one in {_share(sooner, len(both))},"
        f" {', '.join(parts)}; times later{later.replace('-', '') or ': none'}"
    )


def _of_reverse(own: Sequence[Figures]) -> Iterator[str]:
    known = [one for one in own if not math.isnan(one.reverse_ratio)]
    if known:
        less = [one for one in known if one.reverse_ratio < REVERSE_BEHIND]
        named = _named(less, lambda one: one.reverse_ratio, ".0%")
        yield (
            f"flows the other way get {fmean(one.reverse_ratio for one in known):.1%} of what the"
            f" better one gives them, less than {REVERSE_BEHIND:.0%} in"
            f" {_share(len(less), len(known))}{named}"
        )


def _of_due(own: Sequence[Figures], rivals: dict[str, list[Figures]]) -> Iterator[str]:
    def mean(runs: Sequence[Figures]) -> str:
        shares = [one.tcp_of_due for one in runs if not math.isnan(one.tcp_of_due)]
        return f"{fmean(shares):.1%}" if shares else "none"

    known = [one for one in own if not math.isnan(one.tcp_of_due)]
    if known:
        theirs = "".join(f", {name} {mean(runs)}" for name, runs in rivals.items())
        least = _named(known, lambda one: one.tcp_of_due, ".0%")
        yield f"TCP beside UDP gets {mean(known)} of its due{theirs}; least in{least[1:]}"


def judged(bout: Bout) -> list[str]:
    """This project's qdiscs that were run in a scenario."""
    points = bout.scenario.points
    return [name for name in bout.figures if points[name].scenario.qdisc_words[0] == JUDGED]


def all_judged(found: Sequence[Bout]) -> list[str]:
    """This project's qdiscs, if there are scenarios to judge them by."""
    return list(dict.fromkeys(name for bout in found if bout.whole for name in judged(bout)))


def _left_out(found: Sequence[Bout]) -> Iterator[str]:
    """Names the scenarios that are no part of sums and verdict."""
    out = [bout for bout in found if not bout.whole]
    if out:
        missing = sum(len(bout.missing) for bout in out)
        planned = sum(len(bout.scenario.points) for bout in found)
        yield f"{missing} of {planned} runs are missing"
        named = ", ".join(f"{bout.number} ({lacking(bout)})" for bout in out)
        yield f"left out of sums and verdict: {_share(len(out), len(found))}: {named}"


def verdict(found: Sequence[Bout]) -> list[str]:
    """Each qdisc of this project compared with the better of its rivals, where all were run."""
    runs = by_qdisc(found)
    rivals = {name: runs[name] for name in RIVALS if name in runs}
    lines = []
    for name in all_judged(found):
        own = runs[name]
        parts = [
            *_of_jain(own), *_of_utilisation(own, rivals), *_of_short_flows(own, rivals),
            *_of_reverse(own), *_of_due(own, rivals),
        ]  # fmt: skip
        lines += [f"{name}: {part}" for part in parts]
    return [*lines, *_left_out(found)]


def render(found: Sequence[Bout]) -> str:
    """The whole report."""
    parts = [*_by_scenario(found), *_in_sum(by_qdisc(found), OF_QDISC, "qdisc"), ""]
    if thin := by_thin(found):
        parts += [*_in_sum(thin, OF_THIN, "thin traffic"), ""]
    for name in all_judged(found):
        parts += [*_in_sum(by_class(found, name), OF_CLASS, f"{name} by class"), ""]
    return "\n".join([*parts, *verdict(found)])
