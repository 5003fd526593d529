# SPDX-License-Identifier: GPL-2.0
"""Figures of the papers of endpoint schemes: all is drawn, and where it belongs."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import fields, replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from swept import result_of

from lab import cli
from lab.figures import canvas, endpoints, times
from lab.model.grid import Point
from lab.model.scenario import Scenario
from lab.output import pictures
from lab.results import report, table
from lab.results.report import ReportError
from lab.results.result import Result
from lab.results.table import Row
from lab.runs import sweepfile

SWEEPS = Path(sweepfile.__file__).parents[1] / "sweeps"
EMPTY = {field.name: {"int": 0, "float": 0.5, "str": ""}[str(field.type)] for field in fields(Row)}
NOT_DRAWN = ("download-*", "shaper-*", "start-*")
"""Cells that are for tables and for pictures of single runs."""


@pytest.fixture(autouse=True)
def small_png(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at these; a quick run leaves them to test_figures.py."""
    monkeypatch.setattr(pictures, "DPI", 20)
    if os.environ.get("QUICK"):
        monkeypatch.setattr(canvas, "FORMATS", (".svg",))


def row_of(point: Point) -> Row:
    """As the sweep makes it, but for the numbers in it."""
    scenario, options = point.scenario, point.options
    goodputs = ";".join("2" * len(scenario.flows))
    known = {
        "sweep": point.sweep, "cell": point.cell, "qdisc": point.qdisc, "kernel": scenario.kernel,
        "seed": scenario.seed, "cc": options["cc"], "rtts": options["rtts"],
        "rate": options["rate"], "flows": len(scenario.flows), "goodputs_mbps": goodputs,
        "release": "7.3.4-lab",
    }  # fmt: skip
    return Row(**{**EMPTY, **known})


def rows_of(sweep: str) -> list[Row]:
    """Of two seeds."""
    plan = sweepfile.load(SWEEPS / f"{sweep}.toml")
    return [row_of(point) for point in plan.points(seeds=(1, 2))]


@pytest.mark.parametrize("sweep", endpoints.FIGURES)
def test_all_is_drawn(sweep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = rows_of(sweep)
    with table.opened(tmp_path / "t.csv") as opened:
        for row in rows:
            opened.append(row)
    words = ["lab", "figures", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", words)
    assert cli.main() == 0
    names = {figure.name for figure in endpoints.FIGURES[sweep]}
    assert {path.stem for path in (tmp_path / "out").iterdir()} == names
    patterns = [panel.cells for f in endpoints.FIGURES[sweep] for panel in f.panels]
    for cell in {row.cell for row in rows}:
        shown = any(fnmatchcase(cell, pattern) for pattern in patterns)
        assert shown != any(fnmatchcase(cell, pattern) for pattern in NOT_DRAWN), cell


def test_names_stand_side_by_side() -> None:
    rows = [
        replace(row, jain=0.25 if row.cc == "exp" else 0.75 + row.seed / 100)
        for row in rows_of("together")
        if row.cc != "bbr" or row.cell.startswith("20mbit")
    ]
    drawn = endpoints.FIGURES["together"][0].draw(rows, "a note")
    assert drawn
    left, right = drawn.figure.axes
    names = [label.get_text() for label in right.get_xticklabels()]
    assert names == [label.get_text() for label in left.get_xticklabels()]
    for axes, rate in ((left, "20mbit"), (right, "100mbit")):
        for bar in axes.containers:
            line, queue = bar.lines[0], bar.get_label().lower()
            ran = {row.cc for row in rows if row.qdisc == queue and row.cell.startswith(rate)}
            assert len(line.get_xdata()) == len(ran)
            found = dict(zip(map(round, line.get_xdata()), line.get_ydata(), strict=True))
            assert found[names.index("exp")] == 0.25
            assert found[names.index("reno")] == pytest.approx(0.765)


def test_numbers_are_joined_in_order() -> None:
    rows = [replace(row, goodputs_mbps="3;2") for row in reversed(rows_of("nrhstcp"))]
    drawn = endpoints.FIGURES["nrhstcp"][0].draw(rows, "a note")
    assert drawn
    line = drawn.figure.axes[0].containers[0].lines[0]
    assert list(line.get_xdata()) == sorted(line.get_xdata())
    assert set(line.get_ydata()) == {1.5}


def sampled() -> Result:
    """1 and 2 Mbit/s, the second one from 10 s on."""
    done = result_of(Scenario(rtts_ms=(20.0, 40.0)), "", 0.9)
    return replace(
        done, samples=[[0, 0, 0], [10_000, 1_250_000, 0], [20_000, 2_500_000, 2_500_000]]
    )


def test_goodput_against_time() -> None:
    (axes,) = times.draw([sampled()], "a title").figure.axes
    assert [list(line.get_ydata()) for line in axes.lines] == [[1.0, 1.0], [0.0, 2.0]]
    assert list(axes.lines[0].get_xdata()) == [10.0, 20.0]
    with pytest.raises(ReportError, match="--sample"):
        times.draw([sampled(), replace(sampled(), samples=[])], "a title")


def test_pictures_name_the_rates_and_seeds_of_all_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not those of the first alone."""
    runs = [sampled(), replace(sampled(), rate_mbps=50.0, seed=7)]
    figure = times.draw(runs, "a title").figure
    assert "10, 50 Mbit/s, Linux 6.12, seed 1, 7" in " ".join(t.get_text() for t in figure.texts)
    drawn = []
    monkeypatch.setattr(pictures, "save", lambda figure, _: drawn.append(figure))
    report.plot([report.Run("zrtt", run) for run in runs], tmp_path / "x.png")
    assert "share 10, 50 Mbit/s" in drawn[0].axes[0].get_title()


def test_runs_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.json"
    path.write_text(json.dumps(sampled().to_dict()))
    words = ["lab", "figures", str(path), str(path), str(path), "--out", str(tmp_path),
             "--name", "start"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", words)
    assert cli.main() == 0
    assert (tmp_path / "start.svg").stat().st_size
