# SPDX-License-Identifier: GPL-2.0
"""The call of lab/scenarios/adapts.py."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def adapts(scenario_program: Callable[[str], ModuleType]) -> ModuleType:
    """The program of the call that adapts."""
    return scenario_program("adapts")


def test_call_adapts(adapts: ModuleType) -> None:
    """Up to 3 Mbit/s on a free link; down if the delay grows, or if more than 10 % is lost."""
    rate = adapts.Rate()
    for _ in range(400):
        rate.report(rate.bps, 0.0, 0.001)
    assert rate.bps == adapts.MOST_BPS
    rate.report(2e6, 0.0, 0.030)
    assert rate.bps == pytest.approx(1.7e6)
    before = rate.bps
    rate.report(2e6, 0.05, 0.030)
    assert rate.bps > before  # no growth: it queues no more
    rate.by_delay_bps = adapts.MOST_BPS
    rate.report(2e6, 0.4, 0.001)
    assert rate.bps == pytest.approx(2.4e6)
    for _ in range(50):
        rate.report(1e5, 0.5, 0.5)
    assert rate.bps == adapts.LEAST_BPS
