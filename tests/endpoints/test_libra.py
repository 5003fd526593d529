# SPDX-License-Identifier: GPL-2.0
"""TCP Libra's window against the paper's equations in floating point; packet pairs."""

from __future__ import annotations

import math
import random
from ctypes import byref

import pytest
from arithmetic import Q16, Q32, Probe, Window, library

K1, K2, T0, T1 = 2000, 2000, 1000, 1000  # the paper's 2, 2, 1 s, 1 s
RTTS_US = [1, 100, 1000, 30_000, 180_000, 1_000_000, 64 << 20]


@pytest.mark.parametrize("k2", [1, 500, 2000, 60_000])
@pytest.mark.parametrize("span_us", [1, 10, 1000, 300_000, 60_000_000])
def test_penalty(span_us: int, k2: int) -> None:
    for least_us in (1, 30_000, 2_000_000):
        for i in range(11):
            rtt_us = least_us + span_us * i // 10
            want = math.exp(-k2 / 1000 * (rtt_us - least_us) / span_us)
            got = library().penalty(rtt_us, least_us, least_us + span_us, k2) / Q16
            assert got == pytest.approx(want, rel=3e-5, abs=1 / Q16)


def test_no_penalty_while_all_rtts_are_the_same() -> None:
    assert library().penalty(5000, 5000, 5000, K2) == 1 << 16


@pytest.mark.parametrize("kbps", [1, 56, 1000, 100_000, 10_000_000, 2**32 - 1])
@pytest.mark.parametrize("penalty", [1, 8870, 65_536])
@pytest.mark.parametrize("k1", [1, 2000, 60_000])
def test_alpha(kbps: int, penalty: int, k1: int) -> None:
    want = k1 / 1000 * kbps / 1000 * penalty / Q16
    got = library().alpha(kbps, penalty, k1) / Q16
    assert got == pytest.approx(min(want, 2**16), rel=1e-4, abs=1 / Q16)


@pytest.mark.parametrize("t0", [1, 1000, 60_000])
@pytest.mark.parametrize("rtt_us", RTTS_US)
@pytest.mark.parametrize("alpha", [0.27, 2, 200, 20_000])
def test_increase(alpha: float, rtt_us: int, t0: int) -> None:
    t = rtt_us / 1e6
    want = alpha * t * t / (t + t0 / 1000)
    for cwnd in (2, 1000, 10_000_000):
        got = library().libra_step(int(alpha * Q16), rtt_us, t0, cwnd) / Q32
        assert got == pytest.approx(min(want, cwnd), rel=1e-3, abs=2 / Q32)


@pytest.mark.parametrize("t0", [1, 1000, 60_000])
@pytest.mark.parametrize("t1", [1, 1000, 60_000])
@pytest.mark.parametrize("rtt_us", RTTS_US)
def test_decrease(rtt_us: int, t0: int, t1: int) -> None:
    for cwnd in (2, 3, 38, 83_000, 2**31):
        share = t1 / 1000 / (2 * (rtt_us / 1e6 + t0 / 1000))
        kept = max(min(share, 1) * cwnd, 2)
        assert library().libra_cut(cwnd, rtt_us, t0, t1) == pytest.approx(kept, abs=1)


def test_short_rtt_halves_and_a_long_one_leaves_less() -> None:
    assert [library().libra_cut(1000, rtt_us, T0, T1) for rtt_us in (1, 10**6)] == [499, 250]


@pytest.mark.parametrize(
    ("mbps", "rtt_us"), [(1, 1000), (1, 200_000), (100, 30_000), (1000, 90_000)]
)
def test_window_grows_by_the_law(mbps: int, rtt_us: int) -> None:
    """w += (1/w) alpha T^2 / (T + T0) for 100 round trips, 1 Mbit/s and 1 ms included."""
    alpha, t = 2.0 * mbps, rtt_us / 1e6
    window, want = Window(20), 20.0
    step = library().libra_step(library().alpha(mbps * 1000, 1 << 16, K1), rtt_us, T0, 2**20)
    for _ in range(100):
        for _ in range(window.cwnd):
            window.acked(1, step)
            want += alpha * t * t / (t + 1) / want
    # a step of a window counts from its end: half a segment at most
    assert window.size == pytest.approx(want, abs=0.5, rel=2e-3)


