# SPDX-License-Identifier: GPL-2.0
"""A queue has one colour in all pictures and pages, and the line of the fair share is the link's."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from matplotlib.colors import to_hex
from swept import result_of
from test_bench import bench, of_cost
from test_figures import ONE, planned

from lab.bench import plot
from lab.figures import canvas
from lab.figures.catalogue import FIGURES
from lab.figures.data import Load, Runs
from lab.html import plots
from lab.model.scenario import Scenario
from lab.output import pictures
from lab.output.looks import COLOURS, FEATURED, LOOKS, ON_BLACK, look
from lab.results import report, share
from lab.results.result import FlowResult, Result
from lab.results.table import Row
from lab.runs import sweepfile

SWEEPS = sorted((Path(sweepfile.__file__).parents[1] / "sweeps").glob("*.toml"))
DEMO = ("blue", "mrtt", "paper", "zrtt", "fq_codel")
LOW, HIGH = Load(20, 1, "on"), Load(20, 10, "on")


@cache
def queues(path: Path) -> list[str]:
    """Those of a sweep file."""
    return list(sweepfile.load(path).qdiscs)


def run(goodput_mbps: float, flows: int = 4, **changes: Any) -> Result:
    """Of flows alike, on 20 Mbit/s, without hints."""
    flow = FlowResult(20.0, "cubic", False, goodput_mbps, 0, 0, 20.0, 0.0,
                      goodput_mbps * 1514 / 1448)  # fmt: skip
    made = result_of(Scenario(rtts_ms=(20.0, 40.0)), "", 0.9)
    return replace(made, flows=[flow] * flows, goodput_mbps=flows * goodput_mbps, rate_mbps=20.0,
                   **changes)  # fmt: skip


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that would have been written."""
    figures: list[Any] = []
    monkeypatch.setattr(pictures, "save", lambda figure, path: figures.append(figure))
    return figures


# Colours


def test_only_the_featured_queue_has_its_colour() -> None:
    known = {name for path in SWEEPS for name in queues(path)}
    others = [name for name in sorted(known) if name.partition("-")[0] != FEATURED]
    assert others and not [n for n in others if look(n).colour == LOOKS[FEATURED].colour]
    assert look("zrtt-hint").colour == LOOKS[FEATURED].colour
    assert look("zrtt-hint").label == "zrtt-hint"


def test_all_colours_have_one_on_black() -> None:
    assert {look(name).colour for name in (*LOOKS, "unheard-of")} | set(COLOURS) <= set(ON_BLACK)


def test_colours_are_those_of_the_queue(drawn: list[Any], tmp_path: Path) -> None:
    """Whatever the order: by PNG, by SVG, by the page, by the costs of a packet."""
    wanted = {name: LOOKS[name].colour.lower() for name in DEMO}
    for order in (DEMO, DEMO[::-1]):
        report.plot([report.Run(name, run(1.0)) for name in order], tmp_path / "x.png")
        (axes,) = drawn.pop().axes
        lines = {line.get_label().split("  ")[0]: to_hex(line.get_color()) for line in axes.lines}
        assert {name: lines[name] for name in DEMO} == wanted
        on_page = plots.looks(order)
        shown = list(ON_BLACK)
        assert wanted == {name: shown[int(on_page[name].colour[-2:], 16)].lower() for name in DEMO}
    (figure,) = [figure for figure in FIGURES if figure.name == "fig7-all"]
    page = canvas.Canvas("a note")
    assert figure.draw(Runs(planned(), "uml"), "on", page)
    names = {text.get_text(): text.arrow_patch for text in page.figure.axes[0].texts}
    assert {to_hex(names["fq_codel"].get_edgecolor()), to_hex(names["zrtt"].get_edgecolor())} == {
        wanted["fq_codel"], wanted["zrtt"]
    }  # fmt: skip


def test_page_names_its_colours() -> None:
    css = plots.colours()
    for number, (white, black) in enumerate(ON_BLACK.items()):
        light, dark = css.split("@media")
        assert f"--series-{number}: {white};" in light and f"--series-{number}: {black};" in dark


def test_queues_of_one_colour_can_be_told_apart() -> None:
    for path in SWEEPS:
        looks = plots.looks(queues(path)).values()
        assert len({(own.colour, str(own.dashes), own.marker) for own in looks}) == len(looks), path
    assert plots.looks(("zrtt-hint", "zrtt"))["zrtt"].dashes == "solid"


