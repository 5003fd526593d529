# SPDX-License-Identifier: GPL-2.0
"""A zrtt for each queue of a device, on two processors: below htb each keeps its own state."""

from __future__ import annotations

import json
import re
import subprocess
from functools import cache
from typing import Any

import pytest
from guests import Report
from shared import two_cpu_report as report
from test_qdisc import TROUBLE, unaccounted

from lab.engines.select import get_engine
from lab.model.scenario import parse_rtts
from lab.results.readings import ResultError
from lab.toolchain import build
from lab.trials import multiqueue, multiqueue_cost
from lab.trials.multiqueue_cost import ALONE, BESIDE, TOGETHER, Reading, Readings, Sent

PARTS = ("first", "second", "both", "replaced")
FLOOD = 6000
"""Frames that a processor floods its queue with."""
PACKETS = 5000
SHARED = {"ipv4_option", "zrtt_net_id", "zrtt_net_ops", "zrtt_qdisc_ops"}
"""Variables of the module: packets read the first two, and write none."""
CONSTANTS = ("zrtt_range_", "__")
"""How other names in its data begin."""


@cache
def readings() -> Readings:
    """pktgen on both processors."""
    return multiqueue_cost.measure(PACKETS, 1, ("zrtt",))


def all_of(part: str) -> dict[str, dict[str, Any]]:
    """All qdiscs of a part, by handle."""
    return {qdisc["handle"]: qdisc for qdisc in json.loads(report().part(f"mq.{part}"))}


def zrtts(part: str) -> list[dict[str, Any]]:
    """That of the first queue and that of the second."""
    found = sorted(report().qdiscs(f"mq.{part}"), key=lambda qdisc: qdisc["parent"])
    assert [qdisc["parent"] for qdisc in found] == ["11:1", "12:1"]
    return found


def test_experiment_ran_to_its_end(two_cpus: Report) -> None:
    assert two_cpus.lines("mq.rc") == ["0"], two_cpus.text
    assert two_cpus.lines("mq.cpus") == ["2"]


def test_packets_take_the_queue_of_their_processor() -> None:
    assert [qdisc["packets_in"] for qdisc in zrtts("first")] == [FLOOD, 0]
    assert [qdisc["packets_in"] for qdisc in zrtts("second")] == [FLOOD, FLOOD]


def test_queues_share_no_variable_that_packets_write() -> None:
    """What a queue knows is in memory of its own, by whole cache lines."""
    module = build.kernel_module("sch_zrtt", get_engine("6.12").kernel)
    names = subprocess.run(["nm", module], capture_output=True, text=True, check=True).stdout
    variables = set(re.findall(r" [bBdD] (\w+)", names))
    assert {name for name in variables if not name.startswith(CONSTANTS)} == SHARED


def marks(part: str) -> list[int]:
    """Of both queues so far: all that P_i hits and all that it drops late. Which of the two falls on
    a flood depends on how fast the machine sends it.
    """
    return [sum(qdisc[name] for name in ("ecn_mark", "drop_mark", "drop_late")) for qdisc in zrtts(part)]


def test_queue_does_not_feel_the_other() -> None:
    (first, quiet), (still, second) = marks("first"), marks("second")
    assert (quiet, still) == (0, first)
    assert first > 0 < second
    assert [qdisc["maxq"] > 10 for qdisc in zrtts("first")] == [True, False]
    assert [qdisc["prob"] > 0 for qdisc in zrtts("first")] == [True, False]


def test_queues_have_their_own_parameters() -> None:
    assert [qdisc["options"]["limit"] for qdisc in zrtts("both")] == [2001, 2002]
    assert [qdisc["options"]["flows"] for qdisc in zrtts("both")] == [16384, 4096]
    assert [qdisc["options"]["limit"] for qdisc in zrtts("replaced")] == [2001, 303]


def test_both_queues_are_full_at_once() -> None:
    assert all(now > before for now, before in zip(marks("both"), marks("second"), strict=True))


@pytest.mark.parametrize("part", PARTS)
def test_every_packet_is_accounted_for(part: str) -> None:
    for qdisc in zrtts(part):
        assert unaccounted(qdisc) == 0


@pytest.mark.parametrize("part", PARTS)
def test_nothing_is_left_anywhere(part: str) -> None:
    for qdisc in all_of(part).values():
        assert (qdisc["qlen"], qdisc["backlog"]) == (0, 0), qdisc["handle"]


