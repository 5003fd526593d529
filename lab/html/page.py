# SPDX-License-Identifier: GPL-2.0
"""Builds the page: what was run, an overview of the results, then cell by cell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from statistics import fmean
from string import Template

from lab.html import plots, tables
from lab.html.plots import Metric, Plotter
from lab.html.tables import Runs
from lab.output.looks import FEATURED
from lab.results import share
from lab.results.report import listed
from lab.results.summary import Groups, group
from lab.results.table import Row

HERE = Path(__file__).parent
SWEEPS = HERE.parent / "sweeps"
RTTS_LENGTH = 40
READING = (
    "Plots: a dot is the median of the runs, its bar reaches from the least to the largest. "
    f"Goodput is in fair shares ({share.MEANING}), the median over all flows of an RTT, of all "
    "runs; beyond 8 and 1/8 "
    f"it is drawn at the edge; the shade spans all flows of {FEATURED}. Tables: the worst run but "
    "where they say otherwise, the best of each column emphasised; a click on a head sorts."
)

METRICS = (
    ("jain", "Jain's index of goodput", 1.0, 1.0),
    ("sojourn_p95_ms", "Sojourn p95, ms", None, 1.0),
    ("utilisation", "Utilisation, %", 100.0, 100.0),
)
"""Column, title, natural end of the axis, scale."""


@dataclass(frozen=True)
class Section:
    """Cells that belong together: their names begin with the same word."""

    name: str
    cells: Mapping[str, Runs]

    @property
    def runs(self) -> dict[str, list[Row]]:
        """All of them, by qdisc."""
        found: dict[str, list[Row]] = {}
        for runs in self.cells.values():
            for qdisc, rows in runs.items():
                found.setdefault(qdisc, []).extend(rows)
        return found

    @property
    def rows(self) -> list[Row]:
        return [row for rows in self.runs.values() for row in rows]


def _fairest_first(groups: Groups) -> list[str]:
    """All qdiscs in the order shown: the featured one before its rivals."""
    jains: dict[str, list[float]] = {}
    for key, rows in groups.items():
        jains.setdefault(key.qdisc, []).append(min(row.jain for row in rows))
    return sorted(jains, key=lambda qdisc: (qdisc != FEATURED, -fmean(jains[qdisc])))


def _sections(groups: Groups, qdiscs: Sequence[str]) -> list[Section]:
    """Kernel by kernel, in the order of the table."""
    kernels = list(dict.fromkeys(key.kernel for key in groups))
    found: dict[str, dict[str, Runs]] = {}
    for kernel in kernels:
        own = [key for key in groups if key.kernel == kernel]
        suffix = f" on {kernel}" if len(kernels) > 1 else ""
        for cell in dict.fromkeys(key.cell for key in own):
            rows = {key.qdisc: groups[key] for key in own if key.cell == cell}
            runs = {qdisc: rows[qdisc] for qdisc in qdiscs if qdisc in rows}
            name = re.split(r"\b\W", cell)[0] + suffix
            found.setdefault(name, {})[cell + suffix] = runs
    return [Section(name, cells) for name, cells in found.items()]


def _reproduce(rows: Sequence[Row]) -> list[str]:
    """The sweep's command if its file is known, else those of the runs."""
    names = dict.fromkeys(row.sweep for row in rows)
    if all((SWEEPS / f"{name}.toml").is_file() for name in names):
        return [f"python3 -m lab sweep lab/sweeps/{name}.toml" for name in names]
    return list(dict.fromkeys(row.command for row in rows if row.command))


def _facts(rows: Sequence[Row], qdiscs: Sequence[str]) -> Iterator[str]:
    """Facts about the runs: sweep, kernel, seeds, revision, and how to repeat them."""
    cells = {(row.kernel, row.cell) for row in rows}
    reruns = sum(row.reruns for row in rows)
    known = {
        "sweep": escape(listed(row.sweep for row in rows)),
        "kernel": escape(f"Linux {listed(row.release or row.kernel for row in rows)}"),
        "runs": f"{len(rows)}: {len(cells)} cells, {len(qdiscs)} qdiscs, "
        f"seeds {listed(sorted({row.seed for row in rows}))}",
        "starts that crashed": f"{reruns}, run again with another seed" if reruns else "none",
        "revision": escape(listed(row.revision for row in rows)) or tables.UNKNOWN,
    }
    yield "<dl>"
    yield from (f"<dt>{name}</dt><dd>{text}</dd>" for name, text in known.items())
    yield "</dl>"


def folded(summary: str, commands: Iterable[str]) -> str:
    """Commands to paste, folded away."""
    lines = "\n".join(map(escape, commands))
    return (
        f'<details class="commands"><summary>{summary}</summary><pre>{lines}</pre></details>'
        if lines
        else ""
    )


def _again(rows: Sequence[Row]) -> str:
    commands = _reproduce(rows)
    if len(commands) > 2:
        return folded("commands to run it again", commands)
    return f"<pre>{escape(chr(10).join(commands))}</pre>" if commands else ""


