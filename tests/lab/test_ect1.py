# SPDX-License-Identifier: GPL-2.0
"""Who sends as ECT(1), on the wire too, and what is reported of them and of the others."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from measured import flow_bytes, reading, result_of, row_of, traffic_of

from lab.engines.select import get_engine
from lab.model.churn import Churn
from lab.model.ect1 import EcnClass, EcnResult, Ect1
from lab.model.line import Line
from lab.model.ports import FIRST_PORT, UDP_PORT
from lab.model.scenario import Scenario, ScenarioError
from lab.model.udp import Udp
from lab.net import network, topology, traffic_spec
from lab.results import summary, table
from lab.results.result import Result, ResultError, compute
from lab.runs import runner

ROOT = Path(__file__).resolve().parents[2]
GUEST = Path(__file__).parent / "guest"
NOT_ECT, ECT1, ECT0, CE = range(4)

FLOWS = Scenario(rtts_ms=(20.0, 40.0), cc=("prague", "cubic"), warmup_s=10.0, duration_s=20.0)
STREAM = (Udp.parse("1mbit"),)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("cubic", Ect1(ccs=frozenset({"cubic"}))),
        ("3,1", Ect1(flows=frozenset({1, 3}))),
        ("udp,bbr,0", Ect1(frozenset({0}), frozenset({"bbr"}), udp=True)),
    ],
)
def test_option_is_read(text: str, meant: Ect1) -> None:
    assert Ect1.parse(text) == meant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "want names"), ("1,,2", "want names"), ("bbr", "no flow has it"),
        ("2", "flows are 0..1"), ("udp", "there is no --udp"),
    ],
)  # fmt: skip
def test_nonsense_is_refused(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=f"--ect1.*{said}"):
        replace(FLOWS, ect1=Ect1.parse(text)).check()


def test_liar_needs_ecn() -> None:
    with pytest.raises(ScenarioError, match="flows without ECN: 1"):
        replace(FLOWS, ecn=False, ect1=Ect1.parse("cubic")).check()


def test_scalable_flows_are_ect1_and_no_liars() -> None:
    """They negotiate ECN whatever --ecn says."""
    for scenario in (FLOWS, replace(FLOWS, ecn=False, ect1=Ect1.parse("0"))):
        prague, cubic = scenario.check().flows
        assert (prague.ect1, prague.lies, prague.ecn) == (True, False, True)
        assert (cubic.ect1, cubic.lies, cubic.ecn) == (False, False, scenario.ecn)


def test_reverse_and_short_flows_are_ect1_by_their_congestion_control() -> None:
    scenario = replace(FLOWS, reverse=2, ect1=Ect1.parse("1"), churn=Churn.parse("load=5% size=web"))
    assert [flow.ect1 for flow in scenario.reverse_flows] == [True, False]
    assert [scenario.short_ect1(index) for index in range(3)] == [True, False, True]


def test_sockets_are_told() -> None:
    scenario = replace(FLOWS, udp=STREAM, ect1=Ect1.parse("udp"))
    lines = [line.split() for line in traffic_spec.spec(scenario).splitlines()]
    assert [line[-1] for line in lines if line[0] == "flow"] == ["1", "0"]
    assert [line[-2] for line in lines if line[0] == "udp"] == ["1"]


def test_rule_is_at_both_ends_and_only_where_it_is_wanted() -> None:
    rules = re.findall(r"^tc -n (\w+) -batch.*\nqdisc replace dev eth0 clsact$", topology.script(FLOWS),
                       re.MULTILINE)  # fmt: skip
    assert rules == ["h0", "h1", "rx"]
    only_udp = replace(FLOWS, cc=("cubic",), udp=STREAM, ect1=Ect1.parse("udp"))
    for scenario in (replace(FLOWS, cc=("cubic",)), only_udp):
        assert "clsact" not in topology.script(scenario)
        assert not set(topology.ECT1_MODULES) & set(topology.modules(scenario))
    assert set(topology.ECT1_MODULES) <= set(topology.modules(FLOWS))


def test_a_device_has_one_place_for_all_its_rules() -> None:
    """A line before the router has a rule at each host, too: a second clsact would be refused."""
    line = Line.parse("rate=20mbit buffer=300ms place=before")
    script = topology.script(replace(FLOWS, line=line).check())
    assert len(re.findall("dev eth0 ingress .* redirect dev late", script)) == len(FLOWS.rtts_ms)
    assert "qdisc add dev eth0 clsact" not in script


def test_mark_is_the_one_of_the_traffic_program() -> None:
    source = (ROOT / "lab/guest/traffic/net.c").read_text()
    assert re.findall(r"#define ECT1_MARK\s+(\d+)", source) == [str(network.ECT1_MARK)]


def test_meter_knows_the_liars() -> None:
    scenario = replace(FLOWS, udp=STREAM, ect1=Ect1.parse("1,udp"))
    told = re.findall(r"meter liar (\d+)", topology.script(scenario))
    assert told == [str(FIRST_PORT + 1), str(UDP_PORT)]
    assert "liar" not in topology.script(FLOWS)


def test_classes_are_the_meters() -> None:
    source = (ROOT / "lab/kmod/meter.h").read_text()
    names = re.findall(r"METER_(\w+),", source.split("METER_ECN_CLASSES")[0].split("enum {")[-1])
    assert [name.lower() for name in names] == list(EcnClass)


# What is reported


def _class(sent: int, p99_us: int, octets: int) -> dict[str, int]:
    return {"packets_in": sent, "packets_out": sent, "bytes_out": octets, "mean_ns": 100 * p99_us,
            "p95_us": p99_us // 2, "p99_us": p99_us, "max_us": 2 * p99_us}  # fmt: skip


NOTHING = _class(0, 0, 0)
BOTH = (_class(9000, 20_000, 12_500_000), _class(8000, 1500, 10_000_000), NOTHING)


def _result(*of_queues: Sequence[Mapping[str, int]], scenario: Scenario = FLOWS) -> Result:
    """A flow of 4 Mbit/s and one of 5."""
    scenario = replace(scenario, hops=len(of_queues))
    ends = [flow_bytes(4, 20), flow_bytes(5, 20)]
    nothing = [[0, 0]] * len(scenario.udp)
    traffic = traffic_of(scenario, [
        reading(10, [0, 0], nothing), reading(30, ends, [[500, 400]] * len(nothing))
    ])  # fmt: skip
    return result_of(scenario, traffic, *[9.9] * len(of_queues), ecn=of_queues)


def test_classes_are_reported() -> None:
    result = _result(BOTH)
    assert result.ecn_classes == [
        EcnResult("classic", 9000, 5.0, 2.0, 10.0, 20.0, 40.0),
        EcnResult("l4s", 8000, 4.0, 0.15, 0.75, 1.5, 3.0),
    ]
    assert Result.from_dict(result.to_dict()) == result


def test_to_lose_all_is_no_short_wait() -> None:
    """Of either queue."""
    lost = (BOTH[0], {**NOTHING, "packets_in": 8000}, NOTHING)
    for queues in ([lost], [BOTH, lost]):
        classic, l4s = _result(*queues).ecn_classes
        assert classic.p99_ms == 20.0
        assert (l4s.mean_ms, l4s.p95_ms, l4s.p99_ms, l4s.max_ms) == (math.inf,) * 4


def test_sojourn_is_that_of_the_worst_queue() -> None:
    short = (_class(9000, 2000, 12_500_000), _class(8000, 4000, 10_000_000), NOTHING)
    assert [ecn.p99_ms for ecn in _result(BOTH, short).ecn_classes] == [20.0, 4.0]


def test_runs_without_ect1_have_no_classes() -> None:
    assert _result(BOTH, scenario=replace(FLOWS, cc=("cubic",))).ecn_classes == []


def test_ect1_flow_without_ecn_does_not_add_up() -> None:
    ends = [flow_bytes(4, 20), flow_bytes(5, 20)]
    traffic = traffic_of(FLOWS, [reading(10, [0, 0]), reading(30, ends)])
    traffic["flows"][0]["end"]["ecn"] = False
    with pytest.raises(ResultError, match=r"flows without ECN that should be ECT\(1\): 0"):
        result_of(FLOWS, traffic, 9.7, ecn=[BOTH])


@pytest.mark.parametrize(("ccs", "wrong"), [(("cubic",), True), (("prague",), False)])
def test_acks_of_flows_the_other_way_may_be_marked(ccs: tuple[str, ...], wrong: bool) -> None:
    """With Accurate ECN ACKs are ECT. They go to a port that is no flow's."""
    scenario = replace(FLOWS, cc=ccs, reverse=1)
    ends = [flow_bytes(4, 20), flow_bytes(5, 20), flow_bytes(3, 20)]
    traffic = traffic_of(scenario, [reading(10, [0, 0, 0]), reading(30, ends)])
    marks = [{scenario.flows[0].port: 100, 33001: 50}, {}]
    told = pytest.raises(ResultError, match="100 by flow, 150 in all")
    with told if wrong else nullcontext():
        result_of(scenario, traffic, 9.7, 3.3, marks=marks, ecn=[BOTH, BOTH])


