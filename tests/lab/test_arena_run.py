# SPDX-License-Identifier: GPL-2.0
"""The arena in guests: flows that are reset, a scenario with real queues."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import pytest

from lab import cli
from lab.model.scenario import Scenario
from lab.results import table
from lab.runs import runner

COMING = Scenario(
    kernel="uml", qdisc="fq_codel", rate_bps=5_000_000, rtts_ms=(20.0, 40.0, 60.0), hint="none",
    starts_s=(0.0, 0.0, 25.0), stops_s=(None, 20.0, 40.0), warmup_s=10, duration_s=40,
    sample_ms=1000,
).check()  # fmt: skip


@pytest.mark.guest
def test_flows_come_and_go() -> None:
    """What they leave is taken by the others, and nothing arrives after the reset."""
    result = runner.run(COMING)
    rates = [
        [8e-3 * (after - before) / (later[0] - sooner[0])
         for before, after in zip(sooner[1:], later[1:], strict=True)]
        for sooner, later in pairwise(result.samples)
    ]  # fmt: skip
    assert len(rates) >= 48

    def mean(flow: int, since_s: int, until_s: int) -> float:
        return sum(rate[flow] for rate in rates[since_s:until_s]) / (until_s - since_s)

    assert mean(1, 12, 20) == pytest.approx(2.4, rel=0.2)
    assert mean(1, 21, 48) == mean(2, 0, 24) == mean(2, 41, 48) == 0
    assert mean(0, 21, 25) == pytest.approx(4.7, rel=0.1)
    assert mean(2, 32, 40) == pytest.approx(2.4, rel=0.25)
    assert mean(0, 42, 48) == pytest.approx(4.7, rel=0.1)
    assert result.utilisation > 0.95
    assert [flow.goodput_mbps > 0.3 for flow in result.flows] == [True, True, True]
    # as long as it was there: 10 of 40 s, 15 of 40 s
    assert result.flows[1].goodput_mbps == pytest.approx(2.4 / 4, rel=0.25)
    assert result.flows[1].wire_mbps > result.flows[1].goodput_mbps


@pytest.mark.guest
def test_a_scenario_is_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, html = tmp_path / "t.csv", tmp_path / "page.html"
    words = ["--seed", "1", "--count", "300", "--only", "101", "--html", str(html)]
    qdiscs = ["--qdisc", "fq_codel", "--qdisc", "mine=zrtt"]
    monkeypatch.setattr(sys, "argv", ["lab", "arena", *words, *qdiscs, "--output", str(path)])
    assert cli.main() == 0
    rows = table.load(path)
    assert {row.qdisc for row in rows} == {"fq_codel", "mine"}
    assert len({row.seed for row in rows}) == 1
    said = capsys.readouterr()
    assert "2 runs done, 0 failed, 0 known before" in said.err
    assert "mine: behind by more than 0.002 of Jain in" in said.out
    assert "101: " in html.read_text()
    assert cli.main() == 0
    again = capsys.readouterr()
    assert "0 runs done, 0 failed, 2 known before" in again.err
    assert again.out == said.out
