# SPDX-License-Identifier: GPL-2.0
"""Shares of hosts: what is reported of made-up readings, in the table, and of a run."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from measured import flow_bytes, reading, result_of, row_of, traffic_of

from lab.commands.run import _print_hosts
from lab.model.churn import Churn
from lab.model.hosts import Idle
from lab.model.scenario import Phase, Scenario
from lab.model.step import Step
from lab.model.udp import Udp
from lab.model.wire import FRAME_BYTES, HEADER_BYTES, expansion
from lab.results import report, table
from lab.results.dues import dues_mbps
from lab.results.result import Result
from lab.runs import runner

SECONDS = 20
UNEVEN = Scenario(
    rtts_ms=(20.0, 40.0), sessions=0, sessions_of=(1, 3), warmup_s=10.0, duration_s=float(SECONDS),
    hint="none",
)  # fmt: skip
"""On 20 Mbit/s, a host with one flow and one with three."""
WIRE = expansion(hinted=False)


def frames(mbps: float, seconds: float = SECONDS) -> int:
    return round(mbps * 1e6 / 8 * seconds / FRAME_BYTES)


def of(scenario: Scenario, mbps: Sequence[float], udp: Sequence[float] = (),
       short: Sequence[float] = (0,)) -> Result:  # fmt: skip
    """The result, if that much was received of each flow, UDP stream and host's short flows."""
    begin = reading(10, [7] * len(mbps), [[3, 2]] * len(udp), [5] * len(short))
    end = reading(
        30, [7 + flow_bytes(rate, SECONDS) for rate in mbps],
        [[3 + frames(rate), 2 + frames(rate)] for rate in udp],
        [5 + flow_bytes(rate, SECONDS) for rate in short],
    )  # fmt: skip
    traffic = traffic_of(scenario, [begin, end])
    traffic["shorts"] = [[flow.at_ms, -1] for flow in scenario.short_flows]
    sent = sum(udp) + (sum(mbps) + sum(short)) * WIRE
    return result_of(scenario, traffic, sent)


# Shares


def test_hosts_are_compared_not_flows() -> None:
    """9 Mbit/s each: fair by hosts, not by flows."""
    result = of(UNEVEN, [9, 3, 3, 3])
    assert (result.host_jain, result.within_jain, result.host_error) == pytest.approx((1, 1, 0))
    assert result.jain == pytest.approx(18**2 / (4 * (81 + 27)))
    one, three = result.hosts
    assert (one.number, one.flows, one.goodput_mbps) == (0, 1, pytest.approx(9))
    assert (three.number, three.flows, three.goodput_mbps) == (1, 3, pytest.approx(9))
    assert [one.of_due, three.of_due] == pytest.approx([9 * WIRE / 10] * 2)
    assert result.host_due == pytest.approx(9 * WIRE / 10)
    assert result.hosts_differ
    assert Result.from_dict(result.to_dict()) == result


def test_worst_host_is_told_within_and_between() -> None:
    result = of(UNEVEN, [4, 2, 2, 8])
    assert result.host_jain == pytest.approx(16**2 / (2 * (16 + 144)))
    assert result.host_error == pytest.approx(0.5)
    assert result.within_jain == pytest.approx(12**2 / (3 * 72))
    assert result.host_due == pytest.approx(4 * WIRE / 10)


def test_weights_divide_shares() -> None:
    """1 to 4 is even if they weigh so, and each has what it is due."""
    result = of(replace(UNEVEN, weights=(1, 4)), [3, 4, 4, 4])
    assert (result.host_jain, result.host_error) == pytest.approx((1, 0))
    assert [host.weight for host in result.hosts] == [1, 4]
    assert [host.of_due for host in result.hosts] == pytest.approx([3 * WIRE / 4, 12 * WIRE / 16])
    assert of(replace(UNEVEN, weights=(4, 1)), [3, 4, 4, 4]).host_jain < 0.6


