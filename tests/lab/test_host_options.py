# SPDX-License-Identifier: GPL-2.0
"""What tells hosts apart: what is asked for, on the network, and in the traffic's lines."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from typing import Any

import pytest

from lab import cli
from lab.commands.run import scenario_of
from lab.model.churn import Churn
from lab.model.grid import FIELDS
from lab.model.hosts import Idle
from lab.model.scenario import Scenario, ScenarioError
from lab.model.udp import Udp
from lab.net import network, topology, traffic_spec
from lab.results.max_min import max_min

TWO = Scenario(rtts_ms=(20.0, 40.0), warmup_s=10.0, duration_s=50.0)
THREE_FLOWS = replace(TWO, sessions=0, sessions_of=(1, 2))
IDLE = Idle(1, 30.0, 20.0)


def made(scenario: Scenario, **options: Any) -> Scenario:
    """With these options of lab run, checked."""
    fields = {k: v for name, value in options.items() for k, v in FIELDS[name](value).items()}
    return replace(scenario, **fields).check()


# What is read


def test_options_are_read() -> None:
    """As lab run has them."""
    words = ["run", "--rtts", "20ms,40ms,60ms", "--sessions", "1,2,3", "--weights", "1,2,2",
             "--subscribers", "5,7,7", "--dscp", "0,46,8", "--receivers", "4,2",
             "--idle", "hosts=2 on=30 off=20", "--udp", "5mbit host=2",
             "--churn", "load=5% size=web host=1"]  # fmt: skip
    scenario = scenario_of(cli.parser().parse_args(words))
    assert (scenario.sessions, scenario.sessions_of) == (0, (1, 2, 3))
    assert (scenario.weights, scenario.subscribers) == ((1, 2, 2), (5, 7, 7))
    assert (scenario.dscps, scenario.receivers) == ((0, 46, 8), (4, 2))
    assert scenario.idle == Idle(2, 30.0, 20.0)
    assert [stream.host for stream in scenario.udp] == [2]
    assert scenario.churn
    assert scenario.churn.host == 1


def test_one_number_of_sessions_is_that_of_all() -> None:
    assert FIELDS["sessions"]("3") == {"sessions": 3}
    scenario = made(TWO, sessions="3")
    assert (scenario.host_sessions, scenario.host_of) == ((3, 3), [0, 0, 0, 1, 1, 1])


def test_defaults_tell_no_host_apart() -> None:
    """Scripts of runs without these options are what they were."""
    assert TWO.even
    assert TWO.marks == ()
    assert not set(topology.MARK_MODULES) & set(topology.modules(TWO))
    assert not re.search("clsact|10.255.0.10", topology.script(TWO))
    assert "idle" not in traffic_spec.spec(TWO)
    assert TWO.samples_ms == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "want hosts="), ("hosts=1 on=30", "want hosts="), ("hosts=1 on=30 off=20 at=2", "want"),
        ("hosts=one on=30 off=20", "want numbers"), ("hosts=1 on=30s off=20", "want numbers"),
        ("hosts=0 on=30 off=20", "a host or more"), ("hosts=1 on=19 off=20", "20 s or more"),
        ("hosts=1 on=20 off=19.9", "20 s or more"), ("hosts=1 on=nan off=30", "20 s or more"),
    ],
)  # fmt: skip
def test_idle_that_makes_no_sense(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=f"--idle .*{said}"):
        Idle.parse(text)


@pytest.mark.parametrize(
    ("option", "text", "said"),
    [
        ("sessions", "1,two", "--sessions '1,two': want K"),
        ("sessions", "", "--sessions '': want K"),
        ("sessions", "1,2,3", "--sessions: as many as there are RTTs"),
        ("sessions", "0", "--sessions: at least one flow each"),
        ("sessions", "2,0", "--sessions: at least one flow each"),
        ("sessions", "4,4097", "--sessions: 1 to"),
        ("weights", "1,256", "--weights '1,256': want numbers from 1 to 255"),
        ("weights", "0,1", "numbers from 1 to 255"),
        ("weights", "1,1.5", "numbers from 1 to 255"),
        ("weights", "1", "--weights: as many as there are RTTs"),
        ("subscribers", "1,256", "--subscribers '1,256': want numbers from 1 to 255"),
        ("subscribers", "1,2,3", "--subscribers: as many as there are RTTs"),
        ("dscp", "0,64", "--dscp '0,64': want numbers from 0 to 63"),
        ("dscp", "46", "--dscp: as many as there are RTTs"),
        ("receivers", "0,2", "--receivers '0,2': want numbers from 1"),
        ("receivers", "1,2", "--receivers: 3 flows of 2"),
        ("idle", "hosts=2 on=20 off=20", "--idle: one host sends all the time"),
        ("udp", ["5mbit host=2"], "--udp host=2: hosts are 0..1"),
        ("udp", ["5mbit host=-1"], "--udp '5mbit host=-1': want RATE"),
        ("udp", ["5mbit host="], "want RATE"),
        ("churn", "load=5% size=web host=2", "--churn host=2: hosts are 0..1"),
        ("churn", "load=5% size=web host=x", "host is a number"),
    ],
)  # fmt: skip
def test_nonsense_is_refused(option: str, text: Any, said: str) -> None:
    with pytest.raises(ScenarioError, match=re.escape(said)):
        made(TWO, **{option: text})


def test_combinations_that_are_refused() -> None:
    for options, said in (
        ({"weights": "1,2", "subscribers": "3,3"}, "hosts of one have one weight"),
        ({"weights": "1,2", "hops": "2"}, "with one router only"),
        ({"subscribers": "1,2", "hops": "2"}, "with one router only"),
        ({"idle": "hosts=1 on=20 off=20", "start": "0,5"}, "not with --start"),
        ({"idle": "hosts=1 on=20 off=20", "stop": "end,30"}, "not with --start or --stop"),
        ({"sessions": "50,51", "receivers": ",".join("1" * 101)}, "at most 100"),
    ):
        with pytest.raises(ScenarioError, match=said):
            made(TWO, **options)
    made(TWO, weights="2,2", subscribers="3,3")
    made(TWO, dscp="46,0", hops="2")


def test_refusal_reaches_the_user(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "run", "--rtts", "9ms", "--weights", "1,2"])
    assert cli.main() == 1
    assert "--weights: as many as there are RTTs" in capsys.readouterr().err


def test_idle_times() -> None:
    """On first, and cut off at the end."""
    assert IDLE.times(90.0) == [
        (0.0, 30.0, True), (30.0, 50.0, False), (50.0, 80.0, True), (80.0, 90.0, False),
    ]  # fmt: skip
    assert IDLE.times(30.0) == [(0.0, 30.0, True)]
    scenario = replace(TWO, rtts_ms=(20.0,) * 4, idle=IDLE)
    assert [scenario.idles(host) for host in range(4)] == [False, False, False, True]


def test_weighted_shares() -> None:
    """Nobody gets more than he asks for; what that leaves is divided by weights."""
    assert max_min(12, [100, 100, 100], [1, 2, 3]) == pytest.approx([2, 4, 6])
    assert max_min(12, [100, 1, 100], [1, 8, 3]) == pytest.approx([2.75, 1, 8.25])
    assert max_min(10, [4, 6], [1, 4]) == [4, 6]
    assert max_min(12, [4, 4, 100]) == max_min(12, [4, 4, 100], [5, 5, 5]) == [4, 4, 4]


# The network


def _marked(scenario: Scenario) -> dict[str, str]:
    """What the rules do to packets from each device."""
    rule = r"tc -n router filter add dev (\w+) ingress prio 1 protocol ip matchall (.*)"
    return dict(re.findall(rule, topology.script(scenario)))


def test_marks_hold_weight_and_subscriber() -> None:
    """In the bytes that fair mark 0xff00 weight mark 0xff looks at; hosts are numbered from 1."""
    assert _marked(made(TWO, weights="1,255")) == {
        "r0": "action skbedit mark 0x101", "r1": "action skbedit mark 0x2ff",
    }  # fmt: skip
    assert _marked(made(TWO, subscribers="9,9")) == {
        "r0": "action skbedit mark 0x901", "r1": "action skbedit mark 0x901",
    }  # fmt: skip
    script = topology.script(made(TWO, weights="1,2", udp=["1mbit"]))
    assert re.findall(r"tc -n router qdisc add dev (\w+) clsact", script) == ["r0", "r1"]


def test_dscp_is_set_and_ecn_is_kept() -> None:
    """EF is 46: 0xb8 in the byte whose last two bits are the ECN field (RFC 2474, 3168)."""
    rules = _marked(made(TWO, dscp="46,0", weights="3,1"))
    assert rules["r0"] == (
        "action skbedit mark 0x103 pipe action pedit ex munge ip tos set 0xb8 retain 0xfc"
        " pipe action csum ip4h"
    )
    assert "tos set 0x00 retain 0xfc" in rules["r1"]
    assert "skbedit" not in _marked(made(TWO, dscp="46,0"))["r0"]
    assert set(topology.MARK_MODULES) <= set(topology.modules(made(TWO, dscp="46,0")))


def test_modules_are_loaded_once() -> None:
    names = topology.modules(made(TWO, cc="prague", weights="1,2"))
    assert len(names) == len(set(names))


def test_receivers_have_addresses() -> None:
    """Behind the last router, and a second one each for flows without ECN."""
    scenario = made(THREE_FLOWS, receivers="2,1")
    script = topology.script(scenario)
    for address in ("10.255.0.10", "10.255.0.11"):
        assert f"addr add {address}/24 dev eth0" in script
        assert f"neigh add {address} lladdr 02:00:00:00:ff:02 dev bot nud permanent" in script
    mixed = topology.script(replace(scenario, ecn_share=0.5))
    for address in ("10.255.0.3", "10.255.0.110", "10.255.0.111"):
        assert f"addr add {address}/24 dev eth0" in mixed
        assert f"route add {address} via 10.0.1.1" in mixed
        assert address not in script
    hops = topology.script(replace(scenario, hops=2))
    assert "addr add 10.255.1.10/24" in hops
    assert "10.255.0.10" not in hops


def test_no_two_receivers_share_an_address() -> None:
    most = range(100)
    addresses = [network.far_address(1, plain=plain, receiver=receiver)
                 for plain in (False, True) for receiver in (None, *most)]  # fmt: skip
    assert len(set(addresses)) == len(addresses)
    assert max(int(address.split(".")[-1]) for address in addresses) < 255


# The traffic


def _lines(scenario: Scenario, *names: str) -> list[list[str]]:
    lines = [line.split() for line in traffic_spec.spec(scenario).splitlines()]
    return [words for words in lines if words[0] in names]


def test_flows_are_those_of_their_hosts() -> None:
    lines = _lines(made(THREE_FLOWS, cc="mix:reno,cubic"), "flow")
    assert [(words[1], words[4]) for words in lines] == [
        ("h0", "reno"), ("h1", "cubic"), ("h1", "reno"),
    ]  # fmt: skip
    assert len({words[3] for words in lines}) == 3, "ports"


def test_flows_go_to_their_receivers() -> None:
    """The first to the first, whatever host they are from; short ones in turn."""
    scenario = made(THREE_FLOWS, receivers="2,1", churn="load=5% size=web")
    assert [words[2] for words in _lines(scenario, "flow")] == ["10.255.0.10"] * 2 + ["10.255.0.11"]
    shorts = [words[2] for words in _lines(scenario, "short")]
    assert shorts[:4] == ["10.255.0.10", "10.255.0.11"] * 2
    plain = replace(scenario, ecn_share=0.5, churn=None)
    assert [words[2] for words in _lines(plain, "flow")] == [
        "10.255.0.110", "10.255.0.10", "10.255.0.111",
    ]  # fmt: skip


def test_idle_flows_are_those_of_the_last_hosts() -> None:
    """Each line follows that of its flow, and goodput is read every second."""
    scenario = made(THREE_FLOWS, idle="hosts=1 on=30 off=20", reverse="2")
    lines = _lines(scenario, "flow", "idle", "reverse", "sample")
    assert [words[0] for words in lines] == [
        "sample", "flow", "flow", "idle", "flow", "idle", "reverse", "reverse",
    ]  # fmt: skip
    assert lines[3] == ["idle", "30000", "20000"]
    assert lines[0] == ["sample", "1000"]
    assert _lines(replace(scenario, sample_ms=500), "sample") == [["sample", "500"]]


def test_udp_of_a_host_comes_from_it() -> None:
    """It needs none of its own; the other stream keeps its number."""
    scenario = made(TWO, udp=["1mbit host=1", "2mbit"])
    assert [words[1] for words in _lines(scenario, "udp")] == ["h1", "u1"]
    added = re.findall(r"ip netns add (u\d)", topology.script(scenario))
    assert added == ["u1"]


def test_udp_of_a_host_is_read_with_its_time() -> None:
    assert Udp.parse("5mbit@30-50 host=2") == Udp(5_000_000, 30.0, 50.0, 2)
    assert Udp.parse("5mbit host=0 size=60") == Udp(5_000_000, host=0, frame_bytes=60)


def test_churn_of_a_host_is_as_much_as_of_all() -> None:
    """The same flows at the same times, from one host."""
    every, one = (made(TWO, churn=f"load=5% size=web{host}") for host in ("", " host=1"))
    assert {flow.host for flow in every.short_flows} == {0, 1}
    assert {flow.host for flow in one.short_flows} == {1}
    assert [(f.at_ms, f.size_bytes) for f in one.short_flows] == [
        (f.at_ms, f.size_bytes) for f in every.short_flows
    ]
    assert Churn.parse("load=5% size=60kB host=3").host == 3


def test_send_buffer_holds_ten_times_what_a_flow_may_be_due() -> None:
    """By flows or by hosts, whichever is more: no buffer decides who gets what."""
    plain = replace(TWO, rate_bps=100_000_000, rtts_ms=(100.0,) * 40)

    def buffers(scenario: Scenario) -> set[int]:
        return {
            traffic_spec.send_buffer_bytes(scenario, flow)
            for flow in scenario.flows if flow.host == 0
        }  # fmt: skip

    due = round(100e6 / 8 * 0.2 * 10 / 40)
    assert buffers(plain) == {due}
    assert buffers(replace(plain, sessions=0, sessions_of=(1, *[9] * 39))) == {due}
    assert buffers(replace(plain, weights=(4, *[1] * 39))) == {round(due * 4 * 40 / 43)}
    assert buffers(replace(plain, subscribers=(1, 1, *range(2, 40)))) == {due}
    assert buffers(replace(plain, receivers=(1, 39))) == {10 * due * 40 // 100}
