# SPDX-License-Identifier: GPL-2.0
"""Mixed ECN, flows the other way, and routers in series."""

from __future__ import annotations

import math

import pytest
from measured import MSS, flow_bytes, reading, result_of, row_of, traffic_of

from lab.model.ports import CROSS_PORT, FIRST_PORT, REVERSE_PORT
from lab.model.scenario import (
    Scenario,
    ScenarioError,
    Step,
    parse_ecn,
    parse_hops,
    parse_timestamps,
)
from lab.model.units import format_ms
from lab.model.wire import HEADER_BYTES, HINT_BYTES
from lab.net import network, topology, traffic_spec
from lab.results.result import Result, ResultError
from lab.runs import runner

OVERHEAD = (MSS + HEADER_BYTES + HINT_BYTES) / MSS
PARKING_LOT = Scenario(
    rtts_ms=(90.0, 180.0), hops=2, cross_rtts_ms=(30.0,), warmup_s=10.0, duration_s=20.0
)  # fmt: skip
BOTH_WAYS = Scenario(rtts_ms=(20.0, 40.0, 60.0), reverse=2, warmup_s=10.0, duration_s=20.0)


def flow_lines(scenario: Scenario) -> list[list[str]]:
    """Of the specification, with the receivers' network namespace in front."""
    found, receiver = [], ""
    for words in (line.split() for line in traffic_spec.spec(scenario).splitlines()):
        if words[0] == "receiver":
            receiver = words[1]
        elif words[0] in ("flow", "reverse"):
            found.append([receiver, *words])
    return found


# Mixed ECN


def test_ecn_is_read() -> None:
    assert parse_ecn("on") == (True, 1.0)
    assert parse_ecn("off") == (False, 1.0)
    assert parse_ecn("0.25") == (True, 0.25)
    for text in ("maybe", "1.5", "-1", ""):
        with pytest.raises(ScenarioError, match="--ecn"):
            parse_ecn(text)


def test_flows_without_ecn_go_to_a_plain_address() -> None:
    scenario = Scenario(rtts_ms=(20.0,), sessions=4, ecn_share=0.5)
    assert [flow.ecn for flow in scenario.flows] == [False, True, False, True]
    assert [line[3] for line in flow_lines(scenario)] == ["10.255.0.3", "10.255.0.2"] * 2
    script = topology.script(scenario)
    assert "route add default via 10.0.0.1 features ecn" in script
    assert "route add 10.255.0.3 via 10.0.0.1\n" in script


@pytest.mark.parametrize("ecn", [True, False])
def test_all_alike_need_no_plain_address(ecn: bool) -> None:
    scenario = Scenario(rtts_ms=(20.0, 40.0), ecn=ecn)
    assert {flow.ecn for flow in scenario.flows} == {ecn}
    assert "10.255.0.3" not in topology.script(scenario) + traffic_spec.spec(scenario)
    assert ("features ecn" in topology.script(scenario)) == ecn


def test_ecn_that_was_not_planned_does_not_add_up() -> None:
    scenario = Scenario(rtts_ms=(20.0, 40.0), ecn_share=0.5, warmup_s=10.0, duration_s=20.0)
    traffic = traffic_of(scenario, [reading(10, [0, 0]), reading(30, [flow_bytes(5, 20)] * 2)])
    assert [flow.ecn for flow in result_of(scenario, traffic, 11.0).flows] == [False, True]
    traffic["flows"][0]["end"]["ecn"] = True
    with pytest.raises(ResultError, match="ECN that should have none: 0"):
        result_of(scenario, traffic, 11.0)


# Timestamps


def test_timestamps_are_read() -> None:
    assert [parse_timestamps(text) for text in ("on", "off", "0.25")] == [1.0, 0.0, 0.25]
    for text in ("maybe", "1.5", "-1", ""):
        with pytest.raises(ScenarioError, match="--timestamps"):
            parse_timestamps(text)


