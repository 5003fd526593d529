# SPDX-License-Identifier: GPL-2.0
"""Logarithms, powers and credit against Python's floating-point and unbounded numbers."""

from __future__ import annotations

import math
import random
from ctypes import byref, c_uint32

import pytest
from arithmetic import Q16, Q32, library

LOG2_ULPS = 2
"""Squarings are cut to 31 bits."""
EXP2_ERROR = 2e-6
"""Of Taylor's series, cut after 7 terms, in 30 bits."""


def numbers(seed: int, count: int = 20_000) -> list[int]:
    """Numbers of 32 bits, of each magnitude."""
    source = random.Random(seed)
    return [source.getrandbits(source.randint(1, 32)) for _ in range(count)]


def test_log2() -> None:
    for x in [*range(1, 5000), *numbers(1), 2**32 - 1]:
        error = math.log2(x or 1) - library().log2_of(x) / Q16
        assert 0 <= error * Q16 < LOG2_ULPS, x


def test_log2_of_powers_is_exact() -> None:
    assert [library().log2_of(1 << i) for i in range(32)] == [i << 16 for i in range(32)]


def test_exp2() -> None:
    for x in range(-(32 << 16), 32 << 16, 997):
        want = 2 ** (x / Q16) * Q32
        assert library().exp2_of(x) == pytest.approx(want, rel=EXP2_ERROR, abs=2), x


def test_exp2_never_falls() -> None:
    values = [library().exp2_of(x) for x in range(-70_000, 70_000)]
    assert values == sorted(values)


@pytest.mark.parametrize("x", [32 << 16, 2**31 - 1])
def test_exp2_saturates(x: int) -> None:
    assert library().exp2_of(x) == 2**64 - 1


@pytest.mark.parametrize("x", [-(33 << 16), -(2**31)])
def test_exp2_underflows_to_zero(x: int) -> None:
    assert library().exp2_of(x) == 0


def test_no_credit_is_lost() -> None:
    """The sum of fractions, however small, is exact."""
    source = random.Random(2)
    part, given, got = c_uint32(0), 0, 0
    for bits in range(20_000):
        acked, increase = source.randint(0, 100), source.getrandbits(1 + bits % 48)
        given += acked * increase
        got += library().credit(byref(part), acked, increase)
        assert (got << 32) + part.value == given


def test_increase_of_one_is_what_was_acknowledged() -> None:
    part = c_uint32(0)
    for acked in numbers(3, 1000):
        assert library().credit(byref(part), acked, 1 << 32) == min(acked, 2**31 - 1)
        assert part.value == 0


def test_credit_saturates() -> None:
    part = c_uint32(2**32 - 1)
    assert library().credit(byref(part), 2**32 - 1, 2**64 - 1) == 2**31 - 1
