# SPDX-License-Identifier: GPL-2.0
"""The bench: what ticks mean, what is measured, and when a change of cost is too much."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lab import cli
from lab.bench import cost_table, gate, measure, memory, plot, profile
from lab.bench.guest import NATIVE
from lab.bench.result import Bench, Cost, Probed, Settings, Slice, cost, load, parse
from lab.bench.subjects import COMPARED, FLOWS, IPV6, SHAPES, SUBJECTS, Cell, Subject, cells
from lab.model.grid import GridError
from lab.results.readings import ResultError
from lab.results.report import ReportError

ROOT = Path(__file__).resolve().parents[2]
COUNTED = Settings("6.12", 1000, 1, 1, backlog=50, gap_ns=0, ect=True, hashed=False, seed=1)
RED = next(subject for subject in SUBJECTS if subject.name == "red")
DEAF = Subject("deaf", "zrtt hint ignore", hint=True)
"""The hint is an option that it does not look for."""
# 5 ticks of each call are the timing itself.
COUNTED_TEXT = "5 999998\n1000 1000 40000 45000 100 0\n\n"
# Four slices, and ticks of half a nanosecond.
NATIVE_TEXT = (
    "20 2000000\n10 10 400 1200 0 0\n10 10 600 1200 0 0\n10 5 1000 600 0 5\n10 10 9000 1200 0 0\n\n"
)


def of_cost(total: float, name: str = "red", flows: int = 1, shape: str = "frag") -> Cost:
    """A cell that costs so much."""
    return Cost(name, RED.qdisc, flows, total, 0.0, total, total, total, 0.0, 0.0, shape)


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


def test_slow_path_is_counted_beside_the_slices() -> None:
    first, second, other = parse(2 * f"{COUNTED_TEXT[:-1]}probed 200 3\n\n" + COUNTED_TEXT)
    assert first.slices == other.slices
    assert (first.probed, other.probed) == (Probed(200, 3), None)
    assert cost(Cell(RED, 1), [first, second, other]).slow == 0.015
    assert cost(Cell(RED, 1), [other]).slow is None


@pytest.mark.parametrize(
    "text",
    ["", "5 1000000\n1 2 3\n", "5\n", "no numbers\n", "5 1000000\n1 2 3 4 5 6\nprobed 7\n"],
)
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ResultError, match="qbench said"):
        parse(text)


def test_lost_packets_are_no_cost() -> None:
    with pytest.raises(ResultError, match="red at 1 flows, frag: no packet came through"):
        cost(Cell(RED, 1), parse("5 1000000\n1000 0 5000 5000 0 1000\n"))


def test_clock_that_counts_no_instructions_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure.guest, "run", lambda *_: NATIVE_TEXT)
    monkeypatch.setattr(measure, "get_engine", lambda _: None)
    with pytest.raises(ResultError, match="does not count instructions"):
        measure.run([Cell(RED, 1)], COUNTED, "")


def test_cells_take_turns() -> None:
    wanted = cells(["pfifo", "red"], [1, 10])
    plan = measure.plan(wanted, replace(COUNTED, rounds=2))
    assert [line.partition("|")[0] for line in plan] == 4 * ["pfifo limit 1000", RED.qdisc]
    assert ["flows=10 " in line for line in plan] == 2 * [False, False, True, True]
    assert ["seed=2 " in line for line in plan] == 4 * [False] + 4 * [True]


def test_patterns_and_flows_choose() -> None:
    assert len(cells(["*"], FLOWS, ["ack"])) == len(FLOWS) * len(SUBJECTS) - 10
    names = {cell.subject.name for cell in cells(["zrtt*"], [100_000])}
    assert names == {"zrtt", "zrtt-hint", "zrtt-large"}
    with pytest.raises(GridError, match="--only zrt: none of pfifo"):
        cells(["zrt"], FLOWS)
    with pytest.raises(GridError, match="nothing to measure"):
        cells(["zrtt-mark"], [100_000])


def test_usual_cells_are_of_the_usual_shape_and_some_of_others() -> None:
    usual = cells(["*"])
    frag = [cell for cell in usual if cell.shape == "frag"]
    assert len(frag) == len(FLOWS) * len(SUBJECTS) - 10
    others = {(cell.shape, cell.subject.name, cell.flows) for cell in usual} - {
        (cell.shape, cell.subject.name, cell.flows) for cell in frag
    }
    assert others == {
        (shape, name, flows) for shape in SHAPES[1:] for name in COMPARED for flows in (1, 10_000)
    }
    assert {cell.flows for cell in cells(["pie"], [7])} == {7}
    assert {cell.shape for cell in cells(["pie"], [7])} == set(SHAPES)


@pytest.mark.parametrize("shape", IPV6)
def test_hint_is_an_option_of_ipv4(shape: str) -> None:
    assert {cell.subject.name for cell in cells(["zrtt", "zrtt-hint"], [1], [shape])} == {"zrtt"}
    with pytest.raises(GridError, match="nothing to measure"):
        cells(["zrtt-hint"], [1], [shape])


def test_module_has_the_same_shapes() -> None:
    source = (ROOT / "lab" / "bench" / "kmod" / "qbench.c").read_text()
    assert tuple(re.findall(r'\{ \.name = "([^"]+)"', source)) == SHAPES
    (said,) = re.findall(r'"of packets: ([^(]+) \(frag\)"', source)
    assert tuple(said.split(", ")) == SHAPES


@pytest.mark.parametrize(("now", "worse"), [(103.1, True), (102.9, False), (50.0, False)])
def test_gate_tolerates_3_percent(now: float, worse: bool) -> None:
    verdicts = gate.judge(bench(of_cost(100.0)), bench(of_cost(now)))
    assert [verdict.worse for verdict in verdicts] == [worse]
    assert ("WORSE" in gate.render(verdicts)) == worse


@pytest.mark.parametrize(("factor", "status"), [(1.031, 1), (1.029, 0)])
def test_check_measures_what_the_baseline_has(
    factor: float, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    settings = replace(COUNTED, seed=9)
    baseline = bench(of_cost(200.0), of_cost(300.0, flows=10, shape="ack"), settings=settings)
    baseline.save(tmp_path / "baseline.json")

    def measured(wanted: list[Cell], used: Settings, _: str) -> Bench:
        assert (wanted, used) == ([Cell(RED, 1, "frag"), Cell(RED, 10, "ack")], settings)
        now = bench(of_cost(200.0), of_cost(300.0 * factor, flows=10))
        return replace(now, release="6.12.2")

    monkeypatch.setattr(measure, "run", measured)
    arguments = ["lab", "bench", "--check", str(tmp_path / "baseline.json")]
    monkeypatch.setattr(sys, "argv", arguments)
    assert cli.main() == status
    said = capsys.readouterr().out.splitlines()
    assert said[1].split() == "red frag 1 200.0 200.0 +0.0% ok".split()
    assert said[2].split()[:3] == "red ack 10".split()
    assert said[2].split()[-1] == ("WORSE" if status else "ok")
    assert said[-1] == "The baseline is of Linux 6.12.1, this is 6.12.2."


def test_committed_baseline_can_be_measured() -> None:
    baseline = load(ROOT / "lab" / "bench" / "baseline.json")
    found = gate.cells(baseline)
    assert {"zrtt", "zrtt-hint", "zrtt-mark"} <= {cell.subject.name for cell in found}
    assert {(cell.shape, cell.flows) for cell in found if cell.subject.name == "zrtt"} == {
        (shape, flows) for shape in ("frag", "linear", "ack") for flows in (1, 10_000)
    }


def test_baseline_of_another_qdisc_is_refused() -> None:
    with pytest.raises(ReportError, match="the baseline has red"):
        gate.cells(bench(replace(of_cost(1.0), qdisc="red limit 1")))


def test_file_that_is_no_result_is_refused(tmp_path: Path) -> None:
    for content in ("", "[]", "{}", '{"settings": {}, "costs": []}'):
        (tmp_path / "x.json").write_text(content)
        with pytest.raises(ReportError, match="not a result"):
            load(tmp_path / "x.json")


def test_result_survives_its_file(tmp_path: Path) -> None:
    done = bench(of_cost(1.5), of_cost(2.5, flows=100))
    done.save(tmp_path / "sub" / "x.json")
    assert load(tmp_path / "sub" / "x.json") == done


def test_older_file_is_of_linear_packets(tmp_path: Path) -> None:
    done = bench(of_cost(1.5, shape="linear"))
    done.save(tmp_path / "x.json")
    content = json.loads((tmp_path / "x.json").read_text())
    for one in content["costs"]:
        del one["shape"], one["slow"]
    (tmp_path / "x.json").write_text(json.dumps(content))
    assert load(tmp_path / "x.json") == done


def test_table_has_a_column_per_number_of_flows() -> None:
    marked = replace(of_cost(54.4, "pfifo", 10_000), marked=0.1)
    lines = cost_table.lines(
        bench(of_cost(100.6), of_cost(54.4, "pfifo"), marked, of_cost(200.0, shape="ack"))
    )
    assert lines == [
        ["", "shape", "1 flow", "10k flows", "slow path", "marked", "dropped"],
        ["red", "frag", "101", "-", "", "", ""],
        ["pfifo", "frag", "54", "54", "", "10.0%", ""],
        ["red", "ack", "200", "-", "", "", ""],
    ]


@pytest.mark.parametrize(
    ("shares", "shown"),
    [((0.0, 0.0), "0.0%"), ((0.0, 0.25), "25.0%"), ((None, 0.0), "not counted")],
)
def test_table_tells_none_from_not_counted(
    shares: tuple[float | None, float | None], shown: str
) -> None:
    costs = [
        replace(of_cost(1.0, "zrtt", flows), qdisc="zrtt flows 1024", slow=share)
        for flows, share in zip((1, 10), shares, strict=True)
    ]
    assert cost_table.lines(bench(*costs))[1][4] == shown


def test_native_table_has_quartiles() -> None:
    native = replace(COUNTED, kernel=NATIVE, slices=20)
    lines = cost_table.lines(bench(replace(of_cost(50.0), low=48.0, high=53.6), settings=native))
    assert lines[1][2] == "50 (48..54)"


def test_plot_names_all_lines(tmp_path: Path) -> None:
    costs = [of_cost(total, name, flows) for name, total in (("red", 9.0), ("zrtt-hint", 5.0))
             for flows in (1, 100)]  # fmt: skip
    other = of_cost(7.0, "pfifo", 10, shape="ack")
    plot.plot(bench(*costs, other), tmp_path / "x.svg")
    text = (tmp_path / "x.svg").read_text()
    assert "shape frag" in text and ">pfifo<" not in text
    assert ">red<" in text and ">zrtt-hint<" in text and ">instructions per packet" in text


def test_plot_wants_a_range_of_flows(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="one number of flows"):
        plot.plot(bench(of_cost(1.0), of_cost(1.0, flows=2, shape="ack")), tmp_path / "x.svg")


def test_memory_is_a_difference() -> None:
    wanted = [Cell(RED, 1), Cell(RED, 10_000)]
    memories = memory.parse(wanted, "1000 3048 4072\n1000 3048 12240\n")
    assert [(m.flows, m.added, m.used, m.shape) for m in memories] == [
        (1, 2048, 3072, "frag"),
        (10_000, 2048, 11240, "frag"),
    ]
    assert memory.render(memories, markdown=False).splitlines()[1].split() == [
        "red", "2", "3", "11",
    ]  # fmt: skip
    other = [memory.Memory("other", "other", 10_000, 1024, 2048, "frag")]
    assert memory.render(memories + other, markdown=False).splitlines()[2].split() == [
        "other", "1", "-", "2",
    ]  # fmt: skip
    with pytest.raises(ResultError, match="said of its memory"):
        memory.parse(wanted, "1000 2048 3072\n")


def test_profile_adds_up_what_is_inlined() -> None:
    functions = {1: ("enqueue",), 2: ("enqueue", "dissect"), 3: ("enqueue", "dissect", "rol32"),
                 4: ("delay_tsc",), 5: ("ktime_get",)}  # fmt: skip
    sums = profile.tree({1: 100, 2: 200, 3: 40, 4: 500, 5: 500}, functions)
    assert [line.split() for line in profile.render(sums, packets=50).splitlines()] == [
        ["10.0", "ktime_get"], ["6.8", "enqueue"], ["4.8", "dissect"],
    ]  # fmt: skip


def test_profile_knows_what_is_at_an_address() -> None:
    symbols = profile.Symbols("ffff20 t b [qbench]\nffff10 T a\n")
    assert (symbols.at(0xFFFF1F), symbols.at(0xFFFF20)) == ("a", "b [qbench]")


@pytest.mark.parametrize(
    "options",
    ["", "--only zrtt", "--kernel uml --only zrtt --flows 1",
     "--only zrtt --flows 1 --shape ack --shape frag"],
)  # fmt: skip
def test_profile_is_of_one_cell(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "bench", "--profile", *options.split()])
    assert cli.main() == 2


@pytest.mark.parametrize(
    "options",
    [
        "--flows 0", "--flows 16777217", "--packets 0", "--rounds x", "--seed 0", "--backlog -1",
        "--memory --check x", "--kernel 5.10", "--shape round",
    ],
)  # fmt: skip
def test_bad_options_are_refused(options: str) -> None:
    with pytest.raises(SystemExit) as error:
        cli.parser().parse_args(["bench", *options.split()])
    assert error.value.code == 2


@pytest.mark.parametrize("options", ["--kernel uml", "--plot x.svg", "--shape ack --shape frag"])
def test_memory_is_no_cost(options: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "bench", "--memory", *options.split()])
    assert cli.main() == 2


@pytest.fixture(scope="module")
def measured() -> Bench:
    """A few packets, on a stock kernel."""
    few = replace(COUNTED, packets=2000, gap_ns=12_000)
    wanted = [
        *cells(["pfifo", "fq_codel", "zrtt-mark"], [100], ["frag"]),
        *cells(["zrtt"], [100], SHAPES),
        Cell(DEAF, 100),
    ]
    return measure.run(wanted, few, "")


@pytest.fixture(scope="module")
def frag(measured: Bench) -> dict[str, Cost]:
    """Those of the usual shape, by name."""
    return {cost.name: cost for cost in measured.costs if cost.shape == "frag"}


@pytest.mark.guest
def test_zrtt_costs_less_than_fq_codel(measured: Bench, frag: dict[str, Cost]) -> None:
    assert measured.unit == "instructions"
    assert 20 < frag["pfifo"].total < frag["zrtt"].total < frag["fq_codel"].total
    assert frag["zrtt"].total == frag["zrtt"].enqueue + frag["zrtt"].dequeue


@pytest.mark.guest
def test_marks_are_what_they_are_said_to_be(frag: dict[str, Cost]) -> None:
    assert 0.08 <= frag["zrtt-mark"].marked <= 0.14  # a tenth, and what penalties change
    assert frag["zrtt"].marked == frag["pfifo"].marked == 0


@pytest.mark.guest
@pytest.mark.parametrize("shape", SHAPES)
def test_no_shape_takes_the_slow_path(measured: Bench, shape: str) -> None:
    shares = {cost.shape: cost.slow for cost in measured.costs if cost.name == "zrtt"}
    assert shares[shape] == 0


@pytest.mark.guest
def test_packets_with_other_options_take_the_slow_path(frag: dict[str, Cost]) -> None:
    assert frag["deaf"].slow == 1
    assert frag["deaf"].total > frag["zrtt"].total
    assert frag["fq_codel"].slow is None
