# SPDX-License-Identifier: GPL-2.0
"""What the laboratory reads in the words of tc and of TCP."""

from __future__ import annotations

import pytest
from measured import flow_bytes, reading, result_of, traffic_of

from lab.model.scenario import Scenario
from lab.model.step import Step
from lab.net import network
from lab.net.traffic_spec import send_buffer_bytes
from lab.results.readings import METER_CLASS, QueueReadings
from lab.results.result import Result, ResultError

# As iproute2 6.1 prints them: the first holds the qdisc under test.
CLASSES = """class meter 2:1 parent 2: leaf 3: \n
class meter 2:38b parent 2: \n Sent 5825872 bytes 3848 pkt (dropped 0, overlimits 1308 requeues 0) \n backlog 0b 0p requeues 0
class meter 2:38c parent 2: \n Sent 5679014 bytes 3751 pkt (dropped 0, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0
"""


def test_marks_are_read_of_each_class() -> None:
    assert METER_CLASS.findall(CLASSES) == [("38b", "1308"), ("38c", "0")]


def test_buffer_that_holds_a_flow_back_is_told() -> None:
    scenario = Scenario(rtts_ms=(20.0, 20.0), warmup_s=10.0, duration_s=20.0)
    received = [flow_bytes(5, 20), flow_bytes(10, 20)]
    traffic = traffic_of(scenario, [reading(10, [0, 0]), reading(30, received)])
    traffic["flows"][0]["end"]["starved_us"] = 10_000_000
    with pytest.raises(ResultError, match=r"held back by a buffer of an end: 0 \(50%\)"):
        result_of(scenario, traffic, 15 * 1.05)


def _late(held_bytes: int) -> Result:
    """A flow that received 10 Mbit/s in 20 s, of which 6 left the queue in that time."""
    scenario = Scenario(rtts_ms=(20.0,), warmup_s=10.0, duration_s=20.0)
    traffic = traffic_of(scenario, [reading(10, [0]), reading(30, [flow_bytes(10, 20)])])
    traffic["flows"][0]["begin"]["held_bytes"] = held_bytes
    return result_of(scenario, traffic, 6 * 1.05)


def test_what_waited_behind_a_hole_may_be_received_later() -> None:
    assert _late(flow_bytes(4, 20)).flows[0].goodput_mbps == pytest.approx(10)


def test_more_than_left_the_queue_and_waited_is_told() -> None:
    with pytest.raises(ResultError, match="received, 6.300 left the queue"):
        _late(flow_bytes(3, 20))


@pytest.mark.parametrize(("cc", "megabytes"), [("cubic", 0.625), ("bbr", 2.5)])
def test_buffer_is_for_half_of_the_link_or_bbrs_two_windows(cc: str, megabytes: float) -> None:
    scenario = Scenario(rate_bps=20_000_000, rtts_ms=(400.0,) * 20, cc=(cc,))
    assert send_buffer_bytes(scenario, scenario.flows[0]) == megabytes * 1e6


@pytest.mark.parametrize(
    ("steps", "megabytes"),
    [
        ((), 0.625),
        (("t=5 rate=5mbit", "t=9 rate=20mbit"), 0.625),
        (("t=5 rate=80mbit", "t=9 rate=5mbit"), 2.5),
        (("t=5 delay=500ms", "t=9 delay=0ms"), 1.25),
    ],
)
def test_buffer_is_for_the_path_at_its_largest(steps: tuple[str, ...], megabytes: float) -> None:
    """One flow stayed at 30 Mbit/s after a step from 10 to 200."""
    scenario = Scenario(
        rate_bps=20_000_000, rtts_ms=(400.0,) * 20, steps=tuple(map(Step.parse, steps))
    )
    assert send_buffer_bytes(scenario, scenario.flows[0]) == megabytes * 1e6


@pytest.mark.parametrize(
    ("words", "drops"),
    [({"drop_limit": 3}, 3), ({"drop_overlimit": 4}, 4), ({"overlimit": 5}, 5), ({}, None)],
)
def test_drops_of_a_full_queue_are_told_apart(words: dict[str, int], drops: int | None) -> None:
    """Those in the measured interval: 7 more came before it."""
    begin = [{"handle": "2:"}, {"handle": "3:", **dict.fromkeys(words, 7)}]
    end = [{"handle": "2:"}, {"handle": "3:", **{name: 7 + n for name, n in words.items()}}]
    (queue,) = network.queues(Scenario())
    found = {"begin-router": begin, "end-router": end, "classes-router": ""}
    assert QueueReadings.of(found, queue).limit_drops() == drops
