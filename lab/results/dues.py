# SPDX-License-Identifier: GPL-2.0
"""What each host, or subscriber, is due of the link: its weighted max-min fair share."""

from __future__ import annotations

import math
from itertools import pairwise

from lab.model.scenario import Scenario
from lab.results.max_min import max_min
from lab.results.moments import hosts_at, moments, rate_bps_at, streams_at


def _demands_bps(scenario: Scenario, at_s: float) -> dict[int, float]:
    """Of each group; short flows ask for little."""
    wanting, streams = hosts_at(scenario, at_s), streams_at(scenario, at_s)
    found = dict.fromkeys(scenario.groups, 0.0)
    for host, group in enumerate(scenario.groups):
        own = sum(stream.rate_bps for stream in streams if stream.host == host)
        found[group] += math.inf if host in wanting else own
    return found


def dues_mbps(scenario: Scenario) -> dict[int, float]:
    """On the wire, by group, averaged over the measured interval.

    A stream of UDP from a host of its own has weight 1 and wants its rate.
    """
    weights = dict(zip(scenario.groups, scenario.host_weights, strict=True))
    bits = dict.fromkeys(weights, 0.0)
    for begin_s, end_s in pairwise(moments(scenario)):
        others = [s.rate_bps for s in streams_at(scenario, begin_s) if s.host is None]
        demands = _demands_bps(scenario, begin_s)
        given = max_min(
            rate_bps_at(scenario, begin_s),
            [*others, *demands.values()],
            [*[1] * len(others), *weights.values()],
        )
        for group, share_bps in zip(demands, given[len(others) :], strict=True):
            bits[group] += share_bps * (end_s - begin_s)
    return {group: sum_bits / scenario.duration_s / 1e6 for group, sum_bits in bits.items()}
