# SPDX-License-Identifier: GPL-2.0
"""The network and the agent as fixtures, and the tests that run in guests.

A test that uses the network gets the parameter "place". If that is a guest, the
fixtures stand idle here and the test says what it said there. Two marks say where:
needs("netem") what a kernel has to have, old_too that it runs on 6.1 as well.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from agents import Agent
from hosts import Network, network
from places import HERE, PLACE, places
from teller import Teller

from lab.host import cgroups

if TYPE_CHECKING:
    pass

FOLDER = Path(__file__).parent
GUESTS = pytest.StashKey["Guests"]()


def _parameter(item: pytest.Item) -> str:
    """Where an item has its network; empty if it has none."""
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        return str(item.callspec.params.get("place", ""))
    return ""


def _name(item: pytest.Item) -> str:
    """As guests know it: pytest-xdist appends the group that tests/conftest.py put it in."""
    return item.nodeid.removesuffix(f"@{FOLDER.name}")


def _place(item: pytest.Item) -> str:
    """Where an item runs."""
    return _parameter(item) or PLACE


def _turn(item: pytest.Item) -> int:
    """Guests take their time, so what runs here comes first; what reads captures, last."""
    place = _parameter(item)
    return int(place != PLACE) if place else 2


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "needs(*features): what the kernel must have beside BPF")
    config.addinivalue_line("markers", "old_too: runs on Debian's old kernel as well")
    if PLACE != HERE:
        config.pluginmanager.register(Teller(Path(os.environ["RESULT"])))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "place" not in metafunc.fixturenames:
        return
    marks = metafunc.definition.iter_markers("needs")
    needs = frozenset(feature for mark in marks for feature in mark.args)
    old_too = metafunc.definition.get_closest_marker("old_too") is not None
    metafunc.parametrize("place", places(needs, old_too=old_too))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    own = [index for index, item in enumerate(items) if FOLDER in item.path.parents]
    ordered = sorted((items[index] for index in own), key=_turn)
    for index, item in zip(own, ordered, strict=True):
        items[index] = item


def pytest_runtest_setup(item: pytest.Item) -> None:
    """The first test of this folder has the guests start."""
    if PLACE != HERE or GUESTS in item.session.stash:
        return
    from elsewhere import Guests  # not in a guest, for which it is a lot to import

    tests: dict[str, list[str]] = defaultdict(list)
    for other in item.session.items:
        if FOLDER in other.path.parents and _place(other) != PLACE:
            tests[_place(other)].append(_name(other))
    item.session.stash[GUESTS] = Guests(tests)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    place = _place(pyfuncitem)
    if place == PLACE:
        return None
    failure = pyfuncitem.session.stash[GUESTS].failure(place, _name(pyfuncitem))
    if failure:
        pytest.fail(failure, pytrace=False)
    return True


@pytest.fixture
def net(place: str) -> Iterator[Any]:
    """A sender, a router and a receiver."""
    if place != PLACE:
        yield None
        return
    with network() as made:
        yield made


@pytest.fixture
def agent(net: Network, place: str) -> Iterator[Any]:
    """The agent of a."""
    if place != PLACE:
        yield None
        return
    with cgroups.own() as cgroup:
        made = Agent(net.a, cgroup)
        yield made
        made.leave()
