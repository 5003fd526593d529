# SPDX-License-Identifier: GPL-2.0
"""Packets and bytes that come in go out, are dropped or are queued, whatever is changed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import ledger
import pytest
from ledger import Round, Sum

from lab.toolchain.variant import Edit

PACKETS = int(os.environ.get("CONSERVATION_PACKETS", "2000000"))
"""`make conservation` has ten times as many."""
PACKETS_WITH_BUG = 1_000_000
"""Most that are passed until it shows."""

ALL_LARGE = Edit("include/zrtt/flow.h", "ZRTT_LARGE_DUE\t\t(128 * ZRTT_FULL_PACKET)", "ZRTT_LARGE_DUE\t\t1")
"""No flow of the ledger has so much; without this none would return."""

SELDOM_SEEN = [
    Edit("include/zrtt/controller.h", "ZRTT_LATE_PART_SHIFT\t25", "ZRTT_LATE_PART_SHIFT\t30"),
    Edit("include/zrtt/controller.h", "ZRTT_LATE_PART_US_SHIFT\t15", "ZRTT_LATE_PART_US_SHIFT\t20"),
]
"""What a link sends is seen once in a second, which is longer than a round."""

BOOKS = {
    "in": Sum(10, 20, 9000), "out": Sum(4, 6, 3000), "refused": Sum(3, 8, 3000),
    "at_head": Sum(1, 2, 1000), "room": Sum(0, 0, 0), "queued": Sum(2, 4, 2000),
    "sparse": Sum(1, 1, 500), "l4s": Sum(1, 1, 500), "marked": Sum(0, 3, 0),
}  # fmt: skip
PARENT = {"bytes": 3000, "packets": 6, "qlen": 2, "backlog": 2000}
ZRTT = PARENT | {
    "packets_in": 20, "drops": 4, "drop_mark": 5, "drop_limit": 3, "drop_late": 2,
    "backlog_packets": 4, "ecn_mark": 9, "memory_used": 50_000, "flows": 64,
    "options": {"flows": 64, "memory_limit": 50_000},
    "lanes": [
        {"packets": 2, "bytes": 1000, "marks": 0, "drops": 4, "backlog_packets": 1},
        {"packets": 3, "bytes": 1500, "marks": 7, "drops": 5, "backlog_packets": 2},
        {"packets": 1, "bytes": 500, "marks": 2, "drops": 1, "backlog_packets": 1},
    ],
}  # fmt: skip


@cache
def rounds() -> list[Round]:
    """All rounds of a run."""
    return ledger.run(PACKETS)


def total(name: str) -> Any:
    """A statistic at the end."""
    return rounds()[-1].zrtt[name]


def test_books_agree_after_each_round() -> None:
    assert not [(each.words, *each.problems()) for each in rounds() if each.problems()]


def test_enough_packets_passed() -> None:
    assert rounds()[-1].books["in"].segs >= PACKETS


def test_nothing_is_left_at_the_end() -> None:
    assert rounds()[-1].books["queued"] == Sum(0, 0, 0)


def test_packets_are_lost_early_when_limits_change() -> None:
    """And only then: else it is lateness or P_i that drops at the head."""
    lost, hit = ledger.lost_early(rounds()), ledger.hit_at_head(rounds())
    assert sum(lost) > 500
    assert not [
        (now.words, packets, most)
        for (before, now), packets, most in zip(
            pairwise([None, *rounds()]), lost, hit, strict=True
        )
        if packets < 0 or (packets > most and not ledger.may_lose_early(before, now))
    ]


def test_full_memory_may_lose_packets_at_any_change() -> None:
    def before(used: int) -> Round:
        return Round("memory_limit 50k", BOOKS, PARENT, ZRTT | {"memory_used": used})

    now = Round("hint trust", BOOKS, PARENT, ZRTT)
    least = 50_000 - ledger.MOST_MEMORY
    assert not ledger.may_lose_early(None, now)
    assert not ledger.may_lose_early(before(least), now)
    assert ledger.may_lose_early(before(least + 1), now)
    assert ledger.may_lose_early(None, replace(now, words="limit 50"))


@pytest.mark.parametrize("limit", ["packets", "memory"])
def test_rounds_end_at_each_limit(limit: str) -> None:
    """Full queues: no more is in them than may be, and hardly less."""
    ends = [
        (each.zrtt["backlog_packets"], each.options["limit"])
        if limit == "packets"
        else (each.zrtt["memory_used"], each.options["memory_limit"])
        for each in rounds()
    ]
    assert any(0.9 * most < there for there, most in ends)


@pytest.mark.parametrize("fate", ["ecn_mark", "drop_mark", "drop_limit", "drop_late", "evicted"])
def test_packets_met_each_fate(fate: str) -> None:
    """Else the books show nothing of it."""
    assert total(fate) > PACKETS / 10_000


def test_target_that_is_lowered_makes_packets_late_at_once() -> None:
    """Not first when it is seen again what the link sends."""
    before, after = (
        each.zrtt
        for each in ledger.run(0, SELDOM_SEEN)
        if each.words in [words for words, _ in ledger.LATE[1:]]
    )
    assert after["drop_late"] - before["drop_late"] > before["backlog_packets"] / 2 > 500


def test_sparse_flows_made_room() -> None:
    """Bulk lost its head to them, where the queue was full."""
    assert rounds()[-1].books["room"].segs > PACKETS / 10_000


@pytest.mark.parametrize(
    "edit",
    [
        Edit(
            "include/zrtt/table.h",
            "return zrtt_flow_behind(t, f) < lane->in",
            "return 0 * zrtt_flow_behind(t, f) > lane->in",
        ),
        Edit(
            "include/zrtt/table.h",
            "\tif (zrtt_flow_queued(t, f))\n\t\tzrtt_lane_lose",
            "\tif (0)\n\t\tzrtt_lane_lose",
        ),
    ],
    ids=["goes up at once", "loses its slot"],
)
def test_packets_that_change_places_are_noticed(edit: Edit) -> None:
    with pytest.raises(AssertionError, match="packets of a flow changed places"):
        ledger.run(PACKETS_WITH_BUG, [edit])


def test_packets_of_flows_that_return_keep_their_places() -> None:
    assert not [each for each in ledger.run(PACKETS_WITH_BUG, [ALL_LARGE]) if each.problems()]


def test_packets_of_flows_that_return_and_change_places_are_noticed() -> None:
    at_once = Edit(
        "include/zrtt/lane.h",
        "ZRTT_LANE_RETURNING_LARGE : ZRTT_LANE_BULK",
        "ZRTT_LANE_SPARSE : ZRTT_LANE_BULK",
    )
    with pytest.raises(AssertionError, match="packets of a flow changed places"):
        ledger.run(PACKETS_WITH_BUG, [ALL_LARGE, at_once])


@pytest.mark.parametrize(
    "what",
    [
        lambda r: r.books["sparse"].segs and r.books["sparse"] != r.books["queued"],
        lambda r: r.books["l4s"].segs,
        lambda r: r.books["queued"].segs > r.books["queued"].pieces,  # whole GSO packets
        lambda r: r.options["split_gso"] and r.books["queued"].pieces > 1,
        lambda r: r.zrtt["flows"] >= 7 / 8 * r.options["flows"],  # the newest of 8 is not live
    ],
    ids=["both lanes", "l4s", "whole", "split", "full table"],
)
def test_rounds_end_in_each_state(what: Callable[[Round], bool]) -> None:
    assert any(what(each) for each in rounds())


def test_books_that_agree_are_no_problem() -> None:
    assert not Round("", BOOKS, PARENT, ZRTT).problems()


@pytest.mark.parametrize(
    "name", [name for name in ZRTT if name not in ("flows", "options", "memory_used", "lanes")]
)
def test_each_wrong_figure_is_a_problem(name: str) -> None:
    wrong = Round("", BOOKS, PARENT, ZRTT | {name: ZRTT[name] + 1})
    assert wrong.problems()


@pytest.mark.parametrize("name", ZRTT["lanes"][0])
@pytest.mark.parametrize("lane", [0, 1, 2], ids=["sparse", "bulk", "l4s"])
def test_each_wrong_figure_of_a_lane_is_a_problem(lane: int, name: str) -> None:
    lanes = [dict(one) for one in ZRTT["lanes"]]
    lanes[lane][name] += 1
    assert Round("", BOOKS, PARENT, ZRTT | {"lanes": lanes}).problems()


@pytest.mark.parametrize(
    ("name", "values"),
    [("drop_late", (3,)), ("memory_used", (0, 50_000 + ledger.MOST_MEMORY + 1))],
)
def test_figure_out_of_bounds_is_a_problem(name: str, values: tuple[int, ...]) -> None:
    for value in values:
        wrong = Round("", BOOKS, PARENT, ZRTT | {name: value})
        assert any(problem.startswith(name) for problem in wrong.problems())


def test_empty_queue_takes_no_memory() -> None:
    books = BOOKS | {"queued": Sum(0, 0, 0)}
    assert "memory_used: 50000 of 0 pieces" in Round("", books, PARENT, ZRTT).problems()


@pytest.mark.parametrize("name", PARENT)
def test_parent_must_agree(name: str) -> None:
    wrong = Round("", BOOKS, PARENT | {name: 0}, ZRTT)
    assert wrong.problems() == [f"{name} of the parent: 0, not {PARENT[name]}"]


def test_bytes_that_vanish_are_a_problem() -> None:
    books = BOOKS | {"refused": replace(BOOKS["refused"], bytes=2999)}
    (problem,) = Round("", books, PARENT, ZRTT).problems()
    assert problem.startswith("pieces: ")


def test_table_may_not_overflow() -> None:
    wrong = Round("", BOOKS, PARENT, ZRTT | {"flows": 65})
    assert wrong.problems() == ["65 flows in a table of 64"]