def test_subscribers_have_the_hosts_together() -> None:
    """Of three hosts, two are one subscriber's; its flows are compared as one host's."""
    scenario = replace(
        UNEVEN, rtts_ms=(20.0, 40.0, 60.0), sessions_of=(1, 1, 2), subscribers=(7, 9, 7)
    ).check()
    result = of(scenario, [2, 8, 3, 3])
    assert [(h.number, h.flows, round(h.goodput_mbps, 6)) for h in result.hosts] == [
        (7, 3, 8.0), (9, 1, 8.0),
    ]  # fmt: skip
    assert (result.host_jain, result.within_jain) == pytest.approx((1, 64 / (3 * 22)))
    assert [h.of_due for h in result.hosts] == pytest.approx([8 * WIRE / 10] * 2)


def test_receivers_are_compared() -> None:
    """By the addresses that flows go to; one alone is compared with nobody."""
    result = of(replace(UNEVEN, receivers=(2, 2)), [4, 4, 1, 3])
    assert result.receiver_jain == pytest.approx(12**2 / (2 * (64 + 16)))
    assert of(replace(UNEVEN, receivers=(4,)), [4, 4, 1, 3]).receiver_jain is None
    assert of(UNEVEN, [4, 4, 1, 3]).receiver_jain is None


def test_all_that_a_host_sends_is_its_share() -> None:
    """Short flows, UDP's payload, long flows."""
    scenario = replace(
        UNEVEN, udp=(Udp.parse("4mbit host=0"), Udp.parse("1mbit")),
        churn=Churn.parse("load=10% size=60kB"),
    ).check()  # fmt: skip
    result = of(scenario, [2, 1, 1, 1], udp=[4, 1], short=[0.5, 1.5])
    payload = 4 * scenario.udp[0].payload_bytes / FRAME_BYTES
    first, second = result.hosts
    assert (first.udp_mbps, first.short_mbps) == pytest.approx((payload, 0.5), rel=1e-3)
    assert first.goodput_mbps == pytest.approx(2.5 + payload, rel=1e-3)
    assert (second.udp_mbps, second.short_mbps) == (0, pytest.approx(1.5))
    assert second.goodput_mbps == pytest.approx(4.5)
    assert first.of_due == pytest.approx((4 + 2.5 * WIRE) / 9.5, rel=1e-3)
    assert second.of_due == pytest.approx(4.5 * WIRE / 9.5)


def test_acks_of_flows_the_other_way_are_of_its_share() -> None:
    scenario = replace(UNEVEN, reverse=1).check()
    host = scenario.reverse_flows[0].host
    traffic = traffic_of(
        scenario, [reading(at, [flow_bytes(2, at)] * 5) for at in (10, 10 + SECONDS)]
    )
    traffic["flows"][-1]["end"]["acks"] = round(1.5e6 / 8 * SECONDS / HEADER_BYTES)
    found = result_of(scenario, traffic, 8 * WIRE + 1.5, 2 * WIRE).hosts
    assert found[1 - host].acks_mbps == 0
    assert found[host].acks_mbps == pytest.approx(1.5 / WIRE, rel=1e-3)
    assert found[host].goodput_mbps == pytest.approx(2 * found[host].flows + 1.5 / WIRE, rel=1e-3)


def test_hosts_without_short_flows_may_be_missing() -> None:
    """The program names them up to the last that had any, by then."""
    scenario = replace(UNEVEN, churn=Churn.parse("load=10% size=60kB host=0"))
    assert [h.short_mbps for h in of(scenario, [2, 1, 1, 1], short=[1]).hosts] == [1, 0]
    scenario = replace(UNEVEN, churn=Churn.parse("load=10% size=60kB host=1"))
    begin, end = reading(10, [0] * 4, short=[]), reading(30, [9] * 4, short=[0, 2_500_000])
    traffic = traffic_of(scenario, [begin, end])
    traffic["shorts"] = [[flow.at_ms, -1] for flow in scenario.short_flows]
    assert [h.short_mbps for h in result_of(scenario, traffic, 1.1).hosts] == [0, 1]


def test_only_those_that_stay_are_compared() -> None:
    """The second host leaves within the measured time; it has its due until then."""
    scenario = replace(
        UNEVEN, rtts_ms=(20.0, 40.0, 60.0), sessions_of=(1, 1, 1), stops_s=(None, 20.0, None)
    )
    result = of(scenario, [6, 3, 6])
    assert (result.host_jain, result.host_error) == pytest.approx((1, 0))
    assert [h.of_due for h in result.hosts] == pytest.approx(
        [6 * WIRE * 12 / 100, 3 * WIRE * 6 / 20, 6 * WIRE * 12 / 100]
    )


