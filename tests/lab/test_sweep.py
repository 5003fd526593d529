# SPDX-License-Identifier: GPL-2.0
"""Sweeps: what a file expands to and refuses, what is run again, what the table holds."""

from __future__ import annotations

import csv
import errno
import math
import os
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from swept import PLAIN_CELLS, FakeGuests, do

from lab import cli
from lab.commands.run import scenario_of
from lab.host.files import FileError
from lab.model.grid import GridError, Point, Sweep
from lab.model.scenario import Scenario
from lab.results import summary, table
from lab.results.result import Result
from lab.results.table import Row, Table, TableError
from lab.runs import runner, sweep, sweepfile
from lab.toolchain import build
from lab.trials import demo

QUICK = bool(os.environ.get("QUICK"))
FILES = Path(sweepfile.__file__).parents[1] / "sweeps"
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
    text = PLAIN_CELLS.replace("cells.c", 'cells."{liar}"').replace("9ms", "9ms,9ms")
    text += "liar = [['0:2'], ['0:3', '1:4']]"
    assert [dict(p.scenario.liars) for p in load(text).points(seeds=[1], only=["*:ours"])] == [
        {0: 2.0},
        {0: 3.0, 1: 4.0},
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


@cache
def released(name: str) -> Sweep:
    return sweepfile.load(FILES / f"{name}.toml")


def some_points(plan: Sweep) -> list[Point]:
    """All runs; of a quick run those of one seed, and of the first cell all."""
    return [
        point for point in plan.points()
        if not QUICK or point.scenario.seed == plan.seeds[0] or point.cell == plan.cells[0].name
    ]  # fmt: skip


@pytest.mark.parametrize("name", sorted(path.stem for path in FILES.glob("*.toml")))
def test_command_says_it_all(name: str) -> None:
    """Pasted into a shell, it is the very scenario, whatever the defaults."""
    parser = cli.parser()
    for point in some_points(released(name)):
        python, dash_m, lab, *words = shlex.split(point.command)
        assert (python, dash_m, lab) == ("python3", "-m", "lab")
        assert scenario_of(parser.parse_args(words)) == point.scenario


def test_release_is_swept() -> None:
    """The cells that the first release is measured by."""
    plan = released("fairness")
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


RTT_MODES = {"paper", "mrtt", "prto"}
"""Which know no RTT, and are BLUE, if nobody tells them and they time no handshakes."""


def knows_rtts(scenario: Scenario) -> bool:
    words = scenario.qdisc_words
    return not RTT_MODES & set(words) or scenario.hint != "none" or "handshake" in words


@pytest.mark.parametrize("name", sorted(path.stem for path in FILES.glob("*.toml")))
def test_methods_know_rtts(name: str) -> None:
    points = released(name).points()
    assert [p.label for p in points if not knows_rtts(p.scenario)] == []


def test_nobody_hints_in_what_readme_shows() -> None:
    scenarios = [replace(demo.SCENARIO, qdisc=qdisc) for qdisc in demo.QDISCS.values()]
    scenarios += [point.scenario for point in released("fairness").points()]
    assert all(scenario.hint == "none" and knows_rtts(scenario) for scenario in scenarios)


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
        (('"reno", "cubic"', '"reno", "tahoe"'), "cells.tahoe-x1, qdiscs.ours: --cc"),
        (("-x{sessions}", ""), "two cells reno"),
        (("-x{sessions}", "{seed}"), "no option seed"),
        (('qdiscs = ["ours"]', 'qdiscs = ["mine"]'), "cells.lie.qdiscs: no mine"),
        (('theirs = "fq_codel"', 'theirs = ""'), "qdiscs.theirs: want"),
        (('theirs = "fq_codel"', 'theirs = "\\"x"'), "qdiscs.theirs: No closing"),
        (('["0:10", "1:0.1"]', '"0:10"'), "cells.lie.liar: want a list"),
        (('["0:10", "1:0.1"]', '["0:10", ["1:2"]]'), "cells.lie.liar: want a list of lists"),
        (('"1:0.1"', '"9:2"'), "cells.lie, qdiscs.ours: --liar 9"),
        (("t=30", "at=30"), "cells.lie: step: --step"),
        (("t=40", "t=35 t=40"), "cells.lie: step: --step 't=35 t=40 rate=10mbit': t twice"),
        (('"1:0.1"', '"0:0.1"'), "cells.lie: liar: --liar: flow 0 twice"),
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
        ("qdisc = 'ours'\ncell = 'c'\nmetric = ['jain']\nmin = 1", "target 1.metric: one of"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'", "neither min nor max"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = '1'", "target 1.min: want"),
        ("qdisc = 'ours'\ncell = 'c'\nbeats = ['mine']", "target 1.beats: no mine"),
        ("qdisc = 'ours'\ncell = 'c'\nbeats = ['theirs']\nmax = 1", "target 1: beats"),
        ("qdisc = 'ours'\ncell = 'c'\nworst = 1", "target 1.worst: unknown"),
        ("qdisc = 'ours'\ncell = 'c'\nbeats = ['theirs']\nto = 'theirs'", "target 1: beats"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 1\nto = 'x'", "target 1.to: no x"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 1\nmean = 1", "target 1.mean: want"),
        ("qdisc = 'ours'\ncell = 'c'\nmetric = 'jain'\nmin = 1\nto_cell = 'd'", "to_cell: no cell d"),
        ("qdisc = 'ours'\ncell = 'c'\nbeats = ['theirs']\nto_cell = 'c'", "target 1: beats"),
    ],
)
def test_nonsense_of_targets_is_refused(
    load: Callable[[str], Sweep], target: str, key: str
) -> None:
    with pytest.raises(GridError, match=key):
        load(f"{PLAIN_CELLS}[[target]]\n{target}\n")


