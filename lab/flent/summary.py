# SPDX-License-Identifier: GPL-2.0
"""The table of a batch: what its data files say of pings, of a call and of goodput."""

from __future__ import annotations

import gzip
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from lab.flent.batch import SUFFIX

NONE = "-"
PINGS = {
    "ICMP": ("Ping", "PingRunner"),
    "UDP": ("Ping", "IrttRunner"),
    "call": ("VoIP", "IrttRunner"),
}
"""Kinds of packets that come back: how the names of their series start, and flent's runner."""


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share, 0 to 1, of all values do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


FIGURES: dict[str, Callable[[list[float]], float]] = {
    "mean": fmean,
    "p95": lambda values: percentile(values, 0.95),
    "max": max,
}
HEAD = [
    "data file",
    *[f"{kind} {what}" for kind in PINGS for what in FIGURES],
    "lost", "down", "up",
]  # fmt: skip
LEGEND = "Latency under load less the RTT of the path, in ms; goodput in Mbit/s."


class _Data:
    """A data file. Whatever it gives for pings is of the time under load."""

    def __init__(self, content: Mapping[str, Any], rtts_ms: Mapping[str, float]) -> None:
        self._metadata = content["metadata"]
        self._raw = content["raw_values"]
        self._rtts_ms = rtts_ms

    def _chosen(self, kind: str) -> list[str]:
        start, runner = PINGS[kind]
        return [
            name
            for name, meta in self._metadata["SERIES_META"].items()
            if name.startswith(start) and meta["RUNNER"] == runner
        ]

    def _rtt_ms(self, name: str) -> float:
        """RTT of the path of a series, which ends with its host unless the test has only one."""
        host = re.split("[ :]+", name)[-1]
        return self._rtts_ms[host if host in self._rtts_ms else self._metadata["HOST"]]

    def induced_ms(self, kind: str) -> list[float]:
        """Latency of each packet, less the RTT of its path."""
        length_s = self._metadata["LENGTH"]
        before_s = (self._metadata["TOTAL_LENGTH"] - length_s) / 2
        start_s = datetime.fromisoformat(self._metadata["T0"]).timestamp() + before_s
        return [
            point["val"] - self._rtt_ms(name)
            for name in self._chosen(kind)
            for point in self._raw[name]
            if "val" in point and start_s <= point["t"] <= start_s + length_s
        ]

    def lost(self) -> float | None:
        """Share of the packets of UDP pings and the call that did not come back, 0 to 1."""
        metas = [self._metadata["SERIES_META"][n] for k in ("UDP", "call") for n in self._chosen(k)]
        sent = sum(meta["PACKETS_SENT"] for meta in metas)
        return 1 - sum(meta["PACKETS_RECEIVED"] for meta in metas) / sent if sent else None

    def goodput_mbps(self, direction: str) -> float | None:
        """Sum of all flows "download" or "upload"."""
        flows = [
            meta["MEAN_VALUE"]
            for name, meta in self._metadata["SERIES_META"].items()
            if name.startswith(f"TCP {direction}") and meta["RUNNER"] == "NetperfDemoRunner"
        ]
        return sum(flows) if flows else None


def _line(path: Path, rtts_ms: Mapping[str, float]) -> list[str]:
    with gzip.open(path, "rt") as stream:
        data = _Data(json.load(stream), rtts_ms)
    cells = [path.name.removesuffix(SUFFIX).removeprefix("batch-")]
    for kind in PINGS:
        induced = data.induced_ms(kind)
        cells += [f"{of(induced):.1f}" if induced else NONE for of in FIGURES.values()]
    lost = data.lost()
    goodputs = [data.goodput_mbps(direction) for direction in ("download", "upload")]
    return [
        *cells,
        NONE if lost is None else f"{lost:.2%}",
        *[NONE if mbps is None else f"{mbps:.2f}" for mbps in goodputs],
    ]


def lines(paths: Sequence[Path], rtts_ms: Mapping[str, float]) -> list[list[str]]:
    """Head and a line for each data file; columns that no file fills are left out."""
    table = [HEAD, *[_line(path, rtts_ms) for path in paths]]
    filled = [any(cell != NONE for cell in column[1:]) for column in zip(*table, strict=True)]
    return [[cell for cell, keep in zip(line, filled, strict=True) if keep] for line in table]
