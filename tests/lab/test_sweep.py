# SPDX-License-Identifier: GPL-2.0
"""Sweeps: what a file expands to, what is run again, what the table holds, who misses a target."""

from __future__ import annotations

import csv
import shlex
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from lab import cli, summary, sweep, sweepfile, table
from lab.commands.run import scenario_of
from lab.engine import GuestError
from lab.grid import GridError, Sweep
from lab.result import FlowResult, PhaseResult, Result, Sojourn
from lab.scenario import Scenario
from lab.table import Row, Table, TableError

FILES = Path(sweepfile.__file__).with_name("sweeps")
GRID = """
seeds = [1, 2]
[defaults]
rate = "10mbit"
rtts = "20ms,40ms"
[qdiscs]
ours = "zrtt limit 1000"
theirs = "fq_codel"
[cells."{cc}-x{sessions}"]
cc = ["reno", "cubic"]
sessions = [1, 2]
[cells.lie]
liar = ["0:10", "1:0.1"]
step = [["t=30 rate=5mbit", "t=40 rate=10mbit"]]
qdiscs = ["ours"]
"""
PLAIN_CELLS = "seeds = [1, 2]\n[qdiscs]\nours = 'zrtt'\ntheirs = 'cake'\n[cells.c]\nrtts = '9ms'\n"


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Sweep]:
    """Reads a sweep file of that text."""

    def read(text: str) -> Sweep:
        path = tmp_path / "small.toml"
        path.write_text(text)
        return sweepfile.load(path)

    return read


def result_of(scenario: Scenario, command: str, jain: float) -> Result:
    """A result like those of a guest."""
    flow = FlowResult(20.0, "cubic", True, 1.25, 3, 7, 20.1, 0.0, 1.3)
    return Result(
        label=scenario.qdisc, jain=jain, max_min_ratio=None, utilisation=0.995,
        phases=[PhaseResult(20.0, 30.0, 10.0, 0.75), PhaseResult(30.0, 80.0, 10.0, 0.999)],
        sojourn_ms=Sojourn(mean=15.5, p50=14.0, p95=28.0, p99=33.0, max=41.0),
        marks=14, drops=2, packets=1000, goodput_mbps=2.75, rate_mbps=10.0, measured_s=60.0,
        flows=[flow, replace(flow, cc="reno", goodput_mbps=1.5, retransmits=4)], samples=[], qdisc={},
        kernel=f"{scenario.kernel}-release", clock="", gso=False, ecn=True, seed=scenario.seed,
        reruns=1, wall_s=2.5, cpu_s=2.0, command=command,
    )  # fmt: skip


class FakeGuests:
    """Does no run, but remembers which it was asked for."""

    def __init__(self, jains: dict[str, float] | None = None) -> None:
        self.commands: list[str] = []
        self.broken: set[str] = set()
        """Qdiscs whose runs fail."""
        self.source = "1"
        self._jains = jains or {}
        self._lock = threading.Lock()

    def release(self, kernel: str) -> str:
        return f"{kernel}-release"

    def inputs(self, scenario: Scenario) -> str:
        return self.source if scenario.qdisc_kind == "zrtt" else "0"

    def run(self, scenario: Scenario, command: str) -> Result:
        with self._lock:
            self.commands.append(command)
        if scenario.qdisc_kind in self.broken:
            raise GuestError("guest panicked")
        return result_of(scenario, command, self._jains.get(scenario.qdisc_kind, 0.5))


def do(plan: Sweep, path: Path, guests: FakeGuests, *, fresh: bool = False) -> sweep.Outcome:
    """Runs a sweep without guests."""
    with table.opened(path) as rows:
        return sweep.run(plan.points(), rows, jobs=2, fresh=fresh, guests=guests)


# What a file expands to


def test_lists_multiply(load: Callable[[str], Sweep]) -> None:
    points = load(GRID).points()
    cells = [point.cell for point in points if point.scenario.seed == 1]
    assert cells == [
        name for name in ("reno-x1", "cubic-x1", "reno-x2", "cubic-x2") for _ in range(2)
    ] + ["lie"]  # fmt: skip
    assert len(points) == 2 * len(cells)
    (point,) = [p for p in points if p.label == "cubic-x2 theirs seed 2 on uml"]
    expected = Scenario(
        kernel="uml", qdisc="fq_codel", rate_bps=10_000_000, rtts_ms=(20.0, 40.0), sessions=2,
        cc=("cubic",), seed=2,
    )  # fmt: skip
    assert point.scenario == expected


