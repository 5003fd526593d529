# SPDX-License-Identifier: GPL-2.0
"""The view as text: numbers in words, bars, flows."""

from __future__ import annotations

import re

import pytest
from canned import Canned, Said
from messages import (
    P_ONE,
    addresses,
    flow,
    lanes,
    qdisc,
    stats,
    xstats,
    xstats_with_lanes,
    zrtt,
)
from plugin import uapi_contract

TCP, UDP, GRE, NOBODY = 6, 17, 47, 251
MBIT = 125_000


def lines_of(said: Said, first: str) -> list[str]:
    """The rest of the lines that begin with a word or two."""
    return [line.removeprefix(first).strip() for line in said.lines if line.startswith(first)]


def shown(kernel: Canned, first: str, **fields: int) -> str:
    """A line about a zrtt with some statistics."""
    kernel.say([zrtt(**fields)])
    (line,) = lines_of(kernel.run("-i0.1"), first)
    return line


def test_each_instance_has_a_heading(kernel: Canned) -> None:
    kernel.say([zrtt(), zrtt(handle=0x80010000, parent=0x10010)])
    headings = [line for line in kernel.run("-i0.1").out.splitlines() if line[:1].strip()]
    assert headings == ["lo: zrtt 2: parent root", "lo: zrtt 8001: parent 1:10"]


def test_throughput_is_that_between_readings(kernel: Canned) -> None:
    first = {
        "packets_in": 10,
        "ecn_mark": 100,
        "drop_mark": 200,
        "drop_late": 300,
        "drop_limit": 400,
    }
    last = {
        "packets_in": 10,
        "ecn_mark": 120,
        "drop_mark": 205,
        "drop_late": 303,
        "drop_limit": 402,
    }
    kernel.reply("qdiscs", 0, zrtt((30 * MBIT, 1000), bandwidth=20 * MBIT, **first))
    kernel.reply("qdiscs", 1, zrtt((40 * MBIT, 1100), bandwidth=20 * MBIT, **last))
    said = kernel.run()
    (throughput,) = lines_of(said, "throughput")
    form = r"([\d.]+) Mbit/s of 20.0 Mbit/s, ([\d.]+)%; ([\d.]+) packets/s"
    assert [*map(float, re.findall(form, throughput)[0])] == pytest.approx([10, 50, 100], rel=0.1)
    (events,) = lines_of(said, "per second")
    form = r"([\d.]+) marks; drops: ([\d.]+) by AQM, ([\d.]+) late, ([\d.]+) at limit"
    assert [*map(float, re.findall(form, events)[0])] == pytest.approx([20, 5, 3, 2], rel=0.1)


def test_lanes(kernel: Canned) -> None:
    """Rates are of each, and so is the rest."""
    before = [
        {"packets": 1000, "bytes": 50 * MBIT, "drops": 7, "backlog_packets": 0, "delay_us": 0},
        {"packets": 2000, "bytes": 90 * MBIT, "drops": 9, "backlog_packets": 0, "delay_us": 0},
        {"packets": 0, "bytes": 0, "drops": 0, "backlog_packets": 0, "delay_us": 0},
    ]
    now = [
        {"packets": 1100, "bytes": 60 * MBIT, "drops": 7, "backlog_packets": 2, "delay_us": 250},
        {"packets": 2300, "bytes": 120 * MBIT, "drops": 15, "backlog_packets": 31,
         "delay_us": 14_200},
        {"packets": 200, "bytes": 20 * MBIT, "drops": 1, "backlog_packets": 1, "delay_us": 700},
    ]  # fmt: skip
    before, now = ([lane | {"marks": 0} for lane in lanes] for lanes in (before, now))
    kernel.reply("qdiscs", 0, zrtt(lane=before))
    kernel.reply("qdiscs", 1, zrtt(lane=now))
    said = kernel.run()
    form = r"; ([\d.]+) Mbit/s, ([\d.]+) packets/s, ([\d.]+) drops/s"
    for name, start, rates in (
        ("sparse", "sojourn 250 us; 2 packets", [10, 100, 0]),
        ("bulk", "sojourn 14.2 ms; 31 packets", [30, 300, 6]),
        ("l4s", "sojourn 700 us; 1 packets", [20, 200, 1]),
    ):
        (line,) = lines_of(said, name)
        assert line.startswith(start)
        found = re.fullmatch(form, line.removeprefix(start))
        assert found, line
        assert [*map(float, found.groups())] == pytest.approx(rates, rel=0.1)