# Dues


def dues(scenario: Scenario) -> list[float]:
    return list(dues_mbps(scenario.check()).values())


def test_dues_follow_udp() -> None:
    """A stream from elsewhere wants its rate, up to a share; one of a host is the host's."""
    assert dues(replace(UNEVEN, udp=(Udp.parse("2mbit"),))) == pytest.approx([9, 9])
    assert dues(replace(UNEVEN, udp=(Udp.parse("50mbit"),))) == pytest.approx([20 / 3] * 2)
    assert dues(replace(UNEVEN, udp=(Udp.parse("50mbit host=0"),))) == pytest.approx([10, 10])
    for part in ("5-20", "15-25", "20-30"):
        half = replace(UNEVEN, udp=(Udp.parse(f"2mbit@{part}"),))
        assert dues(half) == pytest.approx([9.5, 9.5])
    weighted = replace(UNEVEN, weights=(1, 4), udp=(Udp.parse("50mbit"),))
    assert dues(weighted) == pytest.approx([20 / 6, 80 / 6])


def test_dues_follow_the_rate() -> None:
    steps = replace(UNEVEN, weights=(1, 3), steps=(Step.parse("t=20 rate=4mbit"),))
    assert steps.phases[-1] == Phase(20.0, 30.0, 4_000_000)
    assert dues(steps) == pytest.approx([3, 9])


def test_dues_follow_who_is_idle() -> None:
    """20 s on, 20 s off: in the first half of what is measured both want all they can get."""
    scenario = replace(UNEVEN, idle=Idle(1, 20.0, 20.0))
    assert dues(scenario) == pytest.approx([15, 5])
    beside = replace(scenario, udp=(Udp.parse("4mbit host=1"),))
    assert dues(beside) == pytest.approx([13, 7])


def test_dues_follow_who_joins() -> None:
    """Alone for the first half of what is measured."""
    assert dues(replace(UNEVEN, starts_s=(0.0, 20.0))) == pytest.approx([15, 5])


def test_who_is_never_there_is_due_nothing() -> None:
    scenario = replace(UNEVEN, starts_s=(0.0, 3.0), stops_s=(None, 8.0)).check()
    result = of(scenario, [18, 0, 0, 0])
    assert dues(scenario) == [20, 0]
    assert math.isnan(result.hosts[1].of_due)
    assert result.to_dict()["hosts"][1]["of_due"] is None
    saved = json.dumps(result.to_dict(), allow_nan=False)
    assert Result.from_dict(json.loads(saved)) == result
    assert result.host_due == pytest.approx(18 * WIRE / 20)


# Idle hosts


def _with_samples(mbps_on: Sequence[float], mbps_off: Sequence[float],
                  settling: float = 0.0, weights: tuple[int, ...] = ()) -> Result:  # fmt: skip
    """Of three hosts, the last is on for 40 s, off for 30 s, and on again for 30 s.

    The first has `settling` more for 9 s after a change.
    """
    scenario = Scenario(
        rtts_ms=(20.0, 40.0, 60.0), warmup_s=20.0, duration_s=80.0, idle=Idle(1, 40.0, 30.0),
        weights=weights, hint="none",
    ).check()  # fmt: skip
    samples, got = [[0, 0, 0, 0]], [0.0, 0.0, 0.0]
    for second in range(1, 101):
        off = 40 < second <= 70
        rates = list(mbps_off if off else mbps_on)
        rates[0] += settling if 40 < second < 50 or 70 < second < 80 else 0
        got = [before + rate for before, rate in zip(got, rates, strict=True)]
        samples.append([second * 1000, *(flow_bytes(mbits, 1) for mbits in got)])
    first, last = ([row[1:] for row in samples if row[0] == at_ms][0] for at_ms in (20_000, 100_000))
    traffic = traffic_of(scenario, [reading(20, first), reading(100, last)])
    traffic["samples"] = samples
    received = sum(last) - sum(first)
    return result_of(scenario, traffic, received * 8 / 80 / 1e6 * WIRE)