class Link:
    """A FIFO link of a capacity, with other traffic, to a receiver that delays ACKs.

    On their way back, where the link is as fast, they may have to wait, too.
    """

    BYTES, BASE_US, DELAY_US = 1500, 40_000, 40_000

    def __init__(self, mbps: float, per_ack: int, seed: int = 1, start_us: int = 0) -> None:
        self.wire_us = self.BYTES * 8 / mbps
        self.per_ack = per_ack
        self.free_us = self.now_us = float(start_us)
        self.back_free_us = 0.0
        self.min_us = 2**32 - 1
        self.source = random.Random(seed)
        self.probe = Probe()

    def others(self, share: float) -> None:
        """As many packets of others as there may be, one by one."""
        while self.source.random() < share:
            self.free_us = max(self.free_us, self.now_us) + self.wire_us

    def acknowledge(self, segments: int, delay_us: float = 0) -> None:
        """An ACK of the packets that were the last to leave."""
        back = max(self.free_us + self.BASE_US + delay_us, self.back_free_us)
        self.back_free_us = back + self.wire_us / 25
        now_us = round(back) % 2**32
        rtt_us = round(back) - round(self.now_us)
        self.min_us = min(self.min_us, rtt_us)
        prompt = library().prompt(byref(self.probe), now_us, segments)
        library().probe(
            byref(self.probe), now_us, rtt_us, self.min_us,
            segments * self.BYTES if prompt else 0,
        )  # fmt: skip

    def burst(self, packets: int, gap_us: float = 0, share: float = 0) -> None:
        """Packets sent with a gap in between, and what their ACKs tell."""
        for i in range(1, packets + 1):
            self.others(share)
            self.free_us = max(self.free_us, self.now_us) + self.wire_us
            if i % self.per_ack == 0:
                self.acknowledge(self.per_ack)
            elif i == packets:
                self.acknowledge(i % self.per_ack, self.DELAY_US)
            self.now_us += gap_us
        self.now_us += 1e6

    @property
    def mbps(self) -> float:
        """What the pairs say, 0 for nothing."""
        return self.probe.capacity_kbps / 1000


@pytest.mark.parametrize("per_ack", [1, 2])
@pytest.mark.parametrize("mbps", [1, 10, 100, 1000])
def test_capacity_of_an_idle_link(mbps: float, per_ack: int) -> None:
    link = Link(mbps, per_ack)
    link.burst(11)
    assert link.mbps == pytest.approx(mbps, rel=0.05)


@pytest.mark.parametrize("per_ack", [1, 2])
def test_capacity_of_a_busy_link(per_ack: int) -> None:
    """Most pairs meet other packets; the pair with the least delays met none."""
    for seed in range(20):
        link = Link(10, per_ack, seed)
        for _ in range(200):
            link.burst(10, share=0.4)
        assert link.mbps == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize("per_ack", [1, 2])
def test_acks_compressed_on_the_return_path_are_ignored(per_ack: int) -> None:
    """The queue there is seldom empty; at first it never is."""
    for seed in range(20):
        link = Link(100, per_ack, seed)
        for i in range(200):
            wait_us = link.source.uniform(500 if i < 100 else -1000, 20_000)
            link.back_free_us = link.now_us + link.BASE_US + wait_us
            link.burst(10, share=0.2)
        assert link.mbps == pytest.approx(100, rel=0.05)


def pair(probe: Probe, first_us: int, apart_us: int, min_us: int) -> float:
    """The estimate after a pair of ACKs for 3000 bytes, Mbit/s."""
    now_us = probe.acked_us + 1_000_000
    library().probe(byref(probe), now_us, first_us, min_us, 3000)
    library().probe(byref(probe), now_us + apart_us, first_us + apart_us, min_us, 3000)
    return probe.capacity_kbps / 1000


