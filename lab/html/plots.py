# SPDX-License-Identifier: GPL-2.0
"""The plots of a page, as SVG that takes its colours and its font from the page.

matplotlib knows no colours that change with the reader's preference, so it is
given some that stand for those, and they are replaced in what it wrote.
"""

from __future__ import annotations

import io
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import median
from typing import Any

from lab.html.tables import Runs, values
from lab.model.scenario import ScenarioError, parse_rtts
from lab.output.looks import FEATURED, ON_BLACK, look
from lab.output.pictures import pyplot
from lab.results import share
from lab.results.table import Row

MARKERS = "oDsv^PX<>d"
DASHES = ("solid", (0, (3, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
WIDTH_INCHES = 3.0
ROW_INCHES, FRAME_INCHES, LEAST_INCHES = 0.165, 0.62, 1.6
KEY_INCHES = (0.34, 0.14)
LABEL_LENGTH = 18
LOG_SPREAD = 8
"""Values further apart than that are drawn on a logarithmic axis."""
SHARE_SPAN = (1 / 8, 8)
"""Of fair shares; what is beyond is drawn at the edge."""
SHARE_TICKS = {1 / 8: "1/8", 1 / 4: "1/4", 1 / 2: "1/2", 1: "fair", 2: "2", 4: "4", 8: "8"}
MS_TICKS = {ms: str(ms) for ms in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)}

Draw = Callable[[Any], None]
"""Draws on matplotlib's axes."""

INK, FAINT = "#000101", "#000102"
_SERIES = {colour: f"#0002{number:02x}" for number, colour in enumerate(ON_BLACK)}
_STYLE = {
    "svg.fonttype": "none",
    "font.size": 8,
    "axes.linewidth": 0.6,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlesize": 8.5,
    "axes.titleweight": "bold",
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "grid.color": FAINT,
    "grid.linewidth": 0.4,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Look:
    """How the lines and dots of a qdisc are drawn, in all plots."""

    colour: str
    dashes: Any
    marker: str
    width: float


def looks(qdiscs: Sequence[str]) -> dict[str, Look]:
    """A look for each; those of one colour differ by dashes and markers."""
    found: dict[str, Look] = {}
    for qdisc in sorted(qdiscs, key=lambda qdisc: qdisc != FEATURED):
        own = look(qdisc)
        alike = sum(other.colour == _SERIES[own.colour] for other in found.values())
        found[qdisc] = Look(
            colour=_SERIES[own.colour],
            dashes=DASHES[alike % len(DASHES)],
            marker=MARKERS[alike % len(MARKERS)] if alike else own.marker,
            width=2.2 if qdisc == FEATURED else 1.1,
        )
    return found


def colours() -> str:
    """CSS that names the colours of the plots, of a page on white and on black."""

    def named(shown: Iterable[str]) -> str:
        return " ".join(f"--series-{number}: {colour};" for number, colour in enumerate(shown))

    dark = f":root {{ {named(ON_BLACK.values())} }}"
    on_dark = f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}"
    return f":root {{ {named(ON_BLACK)} }}\n{on_dark}"


def _themed(svg: str, title: str) -> str:
    """Removes the head and unused definitions, and replaces colours by the names of the page."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->|(?<=<g) id=\"[^\"]*\"", "", svg, flags=re.DOTALL)
    svg = svg.replace("xlink:href", "href").replace(INK, "currentColor")
    svg = svg.replace(FAINT, "var(--faint)")
    svg = re.sub(r"#0002(..)", lambda match: f"var(--series-{int(match[1], 16)})", svg)
    svg = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r"\n\s*", "\n", svg)
    view = re.search(r'viewBox="[^"]*"', svg)
    assert view, "matplotlib's SVG has a viewBox"
    head = f'<svg {view[0]} role="img" aria-label="{escape(title)}">'
    return head + svg[svg.index(">") + 1 :].strip()


class Plotter:
    """Draws plots whose identifiers are unique within a page."""

    def __init__(self, qdiscs: Sequence[str]) -> None:
        self._looks = looks(qdiscs)
        self._pyplot = pyplot()
        self._drawn = 0

    def _draw(self, draw: Draw, inches: tuple[float, float], title: str, pad: float = 0.04) -> str:
        self._drawn += 1
        style = _STYLE | {"svg.hashsalt": str(self._drawn)}
        with self._pyplot.rc_context(style):
            figure, axes = self._pyplot.subplots(figsize=inches, layout="constrained")
            figure.get_layout_engine().set(w_pad=pad, h_pad=pad)
            draw(axes)
            text = io.StringIO()
            figure.savefig(text, format="svg", metadata={"Date": None})
            self._pyplot.close(figure)
        return _themed(text.getvalue(), title)

    def key(self, qdisc: str) -> str:
        """A sample of the lines of a qdisc."""

        def draw(axes: Any) -> None:
            axes.set_axis_off()
            axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], **self._line(qdisc))

        return self._draw(draw, KEY_INCHES, qdisc, pad=0)

    def _line(self, qdisc: str) -> dict[str, Any]:
        look = self._looks[qdisc]
        return {
            "color": look.colour, "linestyle": look.dashes, "linewidth": look.width,
            "marker": look.marker, "markersize": 3.2, "markeredgewidth": 0,
            "zorder": 4 if qdisc == FEATURED else 3,
        }  # fmt: skip

    def spread(self, runs: Runs, metric: Metric) -> str:
        """A metric of each qdisc: a bar from the least to the largest run, a dot at the median."""

        def draw(axes: Any) -> None:
            for place, (qdisc, rows) in enumerate(runs.items()):
                known = [v * metric.scale for v in values(rows, metric.column) if math.isfinite(v)]
                if not known:
                    continue
                line = self._line(qdisc) | {"linestyle": "solid", "markersize": 4.5}
                axes.plot([min(known), max(known)], [place, place], **line | {"marker": ""})
                axes.plot([median(known)], [place], **line)
            axes.set_yticks(range(len(runs)), list(map(_short, runs)), parse_math=False)
            axes.tick_params(axis="y", length=0)
            axes.grid(visible=False, axis="y")
            axes.set_ylim(len(runs) - 0.4, -0.6)
            metric.scale_axis(axes)
            axes.set_title(metric.title, loc="left")

        return self._draw(draw, (WIDTH_INCHES, _height(runs)), metric.title)

    def goodput(self, runs: Runs) -> str:
        """What flows got against their RTT: the median over those of one RTT, of all runs."""
        title = "Goodput against RTT, ms"

        def draw(axes: Any) -> None:
            for qdisc, rows in runs.items():
                shares = _shares(rows)
                rtts = sorted(shares)
                middle = [median(shares[rtt]) for rtt in rtts]
                axes.plot(rtts, middle, clip_on=False, **self._line(qdisc))
                if qdisc == FEATURED:
                    least, most = ([f(shares[rtt]) for rtt in rtts] for f in (min, max))
                    colour = self._looks[qdisc].colour
                    axes.fill_between(rtts, least, most, color=colour, alpha=0.18, linewidth=0)
            axes.axhline(1, color=INK, linewidth=0.8, linestyle=(0, (4, 3)), zorder=2)
            axes.set_xscale("log")
            axes.set_yscale("log")
            _ticks(axes.xaxis, MS_TICKS, axes.get_xlim())
            _ticks(axes.yaxis, SHARE_TICKS, SHARE_SPAN)
            axes.set_title(title, loc="left")

        return self._draw(draw, (WIDTH_INCHES, _height(runs)), title)


def _height(runs: Runs) -> float:
    return max(LEAST_INCHES, FRAME_INCHES + ROW_INCHES * len(runs))


def _short(name: str) -> str:
    fits = len(name) <= LABEL_LENGTH
    return name if fits else name[: LABEL_LENGTH - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _ticks(axis: Any, labels: Mapping[float, str], span: tuple[float, float]) -> None:
    """Sets those ticks that are within the span, without changing it."""
    shown = {place: label for place, label in labels.items() if span[0] <= place <= span[1]}
    axis.set_ticks(list(shown), list(shown.values()))
    axis.set_ticks([], minor=True)
    axis.set_view_interval(*span, ignore=True)


def _flows(row: Row) -> Iterator[tuple[float, float]]:
    """RTT and goodput of each flow of a run; none if the table does not tell."""
    try:
        rtts = parse_rtts(row.rtts)
        goodputs = [float(text) for text in row.goodputs_mbps.split(";")]
    except (ScenarioError, ValueError):
        return
    if len(goodputs) == len(rtts) * row.sessions:
        yield from ((rtts[n // row.sessions], got) for n, got in enumerate(goodputs))


def _shares(rows: Sequence[Row]) -> dict[float, list[float]]:
    """Goodput relative to the fair share, by RTT."""
    found: dict[float, list[float]] = defaultdict(list)
    least, most = SHARE_SPAN
    for row in rows:
        fair = share.of_row(row)
        for rtt, got in _flows(row) if fair > 0 else ():
            found[rtt].append(min(max(got / fair, least), most))
    return found


@dataclass(frozen=True)
class Metric:
    """A column of the table that is drawn, with one axis for all cells of a group."""

    column: str
    title: str
    scale: float
    least: float
    most: float
    log: bool = False

    @classmethod
    def over(
        cls, column: str, title: str, rows: Sequence[Row], *, top: float | None = None,
        scale: float = 1.0,
    ) -> Metric:  # fmt: skip
        """With room for these runs; `top` is the end of the axis if there is a natural one."""
        known = [v * scale for v in values(rows, column) if math.isfinite(v)] or [0.0]
        least, most = min(known), max(known)
        if top is not None:
            return cls(column, title, scale, least, max(top, most))
        log = 0 < least * LOG_SPREAD < most
        return cls(column, title, scale, least if log else 0.0, most, log)

    def scale_axis(self, axes: Any) -> None:
        if self.log:
            axes.set_xscale("log")
            span = (self.least / 1.2, self.most * 1.2)
            _ticks(axes.xaxis, MS_TICKS, span)
        else:
            room = (self.most - self.least or abs(self.most) or 1) * 0.04
            axes.set_xlim(self.least - room, self.most + room)
            axes.locator_params(axis="x", nbins=5)
