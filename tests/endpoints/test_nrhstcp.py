# SPDX-License-Identifier: GPL-2.0
"""NR-HSTCP's window against its equations in floating point and RFC 3649's table."""

from __future__ import annotations

import math
import random

import pytest
from arithmetic import Q32, library

REF_US, REF_BYTES = 100_000, 1500
LOW, HIGH = 38, 83_000

# RFC 3649, appendix B: w, a(w), b(w)
TABLE = [
    (38, 1, 0.50), (118, 2, 0.44), (221, 3, 0.41), (347, 4, 0.38), (495, 5, 0.37),
    (663, 6, 0.35), (851, 7, 0.34), (1058, 8, 0.33), (1284, 9, 0.32), (1529, 10, 0.31),
    (5036, 20, 0.25), (11358, 31, 0.20), (21013, 42, 0.17), (30975, 50, 0.15),
    (48961, 60, 0.13), (68113, 67, 0.11), (84035, 71, 0.10),
]  # fmt: skip


def norm(cwnd: int, size: int, rtt_us: int) -> float:
    """Equation (5)."""
    return cwnd * size / rtt_us * REF_US / REF_BYTES


def b(w: float) -> float:
    """Equation (1), as far as it makes sense."""
    value = (0.1 - 0.5) * math.log(w / LOW) / math.log(HIGH / LOW) + 0.5
    return min(max(value, 0.1), 1)


def a(w: float) -> float:
    """Equations (2) and (3)."""
    return w**2 * 0.078 / w**1.2 * 2 * b(w) / (2 - b(w))


def increase(cwnd: int, size: int, rtt_us: int) -> float:
    """Equations (7) and (9)."""
    per_rtt = a(norm(cwnd, size, rtt_us)) * REF_BYTES / size * (rtt_us / REF_US) ** 2
    return max(min(per_rtt, cwnd), 1)


def flows(count: int = 5000) -> list[tuple[int, int, int]]:
    """Windows, packets and RTTs of each magnitude."""
    source = random.Random(1)
    return [
        (int(2 ** source.uniform(1, 20)), source.randint(88, 9000), int(2 ** source.uniform(6, 22)))
        for _ in range(count)
    ]


def step(cwnd: int, size: int, rtt_us: int) -> float:
    """What the module adds per round trip."""
    return library().nrhstcp_step(cwnd, size, rtt_us) / Q32


def test_increase() -> None:
    for flow in flows():
        assert step(*flow) == pytest.approx(increase(*flow), rel=2e-3), flow


def test_decrease() -> None:
    for flow in flows():
        kept = flow[0] * (1 - min(b(norm(*flow)), 0.5))
        assert library().nrhstcp_cut(*flow) == pytest.approx(max(kept, 2), rel=1e-4, abs=2), flow


@pytest.mark.parametrize(("w", "a_w", "b_w"), TABLE)
def test_table_of_rfc_3649(w: int, a_w: int, b_w: float) -> None:
    assert step(w, REF_BYTES, REF_US) == pytest.approx(a_w, rel=0.02)
    kept = library().nrhstcp_cut(w, REF_BYTES, REF_US)
    assert 1 - kept / w == pytest.approx(b_w, abs=0.0051 + 1 / w)


@pytest.mark.parametrize(
    ("cwnd", "rtt_us"), [(2, 10_000), (3, 10_000), (7, 20_000), (31, 90_000), (38, 100_000)]
)
def test_slow_flow_equals_reno(cwnd: int, rtt_us: int) -> None:
    """To the bit."""
    assert library().nrhstcp_step(cwnd, REF_BYTES, rtt_us) == 1 << 32
    assert library().nrhstcp_cut(cwnd, REF_BYTES, rtt_us) == max(cwnd // 2, 2)


@pytest.mark.parametrize(("size", "limit"), [(1500, 5), (576, 16)])
def test_long_rtt_is_limited(size: int, limit: int) -> None:
    """Section IV says 5 and 16 segments at 1 s; the equations, solved exactly, 5 and 13."""
    held = [w for w in range(2, 40) if step(w, size, 1_000_000) == w]
    assert held == list(range(2, held[-1] + 1))
    assert held[-1] == pytest.approx(limit, abs=3)


def test_flows_of_one_rate_gain_the_same() -> None:
    """In bytes per second and second, whatever the RTT and the packet, above Low_Window."""
    gains = []
    for rtt_us in (75_000, 125_000, 250_000):
        for size in (1500, 9000):
            cwnd = round(500e6 / 8 * rtt_us / 1e6 / size)  # 500 Mbit/s
            gains.append(step(cwnd, size, rtt_us) * size / (rtt_us / 1e6) ** 2)
    assert max(gains) == pytest.approx(min(gains), rel=0.01)
