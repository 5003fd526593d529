# SPDX-License-Identifier: GPL-2.0
"""The reports of the guests, as fixtures."""

from __future__ import annotations

from functools import cache

import pytest
from cases import DATA, EXPERIMENTS
from guests import KERNELS, Guest, Report, start

# Less than the 256 MB that the largest table takes.
SMALL_MB = 200


@cache
def _reports():
    return start([Guest(kernel, EXPERIMENTS, DATA) for kernel in KERNELS])


@cache
def _small_reports():
    return start([Guest(kernel, ("memory",), memory_mb=SMALL_MB) for kernel in KERNELS])


@cache
def _two_cpu_reports():
    return start([Guest("6.12", ("smp",), DATA, cpus=2, virtual_time=False)])


@pytest.fixture(params=KERNELS)
def report(request: pytest.FixtureRequest) -> Report:
    """All experiments on one kernel."""
    return _reports()[request.param].result()


@pytest.fixture(params=KERNELS)
def small(request: pytest.FixtureRequest) -> Report:
    """A guest with little memory."""
    return _small_reports()[request.param].result()


@pytest.fixture
def two_cpus() -> Report:
    """A guest with two processors, in real time."""
    return _two_cpu_reports()["6.12"].result()
