# SPDX-License-Identifier: GPL-2.0
"""Namespaces: the agent works inside one; outside, packets have lost their socket."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from agents import Agent
from carriers import each_carrier
from flows import connection
from hosts import FAMILIES, Network
from packets import TCP, Packet

from lab.host.netns import FOLDER
from lab.senders.agent import done, program, statuses


def exchange(net: Network, family: int) -> list[Packet]:
    """TCP packets that b gets from a."""
    with net.seen("b", "b0") as seen, connection(net, family) as flow:
        for _ in range(5):
            flow.push(5000)
        return [p for p in seen.arrived() if p.proto == TCP]


@pytest.mark.parametrize("family", FAMILIES)
def test_all_devices_of_a_namespace(net: Network, agent: Agent, family: int) -> None:
    done("attach", "--netns", net.a.name)
    (status,) = statuses("--netns", net.a.name)
    assert (status.netns, status.dev) == (net.a.name, "a0")
    assert any(packet.hints for packet in exchange(net, family))
    done("detach", "--netns", net.a.name)
    assert statuses("--netns", net.a.name) == []
    assert not any(packet.hints for packet in exchange(net, family))


@contextmanager
def container(net: Network) -> Iterator[list[str]]:
    """Mounts of its own and the network of a; how a command is run there."""
    mounts = ["unshare", "--mount", "sh", "-c", "echo; exec sleep 600"]
    command = ["nsenter", f"--net={FOLDER / net.a.name}", *mounts]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as init:
        assert init.stdout
        init.stdout.readline()
        yield ["nsenter", f"--target={init.pid}", "--mount", "--net"]
        init.terminate()


def test_agent_in_its_own_mount_namespace(net: Network, agent: Agent) -> None:
    """As in a container that runs the agent itself."""
    with container(net) as inside:
        subprocess.run([*inside, program(), "attach", "a0"], check=True)
        assert any(packet.hints for packet in exchange(net, 4))
        subprocess.run([*inside, program(), "detach", "a0"], check=True)
        assert not any(packet.hints for packet in exchange(net, 4))


def test_ip_netns_exec_attaches_or_is_refused(net: Network, agent: Agent) -> None:
    """Its mounts end with it; those of the machine are not always to be had."""
    words = ["ip", "netns", "exec", net.a.name, program(), "attach", "a0"]
    said = subprocess.run(words, capture_output=True, text=True, check=False)
    attached = any(packet.hints for packet in exchange(net, 4))
    assert (said.returncode, said.stderr.count("\n")) == ((0, 0) if attached else (2, 1))
    assert attached or "--netns" in said.stderr


@each_carrier
def test_packets_from_a_container_have_no_hint(net: Network, agent: Agent, encoding: str, family: int) -> None:
    outside = Agent(net.r, agent.cgroup)
    outside.attach("--every-packet", dev="rb", encoding=encoding)
    got = exchange(net, family)
    status = outside.status("rb")
    outside.leave()
    assert not any(packet.hints for packet in got)
    assert status.stamped == 0
    assert 0 < status.skipped["no_socket"] <= len(got)


def test_tcp_option_only_on_the_attached_device(net: Network, agent: Agent) -> None:
    """The TCP option is for a cgroup, but only for what leaves by the device."""
    agent.attach("--every-packet", encoding="tcp")
    with net.seen("r", "rb") as seen, connection(net, 4, "10.2.0.254", net.r) as flow:
        flow.push(5000)
        assert not any(packet.hints for packet in seen.packets())