def test_idle_host_is_not_compared_while_it_is_idle() -> None:
    """6 each, then 9 each: even, though it has less in all."""
    result = _with_samples([6, 6, 6], [9, 9, 0])
    assert (result.host_jain, result.host_error) == pytest.approx((1, 0), abs=1e-6)
    assert result.hosts[2].goodput_mbps < 0.7 * result.hosts[0].goodput_mbps
    assert result.hosts[2].of_due == pytest.approx(result.hosts[0].of_due)


def test_weights_divide_shares_of_each_time() -> None:
    result = _with_samples([3, 6, 9], [6, 12, 0], weights=(1, 2, 3))
    assert (result.host_jain, result.host_error) == pytest.approx((1, 0), abs=1e-6)


def test_worst_time_counts() -> None:
    """Both with all of them and while one is idle."""
    unlike_off = _with_samples([6, 6, 6], [12, 6, 0])
    assert unlike_off.host_jain == pytest.approx(18**2 / (2 * 180))
    assert unlike_off.host_error == pytest.approx(1 / 3)
    unlike_on = _with_samples([6, 6, 3], [9, 9, 0])
    assert unlike_on.host_jain == pytest.approx(15**2 / (3 * 81))
    assert unlike_on.host_error == pytest.approx(0.4)


def test_ten_seconds_after_a_change_are_left_out() -> None:
    settling = _with_samples([6, 6, 6], [9, 9, 0], settling=5)
    assert (settling.host_jain, settling.host_error) == pytest.approx((1, 0), abs=1e-6)
    assert settling.hosts[0].goodput_mbps > settling.hosts[1].goodput_mbps


# What is shown


def test_hosts_are_printed_and_in_the_report(capsys: pytest.CaptureFixture[str]) -> None:
    result = of(replace(UNEVEN, weights=(1, 4), receivers=(2, 2)), [3, 4, 4, 4])
    _print_hosts(result)
    assert capsys.readouterr().out.splitlines() == [
        f"  host 0       3.000 Mbit/s  {3 * WIRE / 4:6.1%} of its due"
        "      1 flows  Jain 1.0000  weight 1",
        f"  host 1      12.000 Mbit/s  {12 * WIRE / 16:6.1%} of its due"
        "      3 flows  Jain 1.0000  weight 4",
        "  receivers: Jain 0.9956",
    ]
    head, _, line = report.table([report.Run("zrtt", result)]).splitlines()
    assert head.split()[:5] == ["Jain", "of", "hosts", "within", "max/min"]
    assert line.split()[:4] == ["zrtt", "0.987", "1.0000", "1.000"]
    plain = of(replace(UNEVEN, sessions=1, sessions_of=()), [9, 9])
    assert not plain.hosts_differ
    assert "of hosts" not in report.table([report.Run("zrtt", plain)])


def test_hosts_that_differ_by_udp_alone_are_shown() -> None:
    scenario = replace(UNEVEN, sessions=1, sessions_of=(), udp=(Udp.parse("4mbit host=0"),))
    assert of(scenario, [4, 9], udp=[4]).hosts_differ
    even = replace(UNEVEN, sessions=1, sessions_of=(), receivers=(1, 1))
    assert of(even, [9, 9]).hosts_differ


def test_table_has_the_hosts(tmp_path: Path) -> None:
    options = {"sessions": "1,3", "weights": "1,4", "receivers": "2,2"}
    result = of(replace(UNEVEN, weights=(1, 4), receivers=(2, 2)), [3, 2, 4, 6])
    with table.opened(tmp_path / "t.csv") as rows:
        rows.append(row_of(options, result))
    (row,) = table.load(tmp_path / "t.csv")
    assert (row.sessions, row.flows) == (0, 4)
    assert set(row.extra.split("; ")) == {"sessions 1,3", "weights 1,4", "receivers 2,2"}
    assert row.host_goodputs_mbps == "3;12"
    assert (row.host_jain, row.host_error) == pytest.approx((1, 0))
    assert row.within_jain == pytest.approx(result.within_jain, rel=1e-5)
    assert row.host_due == pytest.approx(result.host_due, rel=1e-5)
    assert row.receiver_jain == pytest.approx(15**2 / (2 * 125), rel=1e-5)
    assert set(table.METRICS) >= {"host_jain", "within_jain", "host_error", "host_due"}
    alike = row_of({"sessions": "2"}, of(replace(UNEVEN, sessions=2, sessions_of=()), [4] * 4))
    assert (alike.extra, alike.sessions) == ("", 2)
    assert math.isnan(alike.receiver_jain)


