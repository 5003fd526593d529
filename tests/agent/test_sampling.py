# SPDX-License-Identifier: GPL-2.0
"""Sampling: a hint per interval, at once after a fall of the RTT, or in every packet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

import pytest
from agents import Agent
from carriers import each_carrier
from flows import connection
from hosts import Network
from packets import SYN, TCP, Packet

SAMPLE_MS = 50
EARLY_MS = 45
"""Clearly before the next sample is due."""
FALL = 1 / 8
SECONDS = 0.6
EVERY_S = 0.005
STEPS_MS = (80, 60, 45, 33, 24, 18, 13, 9)


def hinted_by_ports(packets: Iterable[Packet]) -> dict[tuple[int, int], list[Packet]]:
    """The packets with hints of each connection."""
    found: dict[tuple[int, int], list[Packet]] = defaultdict(list)
    for packet in packets:
        if packet.hints:
            found[packet.ports].append(packet)
    return found


def fell(before: Packet, after: Packet) -> bool:
    """Whether the hint is so much lower that it is said at once."""
    assert before.hint_us and after.hint_us
    return after.hint_us < before.hint_us * (1 - FALL)


def apart_ms(before: Packet, after: Packet) -> float:
    """By the clock that says more. The agent's look at the time is between TCP's and the
    capture's, and a busy machine may delay either packet on the one side or the other."""
    return max(after.sent_ms - before.sent_ms, (after.seen_ns - before.seen_ns) / 1e6)


@each_carrier
def test_a_connection_is_sampled(net: Network, agent: Agent, encoding: str, family: int) -> None:
    agent.attach(encoding=encoding)
    with net.seen("a", "a0") as seen, connection(net, family) as one, \
            connection(net, family) as other:  # fmt: skip
        for _ in range(int(SECONDS / 0.004)):
            one.trickle(0.001)
            other.trickle(0.001)
        hinted = hinted_by_ports(seen.packets())
        assert set(hinted) == {one.ports, other.ports}
        assert agent.status().stamped == sum(map(len, hinted.values()))
    for packets in hinted.values():
        assert len(packets) >= SECONDS * 1000 / SAMPLE_MS / 2
        for before, after in pairwise(packets):
            assert apart_ms(before, after) >= SAMPLE_MS - 1 or fell(before, after)


@pytest.mark.needs("netem")
@each_carrier
def test_falling_rtt_is_stated_at_once(net: Network, agent: Agent, encoding: str, family: int) -> None:
    """A network whose RTT falls at times that are no multiples of the interval."""
    agent.attach(encoding=encoding)
    net.delay(STEPS_MS[0])
    with net.seen("a", "a0") as seen, connection(net, family) as flow:
        flow.trickle(0.2, EVERY_S)
        for delay_ms in STEPS_MS[1:]:
            net.delay(delay_ms, "change")
            flow.trickle(0.12, EVERY_S)
        hinted = hinted_by_ports(seen.packets())[flow.ports]
    early = [pair for pair in pairwise(hinted) if pair[1].sent_ms - pair[0].sent_ms < EARLY_MS]
    assert len(early) >= 3
    assert all(fell(*pair) for pair in early)
    assert hinted[-1].hint_us and hinted[-1].hint_us < (STEPS_MS[-1] + 5) * 1000


@each_carrier
def test_every_packet_has_a_hint(net: Network, agent: Agent, encoding: str, family: int) -> None:
    agent.attach("--every-packet", encoding=encoding)
    with net.seen("b", "b0") as seen, connection(net, family) as flow:
        for _ in range(50):
            flow.push(1000)
        packets = [p for p in seen.arrived() if p.proto == TCP]
    plain = [packet for packet in packets if not packet.hints]
    assert [packet for packet in plain if packet.flags & SYN] == plain[:1]
    assert len(plain) <= 2
    assert len(packets) >= 50
