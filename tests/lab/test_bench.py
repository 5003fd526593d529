# SPDX-License-Identifier: GPL-2.0
"""The bench: what ticks mean, what is measured, and when a change of cost is too much."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lab import bench_gate, bench_memory, bench_plot, bench_profile, bench_run, bench_table, cli
from lab.bench_guest import NATIVE
from lab.bench_result import Bench, Cost, Settings, Slice, cost, load, parse
from lab.bench_subjects import FLOWS, SUBJECTS, Cell, cells
from lab.grid import GridError
from lab.readings import ResultError
from lab.report import ReportError

ROOT = Path(__file__).resolve().parents[2]
COUNTED = Settings("6.12", 1000, 1, 1, backlog=50, gap_ns=0, ect=True, hashed=False, seed=1)
RED = next(subject for subject in SUBJECTS if subject.name == "red")
# 5 ticks of each call are the timing itself.
COUNTED_TEXT = "5 999998\n1000 1000 40000 45000 100 0\n\n"
# Four slices, and ticks of half a nanosecond.
NATIVE_TEXT = (
    "20 2000000\n10 10 400 1200 0 0\n10 10 600 1200 0 0\n10 5 1000 600 0 5\n10 10 9000 1200 0 0\n\n"
)


def of_cost(total: float, name: str = "red", flows: int = 1) -> Cost:
    """A cell that costs so much."""
    return Cost(name, RED.qdisc, flows, total, 0.0, total, total, total, 0.0, 0.0)


def bench(*costs: Cost, settings: Settings = COUNTED) -> Bench:
    """A run with such cells."""
    return Bench(settings, "6.12.1", "instructions", 5.0, "python3 -m lab bench", list(costs))


def test_ticks_are_instructions_where_qemu_counts() -> None:
    (reading,) = parse(COUNTED_TEXT)
    assert reading.slices == [Slice(1000, 1000, 40000, 45000, 100, 0)]
    got = cost(Cell(RED, 7), [reading])
    assert (got.enqueue, got.dequeue, got.total) == (35.0, 40.0, 75.0)
    assert (got.low, got.high, got.marked, got.flows) == (75.0, 75.0, 0.1, 7)


def test_ticks_are_scaled_to_nanoseconds() -> None:
    readings = parse(NATIVE_TEXT)
    got = cost(Cell(RED, 1), readings)
    # enqueue 10, 20, 40, 440, dequeue 50 each
    assert (got.enqueue, got.dequeue, got.total) == (30.0, 50.0, 80.0)
    assert (got.low, got.high) == (67.5, 190.0)
    assert got.dropped == 5 / 40


def test_rounds_are_pooled() -> None:
    one, other = parse(COUNTED_TEXT + COUNTED_TEXT.replace("40000", "50000"))
    assert cost(Cell(RED, 1), [one, other]).total == 80.0


@pytest.mark.parametrize("text", ["", "5 1000000\n1 2 3\n", "5\n", "no numbers\n"])
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ResultError, match="qbench said"):
        parse(text)


def test_lost_packets_are_no_cost() -> None:
    with pytest.raises(ResultError, match="red at 1 flows: no packet came through"):
        cost(Cell(RED, 1), parse("5 1000000\n1000 0 5000 5000 0 1000\n"))


def test_clock_that_counts_no_instructions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_run.bench_guest, "run", lambda *_: NATIVE_TEXT)
    monkeypatch.setattr(bench_run, "get_engine", lambda _: None)
    with pytest.raises(ResultError, match="does not count instructions"):
        bench_run.run([Cell(RED, 1)], COUNTED, "")


def test_cells_take_turns() -> None:
    wanted = cells(["pfifo", "red"], [1, 10])
    plan = bench_run.plan(wanted, replace(COUNTED, rounds=2))
    assert [line.partition("|")[0] for line in plan] == 4 * ["pfifo limit 1000", RED.qdisc]
    assert ["flows=10 " in line for line in plan] == 2 * [False, False, True, True]
    assert ["seed=2 " in line for line in plan] == 4 * [False] + 4 * [True]


def test_patterns_and_flows_choose() -> None:
    assert len(cells(["*"], FLOWS)) == len(FLOWS) * len(SUBJECTS) - 2
    names = {cell.subject.name for cell in cells(["zrtt*"], [100_000])}
    assert names == {"zrtt", "zrtt-hint", "zrtt-large"}
    with pytest.raises(GridError, match="--only zrt: none of pfifo"):
        cells(["zrt"], FLOWS)
    with pytest.raises(GridError, match="nothing to measure"):
        cells(["zrtt-mark"], [100_000])


@pytest.mark.parametrize(("now", "worse"), [(103.1, True), (102.9, False), (50.0, False)])
def test_gate_tolerates_3_percent(now: float, worse: bool) -> None:
    verdicts = bench_gate.judge(bench(of_cost(100.0)), bench(of_cost(now)))
    assert [verdict.worse for verdict in verdicts] == [worse]
    assert ("WORSE" in bench_gate.render(verdicts)) == worse


@pytest.mark.parametrize(("factor", "status"), [(1.031, 1), (1.029, 0)])
def test_check_measures_what_the_baseline_has(
    factor: float, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    settings = replace(COUNTED, seed=9)
    baseline = bench(of_cost(200.0), of_cost(300.0, flows=10), settings=settings)
    baseline.save(tmp_path / "baseline.json")

    def measured(wanted: list[Cell], used: Settings, _: str) -> Bench:
        assert (wanted, used) == ([Cell(RED, 1), Cell(RED, 10)], settings)
        now = bench(of_cost(200.0), of_cost(300.0 * factor, flows=10))
        return replace(now, release="6.12.2")

    monkeypatch.setattr(bench_run, "run", measured)
    arguments = ["lab", "bench", "--check", str(tmp_path / "baseline.json")]
    monkeypatch.setattr(sys, "argv", arguments)
    assert cli.main() == status
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == "red 1 200.0 200.0 +0.0% ok".split()
    assert said[2].split()[-1] == ("WORSE" if status else "ok")
    assert said[-1] == "The baseline is of Linux 6.12.1, this is 6.12.2."


def test_committed_baseline_can_be_measured() -> None:
    baseline = load(ROOT / "bench" / "baseline.json")
    names = {cell.subject.name for cell in bench_gate.cells(baseline)}
    assert {"zrtt", "zrtt-hint", "zrtt-mark"} <= names


def test_baseline_of_another_qdisc_is_refused() -> None:
    with pytest.raises(ReportError, match="the baseline has red"):
        bench_gate.cells(bench(replace(of_cost(1.0), qdisc="red limit 1")))


def test_file_that_is_no_result_is_refused(tmp_path: Path) -> None:
    for content in ("", "[]", "{}", '{"settings": {}, "costs": []}'):
        (tmp_path / "x.json").write_text(content)
        with pytest.raises(ReportError, match="not a result"):
            load(tmp_path / "x.json")


def test_result_survives_its_file(tmp_path: Path) -> None:
    done = bench(of_cost(1.5), of_cost(2.5, flows=100))
    done.save(tmp_path / "sub" / "x.json")
    assert load(tmp_path / "sub" / "x.json") == done


def test_table_has_a_column_per_number_of_flows() -> None:
    marked = replace(of_cost(54.4, "pfifo", 10_000), marked=0.1)
    lines = bench_table.lines(bench(of_cost(100.6), of_cost(54.4, "pfifo"), marked))
    assert lines == [
        ["", "1 flow", "10k flows", "marked", "dropped"],
        ["red", "101", "-", "", ""],
        ["pfifo", "54", "54", "10.0%", ""],
    ]


def test_native_table_has_quartiles() -> None:
    native = replace(COUNTED, kernel=NATIVE, slices=20)
    lines = bench_table.lines(bench(replace(of_cost(50.0), low=48.0, high=53.6), settings=native))
    assert lines[1][1] == "50 (48..54)"


def test_plot_names_all_lines(tmp_path: Path) -> None:
    costs = [of_cost(total, name, flows) for name, total in (("red", 9.0), ("zrtt-hint", 5.0))
             for flows in (1, 100)]  # fmt: skip
    bench_plot.plot(bench(*costs), tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert ">red<" in text and ">zrtt-hint<" in text and ">instructions per packet" in text


def test_plot_wants_a_range_of_flows(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="one number of flows"):
        bench_plot.plot(bench(of_cost(1.0)), tmp_path / "x.svg")


def test_memory_is_a_difference() -> None:
    wanted = [Cell(RED, 1), Cell(RED, 10_000)]
    memories = bench_memory.parse(wanted, "1000 3048 4072\n1000 3048 12240\n")
    assert [(m.flows, m.added, m.used) for m in memories] == [
        (1, 2048, 3072),
        (10_000, 2048, 11240),
    ]
    assert bench_memory.render(memories, markdown=False).splitlines()[1].split() == [
        "red", "2", "3", "11",
    ]  # fmt: skip
    with pytest.raises(ResultError, match="said of its memory"):
        bench_memory.parse(wanted, "1000 2048 3072\n")


def test_profile_adds_up_what_is_inlined() -> None:
    functions = {1: ("enqueue",), 2: ("enqueue", "dissect"), 3: ("enqueue", "dissect", "rol32"),
                 4: ("delay_tsc",), 5: ("ktime_get",)}  # fmt: skip
    sums = bench_profile.tree({1: 100, 2: 200, 3: 40, 4: 500, 5: 500}, functions)
    assert [line.split() for line in bench_profile.render(sums, packets=50).splitlines()] == [
        ["10.0", "ktime_get"], ["6.8", "enqueue"], ["4.8", "dissect"],
    ]  # fmt: skip


def test_profile_knows_what_is_at_an_address() -> None:
    symbols = bench_profile.Symbols("ffff20 t b [qbench]\nffff10 T a\n")
    assert (symbols.at(0xFFFF1F), symbols.at(0xFFFF20)) == ("a", "b [qbench]")


@pytest.mark.parametrize("options", ["", "--only zrtt", "--kernel uml --only zrtt --flows 1"])
def test_profile_is_of_one_cell(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "bench", "--profile", *options.split()])
    assert cli.main() == 2


@pytest.mark.parametrize(
    "options",
    [
        "--flows 0", "--flows 16777217", "--packets 0", "--rounds x", "--seed 0", "--backlog -1",
        "--memory --check x", "--kernel 5.10",
    ],
)  # fmt: skip
def test_bad_options_are_refused(options: str) -> None:
    with pytest.raises(SystemExit) as error:
        cli.parser().parse_args(["bench", *options.split()])
    assert error.value.code == 2


@pytest.mark.parametrize("options", ["--kernel uml", "--plot x.svg"])
def test_memory_is_no_cost(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "bench", "--memory", *options.split()])
    assert cli.main() == 2


@pytest.fixture(scope="module")
def measured() -> Bench:
    """A few packets, on a stock kernel."""
    few = replace(COUNTED, packets=2000, gap_ns=12_000)
    return bench_run.run(cells(["pfifo", "fq_codel", "zrtt", "zrtt-mark"], [100]), few, "")


def test_zrtt_costs_less_than_fq_codel(measured: Bench) -> None:
    costs = {cost.name: cost for cost in measured.costs}
    assert measured.unit == "instructions"
    assert 20 < costs["pfifo"].total < costs["zrtt"].total < costs["fq_codel"].total
    assert costs["zrtt"].total == costs["zrtt"].enqueue + costs["zrtt"].dequeue


def test_marks_are_what_they_are_said_to_be(measured: Bench) -> None:
    marked = {cost.name: cost.marked for cost in measured.costs}
    assert 0.08 <= marked["zrtt-mark"] <= 0.14  # a tenth, and what the price adds
    assert marked["zrtt"] == marked["pfifo"] == 0
