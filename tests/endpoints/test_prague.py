# SPDX-License-Identifier: GPL-2.0
"""The scalable sender: its arithmetic, its data on the wire, its response to marks."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from arithmetic import Q16, Q32, library

from lab.model.scenario import Scenario
from lab.runs import runner

Q20 = 2.0**20
ONE = 1 << 20
SHIFT = 4

MARKING = Scenario(
    kernel="uml", rate_bps=1_000_000_000, rtts_ms=(40.0,), cc=("prague",), hint="none",
    warmup_s=30, duration_s=60,
)  # fmt: skip
PAYLOAD_BYTES = 1448


@pytest.mark.parametrize("shift", [0, 1, 4, 10])
@pytest.mark.parametrize(("delivered", "marked"), [(1, 0), (1, 1), (10, 3), (2**20, 12_345)])
def test_alpha_is_the_average_of_rfc_8257(shift: int, delivered: int, marked: int) -> None:
    for alpha in (0, 1, ONE // 3, ONE):
        want = alpha / Q20 * (1 - 2.0**-shift) + 2.0**-shift * marked / delivered
        got = library().prague_share(alpha, delivered, marked, shift) / Q20
        assert got == pytest.approx(want, abs=2 / Q20)


def test_alpha_stays_between_0_and_1() -> None:
    """More marks than segments, as AccECN may count ACKs that are lost twice."""
    chance, alpha = Random(1), ONE
    for _ in range(10_000):
        delivered = chance.randrange(1, 50)
        alpha = library().prague_share(alpha, delivered, chance.randrange(100), SHIFT)
        assert 0 <= alpha <= ONE


@pytest.mark.parametrize("alpha", [0, ONE // 10, ONE // 2, ONE])
@pytest.mark.parametrize("window", [4.0, 4.25, 100.5, 1e6])
def test_marks_reduce_by_half_of_alpha(window: float, alpha: int) -> None:
    got = library().prague_cut(int(window * Q32), alpha) / Q32
    assert got == pytest.approx(window * (1 - alpha / Q20 / 2), rel=1e-5)


def test_window_is_at_least_two_segments() -> None:
    assert library().prague_cut(int(2.5 * Q32), ONE) == 2 << 32


@pytest.mark.parametrize("rtt_us", [1, 5_000, 24_999, 25_000, 200_000])
def test_increase_is_that_of_the_virtual_rtt(rtt_us: int) -> None:
    """Segments per RTT_virt of a flow that has the rate of one of that RTT."""
    want = min(1.0, rtt_us / 25_000) ** 2
    scale = library().prague_part(rtt_us, 25_000)
    assert scale / Q16 == pytest.approx(want, abs=2e-5)
    assert library().prague_step(7, 100, scale) / Q32 == pytest.approx(7 / 100 * want, abs=1e-5)


def test_no_virtual_rtt_is_no_reduction() -> None:
    assert library().prague_part(1, 0) == 1 << 16


def rate_mbps(percent: float) -> float:
    """Goodput where each packet is marked with that probability, none lost."""
    result = runner.run(replace(MARKING, qdisc=f"netem loss {percent}% ecn limit 100000"))
    (flow,) = result.flows
    assert flow.retransmits == 0
    assert flow.marks > 100
    return flow.goodput_mbps


@pytest.mark.guest
def test_rate_follows_the_marks() -> None:
    """Two marks per RTT, whatever their probability: rates fall with it, not with its root.

    A window w grows by 1 - p per RTT, and falls by w p / 2 if there was a mark: with none in
    exp(-w p) of the RTTs, w p is 2.2 if marks are independent (RFC 9332, appendix A.1, has 2).
    """
    for percent in (0.5, 2.0, 8.0):
        window = rate_mbps(percent) * 1e6 / 8 * 0.040 / PAYLOAD_BYTES
        assert 1.8 < window * percent / 100 < 2.4


def marks_on(kernel: str) -> int:
    """Of RED, whose probability follows a slow average: pie's swings, and marks with it."""
    result = runner.run(
        replace(
            MARKING, kernel=kernel, rate_bps=10_000_000, rtts_ms=(60.0,), warmup_s=10, duration_s=20,
            qdisc="red limit 400000 min 15000 max 60000 avpkt 1500 burst 20 bandwidth 10mbit "
            "probability 0.3 ecn",
        )
    )  # fmt: skip
    return result.marks


@pytest.mark.guest
def test_feedback_without_accecn_is_as_accurate() -> None:
    """With the ECE of RFC 3168, which stays on for an RTT, fewer marks are enough."""
    with_accecn, without = (marks_on(kernel) for kernel in ("uml", "6.12"))
    assert without == pytest.approx(with_accecn, rel=0.1)
