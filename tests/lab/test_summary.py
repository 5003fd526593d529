# SPDX-License-Identifier: GPL-2.0
"""What a table of a sweep says: tables, and who misses a target."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from swept import PLAIN_CELLS, FakeGuests, do

from lab import cli
from lab.model.grid import Sweep
from lab.results import summary, table
from lab.runs import sweep


def judged(plan: Sweep, path: Path, jains: dict[str, float]) -> list[str]:
    """The misses of a sweep with such results."""
    do(plan, path, FakeGuests(jains), fresh=True)
    return summary.misses(plan, table.load(path))


def test_bounds(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    target = "[[target]]\nqdisc = 'ours'\ncell = ['x', 'c']\n"
    path = tmp_path / "t.csv"
    plan = load(f"{PLAIN_CELLS}{target}metric = 'jain'\nmin = 0.9\nmax = 0.95\n")
    assert judged(plan, path, {"zrtt": 0.9, "cake": 0.1}) == []
    assert judged(plan, path, {"zrtt": 0.89}) == ["c ours on uml: jain 0.89, want at least 0.9"]
    assert judged(plan, path, {"zrtt": 0.96}) == ["c ours on uml: jain 0.96, want at most 0.95"]
    plan = load(f"{PLAIN_CELLS}{target}metric = 'sojourn_p95_ms'\nmax = 27.5\n")
    assert judged(plan, path, {}) == ["c ours on uml: sojourn_p95_ms 28, want at most 27.5"]


def test_what_is_not_measured_is_a_miss(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    target = "[[target]]\nqdisc = 'ours'\ncell = 'c'\nmetric = 'fct_mean_s'\nmax = 9\n"
    found = judged(load(PLAIN_CELLS + target), tmp_path / "t.csv", {})
    assert found == ["c ours on uml: fct_mean_s was not measured"]


def test_worst_seed_counts(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    target = "[[target]]\nqdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 0.9\n"
    plan = load(PLAIN_CELLS + target)
    assert judged(plan, path, {"zrtt": 0.95}) == []
    (row,) = [r for r in table.load(path) if r.qdisc == "ours" and r.seed == 2]
    with table.opened(path) as rows:
        rows.append(replace(row, jain=0.8))
    assert summary.misses(plan, table.load(path)) == ["c ours on uml: jain 0.8, want at least 0.9"]


TWO_CELLS = PLAIN_CELLS.replace("cells.c", 'cells."x{sessions}"') + "sessions = [1, 2]\n"


def with_jains(load: Callable[[str], Sweep], path: Path, target: str) -> list[str]:
    """The misses where ours has .9 and .7 in the first cell, .4 and .4 in the second; theirs .5."""
    plan = load(f"{TWO_CELLS}[[target]]\nqdisc = 'ours'\ncell = '*'\nmetric = 'jain'\n{target}\n")
    do(plan, path, FakeGuests({"zrtt": 0.4, "cake": 0.5}))
    for row in table.load(path):
        if (row.qdisc, row.cell) == ("ours", "x1"):
            with table.opened(path) as rows:
                rows.append(replace(row, jain=0.9 if row.seed == 1 else 0.7))
    return summary.misses(plan, table.load(path))


@pytest.mark.parametrize(
    ("target", "missed"),
    [
        ("mean = true\nmin = 0.6", []),
        ("mean = true\nmin = 0.61", ["mean of 2 cells ours on uml: jain 0.6, want at least 0.61"]),
        ("to = 'theirs'\nmax = 1.6", []),
        ("to = 'theirs'\nmin = 1.7", [
            "x1 ours on uml: jain 1.6 times theirs's, want at least 1.7",
            "x2 ours on uml: jain 0.8 times theirs's, want at least 1.7",
        ]),
        ("to = 'theirs'\nmean = true\nmin = 1.2", []),
        ("to = 'theirs'\nmean = true\nmax = 1.19",
         ["mean of 2 cells ours on uml: jain 1.2 times theirs's, want at most 1.19"]),
    ],
)  # fmt: skip
def test_means_and_ratios(
    load: Callable[[str], Sweep], tmp_path: Path, target: str, missed: list[str]
) -> None:
    assert with_jains(load, tmp_path / "t.csv", target) == missed


CONTROL = TWO_CELLS + """[[target]]
qdisc = 'ours'
cell = 'x1'
metric = 'jain'
to_cell = 'x2'
"""


@pytest.mark.parametrize(
    ("target", "missed"),
    [
        ("min = 2\nmax = 2", []),
        ("max = 1.9", ["x1 ours on uml: jain 2 times ours's in x2, want at most 1.9"]),
        ("to = 'theirs'\nmin = 1.6", []),
        ("to = 'theirs'\nmin = 1.7",
         ["x1 ours on uml: jain 1.6 times theirs's in x2, want at least 1.7"]),
    ],
)  # fmt: skip
def test_ratios_to_another_cell(
    load: Callable[[str], Sweep], tmp_path: Path, target: str, missed: list[str]
) -> None:
    """Ours has .9 and .7 in the first cell, .4 in the second; theirs .1 in the first, .5 there."""
    plan, path = load(CONTROL + target), tmp_path / "t.csv"
    do(plan, path, FakeGuests({"zrtt": 0.4, "cake": 0.5}))
    for row in table.load(path):
        if row.cell == "x1":
            with table.opened(path) as rows:
                jain = 0.1 if row.qdisc == "theirs" else {1: 0.9, 2: 0.7}[row.seed]
                rows.append(replace(row, jain=jain))
    assert summary.misses(plan, table.load(path)) == missed


def test_control_that_was_not_run_is_a_miss(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan, path = load(CONTROL + "min = 0.5"), tmp_path / "t.csv"
    points = [point for point in plan.points() if point.cell == "x1"]
    with table.opened(path) as rows:
        sweep.run(points, rows, jobs=1, guests=FakeGuests())
    assert summary.misses(plan, table.load(path)) == [
        "x2 ours seed 1 on uml: no run",
        "x2 ours seed 2 on uml: no run",
        "x1 ours on uml: jain was not measured",
    ]


def test_rival_that_was_not_run_is_a_miss(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    target = "[[target]]\nqdisc = 'ours'\ncell = '*'\nmetric = 'jain'\nmin = 0.1\nto = 'theirs'\n"
    plan, path, guests = load(PLAIN_CELLS + target), tmp_path / "t.csv", FakeGuests()
    guests.broken = {"cake"}
    do(plan, path, guests)
    assert summary.misses(plan, table.load(path)) == [
        "c theirs seed 1 on uml: no run",
        "c theirs seed 2 on uml: no run",
        "c ours on uml: jain was not measured",
    ]


def test_beats(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan = load(f"{PLAIN_CELLS}[[target]]\nqdisc = 'ours'\ncell = '*'\nbeats = 'theirs'\n")
    path = tmp_path / "t.csv"
    assert judged(plan, path, {"zrtt": 0.91, "cake": 0.9}) == []
    assert judged(plan, path, {"zrtt": 0.9, "cake": 0.9}) == [
        "c ours on uml: worst jain 0.9000, theirs's best 0.9000"
    ]


def test_what_was_not_run_is_a_miss(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan = load(f"{PLAIN_CELLS}[[target]]\nqdisc = 'ours'\ncell = '*'\nbeats = 'theirs'\n")
    path, guests = tmp_path / "t.csv", FakeGuests({"zrtt": 1.0})
    guests.broken = {"cake"}
    do(plan, path, guests)
    assert summary.misses(plan, table.load(path)) == [
        "c theirs seed 1 on uml: no run",
        "c theirs seed 2 on uml: no run",
        "c ours on uml: no run of theirs to compare with",
    ]


def test_run_of_other_options_is_a_miss(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    """As it is of the file before a change; seeds and kernels may be others than the file's."""
    target = "[[target]]\nqdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 0.1\n"
    plan, path = load(PLAIN_CELLS + target), tmp_path / "t.csv"
    with table.opened(path) as rows:
        points = plan.points(kernels=["uml", "6.1"], seeds=[1, 2, 7])
        sweep.run(points, rows, jobs=1, guests=FakeGuests())
    assert summary.misses(plan, table.load(path)) == []
    assert summary.misses(load(PLAIN_CELLS + "rate = '2mbit'\n" + target), table.load(path)) == [
        "c ours seed 1 on uml: its run has other options",
        "c ours seed 2 on uml: its run has other options",
    ]
    low = "[[target]]\nqdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 0.6\n"
    assert summary.misses(load(PLAIN_CELLS + low), table.load(path)) == [
        "c ours on 6.1: jain 0.5, want at least 0.6",
        "c ours on uml: jain 0.5, want at least 0.6",
    ]


