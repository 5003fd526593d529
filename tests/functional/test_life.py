# SPDX-License-Identifier: GPL-2.0
"""The module, and links and namespaces below it, come and go while packets pass."""

from __future__ import annotations

import json

import pytest
from cases import LINK_LIFE, LOADS, MODULE_LIFE, ROUNDS
from guests import Report, unaccounted

USES = {
    "class": 1, "queues": 4, "namespace": 5, "class_deleted": 4, "device_deleted": 1,
    "default": 2, "no_default": 1,
}  # fmt: skip
"""How many hold the module, in this order."""
GROWTH_KB = 1024
"""Of memory over all loads: less than if each left its table of flows behind."""


# The module


@pytest.mark.parametrize("experiment", MODULE_LIFE)
def test_module_experiment_ran_to_its_end(module: Report, experiment: str) -> None:
    assert module.lines(f"{experiment}.rc") == ["0"], module.text


def test_kernel_log_is_clean_of_modules(module: Report) -> None:
    assert not module.trouble()


@pytest.mark.parametrize("use", USES)
def test_module_is_held_by_each_use(module: Report, use: str) -> None:
    qdiscs = USES[use] - (use == "default")
    assert module.lines(f"users.{use}") == [str(USES[use]), "refused", str(qdiscs)]


def test_module_goes_when_nobody_uses_it(module: Report) -> None:
    assert module.lines("users.nobody") == ["0", "0"]


def test_module_was_loaded_as_often_as_asked_for(module: Report) -> None:
    assert module.lines("reload.loads") == [str(LOADS)]


def test_packets_of_others_pass_meanwhile(module: Report) -> None:
    parts = [module.part(f"reload.traffic_{when}") for when in ("before", "after")]
    (_, before), (_, after) = map(json.loads, parts)
    assert before["kind"] == after["kind"] == "fq_codel"
    assert after["packets"] - before["packets"] > 10 * LOADS


def test_loads_leave_no_memory_behind(module: Report) -> None:
    before, after = (module.memory(f"reload.{when}") for when in ("before", "after"))
    assert sum(after.values()) - sum(before.values()) < GROWTH_KB


# Links and namespaces


@pytest.mark.parametrize("experiment", LINK_LIFE)
def test_link_experiment_ran_to_its_end(links: Report, experiment: str) -> None:
    assert links.lines(f"{experiment}.rc") == ["0"], links.text


def test_kernel_log_is_clean_of_links(links: Report) -> None:
    assert not links.trouble()


@pytest.mark.parametrize("event", ["updown", "resized"])
def test_transfers_go_on_once_links_are_back(links: Report, event: str) -> None:
    before, after = links.qdisc(f"links.{event}.before"), links.qdisc(f"links.{event}")
    assert after["packets"] > before["packets"] > 0
    assert after["flows_timestamps"] > 0


def test_links_lost_packets(links: Report) -> None:
    """Else they were not under load; Linux 7 empties no queue for a new txqueuelen."""
    updown, resized = (links.qdisc(f"links.{event}")["purged"] for event in ("updown", "resized"))
    assert resized >= updown > 0


@pytest.mark.parametrize("side", ["out", "in"])
def test_every_packet_of_a_link_is_accounted_for(links: Report, side: str) -> None:
    qdisc = links.qdisc(f"links.{side}")
    assert qdisc["packets_in"] > 0
    assert unaccounted(qdisc) == 0


@pytest.mark.parametrize("what", ["link", "namespace"])
def test_what_was_removed_was_under_load(links: Report, what: str) -> None:
    qdiscs = [links.qdisc(f"removed.{what}.{i + 1}") for i in range(ROUNDS)]
    assert qdiscs
    assert all(qdisc["backlog_packets"] for qdisc in qdiscs)