@pytest.mark.parametrize(
    ("share", "without"), [(1.0, []), (0.5, ["h0", "h2"]), (0.0, ["h0", "h1", "h2", "h3"])]
)
def test_hosts_have_no_timestamps(share: float, without: list[str]) -> None:
    script = topology.script(Scenario(rtts_ms=(20.0,) * 4, reverse=1, timestamps_share=share))
    command = "ip netns exec {} sysctl -qw net.ipv4.tcp_timestamps=0\n"
    assert [name for name in ("h0", "h1", "h2", "h3") if command.format(name) in script] == without
    assert script.count("tcp_timestamps") == len(without)


# The other way


def test_reverse_flows_are_spread_over_the_rtts() -> None:
    def hosts(reverse: int) -> list[float]:
        return [
            f.rtt_ms for f in Scenario(rtts_ms=(1.0, 2.0, 3.0, 4.0), reverse=reverse).reverse_flows
        ]

    assert hosts(1) == [3.0]
    assert hosts(2) == [2.0, 4.0]
    assert hosts(4) == [1.0, 2.0, 3.0, 4.0]
    assert sorted(hosts(8)) == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0]
    with pytest.raises(ScenarioError, match="--reverse"):
        Scenario(reverse=4001).check()


def test_way_back_is_a_bottleneck_like_the_other() -> None:
    script = topology.script(BOTH_WAYS)
    assert "tc -n router2 qdisc add dev eth0 parent 2:1 handle 3: fq_codel" in script
    assert "router2" not in topology.script(Scenario())
    lines = flow_lines(BOTH_WAYS)
    assert [(line[1], line[2], line[4]) for line in lines[3:]] == [
        ("reverse", "h0", str(REVERSE_PORT)),
        ("reverse", "h2", str(REVERSE_PORT + 1)),
    ]
    step = Scenario(rtts_ms=(20.0,), reverse=1, steps=(Step.parse("t=30 rate=5mbit"),))
    assert traffic_spec.spec(step).count("htb rate 5000000bit") == 2


def test_reverse_flows_are_reported_apart() -> None:
    forward, back = [flow_bytes(4, 20)] * 3, [flow_bytes(6, 20), flow_bytes(3, 20)]
    traffic = traffic_of(BOTH_WAYS, [reading(10, [0] * 5), reading(30, forward + back)])
    marks = [{FIRST_PORT: 7}, {REVERSE_PORT: 11, REVERSE_PORT + 1: 2}]
    result = result_of(BOTH_WAYS, traffic, 13.0, 10.0, marks=marks)
    assert result.jain == 1.0
    assert result.utilisation == pytest.approx(12 * OVERHEAD / 20)
    assert [flow.goodput_mbps for flow in result.reverse] == pytest.approx([6.0, 3.0])
    assert [flow.marks for flow in result.reverse] == [11, 2]
    assert (result.marks, [queue.marks for queue in result.queues]) == (7, [7, 13])
    assert [queue.name for queue in result.queues] == ["hop 1", "reverse"]
    assert Result.from_dict(result.to_dict()) == result
    with pytest.raises(ResultError, match="reverse, Mbit/s"):
        result_of(BOTH_WAYS, traffic, 13.0, 8.0, marks=marks)


# Routers in series


def test_hops_are_read() -> None:
    assert parse_hops("3") == (3, ())
    assert parse_hops("2:30ms,60ms") == (2, (30.0, 60.0))
    for text in ("", "two", "2:", "2:30", "-1"):
        with pytest.raises(ScenarioError, match="--hops"):
            parse_hops(text)
    for bad in (Scenario(hops=9), Scenario(hops=0), Scenario(hops=4, cross_rtts_ms=(1.0,) * 9)):
        with pytest.raises(ScenarioError, match="--hops"):
            bad.check()


def test_who_crosses_what() -> None:
    lines = flow_lines(PARKING_LOT)
    assert [line[:5] for line in lines] == [
        ["rx", "flow", "h0", "10.255.1.2", str(FIRST_PORT)],
        ["rx", "flow", "h1", "10.255.1.2", str(FIRST_PORT + 1)],
        ["router2", "flow", "c0", "10.255.0.2", str(CROSS_PORT)],
        ["rx", "flow", "c1", "10.255.1.2", str(CROSS_PORT + 1)],
    ]
    at = {host.name: network.router(host.hop) for host in network.hosts(PARKING_LOT)}
    assert at == {"h0": "router", "h1": "router", "c0": "router", "c1": "router2"}