def test_lists_of_lists_multiply(load: Callable[[str], Sweep]) -> None:
    (point,) = [p for p in load(GRID).points(seeds=[1]) if p.cell == "lie"]
    assert point.qdisc == "ours"
    assert point.scenario.liars == {0: 10.0, 1: 0.1}
    assert [step.rate_bps for step in point.scenario.steps] == [5_000_000, 10_000_000]
    text = PLAIN_CELLS.replace("cells.c", 'cells."{liar}"') + "liar = [['0:2'], ['0:3', '0:4']]"
    assert [dict(p.scenario.liars) for p in load(text).points(seeds=[1], only=["*:ours"])] == [
        {0: 2.0},
        {0: 4.0},
    ]


def test_cells_override_defaults(load: Callable[[str], Sweep]) -> None:
    points = load(GRID + "rate = '5mbit'\nduration = 30\n").points(
        seeds=[1], only=["lie", "reno-x1"]
    )
    assert {(p.cell, p.scenario.rate_bps, p.scenario.duration_s) for p in points} == {
        ("reno-x1", 10_000_000, 60.0),
        ("lie", 5_000_000, 30.0),
    }


def test_defaults_choose_qdiscs(load: Callable[[str], Sweep]) -> None:
    chosen = load(GRID.replace("[defaults]", "[defaults]\nqdiscs = 'theirs'")).points(seeds=[1])
    assert {(p.cell == "lie", p.qdisc) for p in chosen} == {(True, "ours"), (False, "theirs")}
    with pytest.raises(GridError, match="defaults.qdiscs: no mine"):
        load(GRID.replace("[defaults]", "[defaults]\nqdiscs = 'mine'"))


def test_lists_name_cells(load: Callable[[str], Sweep]) -> None:
    text = PLAIN_CELLS.replace("cells.c", 'cells."{udp}"') + "udp = [['1mbit', '2mbit'], ['3mbit']]"
    assert [cell.name for cell in load(text).cells] == ["1mbit,2mbit", "3mbit"]


def test_subset(load: Callable[[str], Sweep]) -> None:
    chosen = load(GRID).points(kernels=["6.12"], seeds=[7], only=["reno-*:ours", "*-x2:th*"])
    assert {p.label for p in chosen} == {
        "reno-x1 ours seed 7 on 6.12",
        "reno-x2 ours seed 7 on 6.12",
        "reno-x2 theirs seed 7 on 6.12",
        "cubic-x2 theirs seed 7 on 6.12",
    }


@pytest.mark.parametrize("name", sorted(path.stem for path in FILES.glob("*.toml")))
def test_command_says_it_all(name: str) -> None:
    """Pasted into a shell, it is the very scenario, whatever the defaults."""
    for point in sweepfile.load(FILES / f"{name}.toml").points():
        python, dash_m, lab, *words = shlex.split(point.command)
        assert (python, dash_m, lab) == ("python3", "-m", "lab")
        assert scenario_of(cli.parser().parse_args(words)) == point.scenario


def test_release_is_swept() -> None:
    """The cells that the first release is measured by."""
    plan = sweepfile.load(FILES / "fairness.toml")
    flows = {p.cell: len(p.scenario.flows) for p in plan.points()}
    of_one_cc = {"5x1": 5, "10x1": 10, "20x1": 20, "30x1": 30,
                 "20x2": 40, "20x4": 80, "20x6": 120, "20x10": 200}  # fmt: skip
    assert flows == {f"{cc}-{c}": n for cc in ("reno", "cubic") for c, n in of_one_cc.items()}
    assert plan.seeds == (1, 2, 3)
    for cell in plan.cells:
        metrics = {t.metric for t in plan.targets if t.covers(cell.name) and not t.beats}
        assert {"jain", "utilisation", "sojourn_p95_ms"} <= metrics
        rivals = {r for t in plan.targets if t.covers(cell.name) for r in t.beats}
        assert rivals == ({"fq_codel", "cake"} if flows[cell.name] >= 20 else set())


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (("seeds = [1, 2]", "seed = 1"), "seed: unknown"),
        (("seeds = [1, 2]", "seeds = ['1']"), "seeds: want int"),
        (("seeds = [1, 2]", "seeds = []"), "seeds: want int"),
        (("seeds = [1, 2]", "kernel = '5.4'"), "kernel: no 5.4"),
        (("[defaults]", "[defaults]\nspeed = 1"), "defaults.speed: unknown"),
        (("[cells.lie]", "[cells.lie]\nrtt = '1ms'"), "cells.lie.rtt: unknown"),
        (("10mbit", "10mbps"), "cells.reno-x1: rate: bad rate '10mbps'"),
        (('"10mbit"', "true"), "cells.{cc}-x{sessions}.rate: want"),
        (('rate = "10mbit"', "ecn = 'maybe'"), "cells.reno-x1: ecn: --ecn: on, off or a fraction"),
        (('rtts = "20ms,40ms"\n', ""), "cells.{cc}-x{sessions}: has no rtts"),
        (("[1, 2]\n[def", "[1]\n[def"), None),
        (("sessions = [1, 2]", "sessions = [1, 'two']"), "cells.reno-xtwo: sessions: "),
        (("sessions = [1, 2]", "sessions = []"), ".sessions: an empty list"),
        (('"reno", "cubic"', '"reno", "vegas"'), "cells.vegas-x1, qdiscs.ours: --cc"),
        (("-x{sessions}", ""), "two cells reno"),
        (("-x{sessions}", "{seed}"), "no option seed"),
        (('qdiscs = ["ours"]', 'qdiscs = ["mine"]'), "cells.lie.qdiscs: no mine"),
        (('theirs = "fq_codel"', 'theirs = ""'), "qdiscs.theirs: want"),
        (('theirs = "fq_codel"', 'theirs = "\\"x"'), "qdiscs.theirs: No closing"),
        (('["0:10", "1:0.1"]', '"0:10"'), "cells.lie.liar: want a list"),
        (('["0:10", "1:0.1"]', '["0:10", ["1:2"]]'), "cells.lie.liar: want a list of lists"),
        (('"1:0.1"', '"9:2"'), "cells.lie, qdiscs.ours: --liar 9"),
        (("t=30", "at=30"), "cells.lie: step: --step"),
        (("[qdiscs]", "[qdiscs"), "small.toml: "),
    ],
)
def test_nonsense_is_refused(
    load: Callable[[str], Sweep], change: tuple[str, str], key: str | None
) -> None:
    """With the file and the key; the one case without a key shows that the rest is right."""
    text = GRID.replace(*change)
    assert text != GRID
    if key is None:
        load(text)
        return
    with pytest.raises(GridError) as refused:
        load(text)
    assert "small.toml: " in str(refused.value)
    assert key in str(refused.value)


