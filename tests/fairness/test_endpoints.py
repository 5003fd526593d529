# SPDX-License-Identifier: GPL-2.0
"""Beside endpoint schemes, in short runs on user-mode Linux: zrtt takes no fairness away."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import product
from statistics import mean

import pytest

from lab.model.scenario import CCS, Link, Scenario
from lab.results.result import Result
from lab.runs import runner

SCHEMES = ("libra", "nrhstcp", "exp")
QDISCS = ("zrtt", "pie ecn")
STUCK_RED = "red limit 3000000 min 20000 max 60000 avpkt 1500 burst 200 bandwidth 100mbit"
"""Slow start takes its average so far above max_th that it drops all."""


SEEDS = (1, 2, 3, 4, 5)
"""Over pie a scheme has 0.87 with one and 0.998 with another."""


def _run(cc: str, qdisc: str, seed: int) -> Result:
    """Five flows of a congestion control."""
    return runner.run(
        Scenario(
            kernel="uml", qdisc=qdisc, cc=(cc,), rate_bps=20_000_000, link=Link.WIRE,
            rtts_ms=(20.0, 60.0, 100.0, 140.0, 180.0), warmup_s=15.0, duration_s=20.0,
            seed=seed,
        ).check()
    )  # fmt: skip


@cache
def _runs() -> dict[tuple[str, str, int], Future[Result]]:
    """All of them, two at a time."""
    pool = ThreadPoolExecutor(max_workers=2)
    return {its: pool.submit(_run, *its) for its in product(SCHEMES, QDISCS, SEEDS)}


def over(cc: str, qdisc: str, seed: int) -> Result:
    """What came of one."""
    return _runs()[cc, qdisc, seed].result()


@pytest.mark.parametrize("cc", SCHEMES)
def test_scheme_is_as_fair_over_zrtt_as_over_pie(cc: str) -> None:
    zrtt, pie = ([over(cc, qdisc, seed) for seed in SEEDS] for qdisc in QDISCS)
    assert mean(run.jain for run in zrtt) >= max(mean(run.jain for run in pie), 0.96)
    assert mean(run.utilisation for run in zrtt) >= 0.94


def test_schemes_are_not_all_the_same() -> None:
    """Else the kernel took another congestion control for one of them."""
    assert set(SCHEMES) < set(CCS)
    assert len({over(cc, "pie ecn", SEEDS[0]).goodput_mbps for cc in SCHEMES}) == len(SCHEMES)


def test_red_comes_back_on_a_wire() -> None:
    """Below a shaper it does not, as it is never told that it is idle."""
    scenario = Scenario(
        kernel="uml", qdisc=STUCK_RED, rate_bps=100_000_000, link=Link.WIRE, ecn=False, gso_segs=8,
        rtts_ms=(180.0,) * 4, warmup_s=10.0, duration_s=5.0,
    )  # fmt: skip
    assert runner.run(scenario.check()).utilisation >= 0.5
