# SPDX-License-Identifier: GPL-2.0
"""The page of results: all of them are on it, it needs nothing else, and it says what is wrong."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from lab import cli
from lab.html import page, rows
from lab.results import report
from lab.results.report import ReportError
from lab.results.result import FlowResult, Result, Sojourn

EVIL = 'ours <b>&"$x_1$'
CELLS = ("cubic-2x1", "cubic-4x1", "step-<i>")
JAINS = {"zrtt": 0.99, EVIL: 0.75, "pfifo": 0.5}
VOID = {"meta", "path", "use", "br", "line", "rect"}
NOT_SHOWN = {"style", "script", "title"}
KNOWN = {
    "sweep": "small", "words": "some words", "kernel": "uml", "cc": "cubic", "flows": 2,
    "rtts": "20ms,40ms", "sessions": 1, "rate": "10mbit", "max_min_ratio": "inf",
    "utilisation": 0.75, "sojourn_mean_ms": 15.5, "sojourn_p95_ms": 28, "sojourn_max_ms": 41,
    "marks": 7, "goodputs_mbps": "6;4", "reruns": 1, "release": "7.3", "revision": "abc123",
    "weather": "fine", "command": "python3 -m lab run",
}  # fmt: skip
"""A column too many, and several too few."""


def write(path: Path, cells: Sequence[str] = CELLS, **changes: Any) -> Path:
    """A small table."""
    records = [
        KNOWN | {"cell": cell, "qdisc": qdisc, "jain": jain - seed / 100, "seed": seed} | changes
        for cell in cells
        for qdisc, jain in JAINS.items()
        for seed in (1, 2)
    ]
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, records[0])
        writer.writeheader()
        writer.writerows(records)
    return path


class Page(HTMLParser):
    """Reads a page strictly: what is opened is closed, in order, and no name is given twice."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open
        names = [own["id"] for _, own in self.tags if "id" in own]
        assert len(names) == len(set(names))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not NOT_SHOWN & set(self._open):
            self.words.append(data.strip())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def rendered(path: Path, misses: list[str] | None = None) -> tuple[str, Page]:
    text = page.render(rows.load([path]), misses)
    return text, Page(text)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Page]:
    """The page of the small table."""
    return rendered(write(tmp_path_factory.mktemp("small") / "t.csv"))


def test_all_is_on_the_page(small: tuple[str, Page]) -> None:
    _, shown = small
    for cell in CELLS:
        # in the table at a glance, and as a heading
        assert shown.words.count(cell) == 2
    for qdisc in JAINS:
        assert shown.words.count(qdisc) >= 1 + 2 * len(CELLS)
    for fact in ("18: 3 cells, 3 qdiscs, seeds 1, 2", "Linux 7.3", "abc123", "python3 -m lab run"):
        assert fact in shown.words
    assert any(word.startswith("18, run again") for word in shown.words)
    # four plots per cell, a key per qdisc
    assert shown.count("svg") == 4 * len(CELLS) + len(JAINS)


def test_worst_run_and_the_best_qdisc(small: tuple[str, Page]) -> None:
    text, shown = small
    assert "0.970" in shown.words and "0.975" in shown.words
    assert "<strong>0.970</strong>" in text
    assert "<strong>0.730</strong>" not in text
    # all are equally good
    assert text.count("<strong>75.0%</strong>") == len(JAINS) * (1 + 2 + 1)


def test_nothing_is_fetched(small: tuple[str, Page]) -> None:
    text, shown = small
    assert "://" not in text and "@import" not in text
    links = {own[name] or "" for _, own in shown.tags for name in ("href", "src") if name in own}
    assert links and all(link.startswith("#") for link in links)
    ids = {own["id"] for _, own in shown.tags if "id" in own}
    urls = set(re.findall(r"url\((#[^)]*)\)", text))
    assert {link.removeprefix("#") for link in links | urls} <= ids


def test_names_are_escaped(tmp_path: Path) -> None:
    text, shown = rendered(write(tmp_path / "t.csv", CELLS[-1:], words=EVIL, sweep=EVIL), [EVIL])
    assert "<b>&" not in text and "step-<i>" not in text
    assert EVIL in shown.words
    assert shown.count("i") == 0


