# SPDX-License-Identifier: GPL-2.0
"""The arena: what TCP is due, who is behind, and what is shown of it."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from swept import FakeGuests
from test_report_page import Page

from lab import cli
from lab.arena import page, report
from lab.arena.classes import CLASSES, by_class
from lab.arena.columns import OF_RUN
from lab.arena.draw import draw
from lab.arena.due import Dues, dues
from lab.arena.figures import Bout, Figures, bouts, by_qdisc, by_thin, of_run
from lab.arena.plan import plan
from lab.html import tables
from lab.model.grid import Point
from lab.model.scenario import Scenario
from lab.model.step import Step
from lab.model.udp import Udp
from lab.results import table
from lab.results.max_min import max_min
from lab.results.table import Row
from lab.runs import sweep

INF = math.inf


# What TCP is due


@pytest.mark.parametrize(
    ("capacity", "demands", "given"),
    [
        (20, [20, 20, INF, INF], [5, 5, 5, 5]),
        (20, [12, 12, INF, INF], [5, 5, 5, 5]),
        (20, [24, INF], [10, 10]),
        (20, [2, INF, INF], [2, 9, 9]),
        (20, [INF, 4, INF, 5], [5.5, 4, 5.5, 5]),
        (20, [1, 2], [1, 2]),
        (20, [], []),
        (30, [4, 12, INF], [4, 12, 14]),
    ],
)
def test_max_min(capacity: float, demands: list[float], given: list[float]) -> None:
    assert max_min(capacity, demands) == pytest.approx(given)


def scenario(**others: object) -> Scenario:
    """20 Mbit/s, two flows; measured from second 20 to 80."""
    return Scenario(rate_bps=20_000_000, rtts_ms=(20.0, 200.0), **others).check()  # type: ignore


def udp(*texts: str) -> tuple[Udp, ...]:
    return tuple(map(Udp.parse, texts))


@pytest.mark.parametrize(
    ("given", "tcp", "contested"),
    [
        (scenario(), 1.0, False),
        (scenario(udp=udp("20mbit", "20mbit")), 0.5, True),
        (scenario(udp=udp("12mbit", "12mbit")), 0.5, True),
        (scenario(udp=udp("24mbit")), 2 / 3, True),
        (scenario(udp=udp("2mbit")), 0.9, False),
        (scenario(udp=udp("24mbit"), sessions=3), 6 / 7, True),
        # for a third of the measured time
        (scenario(udp=udp("24mbit@10-40")), 1 - 1 / 9, True),
        (scenario(udp=udp("24mbit@5-20")), 1.0, False),
        # 5 Mbit/s from second 50 on: 8 of 20 fit, of 5 a third is left to UDP
        (scenario(udp=udp("8mbit"), steps=(Step(50.0, 5_000_000),)),
         (20 * 2 / 3 + 5 * 2 / 3) / 25, True),
        (scenario(udp=udp("6mbit"), steps=(Step(50.0, 5_000_000),)), (14 + 10 / 3) / 25, True),
        # one flow is there from second 50 on, one until then
        (scenario(udp=udp("24mbit"), starts_s=(0.0, 50.0)), (1 / 2 + 2 / 3) / 2, True),
        (scenario(udp=udp("24mbit"), stops_s=(None, 50.0)), (2 / 3 + 1 / 2) / 2, True),
        # each router has two flows of its own besides
        (scenario(udp=udp("24mbit"), hops=2, cross_rtts_ms=(9.0, 9.0)), 0.8, True),
    ],
)  # fmt: skip
def test_due(given: Scenario, tcp: float, contested: bool) -> None:
    assert dues(given) == Dues(pytest.approx(tcp), contested)


def test_steady_flows() -> None:
    """Starts take up to 3 s."""
    three = Scenario(rtts_ms=(1.0, 2.0, 3.0), sessions=2)
    assert three.steady == [0, 1, 2, 3, 4, 5]
    assert replace(three, starts_s=(0.0, 17.0, 17.5)).steady == [0, 1, 2, 3]
    assert replace(three, stops_s=(80.0, 79.0, None)).steady == [0, 1, 4, 5]


# Who is behind


GUESTS = FakeGuests()
QDISCS = {"zrtt": "zrtt", "fq_codel": "fq_codel", "cake": "cake", "pie": "pie ecn"}


def row(point: Point, **changes: object) -> Row:
    """A run in which all flows get the same."""
    made = point.scenario
    content = sweep._row(point, GUESTS.run(point), "0")
    known = {
        "jain": 0.123, "utilisation": 0.99, "tcp_share": 0.99,
        "goodputs_mbps": ";".join(["1.5"] * len(made.flows)),
        "cross_goodputs_mbps": ";".join(["1.5"] * len(made.cross_flows)),
    }  # fmt: skip
    return replace(content, **{**known, **changes})


@cache
def options_of(number: int) -> frozenset[str]:
    return frozenset(draw(1, number).options)


@cache
def number_of(*wanted: str, without: tuple[str, ...] = ()) -> int:
    """A scenario that has these options, and not those."""
    return next(
        n for n in range(1, 500)
        if set(wanted) <= options_of(n) and not set(without) & options_of(n)
    )  # fmt: skip


def found(number: int, changes: Mapping[str, Mapping[str, object]]) -> Bout:
    """A scenario in which the qdiscs of `changes` were run."""
    (one,) = plan(1, [number], QDISCS, "uml")
    rows = [row(one.points[name], **own) for name, own in changes.items()]
    (bout,) = bouts([one], rows)
    return bout


def plain_number() -> int:
    return number_of("cc", without=("udp", "churn", "hops", "start", "stop", "reverse", "step"))


def unfair(number: int, first: float) -> dict[str, str]:
    """The first flow gets that much, the others 1.5 Mbit/s."""
    flows = len(plan(1, [number], QDISCS, "uml")[0].points["zrtt"].scenario.flows)
    return {"goodputs_mbps": ";".join([f"{first}"] + ["1.5"] * (flows - 1))}


def test_leads_are_to_the_better_rival() -> None:
    bout = found(plain_number(), {
        "zrtt": {"utilisation": 0.95}, "fq_codel": unfair(plain_number(), 15.0),
        "cake": {"utilisation": 0.97}, "pie": unfair(plain_number(), 0.0),
    })  # fmt: skip
    own = bout.figures
    assert own["zrtt"].jain == own["cake"].jain == 1.0
    assert own["zrtt"].jain_lead == 0.0
    assert own["zrtt"].utilisation_lead == pytest.approx(0.95 - 0.99)
    assert own["fq_codel"].jain_lead == pytest.approx(own["fq_codel"].jain - 1.0)
    assert own["cake"].jain_lead == pytest.approx(1.0 - own["fq_codel"].jain)
    assert own["fq_codel"].max_min_ratio == 10.0
    assert own["pie"].max_min_ratio == INF
    assert math.isnan(own["zrtt"].tcp_of_due)
    assert bout.missing == []


def test_ratios_are_to_the_better_rival() -> None:
    number = number_of("churn", "reverse")
    bout = found(number, {
        "zrtt": {"fct_mean_s": 0.6, "reverse_mean_mbps": 3.0},
        "fq_codel": {"fct_mean_s": 0.5, "reverse_mean_mbps": 4.0},
        "cake": {"fct_mean_s": math.nan, "reverse_mean_mbps": 6.0},
        "pie": {},
    })  # fmt: skip
    zrtt, fq_codel = bout.figures["zrtt"], bout.figures["fq_codel"]
    assert (zrtt.fct_ratio, zrtt.reverse_ratio) == (pytest.approx(1.2), pytest.approx(0.5))
    assert math.isnan(fq_codel.fct_ratio)
    assert fq_codel.reverse_ratio == pytest.approx(2 / 3)


def test_flows_that_come_and_go_do_not_count() -> None:
    number = number_of("stop", without=("hops",))
    (one,) = plan(1, [number], QDISCS, "uml")
    point = one.points["zrtt"]
    steady = set(point.scenario.steady)
    assert 0 < len(steady) < len(point.scenario.flows)
    goodputs = ["2" if n in steady else "0.1" for n in range(len(point.scenario.flows))]
    figures = of_run(number, point, row(point, goodputs_mbps=";".join(goodputs)))
    assert (figures.jain, figures.max_min_ratio) == (1.0, 1.0)


def test_flows_of_one_router_count() -> None:
    number = number_of("hops", without=("start", "stop"))
    (one,) = plan(1, [number], QDISCS, "uml")
    point = one.points["zrtt"]
    crossing = ";".join(["3"] * len(point.scenario.cross_flows))
    assert of_run(number, point, row(point, cross_goodputs_mbps=crossing)).max_min_ratio == 2.0


def test_tcp_of_its_due() -> None:
    number = next(
        n for n in range(1, 500)
        if "udp" in draw(1, n).options
        and dues(plan(1, [n], QDISCS, "uml")[0].points["zrtt"].scenario).contested
    )  # fmt: skip
    (one,) = plan(1, [number], QDISCS, "uml")
    point = one.points["zrtt"]
    due = dues(point.scenario).tcp
    figures = of_run(number, point, row(point, tcp_share=due / 2))
    assert figures.tcp_of_due == pytest.approx(0.5)


def test_runs_that_are_missing() -> None:
    bout = found(plain_number(), {"zrtt": {}, "pie": {}})
    assert bout.missing == ["fq_codel", "cake"]
    assert math.isnan(bout.figures["zrtt"].jain_lead)
    assert bout.figures["zrtt"].loss == 0.0
    text = report.render([bout])
    assert f"{plain_number()}: no run of fq_codel, cake" in text
    assert "2 of 4 runs are missing" in text
    assert "behind by" not in text
    assert f"{plain_number()}: not run" in report.render([found(plain_number(), {})])


# What is shown


def figures(number: int, qdisc: str, **others: float) -> Figures:
    known = {
        "jain": 0.99, "max_min_ratio": 1.1, "utilisation": 0.98, "sojourn_p95_ms": 20.0,
        "fct_mean_s": math.nan, "short_unfinished": math.nan, "reverse_mbps": math.nan,
        "tcp_of_due": math.nan, "jain_lead": 0.0, "utilisation_lead": 0.0,
    }  # fmt: skip
    return Figures(number, qdisc, **{**known, **others})


@pytest.fixture
def ten() -> list[Bout]:
    """Ten scenarios: zrtt is behind in some."""
    leads = {2: -0.0025, 4: -0.05, 5: -0.0015, 6: 0.02, 7: -0.011}
    made = []
    three = {name: QDISCS[name] for name in ("zrtt", "fq_codel", "cake")}
    for one in plan(1, range(1, 11), three, "uml"):
        number = one.drawn.number
        own = {
            "zrtt": figures(
                number, "zrtt", jain_lead=leads.get(number, 0.0),
                utilisation=0.95 if number == 3 else 0.99,
                utilisation_lead=-0.03 if number == 3 else -0.004,
                fct_mean_s={1: 0.5, 2: 0.9}.get(number, math.nan),
                fct_ratio={1: 0.5, 2: 1.5}.get(number, math.nan),
                tcp_of_due={9: 0.7, 10: 0.9}.get(number, math.nan),
                reverse_ratio={3: 0.5, 4: 1.2, 5: 0.99}.get(number, math.nan),
            ),
            "fq_codel": figures(
                number, "fq_codel", fct_mean_s={1: 1.0, 2: 1.0}.get(number, math.nan),
                tcp_of_due={9: 0.5, 10: 0.5}.get(number, math.nan),
            ),
            "cake": figures(number, "cake", fct_mean_s={1: 1.1, 2: 0.6}.get(number, math.nan)),
        }  # fmt: skip
        made.append(Bout(one, own))
    return made


def test_verdict_counts(ten: list[Bout]) -> None:
    said = report.verdict(ten)
    assert said == [
        "zrtt: behind by more than 0.002 of Jain in 3 of 10 scenarios (30.0%):"
        " 4 (-0.0500), 7 (-0.0110), 2 (-0.0025)",
        "zrtt: behind by more than 0.01 of Jain in 2 of 10 scenarios (20.0%):"
        " 4 (-0.0500), 7 (-0.0110)",
        "zrtt: mean utilisation 98.60%, fq_codel 98.00%, cake 98.00%",
        "zrtt: behind by more than 0.5 points of it in 1 of 10 scenarios (10.0%): 3 (-3.0%)",
        "zrtt: short flows done sooner than over the better one in 1 of 2 scenarios (50.0%),"
        " than over fq_codel in 2, than over cake in 1; times later: 2 (1.50)",
        "zrtt: flows the other way get 89.7% of what the better one gives them, less than 98% in"
        " 1 of 3 scenarios (33.3%): 3 (50%)",
        "zrtt: TCP beside UDP gets 80.0% of its due, fq_codel 50.0%, cake none;"
        " least in 9 (70%), 10 (90%)",
    ]


def test_scenario_with_a_missing_run_is_left_out(ten: list[Bout]) -> None:
    """Whom zrtt is compared with, and in which scenarios, does not depend on what failed."""
    left = dict(ten[3].figures)
    del left["cake"]
    some = [*ten[:3], Bout(ten[3].scenario, left), *ten[4:9], Bout(ten[9].scenario, {})]
    whole = [*ten[:3], *ten[4:9]]
    *said, missing, out = report.verdict(some)
    assert said == report.verdict(whole)
    assert missing == "4 of 30 runs are missing"
    assert out == (
        "left out of sums and verdict: 2 of 10 scenarios (20.0%): 4 (no run of cake), 10 (not run)"
    )
    assert by_qdisc(some) == by_qdisc(whole)
    assert by_class(some, "zrtt") == by_class(whole, "zrtt")
    read = Page(page.render(some, []))
    assert out in read.words


def test_leads_are_over_all_rivals() -> None:
    """Not over the one alone that did not fail."""
    number = plain_number()
    bout = found(number, {name: {} for name in QDISCS if name != "cake"})
    assert all(math.isnan(one.jain_lead) for one in bout.figures.values())
    assert all(math.isnan(one.utilisation_lead) for one in bout.figures.values())


def test_sum_has_a_line_per_qdisc(ten: list[Bout]) -> None:
    assert {name: len(own) for name, own in by_qdisc(ten).items()} == {
        "zrtt": 10, "fq_codel": 10, "cake": 10,
    }  # fmt: skip
    lines = report.render(ten).splitlines()
    (own,) = [line.split() for line in lines if line.startswith("zrtt  ")]
    assert own[:6] == ["zrtt", "10", "0.9900", "0.9900", "3", "2"]
    described = [line for line in lines if line.startswith("4: ")]
    assert described[0] == f"4: {report.describe(ten[3].scenario)}"
    assert ten[3].scenario.points["zrtt"].command in report.render(ten)


def test_loss_is_in_units_of_what_is_no_matter() -> None:
    known = {"jain_lead": -0.004, "utilisation_lead": -0.02}
    assert figures(1, "zrtt", **known).loss == pytest.approx(4)
    assert figures(1, "zrtt", jain_lead=-0.004).loss == pytest.approx(2)
    assert figures(1, "zrtt", jain_lead=0.1, utilisation_lead=0.1).loss == 0


def test_classes(ten: list[Bout]) -> None:
    """Each scenario is in one of those that exclude each other."""
    classes = by_class(ten, "zrtt")
    groups = (
        ("below 5 Mbit/s", "5 to 100 Mbit/s", "100 Mbit/s and more"),
        ("up to 4 flows", "5 to 30 flows", "more than 30 flows"),
        ("ECN", "no ECN", "ECN of half"), ("one congestion control", "mixed"),
    )  # fmt: skip
    for group in groups:
        numbers = [one.scenario for name in group for one in classes.get(name, [])]
        assert sorted(numbers) == list(range(1, 11))
    words = {"zrtt": "zrtt"}
    many = [
        one for kind in ({}, {"l4s": True}, {"hosts": True})
        for one in plan(1, range(1, 120), words, "uml", **kind)
    ]  # fmt: skip
    bouts = [Bout(one, {"zrtt": figures(one.drawn.number, "zrtt")}) for one in many]
    assert set(by_class(bouts, "zrtt")) == set(CLASSES)
    slow = {one.scenario for one in by_class(bouts, "zrtt")["below 5 Mbit/s"]}
    rates = {one.drawn.number: one.points["zrtt"].scenario.rate_bps for one in many}
    assert slow == {number for number, rate in rates.items() if rate < 5_000_000}
    assert by_class(ten, "pie") == {}


def test_page_shows_losses_first(ten: list[Bout]) -> None:
    read = Page(page.render(ten, []))
    order = [own["id"] for tag, own in read.tags if (own.get("id") or "").startswith("scenario-")]
    assert order[:4] == [f"scenario-{n}" for n in (4, 3, 7, 2)]
    assert len(order) == 10
    for line in report.verdict(ten):
        assert line in read.words


# The command


def arena(monkeypatch: pytest.MonkeyPatch, guests: FakeGuests, *words: str) -> int:
    monkeypatch.setattr(sweep, "RealGuests", lambda: guests)
    monkeypatch.setattr(sys, "argv", ["lab", "arena", "--seed", "1", *words])
    return cli.main()


class Guests(FakeGuests):
    """Whose runs have all flows."""

    def run(self, point: Point) -> object:
        result = super().run(point)
        flow, cross = result.flows[0], result.flows[1]
        return replace(
            result, flows=[flow] * len(point.scenario.flows),
            cross=[cross] * len(point.scenario.cross_flows),
        )  # fmt: skip


def test_shards_merge_to_the_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole, parts = tmp_path / "whole.csv", [tmp_path / f"{n}.csv" for n in (1, 2, 3)]
    assert arena(monkeypatch, Guests(), "--count", "7", "--output", str(whole)) == 0
    shown = capsys.readouterr().out
    for index, part in enumerate(parts, 1):
        words = ["--count", "7", "--shard", f"{index}/3", "--output", str(part)]
        assert arena(monkeypatch, Guests(), *words) == 0
    assert sum(len(table.load(part)) for part in parts) == len(table.load(whole)) == 35
    capsys.readouterr()
    no_guests = FakeGuests()
    html = tmp_path / "page.html"
    words = ["--count", "7", "--html", str(html), "--merge", *map(str, parts)]
    assert arena(monkeypatch, no_guests, *words) == 0
    assert capsys.readouterr().out == shown
    assert no_guests.commands == []
    assert "Scenarios, losses first" in html.read_text()


def test_merged_versions_are_told_of(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [tmp_path / f"{n}.csv" for n in (1, 2)]
    for index, part in enumerate(parts, 1):
        monkeypatch.setattr(sweep, "revision", lambda index=index: f"r{index}")
        words = ["--count", "3", "--shard", f"{index}/2", "--output", str(part)]
        assert arena(monkeypatch, Guests(), *words) == 0
    capsys.readouterr()
    assert arena(monkeypatch, Guests(), "--count", "3", "--merge", *map(str, parts)) == 0
    said = capsys.readouterr()
    assert "10 of git r1 on Linux uml-release, 5 of git r2 on Linux uml-release" in said.err
    assert "are missing" not in said.out


def test_known_runs_are_not_run_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that failed is missing in what is shown, and tried again."""
    path, guests = tmp_path / "t.csv", Guests()
    guests.broken = {"cake"}
    words = ["--count", "3", "--only", "2,3", "--output", str(path)]
    assert arena(monkeypatch, guests, *words) == 1
    said = capsys.readouterr()
    assert "2: no run of cake" in said.out
    assert "failed: 1-2 cake seed" in said.err
    assert len(guests.commands) == 10
    guests.broken, guests.commands = set(), []
    assert arena(monkeypatch, guests, *words) == 0
    assert len(guests.commands) == 2
    guests.commands.clear()
    guests.source = "2"
    guests.broken = {"zrtt"}
    assert arena(monkeypatch, guests, *words) == 1
    assert len(guests.commands) == 2
    # the rows of the sources as they were are not shown for those that failed
    assert "3: no run of zrtt" in capsys.readouterr().out