def test_targets_are_tables(load: Callable[[str], Sweep]) -> None:
    with pytest.raises(GridError, match=r"target: want \[\[target\]\]"):
        load(f"target = [3]\n{PLAIN_CELLS}")


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


def test_sources_that_are_back_count_again(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    """Rather than what was measured with others meanwhile."""
    plan, path = load(PLAIN_CELLS), tmp_path / "t.csv"
    before, meanwhile = FakeGuests({"zrtt": 0.9}), FakeGuests({"zrtt": 0.2})
    meanwhile.source = "2"
    do(plan, path, before)
    do(plan, path, meanwhile)
    assert do(plan, path, before) == sweep.Outcome(known=4)
    groups = summary.group(table.load(path))
    assert {(k.qdisc, row.jain) for k, rows in groups.items() for row in rows} == {
        ("ours", 0.9), ("theirs", 0.5),
    }  # fmt: skip
    size = len(table.load(path))
    do(plan, path, before)
    assert len(table.load(path)) == size


def test_known_runs_have_the_names_of_the_file(
    load: Callable[[str], Sweep], tmp_path: Path
) -> None:
    path, guests = tmp_path / "t.csv", FakeGuests()
    do(load(PLAIN_CELLS), path, guests)
    target = "[[target]]\nqdisc = 'mine'\ncell = 'd'\nmetric = 'jain'\nmin = 0.1\n"
    plan = load(PLAIN_CELLS.replace("ours", "mine").replace("cells.c", "cells.d") + target)
    assert do(plan, path, guests) == sweep.Outcome(known=4)
    assert summary.misses(plan, table.load(path)) == []


@pytest.mark.parametrize(
    "name",
    ["runs/sweep.py", "results/table.py", "results/result.py", "model/scenario.py",
     "model/step.py"],
)  # fmt: skip
def test_what_makes_figures_is_part_of_the_key(
    load: Callable[[str], Sweep], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A run is not known any more when one of these has changed."""
    changed = Path(sweep.__file__).parents[1] / name
    point = load(GRID).points()[0]
    guests = sweep.RealGuests()
    monkeypatch.setattr(guests, "builds", lambda _: {})
    monkeypatch.setattr(build, "traffic", lambda: Path("hash/traffic"))
    monkeypatch.setattr(runner, "plugin_names", lambda _: [])
    before = guests.inputs(point)
    assert guests.inputs(point) == before
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda path: read(path) + b"#" * (path == changed))
    assert guests.inputs(point) != before


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
    capsys.readouterr()
    for asked in ([*words, "--only", "no-such"], [*words[:-1], "no-such"]):
        monkeypatch.setattr(sys, "argv", asked)
        assert cli.main() == 2
        assert f"{plan.path}: --only no-such: matches nothing" in capsys.readouterr().err


def test_interrupted_sweep_goes_on(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    class Slow(FakeGuests):
        def run(self, point: Point) -> Result:
            time.sleep(0.1)  # else all are done before the interrupt is
            return super().run(point)

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
    # flow 1 is the best-off of both liars: 1.5 Mbit/s, the mean being 1.375
    assert {row["liar_share"] for row in rows if row["cell"] == "lie"} == {"1.09091"}
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
        "max_class_ratio": "1.09091", "liar_share": "nan", "fct_mean_s": "nan",
        "fct_p95_s": "nan", "short_unfinished": "0", "cross_mean_mbps": "nan", "reverse_mean_mbps": "nan",
        "sojourn_mean_ms": "15.5", "sojourn_p50_ms": "14", "sojourn_p95_ms": "28",
        "sojourn_p99_ms": "33", "sojourn_max_ms": "41", "marks": "14", "drops": "2",
        "retransmits": "7", "goodputs_mbps": "1.25;1.5", "wall_s": "2.5", "reruns": "1",
        "release": "uml-release", "inputs": "1", "command": point.command,
        "drop_rate": "0.00199601", "cross_goodputs_mbps": "", "victim_mbps": "nan",
        "limit_drops": "nan", "thin": "", "ecn_classes": "", "ect1_share": "nan",
        "host_jain": "nan", "within_jain": "nan", "host_error": "nan", "host_due": "nan",
        "receiver_jain": "nan", "host_goodputs_mbps": "",
        **dict.fromkeys(("line_mbps", "line_mean_ms", "line_p95_ms", "whole_mean_ms",
                         "whole_p95_ms", "line_drops"), "nan"),
    }  # fmt: skip


def test_torn_line_is_cut_off(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    do(plan, path, guests)
    path.write_bytes(path.read_bytes()[:-20])
    assert len(table.load(path)) == 17
    assert do(plan, path, guests) == sweep.Outcome(known=17, done=1)
    assert len({row.command for row in table.load(path)}) == 18


def test_older_table_gets_the_columns_it_lacks(
    load: Callable[[str], Sweep], tmp_path: Path
) -> None:
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    do(plan, path, guests)
    newer, commands = path.read_text(), [row.command for row in table.load(path)]
    lacking = len(table.COLUMNS) - table.COLUMNS.index("drop_rate")
    cut = [line.rsplit(",", lacking)[0] for line in newer.splitlines()]
    path.write_text("".join(f"{line}\n" for line in cut))
    assert math.isnan(table.load(path)[0].drop_rate)
    assert do(plan, path, guests).known == 18
    assert path.read_text().splitlines()[0] == newer.splitlines()[0]
    assert [row.command for row in table.load(path)] == commands
    path.write_text("".join(f"{line.rsplit(',', 1)[0]}\n" for line in cut))
    with pytest.raises(TableError, match="not a table"):
        table.load(path)


def test_older_table_stays_if_there_is_no_room_for_columns(
    load: Callable[[str], Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.csv"
    do(load(GRID), path, FakeGuests())
    lines = path.read_text().splitlines()
    path.write_text("".join(f"{line.rpartition(',')[0]}\n" for line in lines))
    older = path.read_text()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises((TableError, FileError), match="No space left"):
            Table(path)
    assert path.read_text() == older
    with table.opened(path), pytest.raises(TableError, match="another sweep"):
        Table(path)
    assert len(table.load(path)) == 18


def test_figures_of_all_flows(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    plan, path = load(GRID), tmp_path / "t.csv"
    do(plan, path, FakeGuests())
    row = replace(
        table.load(path)[0], cc="mix:libra,reno", jain=1.0, goodputs_mbps="1;1;1;1",
        cross_goodputs_mbps="6;5;4;3",
    )  # fmt: skip
    assert row.jain_all == pytest.approx(22**2 / (8 * 90))
    assert row.last_cc_mbps == 10.0
    assert replace(row, cc="reno").last_cc_mbps == 22.0
    assert replace(row, cross_goodputs_mbps="").jain_all == 1.0


def test_foreign_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("name,price\ntea,3")
    with pytest.raises(TableError, match="not a table"):
        Table(path)
    assert path.read_text() == "name,price\ntea,3"


def test_folder_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "file" / "t.csv"):
        with pytest.raises(TableError, match=str(path)):
            Table(path)


def test_row_that_finds_no_room_leaves_the_others(
    load: Callable[[str], Sweep], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    do(plan, path, guests)
    rows, write = table.load(path), os.write
    with table.opened(path) as full, monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda to, content: write(to, content[:20]))
        with pytest.raises(TableError, match="in part only"):
            full.append(rows[0])
        patch.undo()
        full.append(rows[1])
    assert [row.command for row in table.load(path)] == [row.command for row in (*rows, rows[1])]


def test_new_rows_are_what_is_read_again(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    """Sums must not differ by rounding once runs are known."""
    plan, path, guests = load(GRID), tmp_path / "t.csv", FakeGuests()
    do(plan, path, guests)
    exact = replace(table.load(path)[0], jain=0.99985049)
    with table.opened(path) as rows:
        rows.append(exact)
        assert rows.rows[-1].jain == table.load(path)[-1].jain == 0.99985


def test_one_sweep_writes_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    with table.opened(path), pytest.raises(TableError, match="another sweep"):
        Table(path)
    with table.opened(path):
        pass
