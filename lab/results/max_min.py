# SPDX-License-Identifier: GPL-2.0
"""Max-min fair shares."""

from __future__ import annotations

from collections.abc import Sequence


def max_min(capacity: float, demands: Sequence[float],
            weights: Sequence[float] = ()) -> list[float]:  # fmt: skip
    """What each demand gets: none is given more than it asks for, and none of the others
    could get more without one getting less that has no more than it.

    Capacity and demands in one unit; math.inf asks for all there is. What is compared is
    the share divided by its weight, above 0; without weights, all are 1.
    """
    weights = weights or [1.0] * len(demands)
    given = [0.0] * len(demands)
    left, waiting = capacity, sum(weights)
    for index in sorted(range(len(demands)), key=lambda i: demands[i] / weights[i]):
        given[index] = min(demands[index], left * weights[index] / waiting)
        left -= given[index]
        waiting -= weights[index]
    return given
