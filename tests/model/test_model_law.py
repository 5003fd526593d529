# SPDX-License-Identifier: GPL-2.0
"""law.h against the equations of the papers and of docs/algorithm.md."""

from __future__ import annotations

from fractions import Fraction
from math import exp2, inf, log2

from draws import PROBABILITIES, RANDOM, RATES, RTTS, flows, parameter, runs, spread
from hypothesis import given
from hypothesis import strategies as st
from library import LIBRARY
from reference import (
    FULL_PACKET,
    LIVE_EPOCHS,
    LOG2_ERROR,
    MATURE_EPOCHS,
    NORM_TICKS,
    ONE,
    PENALTY_BYTES,
    PENALTY_GAIN_MAX,
    PENALTY_GAIN_UNRESPONSIVE,
    PENALTY_MAX,
    PENALTY_MIN,
    Q16,
    TRUST_LOG_MAX,
    WEIGHT_LOG_MAX,
    WEIGHT_LOG_MIN,
    clamp,
    fill,
    geometric_mean,
    mean,
    padhye_time,
    power_error,
)

CAPPED, PAPER, FIXED = range(3)
ALPHAS = spread(0, 4 * Q16)
Flows = list[tuple[int, int]]

# log2 of a mean is that of a sum less that of a number; one more for the flow's own
RATIO_ERROR = 3 * LOG2_ERROR


def give(of: Flows) -> tuple[list[int], list[int]]:
    """Put flows into the library; their RTTs and rates."""
    rtts, rates = [rtt for rtt, _ in of], [rate for _, rate in of]
    LIBRARY.flows(rtts, rates, len(of))
    return rtts, rates


@given(ALPHAS, parameter("pth_q30"), PROBABILITIES)
def test_alpha_is_capped(cap: int, pth: int, p_avg: int) -> None:
    """min(cap, P_th / P_b_avg); eq. (5) of the paper with a cap of 2."""
    LIBRARY.flows([], [], 0)
    ratio = pth / p_avg if p_avg else inf
    error = power_error(2 * LOG2_ERROR)
    for kind, most in (CAPPED, cap), (PAPER, 2 * Q16):
        alpha = LIBRARY.alpha(kind, cap, pth, p_avg)
        least = min(most, ratio * Q16)
        assert least * (1 - error) - 1 <= alpha <= min(most, least * (1 + error) + 1)


@given(flows(), ALPHAS, st.integers(0, 3), PROBABILITIES, st.booleans())
def test_p_i_is_the_equation(
    of: Flows, alpha_q16: int, feedback: int, p_q30: int, trust: bool
) -> None:
    """P_b (RTT_avg / RTT_i)^alpha (r_i / due)^feedback, the first factor of an
    unconfirmed hint within 1/4 .. 4."""
    rtts, rates = give(of)
    LIBRARY.power(alpha_q16, feedback, not trust)
    LIBRARY.law_tick(p_q30, 0)
    alpha = alpha_q16 / Q16
    error = power_error((alpha + feedback) * RATIO_ERROR + 3 / Q16)
    for i, (rtt, rate) in enumerate(of):
        power = alpha * log2(mean(rtts) / rtt)
        if not trust:
            power = clamp(power, -TRUST_LOG_MAX, TRUST_LOG_MAX)
        power += feedback * log2(rate / geometric_mean(rates))
        want = exp2(clamp(power, WEIGHT_LOG_MIN, WEIGHT_LOG_MAX))
        off = abs(LIBRARY.probability(i) / ONE - p_q30 / ONE * want)
        assert off <= p_q30 / ONE * want * error + 1 / ONE


