# SPDX-License-Identifier: GPL-2.0
"""Reads a sweep file: a grid of scenarios, and the targets their results must meet.

    kernel = "uml"                      # or a list
    seeds = [1, 2, 3]

    [defaults]                          # options of `lab run`, by the same names
    rate = "20mbit"

    [qdiscs]                            # name = what to type after "tc qdisc add ..."
    zrtt = "zrtt"
    cake = "cake"

    [cells."{cc}-20x{sessions}"]        # each list multiplies; the name says which is which
    rtts = "20ms..400ms/20"
    cc = ["reno", "cubic"]
    sessions = [2, 4]
    qdiscs = ["zrtt"]                   # only these; default those of [defaults], else all

    [[target]]                          # of each seed, in all cells that match
    qdisc = "zrtt"
    cell = "*x[24]"                     # or a list
    metric = "jain"                     # a numeric column of the table
    min = 0.99                          # and/or max

    [[target]]                          # the worst Jain above the best of these
    qdisc = "zrtt"
    cell = "*"
    beats = ["cake"]

    [[target]]                          # in each cell, the mean over the seeds: within 5 % of
    qdisc = "zrtt"                      # fq_codel's
    cell = "*"
    metric = "goodput_mean_mbps"
    to = "fq_codel"
    min = 0.95
    mean = true                         # of all cells at a time; without `to`: the mean itself

    [[target]]                          # in each cell, the mean over the seeds: within 3 % of
    qdisc = "zrtt"                      # the same qdisc's in another cell; with `to`, of that
    cell = "attacked"                   # one's there
    metric = "victim_mbps"
    to_cell = "quiet"
    min = 0.97

`liar`, `step`, `udp` and `spoof` may be repeated on the command line, so their value is a list
already; a list of lists multiplies.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.kernels.kernel import KERNELS
from lab.model.grid import FIELDS, REPEATED, Cell, GridError, Options, Sweep, Target
from lab.results.table import METRICS

# Spelt out in each command line, so that it means the same for ever.
DEFAULTS: Options = {
    "rate": "20mbit",
    "sessions": "1",
    "cc": "cubic",
    "ecn": "on",
    "gso": "off",
    "hint": "packet",
    "warmup": "20",
    "duration": "60",
}


class _Reader:
    """Reads a document; errors name the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.top: dict[str, Any] = tomllib.loads(path.read_text())
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise GridError(f"{path}: {error}") from error

    def error(self, key: str, message: str) -> GridError:
        return GridError(f"{self.path}: {key}: {message}")

    def known(self, table: Options, key: str, allowed: Iterable[str]) -> None:
        """Refuses unknown keys."""
        names = list(allowed)
        for unknown in set(table) - set(names):
            where = f"{key}.{unknown}" if key else unknown
            raise self.error(where, f"unknown; one of {', '.join(names)}")

    def table(self, key: str, *, needed: bool) -> dict[str, Any]:
        value = self.top.get(key, {})
        if not isinstance(value, dict) or (needed and not value):
            raise self.error(key, "want a table" + (" with something in it" if needed else ""))
        return value

    def several(self, table: Options, key: str, kind: type, where: str) -> tuple[Any, ...]:
        """A value, or a list of them."""
        value = table[key]
        values = value if isinstance(value, list) else [value]
        if not values or not all(type(item) is kind for item in values):
            raise self.error(where, f"want {kind.__name__}, or a list of them")
        return tuple(values)

    def text(self, where: str, value: Any) -> str:
        """An option's value as one would type it."""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise self.error(where, "want what one would type after the option of lab run")
        return value if isinstance(value, str) else f"{value:g}"

    def choices(self, where: str, name: str, value: Any) -> list[Any]:
        """All values of an option."""
        if name not in REPEATED:
            values = value if isinstance(value, list) else [value]
            made: list[Any] = [self.text(where, item) for item in values]
        else:
            if not isinstance(value, list):
                raise self.error(where, "want a list")
            lists = value if any(isinstance(item, list) for item in value) else [value]
            made = [[self.text(where, item) for item in self._list(where, v)] for v in lists]
        if not made:
            raise self.error(where, "an empty list")
        return made

    def _list(self, where: str, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.error(where, "want a list of lists, or of none")
        return value

    def qdiscs(self) -> dict[str, str]:
        table = self.table("qdiscs", needed=True)
        for name, words in table.items():
            if not isinstance(words, str) or not words.strip():
                raise self.error(f"qdiscs.{name}", "want the words for tc")
        return table

    def _named(self, names: tuple[str, ...], qdiscs: Iterable[str], where: str) -> tuple[str, ...]:
        for name in set(names) - set(qdiscs):
            raise self.error(where, f"no {name} among the qdiscs")
        return names

    def cells(self, qdiscs: Iterable[str]) -> tuple[Cell, ...]:
        defaults = self.table("defaults", needed=False)
        self.known(defaults, "defaults", [*FIELDS, "qdiscs"])
        found: dict[str, Cell] = {}
        for pattern, table in self.table("cells", needed=True).items():
            where = f"cells.{pattern}"
            if not isinstance(table, dict):
                raise self.error(where, "want a table")
            self.known(table, where, [*FIELDS, "qdiscs"])
            options = {**DEFAULTS, "qdiscs": list(qdiscs), **defaults, **table}
            if "rtts" not in options:
                raise self.error(where, "has no rtts")
            of = f"{where if 'qdiscs' in table else 'defaults'}.qdiscs"
            names = self._named(self.several(options, "qdiscs", str, of), qdiscs, of)
            for cell in self._expand(pattern, options, names):
                if cell.name in found:
                    raise self.error(where, f"two cells {cell.name}; put {{OPTION}} in the name")
                found[cell.name] = cell
        return tuple(found.values())

    def _expand(self, pattern: str, options: Options, qdiscs: tuple[str, ...]) -> Iterable[Cell]:
        ordered = [name for name in FIELDS if name in options]
        values = [self.choices(f"cells.{pattern}.{name}", name, options[name]) for name in ordered]
        for chosen in itertools.product(*values):
            cell = dict(zip(ordered, chosen, strict=True))
            yield Cell(self._cell_name(pattern, cell), cell, qdiscs)

    def _cell_name(self, pattern: str, options: Options) -> str:
        def value(match: re.Match[str]) -> str:
            if match[1] not in options:
                raise self.error(f"cells.{pattern}", f"no option {match[1]} to name it by")
            chosen = options[match[1]]
            return ",".join(chosen) if isinstance(chosen, list) else str(chosen)

        return re.sub(r"\{(\w*)\}", value, pattern)

    def targets(self, qdiscs: Iterable[str], cells: tuple[Cell, ...]) -> tuple[Target, ...]:
        tables = self.top.get("target", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise self.error("target", "want [[target]]")
        names = tuple(qdiscs)
        made = []
        for number, table in enumerate(tables, 1):
            target = self._target(f"target {number}", table, names)
            if target.to_cell not in ("", *(cell.name for cell in cells)):
                raise self.error(f"target {number}.to_cell", f"no cell {target.to_cell}")
            if not any(target.covers(cell.name) for cell in cells):
                raise self.error(f"target {number}.cell", "matches no cell")
            made.append(target)
        return tuple(made)

    def _target(self, where: str, table: Options, qdiscs: tuple[str, ...]) -> Target:
        self.known(
            table, where,
            ("qdisc", "cell", "metric", "min", "max", "beats", "to", "to_cell", "mean"),
        )  # fmt: skip
        for key in ("qdisc", "cell"):
            if key not in table:
                raise self.error(where, f"has no {key}")
        (qdisc,) = self._named((str(table["qdisc"]),), qdiscs, f"{where}.qdisc")
        cells = self.several(table, "cell", str, f"{where}.cell")
        bounds = {key: table.get(key) for key in ("min", "max")}
        for key, bound in bounds.items():
            if bound is not None and type(bound) not in (int, float):
                raise self.error(f"{where}.{key}", "want a number")
        if "beats" in table:
            if {"metric", "min", "max", "to", "to_cell", "mean"} & set(table):
                raise self.error(where, "beats is about Jain's index, of each cell: nothing else")
            of = f"{where}.beats"
            rivals = self._named(self.several(table, "beats", str, of), qdiscs, of)
            return Target(qdisc, cells, "jain", None, None, beats=rivals)
        if str(table.get("metric")) not in METRICS:
            raise self.error(f"{where}.metric", f"one of {', '.join(METRICS)}")
        if all(bound is None for bound in bounds.values()):
            raise self.error(where, "has neither min nor max, nor beats")
        to, mean = table.get("to", ""), table.get("mean", False)
        if "to" in table:
            self._named((str(to),), qdiscs, f"{where}.to")
        if not isinstance(mean, bool):
            raise self.error(f"{where}.mean", "want true or false")
        return Target(
            qdisc, cells, table["metric"], bounds["min"], bounds["max"],
            to=to, to_cell=str(table.get("to_cell", "")), mean=mean,
        )  # fmt: skip


def load(path: Path) -> Sweep:
    """Reads a sweep file. Raises GridError if anything in it would not run."""
    reader = _Reader(path)
    reader.known(reader.top, "", ("kernel", "seeds", "defaults", "qdiscs", "cells", "target"))
    kernels, seeds = ("uml",), (1,)
    if "kernel" in reader.top:
        kernels = reader.several(reader.top, "kernel", str, "kernel")
        for kernel in set(kernels) - set(KERNELS):
            raise reader.error("kernel", f"no {kernel}; one of {', '.join(KERNELS)}")
    if "seeds" in reader.top:
        seeds = reader.several(reader.top, "seeds", int, "seeds")
    qdiscs = reader.qdiscs()
    cells = reader.cells(qdiscs)
    targets = reader.targets(qdiscs, cells)
    sweep = Sweep(path.stem, path, kernels, seeds, qdiscs, cells, targets)
    sweep.points()  # each is checked as it is made
    return sweep
