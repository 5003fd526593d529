# SPDX-License-Identifier: GPL-2.0
"""What hypothesis draws."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from library import LIBRARY
from reference import ONE


def spread(low: int, high: int) -> SearchStrategy[int]:
    """Of any magnitude above the least."""
    widths = st.integers(0, (high - low).bit_length())
    return st.builds(lambda x, shift: low + (x >> shift), st.integers(0, high - low), widths)


def parameter(name: str) -> SearchStrategy[int]:
    """All that netlink lets in."""
    return spread(*LIBRARY.range(name))


def runs(values: SearchStrategy[Any], longest: int) -> SearchStrategy[list[Any]]:
    """Each value so many times in a row, so that what takes time happens."""
    some = st.lists(st.tuples(values, spread(1, longest)), max_size=8)
    return some.map(lambda drawn: [value for value, times in drawn for _ in range(times)])


RTTS = spread(32, 65534 * 32)  # us, as hints state them
RATES = spread(64, 1 << 31)  # bytes per epoch
PROBABILITIES = spread(0, ONE)
RANDOM = st.integers(0, (1 << 32) - 1)
CLOCK = spread(1 << 40, 1 << 60)  # ns: from 18 minutes to 36 years


def flows(least: int = 1) -> SearchStrategy[list[tuple[int, int]]]:
    """RTT and rate of each."""
    return st.lists(st.tuples(RTTS, RATES), min_size=least, max_size=64)
