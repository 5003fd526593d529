# SPDX-License-Identifier: GPL-2.0
"""Flows that start late, super-packets of some segments, and who shares a part of the path."""

from __future__ import annotations

import re

import pytest

from lab.model import grid
from lab.model.churn import Background, Churn
from lab.model.scenario import (
    CCS,
    Link,
    Scenario,
    ScenarioError,
    parse_gso,
    parse_link,
    parse_starts,
    parse_stops,
)
from lab.model.step import Step
from lab.net import topology, traffic_spec
from lab.net.traffic_spec import START_SPREAD_MS
from lab.runs import runner
from lab.toolchain import build

SHARED = Scenario(
    rtts_ms=(20.0, 40.0), hops=2, cross_rtts_ms=(30.0,), reverse=1, cc=("cubic", "bbr"),
    churn=Churn.parse("load=5% size=web"), background=Background.parse("cc=htcp rate=5mbit"),
)  # fmt: skip


def test_background_is_read() -> None:
    assert Background.parse("cc=reno rate=100mbit") == Background("reno", 100_000_000)
    assert Background.parse("cc=bic") == Background("bic", None)
    for text in ("reno", "cc=", "rate=fast", "cc=reno delay=3ms"):
        with pytest.raises(ScenarioError, match="--background"):
            Background.parse(text)
    for bad in ("cc=tahoe", "rate=1kbit"):
        with pytest.raises(ScenarioError, match="--background"):
            Scenario(background=Background.parse(bad)).check()


def test_background_has_a_congestion_control_of_its_own() -> None:
    assert [flow.cc for flow in SHARED.flows] == ["cubic", "bbr"]
    assert {flow.cc for flow in SHARED.cross_flows + SHARED.reverse_flows} == {"htcp"}
    lines = [line.split() for line in traffic_spec.spec(SHARED).splitlines()]
    assert {line[3] for line in lines if line[0] == "short"} == {"htcp"}
    assert {"tcp_cubic", "tcp_bbr", "tcp_htcp"} <= set(topology.modules(SHARED))
    alike = Scenario(cc=("cubic", "bbr"), hops=2, cross_rtts_ms=(30.0,))
    assert [flow.cc for flow in alike.cross_flows] == ["cubic", "bbr"]


def test_links_of_the_background_alone_are_slow() -> None:
    limited = [line for line in topology.script(SHARED).splitlines() if "rate 5000000bit" in line]
    assert [line.split()[2] for line in limited] == ["c0", "c1"]