def test_list_runs_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    guests = FakeGuests()
    assert arena(monkeypatch, guests, "--count", "2", "--list", "--qdisc", "a=zrtt alpha 0") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[::2]] == ["1", "2"]
    assert "--qdisc 'zrtt alpha 0'" in lines[1]
    assert guests.commands == []


def test_nonsense_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert arena(monkeypatch, FakeGuests(), "--count", "2", "--only", "3") == 2
    assert "--only 3: scenarios are 1 to 2" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        arena(monkeypatch, FakeGuests(), "--count", "2", "--shard", "3/2")
    assert "--shard: '3/2': want I/N, I from 1 to N" in capsys.readouterr().err


# Thin traffic


def test_thin_traffic_by_class() -> None:
    number = number_of("thin")
    calls = "voip:1:100:{lost}:0.1:{ms}:{ms}:{ms}:{ms};ping:1:10:0:0.1:1:1:1:1"
    bout = found(number, {
        "zrtt": {"thin": calls.format(lost=0, ms=2)},
        "pie": {"thin": calls.format(lost=25, ms=16)},
        "fq_codel": {},
        "cake": {},
    })  # fmt: skip
    assert bout.figures["zrtt"].thin_p99_ms == 2
    assert math.isnan(bout.figures["cake"].thin_p99_ms)
    assert list(by_thin([bout])) == ["voip zrtt", "voip pie", "ping zrtt", "ping pie"]
    lines = [line.split() for line in report.render([bout]).splitlines()]
    assert ["voip", "pie", "1", *["16.00"] * 3, "16.0", "16.0", "25.00%", "25.0%"] in lines
    assert "voip pie" in page.render([bout], [])
    plain = found(plain_number(), {name: {} for name in QDISCS})
    assert "thin traffic" not in report.render([plain])


def test_who_loses_all_is_never_best() -> None:
    """The wait of what did not arrive is inf; beside a class that waited little, too."""
    number = number_of("thin")
    lost = "ping:1:10:0:0.1:1:1:1:1;voip:1:100:100:0:inf:inf:inf:inf"
    slow = lost.replace("100:0:inf:inf:inf:inf", "0:0.1:9:9:9:9")
    bout = found(number, {"zrtt": {"thin": lost}, "cake": {"thin": slow}})
    shown = tables.summary({name: [one] for name, one in bout.figures.items()}, OF_RUN)
    assert "<strong>9.00</strong>" in shown
    both = found(number, {"zrtt": {"thin": lost}, "cake": {"thin": lost}})
    shown = tables.summary({name: [one] for name, one in both.figures.items()}, OF_RUN)
    assert "<strong>inf</strong>" not in shown
    assert ">inf</td>" in shown
