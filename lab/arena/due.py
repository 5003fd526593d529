# SPDX-License-Identifier: GPL-2.0
"""The max-min fair share of TCP beside UDP, whose demand is its rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from lab.model.max_min import max_min
from lab.model.scenario import Scenario


def _until(moment: float | None) -> float:
    return math.inf if moment is None else moment


def _flows_at(scenario: Scenario, at_s: float) -> int:
    """TCP flows that cross a router then: the long ones that are there, those of that router."""
    hosts = sum(start <= at_s < _until(stop) for start, stop in scenario.lives_s)
    return hosts * scenario.sessions + len(scenario.cross_rtts_ms)


def _rate_at(scenario: Scenario, at_s: float) -> int:
    return next(phase.rate_bps for phase in reversed(scenario.phases) if phase.from_s <= at_s)


@dataclass(frozen=True)
class Dues:
    """The fair shares of a scenario over the measured interval."""

    tcp: float
    """Share of the link that TCP is due, from 0 to 1."""
    contested: bool
    """Whether UDP asks for more than its share, if only for a while."""


def dues(scenario: Scenario) -> Dues:
    """The fair shares of a scenario's TCP flows.

    Short flows, thin traffic and ACKs claim nothing here: there are others in each moment, and
    they ask for little. Where there is no TCP flow for a while, nothing is due in that time.
    """
    moments = {scenario.warmup_s, scenario.total_s}
    moments |= {phase.from_s for phase in scenario.phases} | set(scenario.starts_s)
    moments |= {stop for stop in scenario.stops_s if stop is not None}
    for stream in scenario.udp:
        moments |= {stream.from_s, min(_until(stream.to_s), scenario.total_s)}
    within = sorted(at_s for at_s in moments if scenario.warmup_s <= at_s <= scenario.total_s)
    bits, contested = 0.0, False
    for begin, end in pairwise(within):
        streams = [s.rate_bps for s in scenario.udp if s.from_s <= begin < _until(s.to_s)]
        flows = _flows_at(scenario, begin)
        given = max_min(_rate_at(scenario, begin), [*streams, *[math.inf] * flows])
        bits += sum(given[len(streams) :]) * (end - begin)
        contested |= any(got < rate for got, rate in zip(given, streams, strict=False))
    return Dues(bits / (scenario.mean_rate_bps() * scenario.duration_s), contested)
