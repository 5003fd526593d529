# SPDX-License-Identifier: GPL-2.0
"""The max-min fair share of TCP beside UDP, whose demand is its rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from lab.model.scenario import Scenario
from lab.results.max_min import max_min
from lab.results.moments import hosts_at, moments, rate_bps_at, streams_at


def _claims_at(scenario: Scenario, at_s: float) -> int:
    """TCP flows that cross a router then: the long ones that are there, those of that router.

    Where hosts have different numbers of flows, a host claims as much as a flow does elsewhere.
    """
    hosts = len(hosts_at(scenario, at_s))
    return hosts * (scenario.sessions or 1) + len(scenario.cross_rtts_ms)


@dataclass(frozen=True)
class Dues:
    """The fair shares of a scenario over the measured interval."""

    tcp: float
    """Share of the link that TCP is due, from 0 to 1."""
    contested: bool
    """Whether UDP asks for more than its share, if only for a while."""


def dues(scenario: Scenario) -> Dues:
    """The fair shares of a scenario's TCP flows, or of the hosts that have them.

    Short flows, thin traffic and ACKs claim nothing here: there are others in each moment, and
    they ask for little. Where there is no TCP flow for a while, nothing is due in that time.
    """
    bits, contested = 0.0, False
    for begin, end in pairwise(moments(scenario)):
        streams = [stream.rate_bps for stream in streams_at(scenario, begin)]
        claims = _claims_at(scenario, begin)
        given = max_min(rate_bps_at(scenario, begin), [*streams, *[math.inf] * claims])
        bits += sum(given[len(streams) :]) * (end - begin)
        contested |= any(got < rate for got, rate in zip(given, streams, strict=False))
    return Dues(bits / (scenario.mean_rate_bps() * scenario.duration_s), contested)
