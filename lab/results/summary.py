# SPDX-License-Identifier: GPL-2.0
"""Summarises the table of a sweep: worst, median and best over the seeds, and targets."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from statistics import fmean, median

from lab.kernels.kernel import KERNELS
from lab.model.ect1 import EcnResult
from lab.model.grid import Place, Sweep, Target
from lab.model.thin import ThinResult
from lab.output import text_table
from lab.results.table import Row

HEAD = (
    "cell", "qdisc", "seeds", "Jain worst", "median", "best",
    "utilisation worst", "sojourn worst", "p95 worst",
)  # fmt: skip
LEFT_COLUMNS = 2
THIN_HEAD = (
    "cell", "qdisc", "class", "sent", "lost", "sojourn mean", "p95 worst", "p99 worst", "max",
)  # fmt: skip
ECN_HEAD = ("cell", "qdisc", "class", "Mbit/s", "sojourn mean", "p95 worst", "p99 worst", "max")
CLASS_LEFT_COLUMNS = 3


@dataclass(frozen=True)
class Key:
    """What the runs of a group share, beside their seed."""

    kernel: str
    cell: str
    qdisc: str


Groups = Mapping[Key, Sequence[Row]]


def group(rows: Iterable[Row]) -> Groups:
    """Rows by kernel, cell and qdisc, of each seed the last row."""
    found: dict[Key, dict[int, Row]] = {}
    for row in rows:
        key = Key(row.kernel, row.cell, row.qdisc)
        found.setdefault(key, {})[row.seed] = row
    return {key: list(seeds.values()) for key, seeds in found.items()}


Version = tuple[str, str, str]
"""Kernel, its release, git's revision."""


def _version(row: Row) -> Version:
    return row.kernel, row.release, row.revision


def _counted(found: Mapping[Version, int]) -> str:
    return ", ".join(f"{n} of git {revision} on Linux {release}"
                     for (_, release, revision), n in sorted(found.items()))  # fmt: skip


def versions(rows: Iterable[Row]) -> str:
    """How many rows are of which version, of those that are shown; empty if a kernel has but one."""
    found = Counter(_version(row) for runs in group(rows).values() for row in runs)
    return "" if len(found) == len({kernel for kernel, *_ in found}) else _counted(found)


def hidden(rows: Iterable[Row]) -> str:
    """How many rows are of which version, of those that give way to one of another version."""
    rows = list(rows)
    shown = {row.place: row for row in rows}
    of = ((row, shown[row.place]) for row in rows)
    return _counted(Counter(_version(row) for row, last in of if _version(row) != _version(last)))


def hidden_others(rows: Iterable[Row]) -> int:
    """How many rows give way to one of other options, as that of another sweep's cell."""
    rows = list(rows)
    shown = {row.place: row.command for row in rows}
    return sum(row.command != shown[row.place] for row in rows)


def _values(rows: Iterable[Row], metric: str) -> list[float]:
    return [float(getattr(row, metric)) for row in rows]


def _cells(key: Key, rows: Sequence[Row]) -> tuple[str, ...]:
    jains = _values(rows, "jain")
    return (
        key.cell,
        key.qdisc,
        str(len(rows)),
        f"{min(jains):.4f}",
        f"{median(jains):.4f}",
        f"{max(jains):.4f}",
        f"{min(_values(rows, 'utilisation')):.1%}",
        f"{max(_values(rows, 'sojourn_mean_ms')):.1f} ms",
        f"{max(_values(rows, 'sojourn_p95_ms')):.1f} ms",
    )


def natural(text: str) -> list[tuple[int, str]]:
    """Sorts 2 before 10."""
    return [(int(digits or 0), word) for digits, word in re.findall(r"(\d*)(\D*)", text)]


def _order(item: tuple[Key, Sequence[Row]]) -> tuple[str, list[tuple[int, str]], str]:
    key, _ = item
    return key.kernel, natural(key.cell), key.qdisc


def _by_cell(groups: Groups) -> Iterator[list[tuple[str, ...]]]:
    """The lines of a table, cell by cell, and in each the fairest first."""
    for cell in sorted({key.cell for key in groups}, key=natural):
        own = [(key, rows) for key, rows in groups.items() if key.cell == cell]
        own.sort(key=lambda item: -min(_values(item[1], "jain")))
        yield [_cells(key, rows) for key, rows in own]