def test_compressed_pair_is_replaced_by_a_much_lower_estimate() -> None:
    probe = Probe()
    assert pair(probe, 44_000, 6, 44_000) == 4000
    assert pair(probe, 44_500, 240, 44_000) == 4000, "nothing says that the first met a queue"
    assert pair(probe, 44_500, 240, 43_900) == 100
    assert pair(probe, 43_500, 6, 43_500) == 100, "compressed again"
    assert pair(probe, 43_400, 30, 43_400) == 800, "a faster link, for all one knows"


def test_delayed_ack_is_ignored() -> None:
    """Of three packets sent together, acknowledged one by one, and the last by a timer."""
    link = Link(20, 1)
    for _ in range(50):
        for delay_us in (0, 0, link.DELAY_US):
            link.free_us = max(link.free_us, link.now_us) + link.wire_us
            link.acknowledge(1, delay_us)
        link.now_us += 1e6
    assert link.mbps == 0


def test_delayed_ack_starts_no_pair() -> None:
    """The next comes so soon after it that the link seems fast."""
    link = Link(20, 1)
    link.burst(1)
    link.now_us -= 1e6
    link.free_us = link.now_us
    link.acknowledge(1, link.DELAY_US)
    link.free_us += link.DELAY_US + link.wire_us / 10
    link.acknowledge(1)
    assert link.mbps == 0


@pytest.mark.parametrize("gap_us", [2, 20, 500])
def test_packets_sent_apart_are_no_pair(gap_us: float) -> None:
    """Others may have come between them, or their distance is the sender's, not the link's."""
    link = Link(20, 1)
    for _ in range(50):
        link.burst(10, gap_us=gap_us, share=0.4)
    assert link.mbps == 0


def test_clock_may_wrap() -> None:
    link = Link(10, 2, start_us=2**32 - 42_000)
    link.burst(10)
    assert link.mbps == pytest.approx(10, rel=0.01)


@pytest.mark.parametrize(("first", "second"), [(3000, 0), (0, 3000), (6000, 3000), (1500, 3000)])
def test_acks_of_different_sizes_are_no_pair(first: int, second: int) -> None:
    """An ACK of no use acknowledges nothing."""
    probe = Probe()
    library().probe(byref(probe), 1_000_000, 40_000, 40_000, first)
    library().probe(byref(probe), 1_002_400, 42_400, 40_000, second)
    assert probe.capacity_kbps == 0


def test_capacity_saturates() -> None:
    probe = Probe()
    library().probe(byref(probe), 1000, 100, 100, 2**31)
    library().probe(byref(probe), 1001, 101, 100, 2**31)
    assert probe.capacity_kbps == 2**32 - 1


@pytest.mark.parametrize("kbps", [1, 272, 100_000, 10_000_000])
@pytest.mark.parametrize("interval_us", [0, 1, 40_000, 2**32 - 1])
def test_capacity_is_distrusted_if_exceeded_by_a_third(kbps: int, interval_us: int) -> None:
    most = kbps * interval_us / 0.75 / 8000
    for delivered in (0, int(most * 0.999), int(most * 1.001) + 1):
        probe = Probe(least_sum_us=80_000, capacity_kbps=kbps)
        library().doubt(byref(probe), delivered, interval_us)
        assert probe.least_sum_us == (0 if delivered > most else 80_000)
        assert probe.capacity_kbps == kbps


def test_distrusted_capacity_is_replaced_by_any_other() -> None:
    """The path is ten times as fast as before, and longer."""
    link = Link(2, 2)
    link.burst(10)
    link.wire_us, link.BASE_US = link.wire_us / 10, 2 * link.BASE_US
    link.burst(10)
    assert link.mbps == pytest.approx(2, rel=0.01)
    library().doubt(byref(link.probe), 10 * link.BYTES, 10 * round(link.wire_us))
    link.burst(10)
    assert link.mbps == pytest.approx(20, rel=0.01)
