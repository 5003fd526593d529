# SPDX-License-Identifier: GPL-2.0
"""The paper's figures: which runs they show, that none is missing, and that names do not overlap."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest

from lab import cli
from lab.figures import canvas, catalogue
from lab.figures.catalogue import ALL, FIGURES
from lab.figures.data import Load, Runs, Spread
from lab.figures.lines import LABEL_GAP, spread_out
from lab.output import pictures
from lab.output.looks import FEATURED, LOOKS, PAPER, RIVALS
from lab.results import table
from lab.results.report import ReportError
from lab.results.table import Row
from lab.runs import sweepfile

PLAN = sweepfile.load(Path(sweepfile.__file__).parents[1] / "sweeps" / "paper.toml")
SVG_MAX_BYTES = 100_000
DRAWN = FIGURES[:2] if os.environ.get("QUICK") else FIGURES
# The columns that the figures are drawn from; the others are empty.
ONE = Row(
    **{field.name: {"int": 0, "float": 0.0, "str": ""}[str(field.type)] for field in fields(Row)}
    | {
        "cell": "c", "qdisc": "blue", "kernel": "uml", "seed": 1, "cc": "reno", "flows": 4,
        "rtts": "20ms,40ms", "sessions": 2, "rate": "20mbit", "ecn": "on", "jain": 0.8,
        "goodputs_mbps": "1;2;3;4.5", "release": "7.3.4-lab",
    }
)  # fmt: skip
LOAD = Load(connections=2, sessions=2, ecn="on")


def planned(seeds: int = 2) -> list[Row]:
    """A table as the sweep makes it, but for the numbers in it."""
    rows = []
    for point in PLAN.points(seeds=range(1, seeds + 1)):
        scenario, options = point.scenario, point.options
        count, goodput = len(scenario.flows), 0.9 + 0.1 * scenario.seed
        rows.append(
            replace(
                ONE, cell=point.cell, qdisc=point.qdisc, seed=scenario.seed, flows=count,
                rtts=options["rtts"], sessions=scenario.sessions, ecn=options["ecn"],
                goodputs_mbps=";".join([f"{goodput:g}"] * count),
                jain=0.5 + 0.04 * ALL.index(point.qdisc) - 0.01 * scenario.seed,
            )
        )  # fmt: skip
    return rows


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[list[Row]], int]:
    """Runs the command on a table of these rows; the pictures go to out/."""

    def run(rows: list[Row]) -> int:
        with table.opened(tmp_path / "t.csv") as opened:
            for row in rows:
                opened.append(row)
        words = ["lab", "figures", str(tmp_path / "t.csv"), "--out", str(tmp_path / "out")]
        monkeypatch.setattr(sys, "argv", words)
        return cli.main()

    return run


@pytest.fixture(autouse=True)
def small_png(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody looks at these."""
    monkeypatch.setattr(pictures, "DPI", 20)


# Which runs


def test_seeds_are_spread() -> None:
    runs = Runs([replace(ONE, seed=seed, jain=jain) for seed, jain in ((1, 0.7), (2, 0.8))], "uml")
    assert runs.jain(LOAD, "blue") == Spread(mean=0.75, least=0.7, most=0.8)
    assert runs.seeds("on") == "2 seeds"


def test_seeds_are_counted() -> None:
    off = replace(ONE, cell="d", ecn="off")
    rows = [ONE, replace(ONE, qdisc="mrtt"), replace(ONE, seed=2), off]
    assert Runs(rows, "uml").seeds("on") == "1 to 2 seeds"
    assert Runs(rows, "uml").seeds("off") == "1 seed"


def test_last_row_of_a_seed_counts() -> None:
    runs = Runs([replace(ONE, jain=0.1), ONE], "uml")
    assert runs.jain(LOAD, "blue") == Spread(0.8, 0.8, 0.8)


def test_sessions_are_added_up() -> None:
    runs = Runs([ONE, replace(ONE, seed=2, goodputs_mbps="2;2;3;5.5")], "uml")
    assert runs.goodputs(LOAD, "blue") == [Spread(3.5, 3.0, 4.0), Spread(8.0, 7.5, 8.5)]
    assert runs.rtts_ms(LOAD, "blue") == (20.0, 40.0)


def test_loads_are_told_apart() -> None:
    more = replace(ONE, cell="d", flows=8, sessions=4, goodputs_mbps="1;" * 7 + "1")
    off = replace(ONE, cell="e", ecn="off", qdisc="zrtt")
    runs = Runs([more, ONE, off], "uml")
    assert runs.loads("on") == [LOAD, replace(LOAD, sessions=4)]
    assert runs.methods(replace(LOAD, ecn="off")) == {"zrtt"}


def test_two_cells_of_one_load_are_refused() -> None:
    with pytest.raises(ReportError, match="cells c and d both are 2 connections of 2 sessions"):
        Runs([ONE, replace(ONE, cell="d", cc="cubic")], "uml")


def test_hosts_that_differ_are_refused() -> None:
    with pytest.raises(ReportError, match="no figure shows cell c: hosts differ in their flows"):
        Runs([replace(ONE, sessions=0)], "uml")


