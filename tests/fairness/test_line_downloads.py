# SPDX-License-Identifier: GPL-2.0
"""`bandwidth auto ingress` keeps downloads without TCP timestamps, which answer nothing, from the line's queue."""

from __future__ import annotations

import pytest

from lab.model.line import Line
from lab.model.scenario import Scenario
from lab.runs import runner

MOST_MS = 100.0
"""In the line's FIFO: 18 to 45; 204 to 362 with these seeds where loss alone tells."""


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("rate", ["20mbit", "20mbit@0,5mbit@20"], ids=["steady", "falls"])
def test_queue_of_downloads_moves_to_the_router(rate: str, seed: int) -> None:
    scenario = Scenario(
        kernel="uml", qdisc="zrtt bandwidth auto ingress min 1mbit max 50mbit timestamps",
        back="zrtt timestamps", line=Line.parse(f"rate={rate} buffer=500ms place=before"),
        rtts_ms=(20.0, 80.0), sessions=2, cc=("cubic",), timestamps_share=0.0, hint="none", warmup_s=10,
        duration_s=20, seed=seed,
    ).check()  # fmt: skip
    line = runner.run(scenario).line
    assert line
    assert line.utilisation >= 0.85
    assert line.sojourn_ms.mean <= MOST_MS
