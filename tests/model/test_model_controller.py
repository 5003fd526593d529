# SPDX-License-Identifier: GPL-2.0
"""controller.h against BLUE's pseudo code, RFC 9332 and the equations of docs/algorithm.md."""

from __future__ import annotations

from math import exp2, sqrt

import pytest
from draws import CLOCK, PROBABILITIES, parameter, runs, spread
from hypothesis import given
from hypothesis import strategies as st
from library import LIBRARY
from reference import (
    FOLLOW_P,
    HALF_LIFE_NS,
    ONE,
    PBLUE_FLOOR,
    PI2_DECAY,
    PI2_EMPTY_TICKS,
    PI2_GAIN_ERROR,
    PI2_INTEGRAL,
    PI2_SLOPE,
    SOJOURN_MAX_US,
    STANDING_TICKS,
    Q16,
    aim,
    clamp,
    pi2_error,
)

BLUE, PBLUE, PI2 = range(3)
UNIT = 1 / ONE
US = 1000  # ns
SOJOURNS = spread(0, SOJOURN_MAX_US)  # us
TICKS = runs(SOJOURNS, 20)
BOTH_PERIODS = st.tuples(parameter("target_us"), parameter("tupdate_us"))
BLUE_STEPS = st.tuples(parameter("freeze_us"), parameter("step_q30"), parameter("step_q30"))


@given(BLUE_STEPS, CLOCK, st.lists(st.tuples(spread(0, 1 << 34), st.booleans()), max_size=60))
def test_blue_is_the_pseudo_code(
    steps: tuple[int, int, int], now: int, events: list[tuple[int, bool]]
) -> None:
    """Feng et al. 2002, figure 2, for losses and for an idle link that is polled; a gap of
    0 stands for one that ends with the freeze."""
    freeze_us, increment, decrement = steps
    LIBRARY.controller(BLUE, 0, 0)
    LIBRARY.steps(*steps)
    p, changed = 0, 0
    for gap, loss in events:
        now += gap or freeze_us * US
        if loss:
            LIBRARY.overflow(now)
        else:
            LIBRARY.idle(now, now)
        # the end of a freeze is in it for a loss, and not for an idle link
        if now - changed > freeze_us * US - (not loss) and (loss or p):
            p = min(ONE, p + increment) if loss else max(0, p - decrement)
            changed = now
        assert LIBRARY.p() == p


@given(BLUE_STEPS, CLOCK, spread(0, 3_600_000_000))
def test_blue_owes_a_decrement_per_freeze(
    steps: tuple[int, int, int], since: int, idle_us: int
) -> None:
    """Its clock counts 1024 ns and multiplies by a rounded reciprocal: up to 3 % fewer."""
    freeze_us, increment, _ = steps
    LIBRARY.controller(BLUE, ONE, 0)
    LIBRARY.steps(freeze_us, increment, 1)
    LIBRARY.idle(since, since + idle_us * US)
    owed = 1 + idle_us // freeze_us
    assert 0.97 * owed - 1 <= ONE - LIBRARY.p() <= owed


@given(BOTH_PERIODS, PROBABILITIES, SOJOURNS)
def test_aim_follows_what_fills_windows(
    periods: tuple[int, int], p_avg_q30: int, fill_us: int
) -> None:
    LIBRARY.controller(PI2, 0, 0)
    LIBRARY.periods(*periods)
    for p_avg in p_avg_q30, FOLLOW_P - 1, FOLLOW_P, 0:
        assert LIBRARY.follow(p_avg, fill_us) == aim(periods[0], p_avg, fill_us)


@given(BOTH_PERIODS, PROBABILITIES, SOJOURNS, st.lists(SOJOURNS, min_size=1))
def test_error_is_cut_for_bursts_only(
    periods: tuple[int, int], p_avg_q30: int, fill_us: int, queues: list[int]
) -> None:
    LIBRARY.controller(PI2, 0, 0)
    LIBRARY.periods(*periods)
    aim_us = LIBRARY.follow(p_avg_q30, fill_us)
    edges = [aim_us, 2 * aim_us]
    for standing in queues + [edge + by for edge in edges for by in (-1, 0, 1)]:
        assert LIBRARY.pi2_error(aim_us, standing) == pi2_error(aim_us, standing)


@given(BOTH_PERIODS, TICKS)
def test_least_of_five_updates_stands(periods: tuple[int, int], sojourns: list[int]) -> None:
    LIBRARY.controller(PI2, 0, 0)
    LIBRARY.periods(*periods)
    LIBRARY.follow(0, 0)
    seen = [0] * STANDING_TICKS
    for q in sojourns:
        seen = [*seen[1:], q]
        LIBRARY.tick(q)
        assert LIBRARY.standing() == min(seen)


@given(BOTH_PERIODS, SOJOURNS, spread(0, 1 << 40), st.integers(0, 100), st.integers(32, 100))
def test_late_is_ten_targets_above_the_aim(
    periods: tuple[int, int], fill_us: int, age_ns: int, backlog: int, kept: int
) -> None:
    LIBRARY.controller(PI2, 0, 0)
    LIBRARY.periods(*periods)
    late_ns = (10 * periods[0] + LIBRARY.follow(ONE, fill_us)) * US
    for age in age_ns, late_ns, late_ns + 1:
        assert LIBRARY.late(age, backlog, kept) == (age > late_ns and backlog > kept)


