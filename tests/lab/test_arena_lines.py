# SPDX-License-Identifier: GPL-2.0
"""The arena with hidden lines: what is drawn, and what is told of it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from statistics import fmean, median

import pytest
from swept import FakeGuests

from lab.arena import report
from lab.arena.classes import CLASSES
from lab.arena.columns import OF_QDISC, OF_RUN
from lab.arena.draw import Drawn, scenario_of
from lab.arena.figures import of_run
from lab.arena.lines import (
    BUFFER_S,
    DURATION_S,
    FALLS,
    FAST_KBPS,
    LEAST_BUFFER_BYTES,
    LEAST_KBPS,
    RTTS_MS,
    WARMUP_S,
    draw_line,
)
from lab.arena.plan import LINES_QDISCS, default_qdiscs, plan
from lab.model.grid import GridError
from lab.model.line import Line
from lab.model.scenario import Scenario
from lab.results.table import Row
from lab.runs import sweep

MANY = 300


@cache
def arena() -> list[Drawn]:
    return [draw_line(1, number) for number in range(1, MANY + 1)]


@cache
def scenarios() -> list[Scenario]:
    return [scenario_of(drawn.options, kernel="uml").check() for drawn in arena()]


def line_of(scenario: Scenario) -> Line:
    assert scenario.line
    return scenario.line


def rates_of(scenario: Scenario) -> list[float]:
    return [rate_bps / 1000 for _, rate_bps in line_of(scenario).rates]


def walks(scenario: Scenario) -> bool:
    return len(line_of(scenario).rates) == 16


def test_seed_and_number_are_all() -> None:
    assert draw_line(1, 7) == arena()[6]
    assert draw_line(2, 7) != arena()[6]
    assert len({str(drawn.options["line"]) for drawn in arena()}) == MANY


def test_place_is_all_that_differs() -> None:
    before = draw_line(1, 7, "before")
    assert before.seed == arena()[6].seed
    line = f"{arena()[6].options['line']} place=before"
    assert before.options == arena()[6].options | {"line": line}


def test_timestamps_are_all_that_differs() -> None:
    (with_them,) = plan(1, [3], {"zrtt": "zrtt"}, "uml", lines="behind")
    (without,) = plan(1, [3], {"zrtt": "zrtt"}, "uml", lines="behind", more={"timestamps": "off"})
    assert without.drawn == with_them.drawn
    point, other = (found.points["zrtt"].scenario for found in (without, with_them))
    assert point == replace(other, timestamps_share=0.0)
    assert f"{report.describe(with_them)}, timestamps off" == report.describe(without)


def test_drawing_stays() -> None:
    assert draw_line(3, 4) == Drawn(
        3,
        4,
        {
            "rate": "20mbit",
            "rtts": "25ms",
            "sessions": "2",
            "cc": "cubic",
            "ecn": "off",
            "gso": "off",
            "hint": "none",
            "warmup": "20",
            "duration": "60",
            "back": "zrtt timestamps",
            "line": "rate=1216kbit@0,34502kbit@40 buffer=42245B",
        },
        789883,
    )


def test_rates_fall_and_rise_within_their_ranges() -> None:
    changing = [s for s in scenarios() if not walks(s)]
    for scenario in changing:
        rates = rates_of(scenario)
        assert len(set(rates)) == 2 and min(rates) >= LEAST_KBPS
        assert FAST_KBPS[0] <= max(rates) <= FAST_KBPS[1]
        assert max(rates) / min(rates) <= FALLS[1] + 0.1
        assert min(rates) == LEAST_KBPS or max(rates) / min(rates) >= FALLS[0] - 0.1
    falls = [math.log(max(rates_of(s)) / min(rates_of(s))) for s in changing]
    assert abs(median(falls) - math.log(math.sqrt(FALLS[0] * FALLS[1]))) < 0.3


def test_all_shapes_are_drawn() -> None:
    """Down, up, there and back twice, three dips; and walks."""
    shapes = [
        "walk" if walks(s) else ("down" if rates_of(s)[0] > rates_of(s)[1] else "up", len(rates_of(s)))
        for s in scenarios()
    ]  # fmt: skip
    assert set(shapes) == {"walk", ("down", 2), ("up", 2), ("down", 4), ("down", 7)}
    assert all(0.1 < shapes.count(shape) / MANY < 0.3 for shape in set(shapes))


def test_fifos_are_of_the_slowest_rate() -> None:
    for scenario in scenarios():
        room = line_of(scenario).buffer_bytes
        seconds = room / (min(rates_of(scenario)) * 1000 / 8)
        assert room >= LEAST_BUFFER_BYTES
        assert room == LEAST_BUFFER_BYTES or BUFFER_S[0] * 0.99 <= seconds <= BUFFER_S[1] * 1.01


def test_flows_are_few_and_no_hint_helps() -> None:
    assert {s.n_flows for s in scenarios()} >= {1, 2, 3, 4, 6, 8, 12, 16, 24}
    assert {s.hint for s in scenarios()} == {"none"}
    assert {s.ecn for s in scenarios()} == {True, False}
    assert {cc for s in scenarios() for cc in s.ccs} == {"cubic", "bbr", "reno"}
    rtts = [rtt for s in scenarios() for rtt in s.rtts_ms]
    assert RTTS_MS[0] <= min(rtts) < 10 and 130 < max(rtts) <= RTTS_MS[1]
    assert all(s.back_words[0] == "zrtt" for s in scenarios())
    assert {s.total_s for s in scenarios()} == {WARMUP_S + DURATION_S}
    assert 0.3 < fmean(bool(s.thin) for s in scenarios()) < 0.5
    assert 0.2 < fmean(s.churn is not None for s in scenarios()) < 0.4


def test_other_kinds_are_refused() -> None:
    with pytest.raises(GridError, match="--lines: not with"):
        plan(1, [1], LINES_QDISCS, "uml", lines="behind", hosts=True, l4s=False, streams=False)
    assert plan(1, [1], LINES_QDISCS, "uml", lines="behind", hosts=False)[0].drawn == arena()[0]


def test_qdiscs_follow_the_line() -> None:
    assert default_qdiscs("uml", lines="behind") == LINES_QDISCS
    for place, words in (("behind", ["timestamps"]), ("before", ["ingress", "timestamps"])):
        made = plan(1, [1], default_qdiscs("uml", lines=place), "uml", lines=place)[0]
        scenario = made.points["zrtt"].scenario
        assert scenario.qdisc_words == ["zrtt", "bandwidth", "auto", *words]
        assert line_of(scenario).before == (place == "before")
        assert (" before the qdisc, " in report.describe(made)) == (place == "before")
    assert made.points["cake-autorate"].scenario.autorate


def test_lines_are_described() -> None:
    made = plan(3, [4], LINES_QDISCS, "uml", lines="behind")[0]
    assert report.describe(made).startswith(
        "a line of 1.22@0, 34.5@40 Mbit/s and 42.2 kB, 2 flows of 25 ms, cubic, ECN off,"
    )


def test_classes_are_by_the_line() -> None:
    slow = [s for s in scenarios() if CLASSES["below 5 Mbit/s"](s)]
    assert 0 < len(slow) < MANY / 2
    assert all(line_of(s).mean_bps(0, s.total_s) < 5e6 for s in slow)


def test_delay_is_that_of_both_queues() -> None:
    point = plan(3, [4], LINES_QDISCS, "uml", lines="behind")[0].points["zrtt"]
    row: Row = sweep._row(point, FakeGuests().run(point), "0")
    row = replace(row, min_phase_utilisation=0.914, whole_mean_ms=12.0, whole_p95_ms=34.5)
    figures = of_run(4, point, row)
    told = {column.head: column.text(column.of([figures])) for column in OF_RUN}
    assert (told["whole, ms"], told["whole p95"]) == ("12.0", "34.5")
    sums = [(column.head, column.text(column.of([figures]))) for column in OF_QDISC]
    assert told["least used"] == "91.4%" and sums[-4] == ("least used", "91.4%")
    assert sums[-3:] == [("whole, ms", "12.0"), ("whole p95", "34.5"), ("most", "34")]
    other = replace(figures, whole_mean_ms=math.nan, whole_p95_ms=math.nan, least_used=math.nan)
    assert not any(
        column.tells([other])
        for column in OF_RUN
        if column.head.startswith(("whole", "least"))
    )
