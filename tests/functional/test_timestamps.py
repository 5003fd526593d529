# SPDX-License-Identifier: GPL-2.0
"""RTTs from the timestamps of both directions, and the table that they take."""

from __future__ import annotations

import pytest
from guests import Report

RTT_US = 40_000
"""Of the path, in two unequal halves."""
SLACK_US = 5_000
"""Two packets of 1500 bytes at 5 Mbit/s, as one ACK answers both."""
WAYS = ("data", "acks")
NAMESPACES = 4
TABLE_KB = 512
NOISE_KB = 256


@pytest.mark.parametrize("way", WAYS)
def test_one_side_alone_learns_nothing(report: Report, way: str) -> None:
    qdisc = report.qdisc(f"timestamps.one_side.{way}")
    assert qdisc["packets"] > 0
    assert qdisc["flows_timestamps"] == qdisc["rtt_avg_us"] == 0


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("network", ["ipv4", "ipv6", "nat", "again"])
def test_both_sides_learn_the_rtt(report: Report, network: str, way: str) -> None:
    qdisc = report.qdisc(f"timestamps.{network}.{way}")
    assert qdisc["flows_timestamps"] == 1
    assert qdisc["flows_handshake"] == qdisc["flows_hinted"] == 0
    assert RTT_US <= qdisc["rtt_avg_us"] <= RTT_US + SLACK_US


@pytest.mark.parametrize("way", WAYS)
def test_third_party_is_not_timed(report: Report, way: str) -> None:
    """Whose packets come before the answers, or begin what nobody answers. Answers come 50 ms later,
    and what the processes take that send all this.
    """
    qdisc = report.qdisc(f"timestamps.spoofed.{way}")
    assert qdisc["flows_timestamps"] == 1
    assert 50_000 <= qdisc["rtt_avg_us"] <= 250_000


@pytest.mark.parametrize("network", ["ipv4", "ipv6", "nat", "again"])
def test_there_was_a_queue_that_does_not_count(report: Report, network: str) -> None:
    qdisc = report.qdisc(f"timestamps.{network}.data")
    assert qdisc["delay_us"] > RTT_US / 2
    assert qdisc["drop_mark"] == qdisc["drop_limit"] == 0


def test_one_side_goes_on_without_the_other(report: Report) -> None:
    alone, again = (report.qdisc(f"timestamps.{part}") for part in ("alone", "again.data"))
    assert alone["packets"] < again["packets"]
    assert alone["options"]["timestamps"]


def test_namespace_is_deleted_under_traffic(report: Report) -> None:
    """With its devices, whose other ends are the hosts'."""
    assert [line.split()[0] for line in report.lines("timestamps.gone")] == ["lo"]


def test_two_processors_share_a_table(two_cpus: Report) -> None:
    for way in ("changed", "back"):
        assert two_cpus.qdisc(f"smp.{way}")["flows_timestamps"] > 0


@pytest.mark.parametrize(
    ("part", "tables"),
    [("one", 1), ("both", 1), ("other", 1), ("neither", 0), ("deleted", 1), ("gone", 0)],
)
def test_qdiscs_of_a_namespace_share_a_table(report: Report, part: str, tables: int) -> None:
    grown_kb = report.memory_kb(f"sharing.{part}") - report.memory_kb("sharing.none")
    want_kb = tables * NAMESPACES * TABLE_KB
    # with a namespace goes what else it had
    assert grown_kb < want_kb + NOISE_KB
    assert grown_kb > want_kb - NOISE_KB or part == "gone"


def test_refused_qdiscs_leave_no_table(small: Report) -> None:
    """Else it would be there when the first qdisc asks for it."""
    after, with_timestamps, without = (
        small.memory_kb(f"memory.{part}") for part in ("after", "with_timestamps", "without")
    )
    assert with_timestamps - after > TABLE_KB - NOISE_KB
    assert with_timestamps - without > TABLE_KB - NOISE_KB