def test_new_qdisc_has_lanes_without_rates(kernel: Canned) -> None:
    kernel.reply("qdiscs", 0)
    kernel.reply("qdiscs", 1, zrtt())
    for name, lane in zip(uapi_contract.LANES, lanes(), strict=True):
        (line,) = lines_of(kernel.run("-i0.1"), name)
        assert line == f"sojourn {lane['delay_us']} us; {lane['backlog_packets']} packets"


def test_low_latency_lane_that_nobody_used_has_no_line(kernel: Canned) -> None:
    unused = {field: 0 for field in lanes()[0]}
    kernel.reply("qdiscs", 0, zrtt(lane=[*lanes()[:2], unused]))
    said = kernel.run("-i0.1")
    assert not lines_of(said, "l4s")
    assert lines_of(said, "bulk")


def test_replaced_qdisc_has_no_throughput_yet(kernel: Canned) -> None:
    kernel.reply("qdiscs", 0, zrtt((5000, 10), packets_in=10))
    kernel.reply("qdiscs", 1, zrtt((6000, 5), packets_in=5))
    kernel.reply("qdiscs", 2, zrtt((7000, 6), packets_in=6))
    said = kernel.run("-i0.1", "-n2")
    assert len(lines_of(said, "queue")) == 2
    assert len(lines_of(said, "throughput")) == 1


@pytest.mark.parametrize(
    "counter", ["packets", "packets_in", "ecn_mark", "drop_mark", "drop_late", "drop_limit"]
)
def test_any_counter_that_fell_is_of_a_replaced_qdisc(kernel: Canned, counter: str) -> None:
    """Also where the new one has sent more than the old one."""
    before = zrtt((1000, 99)) if counter == "packets" else zrtt((1000, 1), **{counter: 99})
    kernel.reply("qdiscs", 0, before)
    kernel.reply("qdiscs", 1, zrtt((2000, 2)))
    said = kernel.run("-i0.1")
    assert lines_of(said, "queue") and not lines_of(said, "throughput")


@pytest.mark.parametrize("counter", ["packets", "bytes", "drops"])
def test_counter_of_a_lane_that_fell_is_of_a_replaced_qdisc(kernel: Canned, counter: str) -> None:
    *others, last = lanes()
    kernel.reply("qdiscs", 0, zrtt(lane=[*others, last | {counter: 999}]))
    kernel.reply("qdiscs", 1, zrtt())
    said = kernel.run("-i0.1")
    assert lines_of(said, "queue") and not lines_of(said, "throughput")


def test_unknown_capacity_is_not_compared(kernel: Canned) -> None:
    assert " of " not in shown(kernel, "throughput")


@pytest.mark.parametrize(("us", "text"), [
    (0, "0 us"), (999, "999 us"), (1000, "1.00 ms"), (9994, "9.99 ms"), (9996, "10.0 ms"),
    (99_960, "100 ms"), (999_900, "1000 ms"), (1_000_000, "1.00 s"), (2**32 - 1, "4295 s"),
])  # fmt: skip
def test_times(kernel: Canned, us: int, text: str) -> None:
    assert shown(kernel, "queue", delay_us=us).startswith(f"sojourn {text}, target 15.0 ms")


