# SPDX-License-Identifier: GPL-2.0
"""law.h against the equations of the papers and of docs/algorithm.md."""

from __future__ import annotations

from math import exp2, inf, log2

from draws import (
    PROBABILITIES,
    RANDOM,
    RATES,
    RTTS,
    flows,
    flows_along_a_slope,
    parameter,
    runs,
    spread,
)
from hypothesis import assume, given
from hypothesis import strategies as st
from library import LIBRARY
from reference import (
    FIT_GAIN,
    LOG2_ERROR,
    NORM_GAIN,
    ONE,
    PRICE_GAIN,
    PRICE_MAX,
    Q13,
    Q16,
    TRUST_LOG_MAX,
    USUAL_GAIN,
    WEIGHT_LOG_MAX,
    clamp,
    fit,
    mean,
    padhye_time,
    power_error,
)

CAPPED, AUTO, PAPER, FIXED = range(4)
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
    for kind, most in (CAPPED, cap), (PAPER, 2 * Q16), (AUTO, min(cap, Q16)):
        alpha = LIBRARY.alpha(kind, cap, pth, p_avg)
        least = min(most, ratio * Q16)
        assert least * (1 - error) - 1 <= alpha <= min(most, least * (1 + error) + 1)


@given(flows(), ALPHAS, st.integers(0, 3), PROBABILITIES, st.booleans())
def test_p_i_is_the_equation(
    of: Flows, alpha_q16: int, feedback: int, p_q30: int, trust: bool
) -> None:
    """P_b (RTT_avg / RTT_i)^alpha (r_i / r_avg)^feedback, the first factor of an
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
        power += feedback * log2(rate / mean(rates))
        want = exp2(clamp(power, -WEIGHT_LOG_MAX, WEIGHT_LOG_MAX))
        # the weight has 16 bits behind the point, P_i has 30
        off = abs(LIBRARY.probability(i) / ONE - p_q30 / ONE * want)
        assert off <= p_q30 / ONE * (want * error + 1 / Q16) + 1 / ONE


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


@given(st.one_of(flows(least=2), flows_along_a_slope()))
def test_regression_is_least_squares(of: Flows) -> None:
    """alpha moves by 1/16 of the slope, of which 1/4 to 4 counts, against it."""
    rtts, rates = give(of)
    slope, error = fit(rtts, rates)
    assume(error < abs(slope) / 2)
    step = -FIT_GAIN * clamp(abs(slope), 1 / 4, 4) * (1 if slope > 0 else -1)
    got = LIBRARY.fit_step() / Q16
    assert abs(got - step) <= FIT_GAIN * (error + power_error(2 * LOG2_ERROR) * 4) + 1 / Q16


@given(RATES, runs(st.floats(0, 8), 120))
def test_price_is_an_integral(rate_avg: int, shares: list[float]) -> None:
    """1/16 of log2(passed / r_avg), at most an octave, per epoch; a unit is lost in each."""
    give([(50_000, rate_avg)])
    LIBRARY.law_tick(0, 0)
    price, error = 0.0, 0.0
    for share in shares:
        passed = min(round(share * rate_avg), (1 << 32) - 1)
        over = clamp(log2(passed / rate_avg), -1, 1) if passed else -1
        price = clamp(price + PRICE_GAIN * over, 0, PRICE_MAX)
        error += PRICE_GAIN * RATIO_ERROR + 1 / Q13
        assert abs(LIBRARY.price(passed) / Q13 - price) <= error


@given(RATES, runs(st.sampled_from([1 / 4, 3 / 4, 1, 2]), 80))
def test_usual_price_is_an_average(rate_avg: int, shares: list[float]) -> None:
    """Over the books of flows above half of r_avg; it may stick 64 units away."""
    give([(50_000, rate_avg)])
    LIBRARY.law_tick(0, 0)
    usual, price = 0.0, 0.0
    for share in shares:
        usual += USUAL_GAIN * (price - usual) if share > 1 / 2 else 0
        price = LIBRARY.price(min(round(share * rate_avg), (1 << 32) - 1)) / Q13
        assert abs(LIBRARY.usual_price() / Q13 - usual) <= 64 / Q13


@given(st.integers(-15 * Q16, 15 * Q16), st.lists(spread(2, 1 << 31), min_size=1, max_size=50))
def test_mean_weight_moves_towards_1(log_norm: int, weights: list[int]) -> None:
    want = clamp(log_norm / Q16 - NORM_GAIN * log2(mean(weights) / Q16), -15, 15)
    got = LIBRARY.normalise(log_norm, weights, len(weights)) / Q16
    assert abs(got - want) <= NORM_GAIN * 2 * LOG2_ERROR + 1 / Q16


@given(PROBABILITIES, spread(0, 1 << 45))
def test_odds_leave_their_share(mark_max: int, p_q30: int) -> None:
    """All up to mark_max or if that is 1, else 1 / (1 + P_i)."""
    marks = p_q30 <= mark_max or mark_max == ONE
    want = 1 if marks else 1 / (1 + p_q30 / ONE)
    got = LIBRARY.pass_share(mark_max, p_q30) / Q16
    assert abs(got - want) <= (0 if marks else want * power_error(LOG2_ERROR) + 1 / Q16)


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