@given(BOTH_PERIODS, *[spread(0, 1 << 31)] * 3)
def test_what_leaves_in_ten_targets_is_kept(
    periods: tuple[int, int], left: int, before: int, most_sent: int
) -> None:
    LIBRARY.controller(PI2, 0, 0)
    LIBRARY.periods(*periods)
    most = max(left, before)
    kept = 32 if 8 * most < most_sent else min(max(32, most * 10 * periods[0] >> 15), (1 << 32) - 1)
    assert LIBRARY.kept(left, before, most_sent) == kept


@given(BOTH_PERIODS, PROBABILITIES, PROBABILITIES, SOJOURNS, st.integers(0, Q16 // 2), TICKS)
def test_pi2_is_rfc_9332(
    periods: tuple[int, int],
    p_q30: int,
    p_avg_q30: int,
    fill_us: int,
    young_q16: int,
    sojourns: list[int],
) -> None:
    """Free running, of what stands, with gains that fall as the aim grows and by the part that
    young flows have: the error is that of the gains and a unit or two per update, all added up."""
    target_us, tupdate_us = periods
    LIBRARY.controller(PI2, p_q30, 0)
    LIBRARY.periods(*periods)
    aim_us = LIBRARY.follow(p_avg_q30, fill_us)
    seen, root, old, empty = [0] * STANDING_TICKS, LIBRARY.root() / ONE, 0, 0
    LIBRARY.young(young_q16)
    scale = min(1.0, target_us / aim_us) * (1 - young_q16 / Q16)
    error = 0.0
    for q in sojourns:
        seen = [*seen[1:], q]
        standing = min(seen)
        level = PI2_INTEGRAL * tupdate_us / 1e6 * pi2_error(aim_us, standing) / 1e6
        slope = PI2_SLOPE * (standing - old) / 1e6
        root = clamp(root + (level + slope) * scale, 0, 1)
        error += (abs(level) + abs(slope)) * scale * PI2_GAIN_ERROR + 3 * UNIT
        empty = empty + 1 if q * 8 <= target_us else 0
        if empty >= PI2_EMPTY_TICKS:
            root *= 1 - PI2_DECAY
        old = standing
        LIBRARY.tick(q)
        assert abs(LIBRARY.root() / ONE - root) <= error
        assert abs(LIBRARY.p() / ONE - (LIBRARY.root() / ONE) ** 2) <= UNIT


@given(BOTH_PERIODS, PROBABILITIES, SOJOURNS)
def test_pblue_moves_in_proportion(periods: tuple[int, int], p_q30: int, q: int) -> None:
    """By 10 % per 100 ms at the most; the step has 16 bits and 65 units at the least."""
    target_us, tupdate_us = periods
    LIBRARY.controller(PBLUE, p_q30, 0)
    LIBRARY.periods(*periods)
    LIBRARY.tick(q)
    step = min(1.0, q / target_us - 1) * tupdate_us / 1e6
    p = p_q30 / ONE
    want = clamp(p * (1 + step), PBLUE_FLOOR, 1)
    assert abs(LIBRARY.p() / ONE - want) <= p * (abs(step) / 60 + 2 / Q16) + UNIT


@pytest.mark.parametrize("kind", [BLUE, PBLUE, PI2])
@given(BOTH_PERIODS, PROBABILITIES, TICKS)
def test_average_of_p_is_an_ewma(
    kind: int, periods: tuple[int, int], p_q30: int, sojourns: list[int]
) -> None:
    """w_q = 0.1 under BLUE (paper), else 1.6 s; the weight has 16 bits."""
    LIBRARY.controller(kind, p_q30, 0)
    LIBRARY.periods(*periods)
    LIBRARY.follow(0, 0)
    weight = 0.1 if kind == BLUE else periods[1] / 1.6e6
    average, error = 0.0, 0.0
    for q in sojourns:
        LIBRARY.tick(q)
        error = error * (1 - weight) + (abs(LIBRARY.p() - average) + error) / Q16 + 1
        average += weight * (LIBRARY.p() - average)
        assert abs(LIBRARY.p_avg() - average) <= error


@pytest.mark.parametrize("kind", [PBLUE, PI2])
@given(PROBABILITIES, spread(1 << 23, 1 << 40))
def test_idle_link_halves_the_root(kind: int, p_q30: int, idle_ns: int) -> None:
    LIBRARY.controller(kind, p_q30, 0)
    root = LIBRARY.root()
    LIBRARY.forget(idle_ns)
    want = root * exp2(-idle_ns / HALF_LIFE_NS)
    # the power has 16 bits: a unit of it is 2^14 of the root's 30
    assert abs(LIBRARY.root() - want) <= want * 2e-4 + root / Q16 + 1


@given(PROBABILITIES)
def test_change_of_controller_keeps_the_probability(p_q30: int) -> None:
    LIBRARY.controller(PI2, p_q30, 0)
    assert abs(LIBRARY.root() / ONE - sqrt(p_q30 / ONE)) <= 2e-4
