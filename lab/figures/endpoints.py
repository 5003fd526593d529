# SPDX-License-Identifier: GPL-2.0
"""The figures of the papers of endpoint schemes, by sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lab.figures.points import Panel, Points
from lab.model.scenario import parse_cc, parse_rtts
from lab.model.units import parse_rate
from lab.results.table import Row


def _cc(row: Row) -> str:
    """The first of those given to the flows in turn."""
    return parse_cc(row.cc)[0]


def _qdisc(row: Row) -> str:
    return row.qdisc


def _second_rtt_ms(row: Row) -> float:
    return parse_rtts(row.rtts)[1]


def _rate_mbps(row: Row) -> float:
    return parse_rate(row.rate) / 1e6


def _flows(row: Row) -> float:
    return row.flows


def _jain(row: Row) -> float:
    return row.jain


def _utilisation(row: Row) -> float:
    return row.utilisation


def _ratio(row: Row) -> float:
    """Of the goodput of the first flow to that of the second."""
    return row.goodputs[0] / row.goodputs[1]


def _rate_panels(cells: str) -> tuple[Panel, ...]:
    return (
        Panel("utilisation", cells, _utilisation),
        Panel("mean queue (ms)", cells, lambda row: row.sojourn_mean_ms),
        Panel("drop rate", cells, lambda row: row.drop_rate, log=True),
    )


def _two_hops(name: str, rates: str, cells: str) -> Points:
    return Points(
        name, f"NR-HSTCP, figure 3: two flows over two routers, {rates}",
        (Panel("goodput, 75 ms to the other", cells, _ratio, bounds=(0.8, 1.25)),
         Panel("utilisation", cells, _utilisation)),
        _second_rtt_ms, _cc, "RTT of the other (ms)",
    )  # fmt: skip


FIGURES: Mapping[str, Sequence[Points]] = {
    "together": (
        Points(
            "together", "Jain's index of congestion controls over queues",
            (Panel("20 flows of 20 to 400 ms, 20 Mbit/s", "20mbit-*", _jain),
             Panel("8 flows of 30 to 180 ms, 100 Mbit/s", "100mbit-*", _jain)),
            _cc, _qdisc,
        ),
    ),
    "libra": (
        Points(
            "libra-lot", "Libra, figures 3 to 5: the parking lot",
            (Panel("Jain's index of flows 1 to 4", "lot-*", _jain),
             Panel("Jain's index of all 8", "lot-*", lambda row: row.jain_all),
             Panel("utilisation", "lot-*", _utilisation)),
            _cc, _qdisc,
        ),
        Points(
            "libra-others", "Libra, figures 6 and 8: beside Reno",
            (Panel("Reno's flows 2, 4, 6, 8 beside others (Mbit/s)", "friendly-*",
                   lambda row: row.last_cc_mbps),
             Panel("Jain's index of 238 and 42 ms", "dumbbell-*", _jain)),
            _cc, _qdisc,
        ),
    ),
    "nrhstcp": (
        _two_hops("nrhstcp-200mbit", "a fifth of the paper's rates", "200mbit-*"),
        _two_hops("nrhstcp-1gbit", "the paper's rates", "1gbit-*"),
    ),
    "exp": (
        Points(
            "exp-rate", "EXP-TCP: 16 flows each way, RED", _rate_panels("rate-*"),
            _rate_mbps, _cc, "rate (Mbit/s)", log=True,
        ),
        Points(
            "exp-flows", "EXP-TCP: flows each way at 500 Mbit/s, RED", _rate_panels("flows-*"),
            _flows, _cc, "flows", log=True,
        ),
    ),
}  # fmt: skip


def _note(rows: Sequence[Row]) -> str:
    seeds = len({row.seed for row in rows})
    what = f"mean, least and most of up to {seeds} seeds" if seeds > 1 else "one seed"
    return f"Linux {rows[0].release.partition('-')[0]}; {what}"


def draw_all(rows: Sequence[Row], out: Path) -> Iterator[Path]:
    """Draws what the runs of a sweep suffice for; the files' paths, as they are written."""
    for figure in FIGURES[rows[0].sweep]:
        if canvas := figure.draw(rows, _note(rows)):
            yield from canvas.save(out / figure.name)
