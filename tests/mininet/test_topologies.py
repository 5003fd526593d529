# SPDX-License-Identifier: GPL-2.0
"""The papers' networks: well-formed as data, and in a guest as long as they say."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from lab import cli
from lab.commands.mininet import topology_of
from lab.mininet import network, topologies
from lab.mininet.topologies import TOPOLOGIES, Topology
from lab.model.scenario import ScenarioError

ROOT = Path(__file__).resolve().parents[2]
ALL = [make() for make in TOPOLOGIES.values()]
PORT_NAME_MAX = 15


def asked(*words: str) -> Topology:
    """The topology of a command line."""
    return topology_of(cli.parser().parse_args(["mininet", *words]))


@pytest.fixture(params=ALL, ids=lambda topology: topology.name)
def topology(request: pytest.FixtureRequest) -> Topology:
    made = request.param
    assert isinstance(made, Topology)
    return made


def test_names_and_addresses_are_given_once(topology: Topology) -> None:
    assert len({*topology.hosts, *topology.routers}) == len(topology.hosts) + len(topology.routers)
    ports = [(end, link) for link in topology.links for end in link.ends]
    assert len({topology.address(*port) for port in ports}) == len(ports)
    names = {network.port(*port) for port in ports}
    assert len(names) == len(ports)
    assert all(len(name) <= PORT_NAME_MAX for name in names)
    networks: list[IPv4Network] = list(map(topology.network, topology.links))
    assert not any(a.overlaps(b) for i, a in enumerate(networks) for b in networks[:i])


def test_a_host_sends_or_receives_behind_one_router(topology: Topology) -> None:
    """Its link carries the delay of one flow."""
    assert set(Counter(topology.hosts).values()) == {1}
    for host in topology.hosts:
        (link,) = topology.links_of(host)
        assert link.other(host) in topology.routers
        assert not link.bottleneck


def test_every_link_leads_somewhere(topology: Topology) -> None:
    nodes = {*topology.hosts, *topology.routers}
    assert {end for link in topology.links for end in link.ends} == nodes
    for node in nodes:
        assert {*topology.next_hops(node), node} == nodes


def test_every_flow_meets_a_bottleneck(topology: Topology) -> None:
    for flow in topology.flows:
        path = topology.path(flow)
        assert (path[0], path[-1]) == (flow.sender, flow.receiver)
        hops = list(zip(path, path[1:], strict=False))
        assert any(set(hop) == set(link.ends) for hop in hops for link in topology.bottlenecks)
        assert flow.rtt_ms > 0
    assert all(link.rate_bps for link in topology.bottlenecks)


def hops(topology: Topology, sender: str) -> int:
    (flow,) = [flow for flow in topology.flows if flow.sender == sender]
    return len(topology.path(flow)) - 1


def test_as_the_papers_say() -> None:
    lot = TOPOLOGIES["libra-parking-lot"]()
    assert [(f.rtt_ms, hops(lot, f.sender)) for f in lot.flows] == [
        (180, 9), (180, 9), (90, 9), (90, 9), (30, 3), (30, 3), (30, 3), (30, 3)
    ]  # fmt: skip
    # Buffers of the bottleneck's pipe, in packets of the paper's size.
    for paper, rtt_ms in ((lot, 30), (TOPOLOGIES["libra-dumbbell"](), 42)):
        (rate_bps,) = {link.rate_bps for link in paper.bottlenecks}
        assert rate_bps == 100_000_000
        assert paper.qdisc == f"pfifo limit {rate_bps * rtt_ms // 8 // 1000 // paper.mtu}"
    fast = TOPOLOGIES["nrhstcp"]()
    assert [hops(fast, flow.sender) for flow in fast.flows] == [4, 4, 3, 3, 3, 3]
    assert {link.rate_bps for link in fast.bottlenecks} == {1_000_000_000}


def test_options() -> None:
    made = asked("dumbbell", "--hosts", "3", "--rate", "7mbit", "--rtts", "5ms,10ms")
    assert [flow.rtt_ms for flow in made.flows] == [5, 10, 60]
    assert [link.rate_bps for link in made.links] == [7_000_000] + [None] * 6
    slow = [link.rate_bps for link in asked("nrhstcp", "--rate", "1mbit").links if link.rate_bps]
    assert Counter(slow) == {1_000_000: 2, 100_000_000: 8}


@pytest.mark.parametrize(
    "words",
    [
        ("nrhstcp", "--hosts", "3"),
        ("dumbbell", "--hosts", "0"),
        ("dumbbell", "--hosts", "1", "--rtts", "1ms,2ms"),
    ],
)
def test_nonsense_is_refused(words: tuple[str, ...]) -> None:
    with pytest.raises(ScenarioError, match="^--(hosts|rtts): "):
        asked(*words)


def test_description_names_all_hosts(topology: Topology) -> None:
    said = topologies.describe(topology).split()
    assert {*topology.hosts, *topology.routers} & set(said) >= set(topology.hosts)
    assert {topology.host_address(flow.receiver) for flow in topology.flows} <= set(said)


def test_mininet_is_asked_for(
    topology: Topology, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it, and before anything is made."""
    monkeypatch.setitem(sys.modules, "mininet", None)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(sys, "argv", ["lab", "mininet", topology.name, "--ping"])
    assert cli.main() == 1
    assert "apt-get install --no-install-recommends mininet" in capsys.readouterr().err


def in_guest(*words: str) -> str:
    """What the command says in a guest."""
    command = [sys.executable, "-m", "lab", "mininet", *words, "--kernel", "uml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name", ["libra-parking-lot", "libra-dumbbell"])
def test_paths_are_as_long_as_they_say(name: str) -> None:
    """Over one router and over many, in both directions."""
    topology = TOPOLOGIES[name]()
    found = re.findall(r"(?m)^(\w+) +-> (\w+) +([\d.]+) ms$", in_guest(name, "--ping"))
    measured = {(sender, receiver): float(ms) for sender, receiver, ms in found}
    assert len(measured) == len(topology.flows)
    for flow in topology.flows:
        assert measured[flow.sender, flow.receiver] == pytest.approx(flow.rtt_ms, abs=1)


def test_flows_fill_the_bottleneck() -> None:
    said = in_guest("dumbbell", "--hosts", "3", "--rate", "10mbit", "--qdisc", "fq_codel")
    (summary,) = re.findall(r"flows +3 flows  Jain ([\d.]+) +([\d.]+) Mbit/s", said)
    fair, goodput = map(float, summary)
    assert fair > 0.9
    assert 9 < goodput < 10


def test_unknown_qdisc_is_an_error() -> None:
    command = [sys.executable, "-m", "lab", "mininet", "dumbbell", "--kernel", "uml",
               "--hosts", "1", "--qdisc", "pfifo limit many"]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "n1" in done.stderr and "limit" in done.stderr
