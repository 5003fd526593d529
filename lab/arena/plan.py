# SPDX-License-Identifier: GPL-2.0
"""The runs of an arena: each of its scenarios with each qdisc, as points of a sweep."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lab.arena.draw import Drawn, draw
from lab.arena.lines import draw_line
from lab.model.grid import Cell, GridError, Options, Point, Sweep

NAME = "arena"
"""What tables call the sweep."""
QDISCS = {"zrtt": "zrtt", "fq_codel": "fq_codel", "cake": "cake flows", "pie": "pie ecn"}
"""With their defaults, but that all mark, and are fair to flows, which are compared."""
UML_QDISCS = {"dualpi2": "dualpi2"}
"""What user-mode Linux has besides."""
L4S_WORDS = {"zrtt": "l4s", "fq_codel": "ce_threshold 1ms ce_threshold_selector 0x1/0x3"}
"""What those have besides that do not look for ECT(1) by default."""
HOSTS_QDISCS = {"zrtt": "zrtt fair srchost", "fq_codel": "fq_codel", "cake": "cake dual-srchost"}
"""Set up to be fair to hosts, as far as they can; their rivals with hosts."""
LINES_QDISCS = {
    "zrtt": "zrtt bandwidth auto timestamps",
    "fq_codel": "fq_codel",
    "cake-autorate": "cake-autorate min 200kbit base 10mbit max 200mbit",
}
"""What follows the rate of a line, and what leaves its queue to it."""
LINE_WORDS = {"before": {"zrtt": "zrtt bandwidth auto ingress timestamps"}}
"""What is asked for otherwise, by the line's place."""


@dataclass(frozen=True)
class Shard:
    """Every count-th scenario, so that each takes about as long."""

    index: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Reads "2/8". Raises GridError."""
        match = re.fullmatch(r"(\d+)/(\d+)", text)
        made = cls(int(match[1]), int(match[2])) if match else cls(0, 0)
        if not 1 <= made.index <= made.count:
            raise GridError(f"{text!r}: want I/N, I from 1 to N")
        return made

    def holds(self, number: int) -> bool:
        """Whether a scenario belongs to the shard."""
        return number % self.count == self.index % self.count


def default_qdiscs(kernel: str, *, l4s: bool = False, hosts: bool = False,
                   lines: str = "") -> dict[str, str]:  # fmt: skip
    """Name -> words of tc, for the qdiscs that this kernel has; `lines`: where lines are."""
    found = QDISCS | (UML_QDISCS if kernel.startswith("uml") else {})
    found = HOSTS_QDISCS if hosts else found
    found = LINES_QDISCS | LINE_WORDS.get(lines, {}) if lines else found
    more = L4S_WORDS if l4s else {}
    return {name: " ".join([words, more.get(name, "")]).strip() for name, words in found.items()}


def parse_qdiscs(texts: Sequence[str]) -> dict[str, str]:
    """Reads "NAME=WORDS", or a name that is all the words. Raises GridError."""
    found: dict[str, str] = {}
    for text in texts:
        name, _, words = text.partition("=")
        if not name.strip() or "=" in text and not words.strip():
            raise GridError(f"--qdisc {text!r}: want NAME=WORDS")
        if name in found:
            raise GridError(f"--qdisc: two are called {name}")
        found[name] = words or name
    return found


def numbers(count: int, shard: Shard, only: Sequence[int] = ()) -> list[int]:
    """Numbers of the scenarios to run: `only` these, or those of a shard. Raises GridError."""
    if count < 1:
        raise GridError("--count: at least 1")
    for number in only:
        if not 1 <= number <= count:
            raise GridError(f"--only {number}: scenarios are 1 to {count}")
    return [n for n in range(1, count + 1) if (n in only if only else shard.holds(n))]


@dataclass(frozen=True)
class Scenario:
    """A scenario of the arena and its runs."""

    drawn: Drawn
    points: Mapping[str, Point]
    """By the qdisc's name."""


def plan(seed: int, wanted: Sequence[int], qdiscs: Mapping[str, str],
         kernel: str, *, lines: str = "", more: Options = MappingProxyType({}),
         **kinds: bool) -> list[Scenario]:  # fmt: skip
    """Those scenarios, of such `kinds` as draw() has, or of `lines` at that place, with all qdiscs,
    and with `more` options.

    Raises GridError if words or kinds make no sense.
    """
    if lines and any(kinds.values()):
        raise GridError("--lines: not with --hosts, --l4s or --streams")
    found = []
    for drawn in (draw_line(seed, n, lines) if lines else draw(seed, n, **kinds) for n in wanted):
        cell = Cell(drawn.cell, {**drawn.options, **more}, tuple(qdiscs))
        sweep = Sweep(NAME, Path(NAME), (kernel,), (drawn.seed,), qdiscs, (cell,), ())
        found.append(Scenario(drawn, {point.qdisc: point for point in sweep.points()}))
    return found
