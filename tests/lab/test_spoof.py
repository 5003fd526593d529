# SPDX-License-Identifier: GPL-2.0
"""Strangers that send in a flow's name: options, the guest's part of it, and what it measures."""

from __future__ import annotations

import math
import re
from functools import cache
from pathlib import Path

import pytest
from measured import flow_bytes, reading, result_of, traffic_of

from lab.engines.select import get_engine
from lab.model import grid
from lab.model.scenario import Scenario, ScenarioError
from lab.model.spoof import Kind, Spoof
from lab.net import network, topology, traffic_spec
from lab.results.result import Result, compute
from lab.runs import runner, sweep

COUNTERS = Path(__file__).parent / "guest" / "counters.sh"
TWO_FLOWS = Scenario(rtts_ms=(20.0, 40.0), warmup_s=10.0, duration_s=20.0)
GUEST = Scenario(
    kernel="uml", qdisc="fq_codel", rate_bps=5_000_000, rtts_ms=(20.0, 60.0), hint="none",
    warmup_s=6.0, duration_s=10.0,
    spoof=(
        Spoof.parse("flow=0 send=data rate=2mbit from=6"),
        Spoof.parse("flow=1 send=syn every=1 from=6 to=15"),
        Spoof.parse("flow=1 send=nothing"),
    ),
).check()  # fmt: skip


def test_attackers_are_read() -> None:
    assert Spoof.parse("flow=3 send=syn") == Spoof(3, Kind.SYN)
    assert Spoof.parse("flow=3 send=syn every=0.5 to=9").interval_ns == 500_000_000
    data = Spoof.parse("flow=0 send=data rate=1mbit ect=on from=7 to=9")
    assert data == Spoof(0, Kind.DATA, 1_000_000, None, True, 7.0, 9.0)
    assert data.interval_ns == 12_112_000
    assert Spoof.parse("flow=1 send=nothing").kind == Kind.NOTHING


@pytest.mark.parametrize(
    "text",
    ["", "flow=1", "send=syn", "flow=x send=syn", "flow=1 send=rst", "flow=1 send=data",
     "flow=1 send=syn rate=1mbit", "flow=1 send=nothing rate=1mbit", "flow=1 send=data rate=fast",
     "flow=1 send=syn every=0", "flow=1 send=syn every=nan", "flow=1 send=data rate=1mbit every=1",
     "flow=1 send=syn ect=yes", "flow=1 send=syn until=3", "flow=1 send=syn from=soon"],
)  # fmt: skip
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(f"--spoof {text!r}")):
        Spoof.parse(text)


@pytest.mark.parametrize(
    "text",
    ["flow=2 send=syn", "flow=-1 send=syn", "flow=0 send=data rate=1kbit", "flow=0 send=syn from=2",
     "flow=0 send=syn from=9 to=9", "flow=0 send=syn from=31", "flow=0 send=syn to=31"],
)  # fmt: skip
def test_attack_outside_the_run_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="--spoof"):
        Scenario(
            rtts_ms=(20.0, 40.0), warmup_s=10.0, duration_s=20.0, spoof=(Spoof.parse(text),)
        ).check()


def test_late_flow_cannot_be_a_victim_before_it_starts() -> None:
    def scenario(text: str) -> Scenario:
        return Scenario(rtts_ms=(20.0, 40.0), starts_s=(0, 30), spoof=(Spoof.parse(text),))

    scenario("flow=1 send=syn from=33").check()
    with pytest.raises(ScenarioError, match="in which flow 1 is there"):
        scenario("flow=1 send=syn from=32").check()


def test_attackers_have_hosts_of_their_own() -> None:
    texts = ("flow=1 send=data rate=12.112mbit ect=on to=25", "flow=0 send=syn from=12")
    scenario = Scenario(
        rtts_ms=(20.0, 40.0), warmup_s=10.0, duration_s=20.0, spoof=tuple(map(Spoof.parse, texts))
    ).check()  # fmt: skip
    lines = [line for line in traffic_spec.spec(scenario).splitlines() if line.startswith("spoof ")]
    assert lines == ["spoof a0 5002 data 1000000 5000 25000 1", "spoof a1 5001 syn 0 12000 30000 0"]
    attackers = [host for host in network.hosts(scenario) if host.kind == network.SPOOF]
    assert [(host.name, host.port) for host in attackers] == [("a0", "ra0"), ("a1", "ra1")]
    assert "ip netns add a1" in topology.script(scenario)
    assert "dev ra0 root" not in topology.script(scenario)


