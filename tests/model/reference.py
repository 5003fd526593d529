# SPDX-License-Identifier: GPL-2.0
"""The equations of docs/algorithm.md in floating point, and how far integers may be off."""

from __future__ import annotations

from math import exp2, log, log2, sqrt

Q16 = 1 << 16
Q13 = 1 << 13
ONE = 1 << 30  # probability 1, Q30

# Chords over 1/32 of an octave miss the curve by h^2/8 f'' at most; input, knot and
# result are each cut or rounded to Q16.
LOG2_ERROR = 1 / (32 * 32 * 8 * log(2)) + 3 / Q16
EXP2_ERROR = log(2) ** 2 / (32 * 32 * 8) + 1 / Q16  # relative

WEIGHT_LOG_MAX = 15
TRUST_LOG_MAX = 2

PI2_INTEGRAL = 5.0  # per second, of the period (RFC 9332 for 200 ms, doubled)
PI2_SLOPE = 3.0  # per second
PI2_EMPTY_TICKS = 8
PI2_DECAY = 1 / 16
PI2_GAIN_ERROR = 1e-4  # relative
HALF_LIFE_NS = 1 << 29

PBLUE_FLOOR = (ONE // 10_000) / ONE
PADHYE_B = 2  # packets per ACK
PADHYE_RTO_MIN = 0.2  # s

FIT_RIDGE = 1 / 64  # octaves squared
FIT_GAIN = 1 / 16
PRICE_MAX = 6.0  # octaves
PRICE_GAIN = 1 / 16
USUAL_GAIN = 1 / 64
NORM_GAIN = 1 / 512

RATE_EPOCHS = 12
LIVE_EPOCHS = 15


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


def fit(rtts: list[int], rates: list[int]) -> tuple[float, float]:
    """Slope of log rate over log RTT with a ridge, and how far a Q5 one may be off."""
    x, y = [log2(rtt) for rtt in rtts], [log2(rate) for rate in rates]
    n = len(x)
    x_mean, y_mean = sum(x) / n, sum(y) / n
    var = sum((one - x_mean) ** 2 for one in x) / n + FIT_RIDGE
    cov = sum((one - x_mean) * (other - y_mean) for one, other in zip(x, y, strict=True)) / n
    # logarithms are cut to 1/32: by half of that, up or down, from what all share
    cut = 1 / 64 + LOG2_ERROR
    x_spread = sum(abs(one - x_mean) for one in x) / n
    y_spread = sum(abs(one - y_mean) for one in y) / n
    var_error = 2 * cut * x_spread + cut * cut
    cov_error = cut * (x_spread + y_spread) + cut * cut
    slope = cov / var
    if var_error >= var:
        return slope, float("inf")
    return slope, (cov_error + abs(slope) * var_error) / (var - var_error)


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