@pytest.mark.parametrize(("count", "text"), [
    (0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (37_900, "37.9 kB"), (999_600, "1.00 MB"),
    (2**32 - 1, "4.29 GB"),
])  # fmt: skip
def test_numbers(kernel: Canned, count: int, text: str) -> None:
    assert f"; 7 packets, {text}; most 8" in shown(
        kernel, "queue", backlog=count, backlog_packets=7, maxq=8
    )


def test_hosts(kernel: Canned) -> None:
    line = shown(kernel, "hosts", hosts=12, hosts_held=5, host_due=150_000)
    assert line == "12, 5 held back; due share 1.20 Mbit/s"
    kernel.say([zrtt()])
    assert not lines_of(kernel.run("-i0.1"), "hosts")


def test_limit(kernel: Canned) -> None:
    line = shown(kernel, "limit", limit_now=4120, memory_used=59_904)
    assert line == "4120 packets; memory used 59.9 kB"


def test_marking(kernel: Canned) -> None:
    line = shown(kernel, "marking", prob=P_ONE // 200, alpha=1 << 15)
    assert line == "P_b 0.50%, alpha 0.50"


def test_line_whose_rate_is_found(kernel: Canned) -> None:
    fields = {"line_rate": 2_500_000, "line_measured": 2_600_000, "line_queue_us": 1500, "line_state": 4}
    assert shown(kernel, "line", **fields) == "20.0 Mbit/s, queue; measured 20.8 Mbit/s, its queue 1.50 ms"


def test_flows_by_rtt_source(kernel: Canned) -> None:
    fields = {"flows": 30, "flows_hinted": 12, "flows_marked": 3, "flows_timestamps": 4,
              "flows_handshake": 5, "flows_quic": 2, "rtt_avg_us": 80_000}  # fmt: skip
    assert shown(kernel, "flows", **fields) == "30, mean RTT 80.0 ms"
    assert shown(kernel, "RTTs from", **fields) == (
        "hint 12, mark 3, timestamps 4, handshake 5, quic 2, none 4"
    )


def test_inconsistent_sums(kernel: Canned) -> None:
    assert shown(kernel, "RTTs from", flows=1, flows_hinted=2**32 - 1).endswith("none 0")


def test_histogram(kernel: Canned) -> None:
    rtts = [0, 500, 501, 1000, 4001, *[3000] * 10, 4_000_000]
    kernel.say([zrtt()], [flow(slot, rtt) for slot, rtt in enumerate(rtts)])
    lines = kernel.run("-i0.1", "-f0").lines
    bars = lines[lines.index("RTT up to flows") + 1 :]
    assert bars[:5] == [
        "500 us 1 ####", "1.00 ms 2 ########", "2.00 ms 0", f"4.00 ms 10 {'#' * 40}",
        "8.00 ms 1 ####",
    ]  # fmt: skip
    assert bars[-1] == "longer 1 ####"
    assert len(bars) == 14


def test_no_histogram_without_rtts(kernel: Canned) -> None:
    kernel.say([zrtt()], [flow(0, 0)])
    assert "RTT up to" not in kernel.run("-i0.1").out


@pytest.mark.parametrize(("names", "text"), [
    (addresses(TCP, "10.0.0.1", "10.0.0.2", (50000, 80)), "tcp 10.0.0.1:50000 > 10.0.0.2:80"),
    (addresses(UDP, "fd00::1", "fd00::2", (1, 2)), "udp [fd00::1]:1 > [fd00::2]:2"),
    (addresses(GRE, "10.0.0.1", "10.0.0.2", None), "gre 10.0.0.1 > 10.0.0.2"),
    (addresses(NOBODY, "10.0.0.1", "10.0.0.2", None), "ipproto-251 10.0.0.1 > 10.0.0.2"),
    ({}, "2:c"),
])  # fmt: skip
def test_flow(kernel: Canned, names: dict[int, bytes], text: str) -> None:
    kernel.say([zrtt()], [flow(11, 20_000, "handshake", MBIT, P_ONE // 50, names)])
    said = kernel.run("-i0.1")
    assert "RTT from P_i rate flow, 1 by rate" in said.lines
    assert said.lines[-1] == f"20.0 ms handshake 2.00% 1.00 Mbit/s {text}"


def test_flow_without_rtt(kernel: Canned) -> None:
    kernel.say([zrtt()], [flow(11, 0, "none")])
    assert kernel.run("-i0.1").lines[-1] == "- none 0.00% 0 bit/s 2:c"


@pytest.mark.parametrize(("args", "count"), [((), 10), (("-f3",), 3), (("-f",), 50)])
def test_first_flows_are_listed(kernel: Canned, args: tuple[str, ...], count: int) -> None:
    kernel.say([zrtt()], [flow(slot, 1000) for slot in range(50)])
    assert len(lines_of(kernel.run("-i0.1", *args), "1.00 ms hint")) == count


@pytest.mark.parametrize(("length", "prob"), [
    (0, "0.00%"), (96, "0.00%"), (100, "10.00%"), (150, "10.00%"), (240, "10.00%"),
    (400, "10.00%"),
])  # fmt: skip
def test_statistics_of_other_versions(kernel: Canned, length: int, prob: str) -> None:
    """Shorter ones are older, longer ones newer: what is there is read."""
    given = (xstats(prob=P_ONE // 10) + bytes(400))[:length]
    kernel.say([qdisc("zrtt", stats(given))])
    said = kernel.run("-i0.1")
    (line,) = lines_of(said, "marking")
    assert line.startswith(f"P_b {prob}, ")
    whole = len(xstats_with_lanes(lanes()))
    assert len(lines_of(said, "sparse")) == len(lines_of(said, "bulk")) == (length >= whole)