def _attacked(text: str) -> Result:
    """Flow 0 has 2 Mbit/s, flow 1 has 5."""
    scenario = Scenario(
        rtts_ms=(20.0, 40.0), warmup_s=10.0, duration_s=20.0, spoof=(Spoof.parse(text),)
    )
    ends = [flow_bytes(2, 20), flow_bytes(5, 20)]
    traffic = traffic_of(scenario, [reading(10, [0, 0]), reading(30, ends)])
    traffic["spoofed"] = [77]
    return result_of(scenario, traffic, 9.0)


def test_victim_is_reported() -> None:
    result = _attacked("flow=1 send=data rate=1mbit")
    (spoof,) = result.spoof
    assert (spoof.flow, spoof.kind, spoof.packets) == (1, "data", 77)
    assert spoof.victim_mbps == pytest.approx(5.0)
    assert Result.from_dict(result.to_dict()) == result


def _row(options: dict[str, object], result: Result) -> sweep.Row:
    fields = {k: v for name in options for k, v in grid.FIELDS[name](options[name]).items()}
    point = grid.Point("s", "c", "q", options, Scenario(**fields))
    return sweep._row(point, result, "")


def test_table_has_the_victims_goodput() -> None:
    options = {"cc": "cubic", "rtts": "20ms,40ms", "rate": "20mbit", "ecn": "on", "gso": "off",
               "hint": "packet"}  # fmt: skip
    spoof = ["flow=1 send=syn every=1", "flow=0 send=nothing"]
    row = _row({**options, "spoof": spoof[:1]}, _attacked(spoof[0]))
    assert row.victim_mbps == pytest.approx(5.0)
    assert row.extra == "spoof flow=1 send=syn every=1"
    ends = [flow_bytes(2, 20), flow_bytes(5, 20)]
    traffic = traffic_of(TWO_FLOWS, [reading(10, [0, 0]), reading(30, ends)])
    assert math.isnan(_row(options, result_of(TWO_FLOWS, traffic, 9.0)).victim_mbps)


# In a guest


@cache
def guest() -> tuple[Result, dict[str, int]]:
    """What came of it, and what the receivers' kernel counted."""
    output = runner.guest_output(GUEST, get_engine("uml"), around=runner.Around(COUNTERS))
    names, values = re.findall(r"^TcpExt: (.+)$", output.console, flags=re.MULTILINE)
    counters = dict(zip(names.split(), map(int, values.split()), strict=True))
    return compute(GUEST, output, "", "", ""), counters


@pytest.mark.guest
def test_attackers_send_what_was_asked_for() -> None:
    data, syns, nothing = (spoof.packets for spoof in guest()[0].spoof)
    assert data == pytest.approx(10 * 2e6 / 8 / 1514, rel=0.01)
    assert syns == pytest.approx(10, abs=1)
    assert nothing == 0


@pytest.mark.guest
def test_receiver_discards_it_as_out_of_window() -> None:
    """TCP saw them, with good checksums, took each SYN for one that needs a challenge ACK, and
    found the data to be before or beyond what it waits for."""
    result, counters = guest()
    assert counters["TCPSYNChallenge"] == pytest.approx(result.spoof[1].packets, abs=1)
    assert counters["TCPChallengeACK"] >= counters["TCPSYNChallenge"] > 0
    out_of_window = counters["BeyondWindow"] + counters["TCPDSACKOldSent"]
    assert 0.8 * result.spoof[0].packets < out_of_window <= result.spoof[0].packets


@pytest.mark.guest
def test_it_shares_the_victims_queue() -> None:
    """fq_codel tells flows apart by what stands in their headers, which is the same."""
    victim, other = (flow.goodput_mbps for flow in guest()[0].flows)
    assert victim < 0.75 * other
