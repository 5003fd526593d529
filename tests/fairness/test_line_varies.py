# SPDX-License-Identifier: GPL-2.0
"""`bandwidth auto` does not take a delay that varies by itself, as that of radio does, for a queue."""

from __future__ import annotations

import pytest

from lab.model.line import Line
from lab.model.scenario import Scenario, Step
from lab.runs import runner


@pytest.mark.parametrize(
    ("rate", "cc", "sessions", "from_s", "most_ms"),
    [("5mbit", "cubic", 4, 0, 60.0), ("20mbit", "bbr", 1, 5, 80.0)],
)
def test_line_is_used_though_the_delay_varies(
    rate: str, cc: str, sessions: int, from_s: int, most_ms: float
) -> None:
    scenario = Scenario(
        kernel="uml", qdisc="zrtt bandwidth auto min 0.5mbit max 100mbit timestamps",
        back="zrtt timestamps", line=Line.parse(f"rate={rate} buffer=300ms"),
        rtts_ms=(40.0, 60.0), sessions=sessions, cc=(cc,), hint="none", seed=1,
        steps=(Step.parse(f"t={from_s} jitter=20ms"),),
    ).check()  # fmt: skip
    line = runner.run(scenario).line
    assert line
    assert line.utilisation >= 0.93  # 0.44 and 0.65 where noise that lowered the rate is a queue
    assert line.sojourn_ms.mean <= most_ms