def test_other_kernels_do_not_count() -> None:
    rows = [ONE, replace(ONE, kernel="6.12", jain=0.1)]
    assert Runs(rows, "uml").jain(LOAD, "blue").mean == 0.8
    with pytest.raises(ReportError, match="no runs on 6.1 "):
        Runs(rows, "6.1")


# What is drawn


def test_every_method_has_a_look() -> None:
    assert set(PLAN.qdiscs) == set(ALL) <= set(LOOKS)


@pytest.mark.parametrize("together", [PAPER, RIVALS])
def test_methods_look_different(together: tuple[str, ...]) -> None:
    looks = [LOOKS[method] for method in (*together, FEATURED)]
    assert len({look.colour for look in looks}) == len(looks)
    assert len({look.marker for look in looks}) == len(looks)


def test_all_is_drawn(
    figures: Callable[[list[Row]], int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert len({figure.name for figure in FIGURES}) == 10
    monkeypatch.setattr(catalogue, "FIGURES", DRAWN)
    assert figures(planned()) == 0
    names = [f"{figure.name}-ecn-{ecn}" for figure in DRAWN for ecn in ("on", "off")]
    wanted = {f"{name}.{suffix}" for name in names for suffix in ("svg", "png")}
    assert {path.name for path in (tmp_path / "out").iterdir()} == wanted
    for path in (tmp_path / "out").glob("*.svg"):
        assert path.stat().st_size < SVG_MAX_BYTES, path.name
        text = path.read_text()
        methods = next(f.methods for f in FIGURES if path.name.startswith(f"{f.name}-ecn"))
        assert not [m for m in methods if f">{LOOKS[m].label}" not in text], path.name
    low = (tmp_path / "out/fig2-ecn-on.svg").read_text()
    high = (tmp_path / "out/fig3-ecn-off.svg").read_text()
    assert "ECN on" in low and "20 connections of 1 session:" in low and "most of 2 seeds" in low
    assert "ECN off" in high and "20 connections of 10 sessions:" in high


def test_same_table_gives_same_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(catalogue, "FIGURES", FIGURES[:1])
    runs = Runs(planned(), "uml")
    first, second = (
        next(catalogue.draw_all(runs, tmp_path / name)).read_bytes() for name in ("a", "b")
    )
    assert first == second


def test_what_was_not_run_is_left_out(figures: Callable[[list[Row]], int], tmp_path: Path) -> None:
    rows = [r for r in planned() if r.qdisc in ("blue", "csfq") and r.ecn == "on" and r.flows == 20]
    assert figures(rows) == 0
    drawn = {path.stem for path in (tmp_path / "out").iterdir()}
    assert drawn == {"fig4-ecn-on", "fig2-all-ecn-on"}


def test_nothing_to_draw_is_an_error(
    figures: Callable[[list[Row]], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert figures([ONE]) == 1
    assert "nothing to draw" in capsys.readouterr().err


def test_no_table_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "figures", str(tmp_path / "none.csv")])
    assert cli.main() == 1
    assert "none.csv: No such file" in capsys.readouterr().err


def test_lines_are_drawn_of_what_is_known() -> None:
    """A method that lacks a load has a shorter line, not a wrong one."""
    rows = [r for r in planned() if r.qdisc != "csfq" or r.sessions < 10]
    (figure,) = [f for f in FIGURES if f.name == "fig7"]
    drawn = canvas.Canvas("a note")
    assert figure.draw(Runs(rows, "uml"), "on", drawn)
    (axes,) = drawn.figure.axes
    lengths = [len(line.get_xdata()) for line in axes.lines]
    assert lengths == [7, 7, 7, 6, 7, 7]
    assert [name.xy[0] for name in axes.texts] == [10, 10, 10, 8, 10, 10]


def test_bars_are_drawn_whole() -> None:
    rows = [replace(r, goodputs_mbps=f"{1 + 3 * (r.qdisc == 'pie')};" * (r.flows - 1) + "1")
            for r in planned()]  # fmt: skip
    (figure,) = [f for f in FIGURES if f.name == "fig2-all"]
    drawn = canvas.Canvas("a note")
    assert figure.draw(Runs(rows, "uml"), "on", drawn)
    assert [axes.get_ylim() for axes in drawn.figure.axes] == [(0, pytest.approx(4.16))] * 12


# Names beside lines


@pytest.mark.parametrize(
    "places",
    [
        [0.5, 0.2, 0.9],
        [0.5, 0.5, 0.5],
        [0.0, 0.01, 0.02, 0.5],
        [0.97, 0.99, 1.0, 0.98, 0.2],
        [0.1, 0.13, 0.19, 0.2, 0.21, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 1.0],
    ],
)
def test_names_do_not_overlap(places: list[float]) -> None:
    moved = spread_out(places, LABEL_GAP)
    order = sorted(range(len(places)), key=lambda i: places[i])
    gaps = [moved[b] - moved[a] for a, b in zip(order, order[1:], strict=False)]
    assert min(gaps) >= LABEL_GAP - 1e-9
    assert min(moved) >= 0
    assert max(moved) <= 1 + 1e-9


def test_names_stay_where_there_is_room() -> None:
    assert spread_out([0.5, 0.2, 0.9], 0.1) == pytest.approx([0.5, 0.2, 0.9])
    assert spread_out([0.5, 0.5], 0.1) == pytest.approx([0.45, 0.55])
