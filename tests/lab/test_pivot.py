# SPDX-License-Identifier: GPL-2.0
"""A metric of a sweep as a table of cells and qdiscs."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab import cli
from lab.results import pivot, summary
from lab.results.pivot import Columns
from lab.results.report import ReportError
from lab.results.table import METRICS


def _row(cell: str, qdisc: str, seed: int, **metrics: float) -> SimpleNamespace:
    return SimpleNamespace(kernel="uml", cell=cell, qdisc=qdisc, seed=seed, **metrics)


ROWS = [
    _row("reno-20x10", "zrtt", 1, jain=0.99, sojourn_p95_ms=28.0),
    _row("reno-20x10", "zrtt", 2, jain=0.98, sojourn_p95_ms=27.0),
    _row("reno-20x2", "zrtt", 1, jain=0.97, sojourn_p95_ms=29.0),
    _row("reno-20x2", "cake", 1, jain=0.5, sojourn_p95_ms=math.nan),
]


@pytest.mark.parametrize(
    ("metric", "x10", "x2"), [("jain", "0.98", "0.97 | 0.5"), ("sojourn_p95_ms", "28", "29 | –")]
)
def test_worst_seed_is_shown(metric: str, x10: str, x2: str) -> None:
    lines = pivot.render(ROWS, Columns(metric), spread=False, markdown=True).splitlines()
    assert lines[0] == f"| {metric}, uml | zrtt | cake |"
    assert lines[2:] == [f"| reno-20x2 | {x2} |", f"| reno-20x10 | {x10} | – |"]


MORE_IS_BETTER = {
    "jain", "jain_all", "utilisation", "min_phase_utilisation", "tcp_share", "goodput_mean_mbps",
    "last_cc_mbps", "cross_mean_mbps", "reverse_mean_mbps", "victim_mbps", "scalable_share",
    "host_jain", "within_jain", "host_due", "receiver_jain", "line_mbps",
}  # fmt: skip


@pytest.mark.parametrize("metric", METRICS)
def test_each_metric_has_its_worst(metric: str) -> None:
    rows = [_row("c", "zrtt", seed, **{metric: seed / 4}) for seed in (3, 1, 2)]
    lines = pivot.render(rows, Columns(metric), spread=False, markdown=True).splitlines()
    assert lines[2:] == [f"| c | {'0.25' if metric in MORE_IS_BETTER else '0.75'} |"]


def test_spread_is_median_least_and_most() -> None:
    rows = [*ROWS, _row("reno-20x10", "zrtt", 3, jain=0.9, sojourn_p95_ms=27.0)]
    lines = pivot.render(rows, Columns("jain"), spread=True, markdown=True).splitlines()
    assert lines[2:] == ["| reno-20x2 | 0.97 | 0.5 |", "| reno-20x10 | 0.98 (0.9–0.99) | – |"]


def test_metrics_stand_side_by_side() -> None:
    shown = (Columns.parse("jain:cake,zrtt"), Columns.parse("sojourn_p95_ms:zrtt"))
    lines = pivot.render(ROWS, *shown, spread=False, markdown=True).splitlines()
    assert lines[0] == "| cell, uml | cake jain | zrtt jain | zrtt sojourn_p95_ms |"
    assert lines[2:] == ["| reno-20x2 | 0.5 | 0.97 | 29 |", "| reno-20x10 | – | 0.98 | 28 |"]


@pytest.mark.parametrize("text", ["", "speed", "jain:", "jain:zrtt,", ":zrtt"])
def test_bad_columns_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="metric|want"):
        Columns.parse(text)


def test_unknown_qdisc_is_refused() -> None:
    with pytest.raises(ReportError, match="no run of pie in the table; of zrtt, cake"):
        pivot.render(ROWS, Columns("jain", ("pie",)), spread=False, markdown=True)


def test_picture_of_a_sweep_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "report", str(tmp_path / "t.csv"), "--png", str(tmp_path / "p.png")]
    monkeypatch.setattr(sys, "argv", words)
    assert cli.main() == 1
    assert "--png is for the JSON of runs; of a sweep, --html" in capsys.readouterr().err


def test_plain_columns_are_aligned() -> None:
    lines = pivot.render(ROWS, Columns("jain"), spread=False, markdown=False).splitlines()
    assert {len(line) for line in lines} == {len(lines[0])}


def test_numbers_sort_as_numbers() -> None:
    names = ["20x10-on", "5x1-on", "20x2-on", "5x1-off"]
    assert sorted(names, key=summary.natural) == ["5x1-off", "5x1-on", "20x2-on", "20x10-on"]
