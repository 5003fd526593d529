# SPDX-License-Identifier: GPL-2.0
"""Shows costs as a table: a line per qdisc, a column per number of flows."""

from __future__ import annotations

from collections.abc import Sequence

from lab import textable
from lab.bench_result import Bench, Cost

RARE = 0.0005
"""Shares below are not worth a word."""


def count(number: int) -> str:
    """1, 100, 10k, 1M."""
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if number >= size and number % size == 0:
            return f"{number // size}{unit}"
    return str(number)


def heading(flows: int) -> str:
    """Of a column."""
    return f"{count(flows)} flow{'' if flows == 1 else 's'}"


def _share(costs: Sequence[Cost], what: str) -> str:
    """Of the cells of a line, the largest."""
    share = max(getattr(cost, what) for cost in costs)
    return f"{share:.1%}" if share >= RARE else ""


def lines(bench: Bench) -> list[list[str]]:
    """The table, its head first."""
    flows = sorted({cost.flows for cost in bench.costs})
    spread = bench.settings.rounds * bench.settings.slices > 1
    made = [["", *map(heading, flows), "marked", "dropped"]]
    for name in dict.fromkeys(cost.name for cost in bench.costs):
        own = {cost.flows: cost for cost in bench.costs if cost.name == name}
        cells = []
        for number in flows:
            one = own.get(number)
            text = f"{one.total:.0f}" if one else "-"
            cells.append(f"{text} ({one.low:.0f}..{one.high:.0f})" if one and spread else text)
        shares = [_share(list(own.values()), what) for what in ("marked", "dropped")]
        made.append([name, *cells, *shares])
    return made


def note(bench: Bench) -> str:
    """What the figures are."""
    settings = bench.settings
    pace = f"a packet each {settings.gap_ns} ns" if settings.gap_ns else "no gap between packets"
    spread = ", median (quartiles)" if settings.rounds * settings.slices > 1 else ""
    return (
        f"{bench.unit} per packet, enqueue and dequeue{spread}; Linux {bench.release}, "
        f"backlog {settings.backlog}, {pace}, hash {'preset' if settings.hashed else 'not preset'},"
        f" {'ECT' if settings.ect else 'not ECT'}, {settings.rounds} x {settings.packets} packets,"
        f" seed {settings.seed}; {bench.empty:.0f} of timing itself taken off each call"
    )


def render(bench: Bench, *, markdown: bool = False) -> str:
    """For a terminal, or for documents."""
    lay_out = textable.markdown if markdown else textable.aligned
    return "\n".join([*lay_out(lines(bench)), "", note(bench)])