# In a guest


@pytest.mark.guest
def test_hosts_are_equal_on_fair_srchost_and_flows_without() -> None:
    """One flow beside three, of the same RTT: by hosts, or by flows."""
    scenario = Scenario(
        kernel="uml", qdisc="zrtt fair srchost", rate_bps=10_000_000, rtts_ms=(20.0, 20.0),
        sessions=0, sessions_of=(1, 3), hint="none", warmup_s=15.0, duration_s=15.0,
    ).check()  # fmt: skip
    by_host = runner.run(scenario)
    assert by_host.host_jain > 0.99
    assert by_host.within_jain > 0.97
    by_flow = runner.run(replace(scenario, qdisc="zrtt"))
    assert by_flow.host_jain == pytest.approx(0.8, abs=0.03)
    assert by_flow.jain > 0.98


@pytest.mark.guest
def test_weights_and_dscp_reach_the_queue() -> None:
    """By the mark, and by the DSCP that EF is: the second host has four times as much."""
    plain = Scenario(
        kernel="uml", qdisc="zrtt fair srchost weight mark 0xff", rate_bps=10_000_000,
        rtts_ms=(20.0, 20.0), sessions=2, weights=(1, 4), hint="none", warmup_s=15.0,
        duration_s=15.0,
    )  # fmt: skip
    by_mark = runner.run(plain.check())
    assert by_mark.host_error < 0.05
    by_dscp = replace(plain, qdisc="zrtt weight dscp EF:4", weights=(), dscps=(0, 46))
    first, second = runner.run(by_dscp.check()).hosts
    assert second.goodput_mbps / first.goodput_mbps == pytest.approx(4, rel=0.1)


@pytest.mark.guest
def test_idle_hosts_stop_and_come_back() -> None:
    """What they send after second 20 is what they had in their sockets; from 40 on, as before."""
    scenario = Scenario(
        kernel="uml", qdisc="fq_codel", rate_bps=5_000_000, rtts_ms=(20.0, 20.0), hint="none",
        idle=Idle(1, 20.0, 20.0), warmup_s=5.0, duration_s=50.0,
    ).check()  # fmt: skip
    result = runner.run(scenario)
    at = {round(row[0], -3): row[1:] for row in result.samples}

    def mbps(flow: int, from_s: int, to_s: int) -> float:
        return (at[to_s * 1000][flow] - at[from_s * 1000][flow]) * 8e-6 / (to_s - from_s)

    assert mbps(1, 22, 40) == 0
    assert mbps(0, 25, 40) == pytest.approx(4.7, rel=0.05)
    for since_s in (10, 45):
        assert mbps(0, since_s, since_s + 10) == pytest.approx(2.35, rel=0.1)
        assert mbps(1, since_s, since_s + 10) == pytest.approx(2.35, rel=0.1)
    assert result.host_jain > 0.99


@pytest.mark.guest
def test_flows_reach_their_receivers_and_udp_leaves_its_host() -> None:
    """Four flows to a receiver and one to another, beside UDP of the last host."""
    scenario = Scenario(
        kernel="uml", qdisc="fq_codel", rate_bps=5_000_000, rtts_ms=(20.0,) * 5, hint="none",
        receivers=(4, 1), ecn_share=0.5, udp=(Udp.parse("0.4mbit host=4"),),
        churn=Churn.parse("load=10% size=20kB host=0"), warmup_s=5.0, duration_s=10.0,
    ).check()  # fmt: skip
    result = runner.run(scenario)
    assert result.receiver_jain == pytest.approx(25 / 34, abs=0.1)
    udp = [host.udp_mbps for host in result.hosts]
    assert udp == [0, 0, 0, 0, pytest.approx(0.4 * Udp(1).payload_bytes / FRAME_BYTES, rel=0.05)]
    short = [host.short_mbps for host in result.hosts]
    assert short == [pytest.approx(0.5, rel=0.4), 0, 0, 0, 0]
    assert result.short_flows
    assert short[0] == pytest.approx(result.short_flows.goodput_mbps)
