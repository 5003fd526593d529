# SPDX-License-Identifier: GPL-2.0
"""flow.h: the rate of a flow against floating point."""

from __future__ import annotations

from draws import spread
from hypothesis import given
from hypothesis import strategies as st
from library import LIBRARY
from reference import LIVE_EPOCHS, RATE_EPOCHS, rate


@given(
    st.lists(st.tuples(spread(0, 1_000_000_000), spread(1, LIVE_EPOCHS)), min_size=1, max_size=60)
)
def test_rate_is_a_mean_then_an_ewma(updates: list[tuple[int, int]]) -> None:
    """Within a unit or two per step, which are remembered for so many steps, and the
    rounding of 1/12 to Q16."""
    arrived, gaps = [one for one, _ in updates], [gap for _, gap in updates]
    want = rate(arrived, gaps)
    got = LIBRARY.rate(arrived, gaps, len(updates))
    assert abs(got - want) <= max(arrived) * 1e-4 + 2 * RATE_EPOCHS
