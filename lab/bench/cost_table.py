# SPDX-License-Identifier: GPL-2.0
"""Shows costs as a table: a line per qdisc and shape, a column per number of flows."""

from __future__ import annotations

from collections.abc import Sequence

from lab.bench.result import Bench, Cost
from lab.bench.subjects import PROBED
from lab.output import text_table

RARE = 0.0005
"""Shares below are not worth a word."""


def count(number: int) -> str:
    """1, 100, 10k, 1M."""
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if number >= size and number % size == 0:
            return f"{number // size}{unit}"
    return str(number)


def heading(flows: int) -> str:
    """The heading of a column."""
    return f"{count(flows)} flow{'' if flows == 1 else 's'}"


def _share(costs: Sequence[Cost], what: str) -> str:
    """The largest share among the cells of a line."""
    share = max(getattr(cost, what) for cost in costs)
    return f"{share:.1%}" if share >= RARE else ""


def _slow(costs: Sequence[Cost]) -> str:
    """The largest share of slow-path packets among the cells of a line; empty if unknown."""
    if not costs[0].qdisc.startswith(PROBED):
        return ""
    shares = [cost.slow for cost in costs if cost.slow is not None]
    return f"{max(shares):.1%}" if len(shares) == len(costs) else "not counted"


def lines(bench: Bench) -> list[list[str]]:
    """The rows of the table, the head first."""
    flows = sorted({cost.flows for cost in bench.costs})
    spread = bench.settings.rounds * bench.settings.slices > 1
    made = [["", "shape", *map(heading, flows), "slow path", "marked", "dropped"]]
    for shape, name in dict.fromkeys((cost.shape, cost.name) for cost in bench.costs):
        own = {c.flows: c for c in bench.costs if (c.shape, c.name) == (shape, name)}
        cells = []
        for number in flows:
            one = own.get(number)
            text = f"{one.total:.0f}" if one else "-"
            cells.append(f"{text} ({one.low:.0f}..{one.high:.0f})" if one and spread else text)
        shares = [_share(list(own.values()), what) for what in ("marked", "dropped")]
        made.append([name, shape, *cells, _slow(list(own.values())), *shares])
    return made


def note(bench: Bench) -> str:
    """The unit and the settings of the figures."""
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
    lay_out = text_table.markdown if markdown else text_table.aligned
    return "\n".join([*lay_out(lines(bench), left=2), "", note(bench)])
