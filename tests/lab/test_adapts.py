# SPDX-License-Identifier: GPL-2.0
"""The call of lab/scenarios/adapts.py."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def adapts() -> ModuleType:
    """The program of the call that adapts."""
    spec = importlib.util.spec_from_file_location("adapts", ROOT / "lab/scenarios/adapts.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["adapts"] = module
    spec.loader.exec_module(module)
    return module


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
