# SPDX-License-Identifier: GPL-2.0
"""EXP-TCP's window against the paper's equations in floating point."""

from __future__ import annotations

import math

import pytest
from arithmetic import Q16, Q32, Window, library

GAMMA, BETA = 50, 125  # 1/1000
ACKS_TO_TRIPLE = 100
"""Per segment of w0."""
WINDOWS = [2, 3, 4, 10, 38, 1000, 83_000, 2**20]


def root(w0: int) -> int:
    """What the module keeps: the square root, Q16."""
    return math.isqrt(w0 << 32)


@pytest.mark.parametrize("gamma", [1, 50, 333, 999])
@pytest.mark.parametrize("w0", WINDOWS)
def test_increase(w0: int, gamma: int) -> None:
    for more in (0, 0.25, 1, 7.5, 100, 12_345.0625):
        w = w0 + more
        per_ack = gamma / 1000 * (1 - w0 / w + math.sqrt(w0) / w)
        got = library().exp_step(int(w * Q16), w0, root(w0), gamma) / Q32
        assert got / w == pytest.approx(per_ack, rel=1e-4)


def test_window_below_w0_grows_as_from_w0() -> None:
    at = [library().exp_step(w << 16, 100, root(100), GAMMA) for w in (2, 99, 100)]
    assert len(set(at)) == 1


@pytest.mark.parametrize("beta", [1, 125, 500, 999])
@pytest.mark.parametrize("w", WINDOWS)
def test_decrease(w: int, beta: int) -> None:
    assert library().exp_cut(w, beta) == max(w * (1000 - beta) // 1000, 2)


def step(window: Window, w0: int) -> int:
    """What the module adds per round trip."""
    return library().exp_step(int(window.size * Q16), w0, root(w0), GAMMA)


@pytest.mark.parametrize("w0", [4, 100, 1000])
def test_window_grows_by_the_law(w0: int) -> None:
    """ACK by ACK, as many as make the window some three times what it was.

    As in Reno an ACK adds its share of the window's whole segments, not of their fraction.
    """
    window, want = Window(w0), float(w0)
    for _ in range(ACKS_TO_TRIPLE * w0):
        window.acked(1, step(window, w0))
        want += GAMMA / 1000 * (1 - w0 / want + math.sqrt(w0) / want)
    assert window.size == pytest.approx(want, rel=0.01 + 0.25 / w0)


@pytest.mark.parametrize("w", [100, 1000, 4000])
def test_recovery_takes_logarithmic_time(w: int) -> None:
    """Round trips from w0 to w: w0 - sqrt(w0) + sqrt(w0) e^(gamma t) solves the equation."""
    window, taken = Window(library().exp_cut(w, BETA)), 0
    w0 = window.cwnd
    while window.cwnd < w and taken < 1000:
        for left in range(window.cwnd, 0, -2):
            window.acked(min(left, 2), step(window, w0))
        taken += 1
    want = math.log(1 + (w - w0) / math.sqrt(w0)) / (GAMMA / 1000)
    assert taken == pytest.approx(want, rel=0.05)