def _verdict(misses: Sequence[str] | None) -> Iterator[str]:
    """Whether the targets were reached, if there are any."""
    if misses is None:
        return
    yield '<h2 id="targets">Targets</h2>'
    if not misses:
        yield '<p class="reached">All targets of the sweep file are reached.</p>'
        return
    yield f'<p class="missed">{len(misses)} missed:</p><ul class="missed">'
    yield from (f"<li>{escape(miss)}</li>" for miss in misses)
    yield "</ul>"


def _glance(sections: Sequence[Section], qdiscs: Sequence[str],
            anchors: Mapping[str, str]) -> Iterator[str]:  # fmt: skip
    cells = {cell: runs for section in sections for cell, runs in section.cells.items()}
    if len(cells) < 2:
        return
    yield '<h2 id="glance">At a glance</h2>'
    yield "<p>Jain's index of goodput, the worst run of each cell: 1 if all flows get the same, "
    yield "1/n if one of n gets all. The best of a line is underlined.</p>"
    yield tables.glance(qdiscs, cells, anchors)


def _conditions(row: Row) -> str:
    """What the runs of a cell have in common."""
    rtts = row.rtts if len(row.rtts) <= RTTS_LENGTH else f"{row.rtts[:RTTS_LENGTH]}..."
    known = (
        (row.flows, f"{row.flows} flows"), (row.cc, row.cc), (row.rtts, f"RTTs {rtts}"),
        (row.rate, row.rate), (row.ecn, f"ECN {row.ecn}"), (row.gso, f"GSO {row.gso}"),
        (row.hint, f"hints: {row.hint}"), (row.extra, row.extra),
    )  # fmt: skip
    return ", ".join(text for value, text in known if value)


def _cell(name: str, runs: Runs, metrics: Sequence[Metric], plotter: Plotter,
          anchor: str, *, alone: bool) -> Iterator[str]:  # fmt: skip
    """One cell: its plots side by side; its table, too, unless the section has shown it."""
    firsts = [rows[0] for rows in runs.values()]
    yield f'<section class="cell" id="{anchor}">'
    yield f"<h3>{escape(name)}</h3>"
    yield f'<p class="quiet">{escape(_conditions(firsts[0]))}</p>'
    yield '<div class="plots">'
    yield from (plotter.spread(runs, metric) for metric in metrics)
    yield plotter.goodput(runs)
    yield "</div>"
    if not alone:
        yield f'<details class="figures"><summary>figures of {escape(name)}</summary>'
        yield f"{tables.summary(runs)}</details>"
    commands = [row.command for row in firsts if row.command]
    yield folded(f"commands, of seed {firsts[0].seed}", commands)
    yield "</section>"


def _section(section: Section, plotter: Plotter, anchors: Mapping[str, str]) -> Iterator[str]:
    alone = len(section.cells) == 1
    metrics = [
        Metric.over(column, title, section.rows, top=top, scale=scale)
        for column, title, top, scale in METRICS
    ]
    count = "" if alone else f": {len(section.cells)} cells"
    yield f"<h2>{escape(section.name)}{count}</h2>"
    yield tables.summary(section.runs)
    for name, runs in section.cells.items():
        yield from _cell(name, runs, metrics, plotter, anchors[name], alone=alone)


def _keys(plotter: Plotter, rows: Sequence[Row], qdiscs: Sequence[str]) -> Iterator[str]:
    """The legend: look and tc words of each qdisc."""
    words = {row.qdisc: row.words for row in rows}
    yield '<ul class="keys">'
    for qdisc in qdiscs:
        typed = f"<code>{escape(words[qdisc])}</code>"
        yield f"<li>{plotter.key(qdisc)}<b>{escape(qdisc)}</b> {typed}</li>"
    yield "</ul>"


def whole(title: str, body: Iterable[str]) -> str:
    """A page of these parts, with the style and the script of all pages."""
    return Template((HERE / "page.html").read_text()).substitute(
        title=escape(title),
        css=(HERE / "page.css").read_text().strip() + "\n" + plots.colours(),
        js=(HERE / "page.js").read_text().strip(),
        body="\n".join(part for part in body if part),
    )


def render(rows: Sequence[Row], misses: Sequence[str] | None = None) -> str:
    """The page. `misses` are targets that were not reached, None if there was nothing to check."""
    groups = group(rows)
    used = [row for own in groups.values() for row in own]
    qdiscs = _fairest_first(groups)
    sections = _sections(groups, qdiscs)
    cells = [cell for section in sections for cell in section.cells]
    anchors = {cell: f"cell-{number}" for number, cell in enumerate(cells, 1)}
    plotter = Plotter(qdiscs)
    body = [
        *_facts(used, qdiscs),
        _again(used),
        *_verdict(misses),
        *_glance(sections, qdiscs, anchors),
        '<h2 id="qdiscs">Qdiscs</h2>',
        *_keys(plotter, used, qdiscs),
        f"<p>{READING}</p>",
    ]
    for section in sections:
        body += _section(section, plotter, anchors)
    return whole(f"sch_zrtt: {listed(row.sweep for row in used) or 'results'}", body)