def test_targets(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", CELLS[:1])
    assert "Targets" not in rendered(path)[1].words
    assert "All targets of the sweep file are reached." in rendered(path, [])[1].words
    words = rendered(path, ["too slow"])[1].words
    assert "1 missed:" in words and "too slow" in words


@pytest.mark.parametrize(
    "changes",
    [
        {"goodputs_mbps": ""},
        {"goodputs_mbps": "1;2;3"},
        {"goodputs_mbps": "0;0"},
        {"rtts": "soon", "sojourn_p95_ms": ""},
        {"max_min_ratio": "", "utilisation": "nan", "marks": ""},
    ],
)
def test_what_is_not_known_is_not_shown(tmp_path: Path, changes: dict[str, str]) -> None:
    _, shown = rendered(write(tmp_path / "t.csv", CELLS[:1], **changes))
    assert shown.count("svg") == 4 + len(JAINS)


def test_figures_that_tell_nothing_are_left_out(tmp_path: Path) -> None:
    heads = {"phase", "TCP", "class", "short, s"}
    same = {"min_phase_utilisation": 0.75, "tcp_share": 0.75, "max_class_ratio": 1,
            "fct_mean_s": "nan"}  # fmt: skip
    telling = {"min_phase_utilisation": 0.5, "tcp_share": 0.5, "max_class_ratio": 2,
               "fct_mean_s": 0.625}  # fmt: skip
    _, without = rendered(write(tmp_path / "s.csv", CELLS[:1], **same))
    assert heads.isdisjoint(without.words)
    _, having = rendered(write(tmp_path / "t.csv", CELLS[:1], **telling))
    assert heads <= set(having.words)


def test_kernels_are_kept_apart(tmp_path: Path) -> None:
    uml = write(tmp_path / "u.csv", CELLS[:1])
    stock = write(tmp_path / "s.csv", CELLS[:1], kernel="6.12", jain=0.123)
    shown = Page(page.render(rows.load([uml, stock])))
    assert "cubic-2x1 on uml" in shown.words and "cubic-2x1 on 6.12" in shown.words


def _single() -> Result:
    flows = [FlowResult(rtt, "reno", True, got, 0, 0, rtt, 0.0, got) for rtt, got in
             ((20.0, 6.0), (80.0, 3.0))]  # fmt: skip
    return Result(
        label="zrtt", jain=0.9, max_min_ratio=None, utilisation=0.99,
        sojourn_ms=Sojourn(15.0, 14.0, 28.0, 33.0, 41.0), marks=4, drops=2, packets=9,
        goodput_mbps=9.0, rate_mbps=10.0, measured_s=60.0, flows=flows, samples=[], qdisc={},
        kernel="6.12.1", clock="", gso=False, ecn=True, seed=3, reruns=0, wall_s=1.0, cpu_s=1.0,
        command="python3 -m lab run --rate 10mbit",
    )  # fmt: skip


def test_single_results(tmp_path: Path) -> None:
    result, path = _single(), tmp_path / "r.json"
    path.write_text(json.dumps(asdict(result)))
    _, shown = rendered(path)
    for words in ("2 flows (reno), 20 to 80 ms, 10 Mbit/s", "inf", "28.0", result.command):
        assert words in shown.words


@pytest.mark.parametrize(
    ("options", "others"),
    [
        ("", ""), ("--qdisc pie --seed 2", ""), ("--ecn off --json x.json", ", ecn off"),
        ("--ecn=off", ", ecn off"), ("'--step=t=3 rate=5mbit'", ", step t=3 rate=5mbit"),
    ],
)  # fmt: skip
def test_single_results_of_other_options_are_another_cell(
    tmp_path: Path, options: str, others: str
) -> None:
    """Else they would be two runs of the same, or one would take the other's place."""
    path = tmp_path / "r.json"
    result = replace(_single(), command=f"python3 -m lab run --rate 10mbit {options}")
    path.write_text(json.dumps(asdict(result)))
    (row,) = rows.load([path])
    assert row.cell == f"2 flows (reno), 20 to 80 ms, 10 Mbit/s{others}"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "no column cell, qdisc, seed, jain"),
        ("t.csv", "name,price\ntea,3\n", "no column cell"),
        ("t.csv", "cell,qdisc,seed,jain\n", "no runs in it"),
        ("t.csv", "cell,qdisc,seed,jain\nc,q,one,0.9\n", "row 2: "),
        ("t.json", '{"runs": []}', "no runs in it"),
        ("t.json", "[1]", "not a result"),
    ],
)
def test_foreign_files_are_refused(tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ReportError, match=message):
        rows.load([path])
    with pytest.raises(ReportError):
        report.load(path)
    with pytest.raises(ReportError, match="No such file"):
        rows.load([tmp_path / "missing.csv"])


def test_torn_line_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("cell,qdisc,seed,jain\nc,q,1,0.95\nc,q,2,0.9")
    assert [row.jain for row in rows.load([path])] == [0.95]


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table, made = write(tmp_path / "t.csv"), tmp_path / "new" / "p.html"
    monkeypatch.setattr(sys, "argv", ["lab", "report", str(table), "--html", str(made)])
    assert cli.main() == 0
    assert capsys.readouterr().out.startswith(f"{made}: 18 runs")
    assert made.read_text().startswith("<!DOCTYPE html>")
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--markdown"])
    assert cli.main() == 1
