# SPDX-License-Identifier: GPL-2.0
"""A video call that has voice and video in one flow does not wait for downloads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.exec import plan, runner
from lab.exec.figures import Figures

FILE = Path(plan.__file__).parents[1] / "scenarios/meeting.toml"
PICTURE_MS = 4.0
"""Five packets take 2.5 ms, and one that is on its way 0.6; with bulk they would wait 10."""


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> Figures:
    """The first seconds of the scenario."""
    (meeting,) = plan.load(FILE)
    options = runner.Options(qdisc="zrtt", kernel="uml", seed=1, timeout_s=600)
    out = tmp_path_factory.mktemp("meeting")
    return runner.run(replace(meeting, warmup_s=10, duration_s=15), options, out, print)


def test_pictures_are_there_at_once(figures: Figures) -> None:
    seen = figures.samples["home-sees"]
    assert seen.count > 300
    assert seen.p95 < PICTURE_MS


def test_call_stays_sparse(figures: Figures) -> None:
    (call,) = (of for of in figures.directions[0].classes if of.name == "call")
    assert call.lost == 0
    assert call.sojourn_ms.p95 < PICTURE_MS
