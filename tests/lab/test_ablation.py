# SPDX-License-Identifier: GPL-2.0
"""Steps taken away: each change has its place in the sources of today, and shows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from swept import FakeGuests

from lab import cli
from lab.ablation import steps, study
from lab.ablation.steps import CELLS, CHANGES, LADDER, LADDER_CELLS, STEPS, ZRTT
from lab.model.grid import GridError, Point
from lab.results import table
from lab.results.result import Result
from lab.toolchain import build, variant
from lab.toolchain.variant import Edit

SHIMS = build.REPO / "tests" / "unit"
LAW = "include/zrtt/law.h"


class Unfair(FakeGuests):
    """Guests where zrtt is fair, and anything else is not."""

    def run(self, point: Point) -> Result:
        self._jains = {"zrtt": 0.9876 if point.qdisc == ZRTT else 0.5}
        return super().run(point)


@pytest.mark.parametrize("name", CHANGES)
def test_change_applies_and_compiles(name: str) -> None:
    """In user space, as the algorithm's tests do: a module takes longer."""
    with variant.edited(study.MODULE, CHANGES[name].edits) as root:
        includes = [f"-I{SHIMS}", f"-I{root}/include", f"-I{root}/include/uapi"]
        done = subprocess.run(
            ["gcc", "-std=gnu11", "-Wall", "-Werror", "-fsyntax-only", *includes,
             "-x", "c", "-"],
            input="#include <zrtt/zrtt.h>\n", capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        same = (root / LAW).read_text() == (build.REPO / LAW).read_text()
        assert same == all(edit.path != LAW for edit in CHANGES[name].edits)


@pytest.mark.parametrize("old", ["no such text", "law"])
def test_edit_without_its_place_is_refused(old: str) -> None:
    edits = [Edit(LAW, old, "")]
    with (
        pytest.raises(build.BuildError, match=f"{LAW}: .* times, not once"),
        variant.edited(study.MODULE, edits),
    ):
        pass


def test_changes_are_changes() -> None:
    """No two alike: else one of them would take nothing away."""
    assert len({step.without for step in STEPS.values()} - {CHANGES[ZRTT]}) == len(STEPS)
    assert len({*LADDER.values()} - {CHANGES[ZRTT]}) == len(LADDER)
    assert all(set(step.shows) <= set(CELLS) for step in STEPS.values())
    assert all(step.shows for step in STEPS.values())
    assert set(LADDER_CELLS) <= set(CELLS)


def test_rung_is_zrtt_without_those_above() -> None:
    *_, feedback, drops = LADDER.values()
    assert drops == STEPS["penalty"].without
    assert feedback == STEPS["drops"].without + STEPS["penalty"].without
    assert LADDER["0-paper"].words == "mode paper"


def test_points() -> None:
    all_of_them = study.points([], [], [1, 2])
    wanted = {(ZRTT, cell) for cell in CELLS}
    wanted |= {(name, cell) for name, step in STEPS.items() for cell in step.shows}
    wanted |= {(name, cell) for name in LADDER for cell in LADDER_CELLS}
    found = [(point.qdisc, point.cell) for point in all_of_them]
    assert set(found) == wanted
    assert len(found) == 2 * len(wanted)
    some = study.points(["penalty", "l[ao]*"], ["[ru]*", "many"], [3])
    assert {(point.qdisc, point.cell) for point in some if point.qdisc not in LADDER} == {
        ("zrtt", "reno"), ("penalty", "reno"), ("zrtt", "unhinted"), ("penalty", "unhinted"),
        ("zrtt", "udp"), ("penalty", "udp"), ("zrtt", "many"),
    }  # fmt: skip
    with pytest.raises(GridError, match="no step late in a cell reno"):
        study.points(["late"], ["reno"], [1])


@pytest.mark.parametrize(
    ("only", "cells", "idle"),
    [
        (["no-such"], [], "--only no-such"),
        ([], ["no-such"], "--cell no-such"),
        (["late", "no-such"], [], "--only no-such"),
        (["late", "ladder"], ["slower"], "--only ladder"),
        (["late"], ["slower", "no-such"], "--cell no-such"),
        (["late"], ["slower", "reno"], "--cell reno"),
    ],
)
def test_pattern_that_matches_nothing_is_refused(
    only: list[str], cells: list[str], idle: str
) -> None:
    """Also where another one matches."""
    with pytest.raises(GridError, match=f"{idle}: matches nothing"):
        study.points(only, cells, [1])


def test_commands_say_what_is_run() -> None:
    points = {point.qdisc: point for point in study.points([], ["reno"], [4])}
    assert "--qdisc 'zrtt feedback 0'" in points["feedback"].command
    for name, only in (("penalty", "penalty"), ("6-drops", "ladder")):
        words = points[name].command.removeprefix("python3 -m lab ").split()
        assert words[:2] == ["ablation", "--only"]
        args = cli.parser().parse_args(words)
        assert (args.only, args.cell, args.seeds) == ([only], ["reno"], [4])


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guests = Unfair()
    monkeypatch.setattr(study, "Guests", lambda: guests)
    out, written = tmp_path / "a.csv", tmp_path / "a.json"
    words = ["lab", "ablation", "--cell", "cubic", "--seeds", "1,2", "--output", str(out)]
    monkeypatch.setattr(sys, "argv", [*words, "--json", str(written), "--markdown"])
    assert cli.main() == 0
    said = capsys.readouterr().out.splitlines()
    assert "| spaced | random marks | cubic | jain | 0.9876 | 0.5000 |" in said
    assert "| 0-paper | – | – | – | – | – | – | 0.5000 | – |" in said
    assert "| zrtt | – | – | – | – | – | – | 0.9876 | – |" in said
    content = json.loads(written.read_text())
    assert {"step": "spaced", "cell": "cubic", "metric": "jain", "zrtt": [0.9876, 0.9876],
            "without": [0.5, 0.5]} in content["steps"]  # fmt: skip
    rungs = {entry["rung"] for entry in content["ladder"] if entry["values"]}
    assert rungs == {*LADDER, ZRTT}
    assert {row.qdisc for row in table.load(out)} >= {"spaced", *LADDER, ZRTT}
    monkeypatch.setattr(sys, "argv", [*words, "--only", "spaced"])
    assert cli.main() == 0
    said = capsys.readouterr()
    assert "4 known before" in said.err
    assert len(said.out.splitlines()) == 2
    guests.broken, guests.source = {"zrtt"}, "2"
    assert cli.main() == 1
    monkeypatch.setattr(sys, "argv", [*words, "--only", "no-such"])
    assert cli.main() == 2


def test_run_that_fails_is_not_shown_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With other sources, beside runs of these."""

    class Once(Unfair):
        def run(self, point: Point) -> Result:
            self.broken = {"zrtt"} if self.source == "2" and point.qdisc != ZRTT else set()
            return super().run(point)

    guests = Once()
    monkeypatch.setattr(study, "Guests", lambda: guests)
    words = ["--cell", "cubic", "--only", "spaced", "--output", str(tmp_path / "a.csv")]
    monkeypatch.setattr(sys, "argv", ["lab", "ablation", *words, "--jobs", "1"])
    assert cli.main() == 0
    assert "random marks" in capsys.readouterr().out
    guests.source = "2"
    assert cli.main() == 1
    assert "random marks" not in capsys.readouterr().out


@pytest.mark.guest
def test_guests_have_the_changed_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Late drops are what keeps the queue short when a link slows down."""
    monkeypatch.setattr(steps, "COMMON", {**steps.COMMON, "duration": "12"})
    words = ["--only", "late", "--seeds", "1", "--output", str(tmp_path / "a.csv")]
    monkeypatch.setattr(sys, "argv", ["lab", "ablation", *words])
    assert cli.main() == 0
    worst = {row.qdisc: row.sojourn_max_ms for row in table.load(tmp_path / "a.csv")}
    assert worst["zrtt"] < 200
    assert worst["late"] > 2 * worst["zrtt"]