def _plain(groups: Groups) -> list[str]:
    cells = list(_by_cell(groups))
    head, *lines = text_table.aligned([HEAD, *chain(*cells)], LEFT_COLUMNS)
    waiting = iter(lines)
    made = [head]
    for cell in cells:
        made += ["-" * len(head), *islice(waiting, len(cell))]
    return made


def _markdown(groups: Groups) -> list[str]:
    return text_table.markdown([HEAD, *chain(*_by_cell(groups))], LEFT_COLUMNS)


def _thin_lines(groups: Groups) -> list[tuple[str, ...]]:
    """A line for each class of thin traffic, over the seeds of a cell and qdisc."""
    lines = []
    for key, rows in sorted(groups.items(), key=_order):
        classes: dict[str, list[ThinResult]] = {}
        for thin in chain.from_iterable(row.thin_classes for row in rows):
            classes.setdefault(thin.name, []).append(thin)
        lines += [
            (
                key.cell, key.qdisc, name,
                str(sum(thin.sent for thin in own)),
                str(sum(thin.lost for thin in own)),
                f"{fmean(thin.mean_ms for thin in own):.2f} ms",
                f"{max(thin.p95_ms for thin in own):.2f} ms",
                f"{max(thin.p99_ms for thin in own):.2f} ms",
                f"{max(thin.max_ms for thin in own):.2f} ms",
            )
            for name, own in classes.items()
        ]  # fmt: skip
    return lines


def _ecn_lines(groups: Groups) -> list[tuple[str, ...]]:
    """A line for each class by the ECN field, over the seeds of a cell and qdisc."""
    lines = []
    for key, rows in sorted(groups.items(), key=_order):
        classes: dict[str, list[EcnResult]] = {}
        for ecn in chain.from_iterable(row.ecn_results for row in rows):
            classes.setdefault(ecn.name, []).append(ecn)
        lines += [
            (
                key.cell, key.qdisc, name,
                f"{fmean(ecn.mbps for ecn in own):.2f}",
                f"{fmean(ecn.mean_ms for ecn in own):.2f} ms",
                f"{max(ecn.p95_ms for ecn in own):.2f} ms",
                f"{max(ecn.p99_ms for ecn in own):.2f} ms",
                f"{max(ecn.max_ms for ecn in own):.2f} ms",
            )
            for name, own in classes.items()
        ]  # fmt: skip
    return lines


def _of_classes(head: tuple[str, ...], lines: list[tuple[str, ...]], *,
                markdown: bool) -> list[str]:  # fmt: skip
    """A table of classes of traffic; nothing if there are none."""
    if not lines:
        return []
    form = text_table.markdown if markdown else text_table.aligned
    return [*form([head, *lines], CLASS_LEFT_COLUMNS), ""]


def render(rows: Sequence[Row], *, markdown: bool) -> str:
    """A table per kernel, and what it was measured with."""
    groups = group(rows)
    parts = []
    for kernel in dict.fromkeys(key.kernel for key in groups):
        own = {key: rows for key, rows in groups.items() if key.kernel == kernel}
        used = [row for rows in own.values() for row in rows]
        releases = ", ".join(dict.fromkeys(row.release for row in used))
        revisions = ", ".join(dict.fromkeys(row.revision for row in used))
        note = f"{len(used)} runs on Linux {releases} ({kernel}), git {revisions}"
        parts += [*(_markdown(own) if markdown else _plain(own)), ""]
        parts += _of_classes(THIN_HEAD, _thin_lines(own), markdown=markdown)
        parts += _of_classes(ECN_HEAD, _ecn_lines(own), markdown=markdown)
        parts += [note, ""]
    return "\n".join(parts).rstrip()


def _misses_of_bound(target: Target, values: Sequence[float], unit: str = "") -> Iterator[str]:
    if any(map(math.isnan, values)):
        yield f"{target.metric} was not measured"
    if target.min is not None and min(values) < target.min:
        yield f"{target.metric} {min(values):.4g}{unit}, want at least {target.min:g}"
    if target.max is not None and max(values) > target.max:
        yield f"{target.metric} {max(values):.4g}{unit}, want at most {target.max:g}"