CELL = {"cc": "prague,cubic", "hint": "packet"}


def test_table_has_each_class(tmp_path: Path) -> None:
    with table.opened(tmp_path / "t.csv") as rows:
        rows.append(row_of(CELL, _result(BOTH)))
    (row,) = table.load(tmp_path / "t.csv")
    assert (row.l4s_mean_ms, row.l4s_p99_ms) == (0.15, 1.5)
    assert (row.classic_mean_ms, row.classic_p99_ms) == (2.0, 20.0)
    assert row.scalable_share == pytest.approx(4 / 4.5)
    assert row.share_error == pytest.approx(0.5 / 4.5)
    assert row.ect1_share != row.ect1_share, "nan"
    text = summary.render([row], markdown=False)
    assert re.search(r"c +q +l4s +4\.00 +0\.15 ms +0\.75 ms +1\.50 ms +3\.00 ms", text)


def test_share_of_liars_is_that_of_their_due() -> None:
    """Of 20 Mbit/s, UDP of 5 is due 5, of 15 a third; each flow is due what is left of it."""
    for rate_mbps, due_mbps, flow_mbps in ((5, 5.0, 7.5), (15, 20 / 3, 20 / 3)):
        lying = {**CELL, "udp": [f"{rate_mbps}mbit"], "ect1": "udp"}
        scenario = replace(FLOWS, udp=(Udp.parse(f"{rate_mbps}mbit"),), ect1=Ect1.parse("udp"))
        result = _result(BOTH, scenario=scenario)
        (stream,) = result.udp
        assert row_of(lying, result).ect1_share == pytest.approx(stream.delivered_mbps / due_mbps)
        cubic = result.flows[1].wire_mbps
        assert row_of({**lying, "ect1": "1"}, result).ect1_share == pytest.approx(cubic / flow_mbps)