def test_report(
    load: Callable[[str], Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    target = "[[target]]\nqdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 0.9\n"
    plan, path = load(PLAIN_CELLS + target), tmp_path / "t.csv"
    do(plan, path, FakeGuests({"zrtt": 0.85}))
    row = next(r for r in table.load(path) if r.qdisc == "ours" and r.seed == 1)
    with table.opened(path) as rows:
        rows.append(replace(row, seed=3, jain=0.95, utilisation=0.5, sojourn_mean_ms=99.0))
    monkeypatch.setattr(
        sys, "argv", ["lab", "report", str(path), "--markdown", "--check", str(plan.path)]
    )
    assert cli.main() == 1
    said = capsys.readouterr()
    missed = said.err.splitlines()[-1]
    lines = said.out.splitlines()
    assert lines[2] == "| c | ours | 3 | 0.8500 | 0.8500 | 0.9500 | 50.0% | 99.0 ms | 28.0 ms |"
    assert lines[3] == "| c | theirs | 2 | 0.5000 | 0.5000 | 0.5000 | 99.5% | 15.5 ms | 28.0 ms |"
    assert missed == "missed: c ours on uml: jain 0.85, want at least 0.9"
    monkeypatch.setattr(sys, "argv", ["lab", "report", str(path)])
    assert cli.main() == 0
    plain = capsys.readouterr().out.splitlines()
    assert plain[2].split() == ["c", "ours", "3", "0.8500", "0.8500", "0.9500",
                                "50.0%", "99.0", "ms", "28.0", "ms"]  # fmt: skip
    assert "5 runs on Linux uml-release (uml), git" in plain[-1]


def test_versions_are_told_of(
    load: Callable[[str], Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Of the rows shown, which are those of all tables given."""
    plan, path, other = load(PLAIN_CELLS), tmp_path / "t.csv", tmp_path / "other.csv"
    do(plan, path, FakeGuests())
    rows = [replace(row, revision="was") for row in table.load(path) if row.seed == 2]
    with table.opened(other) as second:
        for row in rows:
            second.append(row)
    revision = table.load(path)[0].revision
    capsys.readouterr()
    said = (
        f"lab: warning: rows of several versions: 2 of git {revision} on Linux uml-release,"
        " 2 of git was on Linux uml-release\n"
        "lab: warning: not shown, as a later row is of the same run:"
        f" 2 of git {revision} on Linux uml-release\n"
    )
    for words in (["--metric", "jain"], ["--html", str(tmp_path / "page.html")], []):
        monkeypatch.setattr(sys, "argv", ["lab", "report", str(path), *words])
        assert cli.main() == 0
        assert capsys.readouterr().err == ""
        monkeypatch.setattr(sys, "argv", ["lab", "report", str(path), str(other), *words])
        assert cli.main() == 0
        shown = capsys.readouterr()
        assert shown.err == said
    assert "4 runs on Linux" in shown.out
    for row in rows:
        assert summary.versions([replace(row, kernel="6.12"), row]) == ""


def test_hidden_versions_are_told_of(
    load: Callable[[str], Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """As of two tables of the same sweep, of which nothing is to be seen but the second."""
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    do(load(PLAIN_CELLS), after, FakeGuests())
    with table.opened(before) as first:
        for row in table.load(after):
            first.append(replace(row, revision="was"))
    for words in (["--metric", "jain"], ["--html", str(tmp_path / "page.html")], []):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["lab", "report", str(before), str(after), *words])
        assert cli.main() == 0
        assert capsys.readouterr().err == (
            "lab: warning: not shown, as a later row is of the same run: 4 of git was on Linux"
            " uml-release\n"
        )


def test_hidden_runs_of_other_options_are_told_of(
    load: Callable[[str], Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """As of two sweeps that call their cells the same."""
    one, other = tmp_path / "one.csv", tmp_path / "other.csv"
    do(load(PLAIN_CELLS), one, FakeGuests())
    do(load(PLAIN_CELLS + "rate = '5mbit'\nqdiscs = 'ours'"), other, FakeGuests())
    for words in (["--metric", "jain"], ["--html", str(tmp_path / "page.html")], []):
        capsys.readouterr()
        monkeypatch.setattr(sys, "argv", ["lab", "report", str(one), str(other), *words])
        assert cli.main() == 0
        assert capsys.readouterr().err == (
            "lab: warning: not shown, as a later row has the same cell, qdisc and seed: 2 of"
            " another command\n"
        )


@pytest.mark.parametrize("content", [None, b"\xff\xfe\n", b"a\0\n", b""])
@pytest.mark.parametrize("words", [["report"], ["figures"], ["arena", "--seed=1", "--count=1", "--merge"]])
def test_table_that_cannot_be_read_is_named(
    words: list[str], content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(sys, "argv", ["lab", *words, str(path)])
    assert cli.main() == 1
    assert capsys.readouterr().err.startswith(f"lab: {path}: ")


def test_table_without_runs_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(",".join(table.COLUMNS) + "\n")
    for words in ([], ["--metric", "jain"]):
        monkeypatch.setattr(sys, "argv", ["lab", "report", str(path), *words])
        assert cli.main() == 1
        assert capsys.readouterr().err == f"lab: {path}: no runs in it\n"


def test_ratio_to_nothing(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    """Of two that drop nothing is 1, and of others more than any bound."""
    target = "[[target]]\nqdisc = 'ours'\ncell = 'c'\nmetric = 'drops'\nto = 'theirs'\nmax = 1\n"
    plan, path = load(PLAIN_CELLS + target), tmp_path / "t.csv"
    do(plan, path, FakeGuests())
    rows = table.load(path)
    assert summary.misses(plan, [replace(row, drops=0) for row in rows]) == []
    some = [replace(row, drops=2 * (row.qdisc == "ours")) for row in rows]
    assert summary.misses(plan, some) == ["c ours on uml: drops inf times theirs's, want at most 1"]


def test_cells_are_in_order(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    text = PLAIN_CELLS.replace("cells.c", 'cells."x{sessions}"') + "sessions = [10, 2]"
    do(load(text), tmp_path / "t.csv", FakeGuests({"cake": 0.6}))
    lines = summary.render(table.load(tmp_path / "t.csv"), markdown=True).splitlines()
    assert [line.split(" | ")[:2] for line in lines[2:6]] == [
        ["| x2", "theirs"], ["| x2", "ours"], ["| x10", "theirs"], ["| x10", "ours"],
    ]  # fmt: skip


def test_options_of_sweeps_are_not_for_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "report", "demo.json", "--markdown"])
    assert cli.main() == 1
    assert "for the CSV of a sweep" in capsys.readouterr().err