def test_costs_have_the_same_colours(drawn: list[Any], tmp_path: Path) -> None:
    names = ("fq_codel", "zrtt-hint", "zrtt")
    costs = [of_cost(float(n + at), name, at) for n, name in enumerate(names) for at in (1, 100)]
    plot.plot(bench(*costs), tmp_path / "x.svg")
    colours = [to_hex(line.get_color()) for line in drawn.pop().axes[0].lines]
    assert colours == [look(name).colour.lower() for name in names]


# The fair share


def test_fair_share_is_the_link_s() -> None:
    """Whatever the queue made of it."""
    fair = 20 * 1448 / 1514 / 4
    for goodput in (0.5, 2.0, 4.5):
        assert share.of_result(run(goodput)) == pytest.approx(fair)
        row = replace(ONE, hint="none", rtts="9ms,20ms", goodputs_mbps=f"{goodput};" * 3 + "1")
        assert share.of_row(row) == pytest.approx(fair)


@pytest.mark.parametrize(
    ("changes", "fair"),
    [
        ({"hint": "packet"}, 20 * 1444 / 1514 / 4),
        ({"hint": "0.5"}, 20 / 4 / ((1514 / 1444 + 1514 / 1448) / 2)),
        ({"hint": "sampled"}, 20 * 1448 / 1514 / 4),
        ({"extra": "udp 5mbit; hops 2:30ms"}, 20 * 1448 / 1514 / 5),
        ({"extra": "step t=35 rate=5mbit, t=50 rate=20mbit",
          "command": "lab run --warmup 20 --duration 60"}, 16.25 * 1448 / 1514 / 4),
        ({"rate": "soon"}, math.nan),
        ({"extra": "step t=35 rate=5mbit"}, math.nan),
        ({"line_mbps": 11.0}, 11 * 1448 / 1514 / 4),
        ({"flows": 0}, math.nan),
    ],
)  # fmt: skip
def test_fair_share_of_a_row(changes: dict[str, Any], fair: float) -> None:
    row = replace(ONE, **{"hint": "none"} | changes)
    assert share.of_row(row) == pytest.approx(fair, nan_ok=True)


def test_flows_that_cross_one_router_have_a_share() -> None:
    crossing = [replace(run(1.0).flows[0], hop=hop) for hop in (1, 2)]
    assert share.of_result(run(1.0, cross=crossing)) == pytest.approx(20 * 1448 / 1514 / 5)


def test_demo_shows_the_link_s(drawn: list[Any], tmp_path: Path) -> None:
    """The first queue leaves half of the link idle."""
    report.plot([report.Run("blue", run(2.0)), report.Run("zrtt", run(4.7))], tmp_path / "x.png")
    (axes,) = drawn.pop().axes
    (line,) = [line for line in axes.lines if line.get_label().startswith("fair share")]
    assert line.get_ydata() == pytest.approx([20 * 1448 / 1514 / 4] * 2, rel=0.01)
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert f"fair share: {share.MEANING} (4.78 Mbit/s)" in texts


def test_bars_show_the_link_s() -> None:
    """A connection of ten sessions has ten shares; of blue, all get half of them."""
    rows: list[Row] = [replace(r, rate="20mbit", hint="none") for r in planned()]
    runs = Runs(rows, "uml")
    (figure,) = [figure for figure in FIGURES if figure.name == "fig4"]
    page = canvas.Canvas("a note")
    assert figure.draw(runs, "on", page)
    fair = 20 * 1448 / 1514 / 20
    assert runs.fair_mbps(LOW, "blue") == runs.fair_mbps(HIGH, "blue") == pytest.approx(fair)
    for axes in page.figure.axes:
        dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert [line.get_ydata()[0] for line in dashed] == [pytest.approx(fair)]
    assert any(share.MEANING in text.get_text() for text in page.figure.texts)


def test_page_shows_the_link_s() -> None:
    row = replace(ONE, hint="none", goodputs_mbps="1;1;3;3")
    fair = 20 * 1448 / 1514 / 4
    assert plots._shares([row]) == {
        20.0: [pytest.approx(1 / fair)] * 2, 40.0: [pytest.approx(3 / fair)] * 2
    }  # fmt: skip
    assert plots._shares([replace(row, rate="")]) == {}