def test_queue_per_router() -> None:
    script = topology.script(PARKING_LOT)
    for netns in ("router", "router2"):
        assert f"tc -n {netns} qdisc add dev bot parent 2:1 handle 3: fq_codel" in script
    assert "route add 10.0.0.0/9 via 10.255.0.1" in script


def _parking_lot(last_of_hop_2: float) -> Result:
    received = [flow_bytes(mbps, 20) for mbps in (6, 6, 6, last_of_hop_2)]
    traffic = traffic_of(PARKING_LOT, [reading(10, [0] * 4), reading(30, received)])
    marks = [{FIRST_PORT: 10, CROSS_PORT: 3}, {FIRST_PORT: 14, CROSS_PORT + 1: 5}]
    return result_of(PARKING_LOT, traffic, 19.0, 16.0, marks=marks, p95_us=[20_000, 25_000])


def test_parking_lot_is_judged_by_the_least_used_hop() -> None:
    result = _parking_lot(3)
    assert result.jain == 1.0
    assert [(flow.hop, flow.goodput_mbps) for flow in result.cross] == [
        (1, pytest.approx(6.0)), (2, pytest.approx(3.0)),
    ]  # fmt: skip
    assert result.utilisation == pytest.approx(15 * OVERHEAD / 20)
    assert result.min_phase_utilisation == pytest.approx(result.utilisation)
    assert result.sojourn_ms.p95 == 25.0
    assert [queue.sojourn_ms.p95 for queue in result.queues] == [20.0, 25.0]
    assert Result.from_dict(result.to_dict()) == result


def test_flows_that_get_nothing_beside_those_of_one_hop_have_a_row() -> None:
    seconds = PARKING_LOT.duration_s
    got = [flow_bytes(mbps, seconds) for mbps in (0, 0, 10, 10)]
    traffic = traffic_of(PARKING_LOT, [reading(10, [0] * 4), reading(30, got)])
    result = result_of(PARKING_LOT, traffic, 10.6, 10.6)
    row = row_of({"rtts": "90ms,180ms", "hops": "2:30ms", "liar": ["0:2"]}, result)
    assert math.isnan(row.liar_share)
    assert math.isnan(row.max_class_ratio)


def test_marks_of_both_hops() -> None:
    """A packet marked by the first router is not marked again by the second."""
    result = _parking_lot(3)
    assert [queue.marks for queue in result.queues] == [13, 6]
    assert result.marks == 19
    assert [flow.marks for flow in result.flows] == [14, 0]
    assert [flow.marks for flow in result.cross] == [3, 5]


# A qdisc on the way back


def test_way_back_crosses_a_qdisc_behind_its_delay() -> None:
    scenario = Scenario(qdisc="zrtt", back="fq_pie limit 50", rtts_ms=(20.0, 40.0))
    script = topology.script(scenario)
    for port, delay_ms in (("r0", 20.0), ("r1", 40.0)):
        assert f"dev {port} root handle 1: netem delay {format_ms(delay_ms)} " in script
        assert f"tc -n router qdisc add dev {port} parent 1:1 fq_pie limit 50\n" in script
    assert "sch_fq_pie" in topology.modules(scenario)
    assert runner.module_names(scenario) == ["sch_meter", "sch_zrtt"]


def test_no_qdisc_on_the_way_back_unless_asked_for() -> None:
    assert "parent 1:1 zrtt" not in topology.script(Scenario(qdisc="zrtt"))
    assert "sch_fq_pie" not in topology.modules(Scenario(qdisc="zrtt"))


def test_modules_of_the_way_back_are_ours_too() -> None:
    scenario = Scenario(qdisc="fq_codel", back="zrtt flows 64")
    assert runner.module_names(scenario) == ["sch_meter", "sch_zrtt"]
