# SPDX-License-Identifier: GPL-2.0
"""The reports of the guests, as fixtures."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product

import pytest
from cases import HOLDS_DATA, LIFE_DATA, LIFE_TIMEOUT_S, LINK_LIFE, MODULE_LIFE
from guests import KERNELS, KERNELS_ALIKE, Guest, Report, Reports, start
from shared import alike, reports, two_cpu_report

# The largest table takes 256 MB: more than there is, and more than is free.
SMALL_MB = (200, 330)
OF_ALIKE = {
    "test_alike", "test_auto", "test_classes", "test_hosts", "test_joint", "test_l4s", "test_late",
    "test_limits", "test_peers",
}  # fmt: skip
"""Files whose experiments do the same on all kernels."""


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


STARTERS: dict[str, Callable[[], object]] = {
    "report": reports,
    "module": _module_reports,
    "held": _holds_reports,
    "small": lambda: [_small_reports(memory_mb) for memory_mb in SMALL_MB],
}
"""Of guests with one processor, by their fixtures; what takes longest comes first."""
STARTED = pytest.StashKey[bool]()


def _group(item: pytest.Item) -> object:
    """Tests of one process; without pytest-xdist all are."""
    marker = item.get_closest_marker("xdist_group")
    return marker.args if marker and "PYTEST_XDIST_WORKER" in os.environ else None


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The first test that wants one of the guests has all of them start that will be wanted.

    So none of the processors waits for a test that waits for the other.
    """
    if STARTED in item.session.stash or not STARTERS.keys() & set(_fixtures(item)):
        return
    item.session.stash[STARTED] = True
    wanted = {
        name
        for other in item.session.items
        if other.path.parent == item.path.parent and _group(other) == _group(item)
        for name in _fixtures(other)
    }
    for name, starter in STARTERS.items():
        if name in wanted:
            starter()


def _fixtures(item: pytest.Item) -> Sequence[str]:
    """That it uses; those of what is ALIKE are other guests."""
    return [] if item.path.stem in OF_ALIKE else getattr(item, "fixturenames", [])


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "report" in metafunc.fixturenames:
        kernels = KERNELS_ALIKE if metafunc.module.__name__ in OF_ALIKE else KERNELS
        metafunc.parametrize("report", kernels, indirect=True)


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Report:
    """All experiments on one kernel, of those that do the same on all or of the others."""
    some = alike if request.module.__name__ in OF_ALIKE else reports
    return some()[request.param].result()


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