def test_late_flows_start_in_their_own_seconds() -> None:
    scenario = Scenario(rtts_ms=(20.0, 40.0), sessions=2, reverse=1, starts_s=(0.0, 30.0)).check()
    lines = [line.split() for line in traffic_spec.spec(scenario).splitlines()]
    late = {line[3]: int(line[5]) // START_SPREAD_MS for line in lines if "cubic" in line}
    assert [late[str(flow.port)] for flow in scenario.all_flows] == [0, 0, 10, 10, 0]
    assert parse_starts("0,2.5") == (0.0, 2.5)
    for bad in ((0.0,), (0.0, 80.0), (-1.0, 0.0)):
        with pytest.raises(ScenarioError, match="--start"):
            Scenario(rtts_ms=(20.0, 40.0), starts_s=bad).check()
    with pytest.raises(ScenarioError, match="--start"):
        parse_starts("now")


def test_flows_are_reset_in_their_own_seconds() -> None:
    scenario = Scenario(
        rtts_ms=(20.0, 40.0), sessions=2, reverse=1, hops=2, cross_rtts_ms=(9.0,),
        stops_s=(None, 30.5),
    ).check()  # fmt: skip
    lines = [line.split() for line in traffic_spec.spec(scenario).splitlines()]
    stops = {line[3]: line[6] for line in lines if "cubic" in line}
    wanted = ["-1", "-1", "30500", "30500", "-1", "-1", "-1"]
    assert [stops[str(flow.port)] for flow in scenario.all_flows] == wanted
    assert parse_stops("end,2.5") == (None, 2.5)
    for bad in ((None,), (None, 80.5), (2.0, None)):
        with pytest.raises(ScenarioError, match="--stop"):
            Scenario(rtts_ms=(20.0, 40.0), stops_s=bad).check()
    with pytest.raises(ScenarioError, match="--stop"):
        Scenario(rtts_ms=(20.0, 40.0), starts_s=(0.0, 30.0), stops_s=(None, 30.0)).check()
    with pytest.raises(ScenarioError, match="--stop"):
        parse_stops("end,never")


def test_super_packets_of_some_segments() -> None:
    assert [parse_gso(text) for text in ("on", "off", "8")] == [0, 1, 8]
    for text in ("1", "some", "-2"):
        with pytest.raises(ScenarioError, match="--gso"):
            parse_gso(text)
    with pytest.raises(ScenarioError, match="--gso"):
        Scenario(gso_segs=45).check()
    scripts = {segs: topology.script(Scenario(gso_segs=segs)) for segs in (0, 1, 8)}
    assert "gso_max_segs" not in scripts[0]
    assert "gso_max_segs 1\n" in scripts[1]
    assert "gso_max_segs 8\n" in scripts[8]
    assert [Scenario(gso_segs=segs).gso for segs in (0, 1, 8)] == [True, False, True]


def test_wire_has_no_bursts() -> None:
    """Two that come together leave apart, at any rate and after each step of it."""
    step = Step.parse("t=30 rate=5mbit")
    for link, bursts in ((Link.SHAPER, {2500, 1514}), (Link.WIRE, {12, 1})):
        scenario = Scenario(rate_bps=100_000_000, link=link, hops=2, reverse=1, steps=(step,))
        made = re.findall(r"burst (\d+) cburst", topology.script(scenario) + traffic_spec.spec(scenario))
        assert (len(made), set(map(int, made))) == (6, bursts)
        polls = 3 if link == Link.WIRE else 0
        assert topology.script(scenario).count("meter poll\n") == polls
    assert [parse_link(text) for text in ("shaper", "wire", "own")] == list(Link)
    with pytest.raises(ScenarioError, match="--link"):
        parse_link("tunnel")


def test_a_qdisc_may_shape_itself() -> None:
    step = Step.parse("t=30 rate=5mbit")
    scenario = Scenario(qdisc="zrtt limit 7", link=Link.OWN, steps=(step,)).check()
    assert "handle 3: zrtt limit 7 bandwidth 20000000bit\n" in topology.script(scenario)
    assert "handle 3: zrtt bandwidth 5000000bit" in traffic_spec.spec(scenario)
    assert "htb rate 20000000bit" not in topology.script(scenario)
    with pytest.raises(ScenarioError, match="zrtt and cake only"):
        Scenario(qdisc="pie", link=Link.OWN).check()
    # it would not count, as --rate comes after it
    for typed in ("bandwidth 3mbit", "bandwidth auto max 50mbit", "unlimited"):
        with pytest.raises(ScenarioError, match="--link own: the bandwidth is that of --rate"):
            Scenario(qdisc=f"zrtt {typed}", link=Link.OWN).check()


def test_options_of_a_sweep() -> None:
    fields = {"start": "0,9", "background": "cc=reno", "gso": "4"}
    made = Scenario(rtts_ms=(1.0, 2.0), **{
        key: value for name, text in fields.items() for key, value in grid.FIELDS[name](text).items()
    }).check()  # fmt: skip
    assert (made.starts_s, made.background.cc, made.gso_segs) == ((0.0, 9.0), "reno", 4)


def test_modules_of_congestion_controls() -> None:
    """Those that the lab has sources for are inserted; the others are the kernel's."""
    for cc, module in CCS.items():
        own = module in runner.module_names(Scenario(cc=(cc,)))
        assert own == (module in build.MODULE_SOURCES)
        assert module not in runner.plugin_names(Scenario(cc=(cc,)))