def test_mq_adds_up_its_queues() -> None:
    found = all_of("both")
    for name in ("bytes", "packets"):
        assert found["1:"][name] == found["11:"][name] + found["12:"][name]
        assert found["11:"][name] == found["21:"][name] > 0
        assert found["12:"][name] == found["22:"][name] > 0


def test_kernel_log_is_clean() -> None:
    assert not [line for line in report().lines("dmesg") if TROUBLE.search(line)]


def test_each_processor_counts_in_its_queue() -> None:
    """At full speed, both at once; measure() has compared the sums. Pktgen sends a packet
    again that was dropped, as happens where the machine pauses the guest.
    """
    (beside,) = readings()["zrtt", BESIDE]
    (together,) = readings()["zrtt", TOGETHER]
    sent = [PACKETS, PACKETS, 2 * PACKETS]
    for queue, packets in zip([*beside.queues, *together.queues], sent, strict=True):
        assert packets <= queue["packets_in"] <= packets + queue["drops"]
    assert not [queue for queue in [*beside.queues, *together.queues] if unaccounted(dict(queue))]


def alone(packets: int, sent: int = 10) -> Reading:
    """A processor that sent, and its queue that counted."""
    return Reading([Sent(1000, sent, 0)], [{"packets": packets - 1, "drops": 1}])


def test_queue_that_loses_count_is_no_measurement() -> None:
    assert alone(10).check("zrtt", ALONE)
    with pytest.raises(ResultError, match=r"zrtt, 1 CPU, 1 queue: \[10\] packets came, \[9\]"):
        alone(9).check("zrtt", ALONE)


def test_slowdown_is_that_of_a_round() -> None:
    beside = [Reading([Sent(us, 10, 0)], []) for us in (1500, 6000, 1500)]
    quiet = [Reading([Sent(us, 10, 0)], []) for us in (1000, 4000, 500)]
    assert (
        multiqueue_cost.slowdown({("q", BESIDE): beside, ("q", ALONE): quiet}, "q", BESIDE) == 1.5
    )


@pytest.mark.parametrize("shape", [False, True], ids=["link", "bandwidth"])
def test_flows_are_alike_whatever_their_queue(shape: bool) -> None:
    """9 flows share a queue, and 2 have another: Jain's index is 0.73 where queues are equals."""
    shared = multiqueue.run("zrtt", multiqueue.four(1), 1, shape=shape)
    assert tuple(len(group) for group in shared.layout.groups) == multiqueue.FOUR
    assert shared.result.jain > 0.99
    assert min(shared.jains) > 0.99
    assert 0.98 < shared.result.utilisation < 1.01


def test_flows_that_leave_a_queue_leave_its_part_to_the_others() -> None:
    """8 of 9 flows, of 20: the last one takes little, and has packets all the time."""
    layout = multiqueue.four(1)
    last = layout.queue_of.index(4)
    stops = tuple(
        8.0 if queue == 4 and flow != last else None for flow, queue in enumerate(layout.queue_of)
    )
    changes = {
        "rate_bps": 200_000_000, "rtts_ms": parse_rtts("10ms..40ms/20"), "stops_s": stops,
        "warmup_s": 8.0, "duration_s": 2.0,
    }  # fmt: skip
    shared = multiqueue.run("zrtt", layout, 1, shape=True, changes=changes)
    assert 0.975 < shared.result.utilisation < 1.01


def test_queues_that_are_equals_are_unfair_to_flows() -> None:
    """So the above is no property of the device."""
    shared = multiqueue.run("fq_codel", multiqueue.four(1), 1)
    assert shared.result.jain < 0.9


@pytest.mark.parametrize("shape", [False, True], ids=["link", "bandwidth"])
def test_hosts_are_alike_whatever_their_queues(shape: bool) -> None:
    """Hosts of 1, 5 and 20 flows in four queues: Jain's index is 0.82 if each is four hosts."""
    layout = multiqueue.of_hosts(multiqueue.HOSTS, 1)[-1]
    assert layout.queues == 4
    shared = multiqueue.run("zrtt fair srchost", layout, 1, shape=shape)
    assert shared.result.host_jain > 0.99
    assert shared.result.within_jain > 0.98
    assert 0.98 < shared.result.utilisation < 1.01