def _mean(groups: Groups, keys: Iterable[Key], metric: str) -> float:
    """Over the cells, of the means over the seeds; nan if one was not run."""
    return fmean(fmean(_values(groups.get(key, ()), metric) or [math.nan]) for key in keys)


def _rival(target: Target, key: Key) -> Key:
    """Whose mean a ratio is to."""
    return replace(key, qdisc=target.to or key.qdisc, cell=target.to_cell or key.cell)


def _misses_on_average(target: Target, groups: Groups) -> Iterator[str]:
    """Cell by cell, or of all of them at a time."""
    for kernel in dict.fromkeys(key.kernel for key in groups):
        own = [key for key in groups if (key.kernel, key.qdisc) == (kernel, target.qdisc)]
        own = [key for key in own if target.covers(key.cell)]
        for keys in [own] if target.mean and own else [[key] for key in own]:
            name = keys[0].cell if len(keys) == 1 else f"mean of {len(keys)} cells"
            value, unit = _mean(groups, keys, target.metric), ""
            if target.to or target.to_cell:
                rivals = [_rival(target, key) for key in keys]
                rival = _mean(groups, rivals, target.metric)
                value = value / rival if rival else math.inf if value else 1.0
                unit = f" times {target.to or target.qdisc}'s"
                unit += f" in {target.to_cell}" if target.to_cell else ""
            for miss in _misses_of_bound(target, [value], unit):
                yield f"{name} {target.qdisc} on {kernel}: {miss}"


def _misses_of_rivals(target: Target, key: Key, groups: Groups) -> Iterator[str]:
    worst = min(_values(groups[key], "jain"))
    for rival in target.beats:
        rows = groups.get(Key(key.kernel, key.cell, rival))
        if not rows:
            yield f"no run of {rival} to compare with"
        elif worst <= max(_values(rows, "jain")):
            yield f"worst jain {worst:.4f}, {rival}'s best {max(_values(rows, 'jain')):.4f}"


def _lacking(sweep: Sweep, target: Target, groups: Groups,
             changed: Collection[Place]) -> Iterator[str]:  # fmt: skip
    """Runs of the sweep that the table lacks, or has with other options; they count as missed
    targets."""
    present = {row.place for rows in groups.values() for row in rows}
    for point in sweep.points():
        wanted = point.qdisc in (target.qdisc, target.to, *target.beats)
        if not wanted or not (target.covers(point.cell) or point.cell == target.to_cell):
            continue
        if point.place not in present:
            why = "its run has other options" if point.place in changed else "no run"
            yield f"{point.label}: {why}"


def _changed(sweep: Sweep, rows: Iterable[Row]) -> Callable[[Row], bool]:
    """Tells rows that the file has with other options now."""
    runs = {(row.kernel, row.seed) for row in rows if row.kernel in KERNELS}
    commands = {
        point.place: point.command
        for kernel, seed in runs
        for point in sweep.points(kernels=[kernel], seeds=[seed])
    }
    return lambda row: commands.get(row.place, row.command) != row.command


def misses(sweep: Sweep, rows: Iterable[Row]) -> list[str]:
    """The targets that were missed; empty if all are reached."""
    of_sweep = [row for row in rows if row.sweep == sweep.name]
    is_changed = _changed(sweep, of_sweep)
    changed = {row.place for row in of_sweep if is_changed(row)}
    known = group(row for row in of_sweep if not is_changed(row))
    # runs end in any order
    groups = dict(sorted(known.items(), key=_order))
    found: list[str] = []
    for target in sweep.targets:
        found += _lacking(sweep, target, groups, changed)
        if target.to or target.to_cell or target.mean:
            found += _misses_on_average(target, groups)
            continue
        for key, own in groups.items():
            if key.qdisc != target.qdisc or not target.covers(key.cell):
                continue
            values = _values(own, target.metric)
            said = [*_misses_of_bound(target, values), *_misses_of_rivals(target, key, groups)]
            found += [f"{key.cell} {key.qdisc} on {key.kernel}: {words}" for words in said]
    return list(dict.fromkeys(found))