@pytest.mark.parametrize(
    ("target", "key"),
    [
        ("cell = 'c'\nmetric = 'jain'\nmin = 1", "target 1: has no qdisc"),
        ("qdisc = 'ours'\nmetric = 'jain'\nmin = 1", "target 1: has no cell"),
        ("qdisc = 'mine'\ncell = 'c'\nmetric = 'jain'\nmin = 1", "target 1.qdisc: no mine"),
        ("qdisc = 'ours'\ncell = 'd'\nmetric = 'jain'\nmin = 1", "target 1.cell: matches no"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'cc'\nmin = 1", "target 1.metric: one of"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'", "neither min nor max"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = '1'", "target 1.min: want"),
        ("qdisc = 'ours'\ncell = 'c'\nbeats = ['mine']", "target 1.beats: no mine"),
        ("qdisc = 'ours'\ncell = 'c'\nbeats = ['theirs']\nmax = 1", "target 1: beats"),
        ("qdisc = 'ours'\ncell = 'c'\nworst = 1", "target 1.worst: unknown"),
        ("qdisc = 'ours'\ncell = 'c'\nbeats = ['theirs']\nto = 'theirs'", "target 1: beats"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 1\nto = 'x'", "target 1.to: no x"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 1\nmean = 1", "target 1.mean: want"),
    ],
)
def test_nonsense_of_targets_is_refused(
    load: Callable[[str], Sweep], target: str, key: str
) -> None:
    with pytest.raises(GridError, match=key):
        load(f"{PLAIN_CELLS}[[target]]\n{target}\n")


def test_exit_status_of_nonsense(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "small.toml"
    path.write_text("sedes = 1\n")
    monkeypatch.setattr(sys, "argv", ["lab", "sweep", str(path)])
    assert cli.main() == 2
    assert f"{path}: sedes: unknown" in capsys.readouterr().err


# What is run, and run again


def test_known_runs_are_not_run_again(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    planned = sorted(point.command for point in plan.points())
    assert do(plan, path, guests) == sweep.Outcome(known=0, done=18)
    assert sorted(guests.commands) == planned
    assert do(plan, path, guests) == sweep.Outcome(known=18)
    assert len(guests.commands) == 18
    assert do(plan, path, guests, fresh=True) == sweep.Outcome(known=0, done=18)


def test_changed_sources_are_run_again(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    do(plan, path, guests)
    guests.commands.clear()
    guests.source = "2"
    assert do(plan, path, guests) == sweep.Outcome(known=8, done=10)
    assert all("zrtt" in command for command in guests.commands)


def test_new_seeds_are_run(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    path, guests = tmp_path / "t.csv", FakeGuests()
    do(load(GRID), path, guests)
    assert do(load(GRID.replace("[1, 2]\n[def", "[2, 3]\n[def")), path, guests).done == 9


def test_failed_runs_are_counted_and_tried_again(
    load: Callable[[str], Sweep], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    guests.broken = {"fq_codel"}
    assert do(plan, path, guests) == sweep.Outcome(known=0, done=10, failed=8)
    assert "failed: cubic-x2 theirs seed 2 on uml: guest panicked" in capsys.readouterr().err
    guests.broken = set()
    assert do(plan, path, guests) == sweep.Outcome(known=10, done=8)


def test_exit_status(
    load: Callable[[str], Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    guests.broken = {"fq_codel"}
    monkeypatch.setattr(sweep, "RealGuests", lambda: guests)
    words = ["lab", "sweep", str(plan.path), "--output", str(path), "--only", "reno-x1"]
    monkeypatch.setattr(sys, "argv", [*words, "--seeds", "5,6"])
    assert cli.main() == 1
    said = capsys.readouterr().err.splitlines()
    assert said[-1] == f"2 runs done, 2 failed, 0 known before; table: {path}"
    assert {row.seed for row in table.load(path)} == {5, 6}
    guests.broken = set()
    assert cli.main() == 0
    monkeypatch.setattr(sys, "argv", [*words, "--only", "no-such"])
    assert cli.main() == 0
    monkeypatch.setattr(sys, "argv", [*words[:-1], "no-such"])
    assert cli.main() == 2


def test_interrupted_sweep_goes_on(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    class Slow(FakeGuests):
        def run(self, scenario: Scenario, command: str) -> Result:
            time.sleep(0.02)
            return super().run(scenario, command)

    class Interrupted(Table):
        """As if Ctrl-C came while the third row was written."""

        def append(self, row: Row) -> None:
            super().append(row)
            if len(self.rows) == 3:
                raise KeyboardInterrupt

    plan, path, guests = load(GRID), tmp_path / "t.csv", Slow()
    rows = Interrupted(path)
    with pytest.raises(KeyboardInterrupt):
        sweep.run(plan.points(), rows, jobs=2, guests=guests)
    rows.close()
    kept = len(table.load(path))
    assert 3 <= kept == len(guests.commands) < 18
    assert do(plan, path, guests) == sweep.Outcome(known=kept, done=18 - kept)


def test_progress_is_told_in_lines(
    load: Callable[[str], Sweep], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    do(load(GRID), tmp_path / "t.csv", FakeGuests())
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 18
    assert lines[8].startswith("9 of 18 runs, 0 failed")


# The table


def test_row_holds_the_run(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan, path = load(GRID), tmp_path / "t.csv"
    do(plan, path, FakeGuests({"zrtt": 0.987654}))
    with path.open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["extra"] for row in rows if row["cell"] == "lie"} == {
        "liar 0:10, 1:0.1; step t=30 rate=5mbit, t=40 rate=10mbit"
    }
    (row,) = [
        row for row in rows if (row["cell"], row["qdisc"], row["seed"]) == ("reno-x2", "ours", "2")
    ]
    assert row.pop("revision")
    (point,) = [p for p in plan.points() if p.label == "reno-x2 ours seed 2 on uml"]
    assert row == {
        "sweep": "small", "cell": "reno-x2", "qdisc": "ours", "words": "zrtt limit 1000",
        "kernel": "uml", "seed": "2", "cc": "reno", "flows": "2", "rtts": "20ms,40ms",
        "sessions": "2", "rate": "10mbit", "ecn": "on", "gso": "off", "hint": "packet",
        "extra": "", "jain": "0.987654", "max_min_ratio": "inf", "utilisation": "0.995",
        "min_phase_utilisation": "0.75", "tcp_share": "0.995", "goodput_mean_mbps": "1.375",
        "max_class_ratio": "1.09091", "fct_mean_s": "nan", "fct_p95_s": "nan",
        "short_unfinished": "0", "cross_mean_mbps": "nan", "reverse_mean_mbps": "nan",
        "sojourn_mean_ms": "15.5", "sojourn_p50_ms": "14", "sojourn_p95_ms": "28",
        "sojourn_p99_ms": "33", "sojourn_max_ms": "41", "marks": "14", "drops": "2",
        "retransmits": "7", "goodputs_mbps": "1.25;1.5", "wall_s": "2.5", "reruns": "1",
        "release": "uml-release", "inputs": "1", "command": point.command,
    }  # fmt: skip


def test_torn_line_is_cut_off(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    do(plan, path, guests)
    path.write_bytes(path.read_bytes()[:-20])
    assert len(table.load(path)) == 17
    assert do(plan, path, guests) == sweep.Outcome(known=17, done=1)
    assert len({row.command for row in table.load(path)}) == 18


def test_foreign_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,price\ntea,3")
    with pytest.raises(TableError, match="not a table"):
        Table(path)
    assert path.read_text() == "name,price\ntea,3"


def test_one_sweep_writes_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with table.opened(path), pytest.raises(TableError, match="another sweep"):
        Table(path)
    with table.opened(path):
        pass


# What it says


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
