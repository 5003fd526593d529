# SPDX-License-Identifier: GPL-2.0
"""Max-min fair shares."""

from __future__ import annotations

from collections.abc import Sequence


def max_min(capacity: float, demands: Sequence[float]) -> list[float]:
    """What each demand gets: none is given more than it asks for, and none of the others
    could get more without one getting less that has no more than it.

    Capacity and demands in one unit; math.inf asks for all there is.
    """
    given = [0.0] * len(demands)
    left, waiting = capacity, len(demands)
    for index in sorted(range(len(demands)), key=demands.__getitem__):
        given[index] = min(demands[index], left / waiting)
        left -= given[index]
        waiting -= 1
    return given
