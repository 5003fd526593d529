# SPDX-License-Identifier: GPL-2.0
"""The reports of the guests, as fixtures."""

from __future__ import annotations

from functools import cache
from itertools import product

import pytest
from cases import HOLDS_DATA, LIFE_DATA, LIFE_TIMEOUT_S, LINK_LIFE, MODULE_LIFE
from guests import KERNELS, Guest, Report, Reports, start
from shared import reports, two_cpu_report

# The largest table takes 256 MB: more than there is, and more than is free.
SMALL_MB = (200, 330)


@cache
def _small_reports(memory_mb: int) -> Reports:
    return start([Guest(kernel, ("memory",), memory_mb=memory_mb) for kernel in KERNELS])


@cache
def _holds_reports() -> Reports:
    return start([Guest(kernel, ("holds",), HOLDS_DATA, counted=True) for kernel in KERNELS])


@cache
def _module_reports() -> Reports:
    return start([Guest(k, MODULE_LIFE, LIFE_DATA, timeout_s=LIFE_TIMEOUT_S) for k in KERNELS])


@cache
def _link_reports() -> Reports:
    how = {"cpus": 2, "virtual_time": False, "timeout_s": LIFE_TIMEOUT_S}
    return start([Guest(kernel, LINK_LIFE, LIFE_DATA, **how) for kernel in KERNELS])


@pytest.fixture(params=KERNELS)
def report(request: pytest.FixtureRequest) -> Report:
    """All experiments on one kernel."""
    return reports()[request.param].result()


@pytest.fixture(params=product(KERNELS, SMALL_MB), ids=lambda p: f"{p[0]}-{p[1]}MB")
def small(request: pytest.FixtureRequest) -> Report:
    """A guest with little memory."""
    kernel, memory_mb = request.param
    return _small_reports(memory_mb)[kernel].result()


@pytest.fixture(params=KERNELS)
def held(request: pytest.FixtureRequest) -> Report:
    """A guest in which one instruction takes 1 ns, and holds of a lock are timed."""
    return _holds_reports()[request.param].result()


@pytest.fixture
def two_cpus() -> Report:
    """A guest with two processors, in real time."""
    return two_cpu_report()


@pytest.fixture(params=KERNELS)
def module(request: pytest.FixtureRequest) -> Report:
    """A guest in which the module comes and goes."""
    return _module_reports()[request.param].result()


@pytest.fixture(params=KERNELS)
def links(request: pytest.FixtureRequest) -> Report:
    """A guest with two processors, in real time, in which links and namespaces do."""
    return _link_reports()[request.param].result()
