# SPDX-License-Identifier: GPL-2.0
"""fixed.h against libm and whole numbers of any size."""

from __future__ import annotations

from math import exp2, log, log2

from draws import PROBABILITIES, RANDOM, spread
from hypothesis import given
from hypothesis import strategies as st
from library import LIBRARY
from reference import EXP2_ERROR, LOG2_ERROR, ONE, Q16


@given(spread(1, (1 << 64) - 1))
def test_log2_is_off_by_less_than_its_bound(x: int) -> None:
    assert abs(LIBRARY.log2(x) / Q16 - log2(x)) <= LOG2_ERROR


@given(st.integers(-(17 << 16), (16 << 16) - 1))
def test_exp2_is_off_by_less_than_its_bound(x: int) -> None:
    want = exp2(x / Q16) * Q16
    assert abs(LIBRARY.exp2(x) - want) <= want * EXP2_ERROR + 1


@given(st.integers(16 << 16, (1 << 31) - 1), st.integers(-(1 << 31), -(17 << 16) - 1))
def test_exp2_saturates(above: int, below: int) -> None:
    assert LIBRARY.exp2(above) == (1 << 32) - 1
    assert LIBRARY.exp2(below) == 0


@given(spread(1, Q16 - 1))
def test_exp2_undoes_log2(x: int) -> None:
    off = abs(LIBRARY.exp2(LIBRARY.log2(x)) / Q16 - x)
    assert off <= x * (LOG2_ERROR * log(2) + EXP2_ERROR) + 1 / Q16


@given(PROBABILITIES, RANDOM)
def test_product_is_cut_and_saturates(p_q30: int, w_q16: int) -> None:
    assert LIBRARY.mul_q16(p_q30, w_q16) == min((1 << 32) - 1, p_q30 * w_q16 // Q16)


@given(PROBABILITIES, st.integers(-(1 << 60), 1 << 60))
def test_sum_saturates(p_q30: int, delta: int) -> None:
    assert LIBRARY.p_add(p_q30, delta) == max(0, min(ONE, p_q30 + delta))


@given(RANDOM, RANDOM, spread(0, Q16))
def test_average_is_cut(avg: int, x: int, w_q16: int) -> None:
    assert LIBRARY.ewma(avg, x, w_q16) == avg + (x - avg) * w_q16 // Q16
