# SPDX-License-Identifier: GPL-2.0
"""A short round of each kind finds nothing; with a bug planted, it finds that."""

from __future__ import annotations

import re
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import planted
import pytest
import uapi
from planted import BUGS, Bug

from lab.engines.job import STARTED
from lab.engines.select import get_engine
from lab.guest.stress.contract import ATTRIBUTES, judge
from lab.kernels.kernel import DEBUG
from lab.trials import stress, stress_log
from lab.trials.stress import Round, Verdict

ROUNDS = (
    Round("faults", 1, 1),
    Round("fuzz", 1, 2000),
    # long enough to move all of MOVED by itself: what moves in real time differs
    Round("storm", 1, 24),
    Round("storm", 2, 8, virtual_time=False),
)
# What packets of the storms must have moved.
MOVED = {"packets_in", "hint_ok", "hint_bad", "hint_stripped", "flows_hinted", "flows_timestamps"}
# Operations that cannot be done without memory that sch_zrtt asks for.
ALLOCATING = ("add", "add large", "change flows", "change timestamps", "change both", "UDP GSO")


@cache
def _running() -> dict[Round | Bug, Future[Verdict]]:
    """All guests, two at a time; the kernel is built by the first."""
    kernel = get_engine(DEBUG).kernel
    pool = ThreadPoolExecutor(max_workers=2)
    return {one: pool.submit(stress.run, one) for one in ROUNDS} | {
        bug: pool.submit(lambda bug: stress.run(bug.round, planted.module(bug, kernel)), bug)
        for bug in BUGS
    }


@pytest.mark.parametrize("one", ROUNDS, ids=str)
def test_finds_nothing(one: Round) -> None:
    verdict = _running()[one].result()
    assert not verdict.reports, verdict.reports
    assert verdict.said


def test_each_operation_has_failed() -> None:
    said = _running()[ROUNDS[0]].result().said
    found = {name: int(own) for name, own in re.findall(r"([\w ]+) \d+ \((\d+)\)", said)}
    assert all(found[f" {name}"] for name in ALLOCATING), said


def test_storms_reach_the_queue() -> None:
    said = [_running()[one].result().said for one in ROUNDS if one.kind == "storm"]
    moved = set[str]().union(*(text.partition("moved: ")[2].split() for text in said))
    assert moved >= MOVED, said


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_finds_a_planted_bug(bug: Bug) -> None:
    verdict = _running()[bug].result()
    assert re.search(bug.report, verdict.reports), verdict.said + verdict.reports


def test_contract_knows_all_attributes() -> None:
    """Their ranges are what the fuzzer holds the kernel against."""
    known = {known.name: (number, known.size) for number, known in ATTRIBUTES.items()}
    assert known == {name: (its.number, its.bytes) for name, its in uapi.ATTRIBUTES.items()}


@pytest.mark.parametrize(
    ("options", "values"),
    [
        ("", {}),
        ("0800020001000000", {2: 1}),
        ("08000200010000000800020002000000", {2: 2}),
        ("0800020000000000", None),
        ("0500120001", {18: 1}),
        ("050012000100000000", None),
        ("0800100041000000", None),
        ("08001e0001000000", {30: 1}),
        ("08001e0000000000", None),
        ("08001d0001000000", None),
        ("08000280010000000000", None),
        ("05001f0001000000", {31: 1}),
        ("05001f00010000000800010001000000", None),
        ("05001f00000000000800010001000000", {31: 0, 1: 1}),
        ("0c00280048e8010000000000", None),
        ("08002700000000000c00280048e8010000000000", {39: 0, 40: 125000}),
    ],
)
def test_options_are_judged(options: str, values: dict[int, int] | None) -> None:
    assert judge(bytes.fromhex(options)) == values


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("[    1.000000] BUG: KASAN: use-after-free in zrtt_enqueue", False),
        ("[    1.000000] a line that nobody has seen before", False),
        ("[    1.000000] netlink: 'python3': attribute type 5 has an invalid length.", True),
        ("what a program says", True),
    ],
)
def test_what_is_a_report(line: str, known: bool) -> None:
    assert (stress_log.reports(f"boot\n{STARTED}\n{line}\n") == "") == known