@given(RTTS, st.floats(1 / 8, 8), spread(0, 1_000_000), st.integers(ONE // 100, ONE // 2))
def test_prto_equalises_padhyes_throughput(
    rtt_us: int, ratio: float, queue_us: int, p_q30: int
) -> None:
    """Of two flows; within 0.5 % where P_i ends below 1, and is at least 2^-12."""
    other_us = clamp(round(rtt_us * ratio), 32, 65534 * 32)
    rtts, _ = give([(rtt_us, 1000), (int(other_us), 1000)])
    LIBRARY.padhye()
    LIBRARY.law_tick(p_q30, queue_us)
    wanted = padhye_time((mean(rtts) + queue_us) / 1e6, p_q30 / ONE)
    for i, rtt in enumerate(rtts):
        p_i = LIBRARY.probability(i) / ONE
        got = padhye_time((rtt + queue_us) / 1e6, min(p_i, 1))
        if p_i >= 0.999:
            assert got <= wanted * 1.005
        elif p_i >= 1 / 4096:
            assert abs(got / wanted - 1) <= 0.005


@given(flows())
def test_due_share_is_the_geometric_mean(of: Flows) -> None:
    """And stays when nobody counts any more."""
    _, rates = give(of)
    LIBRARY.law_tick(0, 0)
    want = geometric_mean(rates)
    assert abs(LIBRARY.due() - want) <= want * power_error(LOG2_ERROR + 2 / Q16) + 1


@given(
    st.integers(0, LIVE_EPOCHS),
    st.integers(0, MATURE_EPOCHS),
    spread(0, 1 << 31),
    st.booleans(),
    spread(0, 1 << 31),
)
def test_who_counts_is_held_back_or_has_a_quarter(
    age: int, updates: int, rate: int, hit: bool, due: int
) -> None:
    goes_on = min(age, updates) >= MATURE_EPOCHS
    for one in rate, due // 4, max(0, due // 4 - 1):
        want = goes_on and one > 0 and (hit or one >= due // 4)
        assert LIBRARY.counts(age, updates, one, hit, due) == want


BOOKS = st.tuples(st.floats(0, 8), spread(1, 2 * LIVE_EPOCHS))


@given(RATES, PROBABILITIES, runs(BOOKS, 60))
def test_penalty_is_an_integral(due: int, p_q30: int, updates: list[tuple[float, int]]) -> None:
    """Of log2(r_i / due), at most an octave, at a gain of P_b for each 4096 bytes of the
    due share, at most 1/16 or half of P_b and 1/4, per epoch; a unit is lost in each."""
    give([(50_000, due)])
    LIBRARY.law_tick(p_q30, 0)
    most = clamp(p_q30 / ONE / 2, PENALTY_GAIN_MAX, PENALTY_GAIN_UNRESPONSIVE)
    gain = min(most, p_q30 / ONE * due / PENALTY_BYTES)
    # due in bytes is cut, and the gain to 16 bits
    gain_error = gain * (power_error(LOG2_ERROR + 2 / Q16) + 1 / due) + 1 / Q16
    penalty, error = 0.0, 0.0
    for share, epochs in updates:
        rate = min(round(share * due), (1 << 32) - 1)
        over = clamp(log2(rate / due), -1, 1) if rate else -1
        epochs_counted = min(epochs, LIVE_EPOCHS)
        penalty = clamp(penalty + gain * over * epochs_counted, PENALTY_MIN, PENALTY_MAX)
        error += epochs_counted * (gain_error * abs(over) + gain * RATIO_ERROR) + 1 / Q16
        assert abs(LIBRARY.penalty(rate, epochs) / Q16 - penalty) <= error


@given(RATES, PROBABILITIES, st.integers(-14 * Q16, 14 * Q16))
def test_penalty_is_a_factor_of_p_i(rate: int, p_q30: int, penalty_q16: int) -> None:
    give([(50_000, rate)])
    LIBRARY.power(0, 0, False)
    LIBRARY.law_tick(p_q30, 0)
    want = exp2(penalty_q16 / Q16)
    off = abs(LIBRARY.penalised(penalty_q16) / ONE - p_q30 / ONE * want)
    assert off <= p_q30 / ONE * (want * power_error(2 / Q16) + 1 / Q16) + 1 / ONE


@given(RANDOM, st.integers(1, FULL_PACKET), RANDOM)
def test_fill_is_a_window_of_the_due_share(due: int, packet: int, rtt_avg_us: int) -> None:
    for one, rtt in (due, rtt_avg_us), (due >> 20, rtt_avg_us >> 12), (due >> 24, 0), (0, 0):
        assert LIBRARY.fill(one, packet, rtt) == fill(one, packet, rtt)


@given(
    st.integers(-15 * Q16, 15 * Q16),
    st.integers(0, NORM_TICKS),
    st.lists(spread(2, 1 << 31), min_size=1, max_size=50),
)
def test_mean_weight_moves_towards_1(log_norm: int, ticks: int, weights: list[int]) -> None:
    gain = 1 / min(ticks + 1, NORM_TICKS)
    want = clamp(log_norm / Q16 - gain * log2(mean(weights) / Q16), -15, 15)
    got = LIBRARY.normalise(log_norm, ticks, weights, len(weights)) / Q16
    assert abs(got - want) <= gain * 2 * LOG2_ERROR + 1 / Q16


@given(spread(0, 1 << 52))
def test_odds_leave_their_share(p_q30: int) -> None:
    """Of 1 + P_i packets one passes, whose share has 16 bits."""
    passing = Fraction(ONE, ONE + p_q30)
    got = 1 - Fraction(LIBRARY.drop_odds(p_q30), ONE)
    assert 0 < got <= 1
    assert abs(got - passing) <= float(passing) * power_error(LOG2_ERROR) + 1 / Q16


@given(runs(st.tuples(st.integers(0, ONE // 2), RANDOM), 10))
def test_marks_are_spaced(packets: list[tuple[int, int]]) -> None:
    """Credit and thresholds of 0.5 .. 1.5 are exact in floating point."""
    give([(50_000, 1000)])
    credit, threshold = 0.0, 1.0
    for p_q30, rnd in packets:
        credit += p_q30 / ONE
        hit = credit >= threshold
        if hit:
            credit -= threshold
            threshold = 0.5 + (rnd >> 2) / ONE
        assert LIBRARY.verdict(True, p_q30, rnd) == hit


@given(PROBABILITIES, RANDOM)
def test_marks_at_random_come_with_their_probability(p_q30: int, rnd: int) -> None:
    give([(50_000, 1000)])
    assert LIBRARY.verdict(False, p_q30, rnd) == (rnd / (1 << 32) < p_q30 / ONE)
