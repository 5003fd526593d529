# SPDX-License-Identifier: GPL-2.0
"""An arena as an HTML page: totals, then each scenario, losses first."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

from lab.arena import report
from lab.arena.classes import by_class
from lab.arena.columns import OF_CLASS, OF_QDISC, OF_RUN, OF_THIN
from lab.arena.figures import RIVALS, Bout, Figures, by_qdisc, by_thin
from lab.html import page, tables
from lab.results.report import listed
from lab.results.table import Row


def _order(bout: Bout) -> float:
    """Sort key: losses first, by our qdisc that is furthest behind; runs not done last."""
    losses = [bout.figures[name].loss for name in report.judged(bout)]
    return -max(losses, default=0.0) if bout.figures else math.inf


def _facts(found: Sequence[Bout], rows: Sequence[Row]) -> Iterator[str]:
    seeds = {bout.scenario.drawn.arena for bout in found}
    known = {
        "arena": f"seed {listed(seeds)}, {len(found)} scenarios",
        "kernel": f"Linux {listed(row.release for row in rows)}",
        "revision": listed(row.revision for row in rows) or tables.UNKNOWN,
    }
    yield "<dl>"
    yield from (f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in known.items())
    yield "</dl>"


def _scenario(bout: Bout) -> Iterator[str]:
    yield f'<section class="cell" id="scenario-{bout.number}">'
    yield f"<h3>{bout.number}: {escape(report.describe(bout.scenario))}</h3>"
    if bout.missing:
        yield f'<p class="missed">{escape(report.lacking(bout))}</p>'
    runs: dict[str, list[Figures]] = {name: [one] for name, one in bout.figures.items()}
    if runs:
        yield tables.summary(runs, OF_RUN)
    yield page.folded("command, of the first qdisc", [report.command(bout.scenario)])
    yield "</section>"


def render(found: Sequence[Bout], rows: Sequence[Row]) -> str:
    """The page; `rows` are those that the figures were computed from."""
    body = [
        *_facts(found, rows),
        '<h2 id="verdict">Verdict</h2>',
        f"<p>Behind: the better of {' and '.join(RIVALS)} has more. The best of each column is "
        "emphasised; a click on a head sorts.</p>",
        "<ul>",
        *(f"<li>{escape(line)}</li>" for line in report.verdict(found)),
        "</ul>",
        '<h2 id="sum">In sum</h2>',
        tables.summary(by_qdisc(found), OF_QDISC),
    ]
    if thin := by_thin(found):
        body += ["<h2>Thin traffic</h2>", tables.summary(thin, OF_THIN, "class")]
    for name in report.all_judged(found):
        body += [
            f"<h2>{escape(name)} by class</h2>",
            tables.summary(by_class(found, name), OF_CLASS, "class"),
        ]
    body.append('<h2 id="scenarios">Scenarios, losses first</h2>')
    for bout in sorted(found, key=_order):
        body += _scenario(bout)
    return page.whole("sch_zrtt: arena", body)