# In a guest

SECONDS = 14
WIRE = Scenario(
    kernel="uml", qdisc="fq_codel", rate_bps=4_000_000, hint="none",
    rtts_ms=(10.0, 20.0, 30.0), cc=("prague", "cubic", "cubic"), starts_s=(2.0, 2.0, 2.0),
    ect1=Ect1.parse("2,udp"), udp=(Udp.parse("0.5mbit"),), warmup_s=6, duration_s=6,
)  # fmt: skip
Wire = dict[tuple[str, int, str], set[int]]


@cache
def sent() -> tuple[Wire, Result]:
    """ECN fields that the hosts sent, by protocol, port and kind, before any queue saw them."""
    around = runner.Around(GUEST / "wire.sh", [str(SECONDS)], {"wire.py": GUEST / "wire.py"})
    output = runner.guest_output(WIRE, get_engine("uml"), around=around)
    found: Wire = {}
    for protocol, port, kind, ecn in re.findall(
        r"^wire (\w+) (\d+) (\w+) (\d)", output.console, re.MULTILINE
    ):
        found.setdefault((protocol, int(port), kind), set()).add(int(ecn))
    return found, compute(WIRE, output, "", "", "")


@pytest.mark.guest
def test_data_of_scalable_flows_are_ect1() -> None:
    """All of them; its SYN is, too, as Accurate ECN allows it."""
    wire, _ = sent()
    assert wire["tcp", FIRST_PORT, "data"] == {ECT1}
    assert wire["tcp", FIRST_PORT, "syn"] <= {NOT_ECT, ECT1}


@pytest.mark.guest
def test_data_of_others_are_not() -> None:
    """SYNs are Not-ECT, as RFC 3168 wants it."""
    wire, _ = sent()
    assert wire["tcp", FIRST_PORT + 1, "data"] <= {ECT0, NOT_ECT}
    assert ECT0 in wire["tcp", FIRST_PORT + 1, "data"]
    assert wire["tcp", FIRST_PORT + 1, "syn"] == {NOT_ECT}


@pytest.mark.guest
def test_data_of_liars_are_ect1() -> None:
    """Retransmissions are Not-ECT, and stay so, as does the SYN."""
    wire, _ = sent()
    assert wire["tcp", FIRST_PORT + 2, "data"] <= {ECT1, NOT_ECT}
    assert ECT1 in wire["tcp", FIRST_PORT + 2, "data"]
    assert wire["tcp", FIRST_PORT + 2, "syn"] == {NOT_ECT}
    assert wire["udp", UDP_PORT, "data"] == {ECT1}


@pytest.mark.guest
def test_meter_tells_them_apart() -> None:
    """Its classes carry what their senders' flows did."""
    _, result = sent()
    classic, l4s, liar = result.ecn_classes
    prague, cubic, lying = (flow.wire_mbps for flow in result.flows)
    assert (classic.name, l4s.name, liar.name) == ("classic", "l4s", "liar")
    assert l4s.mbps == pytest.approx(prague, rel=0.05)
    assert classic.mbps == pytest.approx(cubic, rel=0.05)
    assert liar.mbps == pytest.approx(lying + 0.5, rel=0.05)
