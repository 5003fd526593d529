# SPDX-License-Identifier: GPL-2.0
"""The counters agree with a capture. Status checks their sum."""

from __future__ import annotations

import json
import os

import pytest
from agents import Agent
from capture import Capture
from carriers import each_carrier
from flows import connection
from hosts import Network
from kernel_objects import BPFFS
from packets import TCP, Packet

from lab.senders.agent import Status, run

BYTES = 1_000_000


def settled(agent: Agent, seen: Capture) -> tuple[Status, list[Packet]]:
    """What the agent counted and what was sent, when nothing was sent in between."""
    while True:
        sent = [packet for packet in seen.packets() if packet.outgoing]
        status = agent.status()
        if len(sent) == len([packet for packet in seen.packets() if packet.outgoing]):
            return status, sent


@pytest.mark.parametrize("options", [(), ("--every-packet",)], ids=["sampled", "every packet"])
@each_carrier
def test_counters_agree_with_the_capture(
    net: Network, agent: Agent, encoding: str, family: int, options: tuple[str, ...]
) -> None:
    agent.attach(*options, encoding=encoding)
    with net.seen("a", "a0") as seen:
        before, sent_before = settled(agent, seen)
        with connection(net, family) as flow:
            flow.push(BYTES)
            flow.trickle(0.12)
        net.ping(family)
        after, sent = settled(agent, seen)
    sent = sent[len(sent_before) :]
    other = [packet for packet in sent if packet.proto != TCP]
    assert after.packets - before.packets == len(sent)
    assert after.stamped == len([packet for packet in sent if packet.hints]) > 0
    assert after.skipped["not_tcp"] - before.skipped["not_tcp"] == len(other) > 0
    assert (before.connections, after.connections) == (0, 1)


def test_status_shows_the_configuration(net: Network, agent: Agent) -> None:
    agent.attach("--every-packet", "--to", "10.0.0.0/8")
    status = agent.status()
    assert (status.netns, status.dev, status.encoding) == (net.a.name, "a0", "ip")
    assert status.every_packet
    assert status.to == ["10.0.0.0/8"]
    assert (status.stamped, status.connections) == (0, 0)


def test_status_as_text(net: Network, agent: Agent) -> None:
    agent.attach()
    with connection(net, 4) as flow:
        flow.push(1000)
    status = agent.status()
    words = run("status", "a0", "--netns", net.a.name).stdout
    assert "a0" in words and "ip" in words
    assert str(status.packets) in words and str(status.stamped) in words


@pytest.mark.old_too
@pytest.mark.parametrize("encoding", ["ip", "tcp"])
def test_status_shows_the_hook(net: Network, agent: Agent, place: str, encoding: str) -> None:
    """Old kernels have no tcx."""
    agent.attach(encoding=encoding)
    expected = "cgroup" if encoding == "tcp" else "clsact" if place == "6.1" else "tcx"
    assert agent.status().attached == expected


def test_json_without_what_cannot_be_read(net: Network, agent: Agent) -> None:
    """The first of two is of another version, as after an upgrade: its configuration has another size."""
    for dev in ("lo", "a0"):
        agent.attach(dev=dev)
    with net.a.entered():
        space = os.stat("/proc/thread-self/ns/net").st_ino
    pins = BPFFS / "zrtt-agent" / f"{space}-1"
    (pins / "config").rename(pins / "own")
    (pins / "config").hardlink_to(pins / "counters")
    said = run("status", "-j", "--netns", net.a.name)
    (pins / "own").replace(pins / "config")
    assert "attached by another version" in said.stderr
    assert [one["dev"] for one in json.loads(said.stdout)] == ["a0"]
