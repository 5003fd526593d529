# SPDX-License-Identifier: GPL-2.0
"""What each folder costs, and how several processes (pytest-xdist) share the tests.

Tests that read the report of one guest stay in one process. What takes longest starts first.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.engines.job import GuestError

HERE = Path(__file__).parent
ONE_BY_ONE = {"fuzz", "model"}
"""Folders whose tests share nothing but what lab.cache keeps."""
BY_FILE = {"conservation", "fairness", "functional", "lab", "mininet", "rules", "tdc"}
"""Folders whose files share nothing. Those of the others stay together."""
SHARED_GUESTS = {"report", "small", "held", "two_cpus", "quick"}
"""Fixtures of tests/functional that are for several files."""
LONGEST_FIRST = ("functional guests", "functional/test_life.py", "agent")
if os.environ.get("QUICK"):
    LONGEST_FIRST = ("unit", *(f"lab/test_{name}.py" for name in ("report_page", "endpoint_figures")))
COST = "cost"
Cost = tuple[str, float, float]
"""A folder, seconds, and seconds of processor time."""
COSTS = pytest.StashKey[list[Cost]]()
BEGAN = pytest.StashKey[tuple[float, float]]()


def _processor_s() -> float:
    """Of this process and of children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _place(item: pytest.Item) -> tuple[str, str]:
    """Folder and file."""
    path = item.path.relative_to(HERE)
    return path.parts[0], path.as_posix()


def _groups(items: list[pytest.Item]) -> dict[pytest.Item, str]:
    """Which tests are for one process."""
    sharing = {
        item.path for item in items if SHARED_GUESTS & set(getattr(item, "fixturenames", ()))
    }
    groups = {}
    for item in items:
        folder, file = _place(item)
        if item.path in sharing:
            groups[item] = f"{folder} guests"
        elif folder in BY_FILE:
            groups[item] = file
        elif folder in ONE_BY_ONE:
            groups[item] = item.nodeid
        else:
            groups[item] = folder
    return groups


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    groups = _groups(items)
    turns = {group: turn for turn, group in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: turns.get(groups[item], len(turns)))
    for item, group in groups.items():
        if group != item.nodeid:
            item.add_marker(pytest.mark.xdist_group(group))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    item.stash[BEGAN] = time.monotonic(), _processor_s()
    yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome = yield
    error = call.excinfo.value if call.excinfo else None
    if isinstance(error, GuestError) and error.console:
        outcome.get_result().sections.append(("console of the guest", error.last_lines()))
    if call.when == "teardown":
        began_s, began_processor_s = item.stash[BEGAN]
        spent = time.monotonic() - began_s, _processor_s() - began_processor_s
        outcome.get_result().user_properties.append((COST, (_place(item)[0], *spent)))


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "guest: boots a guest, or needs a kernel's headers")
    config.addinivalue_line("markers", "xdist_group(name): for one process")
    config.stash[COSTS] = []
    config.pluginmanager.register(_Ledger(config.stash[COSTS]))


class _Ledger:
    """Collects costs, from whichever process a test ran in."""

    def __init__(self, costs: list[Cost]) -> None:
        self._costs = costs

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._costs += [cost for name, cost in report.user_properties if name == COST]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """A line per folder. What guests do in the background counts where it is waited for."""
    by_folder: dict[str, list[Cost]] = defaultdict(list)
    for cost in config.stash[COSTS]:
        by_folder[cost[0]].append(cost)
    if len(config.stash[COSTS]) < 2:
        return
    rows = [
        (folder, len(costs), sum(c[1] for c in costs), sum(c[2] for c in costs))
        for folder, costs in by_folder.items()
    ]
    rows.sort(key=lambda row: -row[3])
    rows.append(("all", *(sum(row[i] for row in rows) for i in (1, 2, 3))))
    terminalreporter.section("what it cost")
    terminalreporter.write_line(f"{'':14}{'tests':>8}{'seconds':>10}{'processor seconds':>20}")
    for folder, tests, wall_s, processor_s in rows:
        terminalreporter.write_line(f"{folder:14}{tests:8}{wall_s:10.0f}{processor_s:20.0f}")
