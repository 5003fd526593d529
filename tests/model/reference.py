# SPDX-License-Identifier: GPL-2.0
"""The equations of docs/algorithm.md in floating point, and how far integers may be off."""

from __future__ import annotations

from math import exp2, log, log2, sqrt

Q16 = 1 << 16
ONE = 1 << 30  # probability 1, Q30

# Chords over 1/32 of an octave miss the curve by h^2/8 f'' at most; input, knot and
# result are each cut or rounded to Q16.
LOG2_ERROR = 1 / (32 * 32 * 8 * log(2)) + 3 / Q16
EXP2_ERROR = log(2) ** 2 / (32 * 32 * 8) + 1 / Q16  # relative

WEIGHT_LOG_MIN, WEIGHT_LOG_MAX = -15, 22
TRUST_LOG_MAX = 2

PI2_INTEGRAL = 5.0  # per second, of the period (RFC 9332 for 200 ms, doubled)
PI2_SLOPE = 3.0  # per second
PI2_EMPTY_TICKS = 2
PI2_DECAY = 1 / 8
PI2_GAIN_ERROR = 1e-4  # relative
HALF_LIFE_NS = 1 << 29
STANDING_TICKS = 5
FOLLOW_TARGETS = 24
FOLLOW_P = ONE // 10
SOJOURN_MAX_US = 10_000_000
EPOCH_US = (1 << 27) // 1000
FILL_QUARTERS = 9
FULL_PACKET = 1514

PBLUE_FLOOR = (ONE // 10_000) / ONE
PADHYE_B = 2  # packets per ACK
PADHYE_RTO_MIN = 0.2  # s

PENALTY_MIN, PENALTY_MAX = -14.0, 21.0  # octaves
PENALTY_GAIN_MAX = 1 / 16
PENALTY_GAIN_UNRESPONSIVE = 1 / 4
PENALTY_BYTES = 4096
NORM_TICKS = 512

RATE_EPOCHS = 12
LIVE_EPOCHS = 15
MATURE_EPOCHS = 8


def clamp(x: float, low: float, high: float) -> float:
    return max(low, min(high, x))


def power_error(octaves: float) -> float:
    """Relative error of a power whose exponent is off by that many octaves."""
    return exp2(octaves) * (1 + EXP2_ERROR) - 1


def mean(values: list[int]) -> float:
    return sum(values) / len(values)


def padhye_time(rtt: float, p: float) -> float:
    """Seconds per packet, eq. (2) of the paper inverted."""
    timeout = max(PADHYE_RTO_MIN, 4 * rtt)
    twice = min(1.0, 3 * sqrt(3 * PADHYE_B * p / 8))
    return rtt * sqrt(2 * PADHYE_B * p / 3) + timeout * twice * p * (1 + 32 * p * p)


def geometric_mean(values: list[int]) -> float:
    return exp2(sum(map(log2, values)) / len(values))


def aim(target_us: int, p_avg_q30: int, fill_us: int) -> int:
    """Half of the target, or towards what fills windows, in whole numbers."""
    least = target_us // 2
    most = max(least, min(fill_us, FOLLOW_TARGETS * target_us))
    return least + (most - least) * min(p_avg_q30, FOLLOW_P) // FOLLOW_P


def pi2_error(aim_us: int, standing_us: int) -> int:
    """Microseconds above the aim; a burst counts as one aim."""
    return min(standing_us - aim_us, aim_us)


def fill(due: int, packet: int, rtt_avg_us: int) -> int:
    """What a flow of that rate must wait for beside its RTT to have a window."""
    wait = min(SOJOURN_MAX_US, FILL_QUARTERS * packet // 4 * EPOCH_US // due) if due else 0
    return max(0, wait - rtt_avg_us)


def rate(bytes_in: list[int], gaps: list[int]) -> float:
    """Bytes per epoch: the plain mean of the first epochs, then an EWMA per epoch."""
    smoothed, age = 0.0, 0
    for arrived, gap in zip(bytes_in, gaps, strict=True):
        if age < RATE_EPOCHS:
            age = min(age + gap, LIVE_EPOCHS)
            keep = 1 - gap / age
        else:
            keep = (1 - 1 / RATE_EPOCHS) ** gap
        smoothed = smoothed * keep + arrived / gap * (1 - keep)
    return smoothed
