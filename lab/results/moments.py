# SPDX-License-Identifier: GPL-2.0
"""Who sends at a moment, at which rate of the link, and when that changes."""

from __future__ import annotations

import math

from lab.model.scenario import Scenario
from lab.model.udp import Udp


def _lasts(from_s: float, to_s: float | None, at_s: float) -> bool:
    return from_s <= at_s < (math.inf if to_s is None else to_s)


def moments(scenario: Scenario) -> list[float]:
    """When somebody begins or ends to send, or the rate changes, and the measured interval's ends;
    seconds since the start, in order."""
    found = {phase.from_s for phase in scenario.phases} | set(scenario.starts_s)
    found |= {stop for stop in scenario.stops_s if stop is not None}
    for stream in scenario.udp:
        found |= {stream.from_s, *(() if stream.to_s is None else (stream.to_s,))}
    if scenario.idle:
        found |= {begin_s for begin_s, _, _ in scenario.idle.times(scenario.total_s)}
    within = {at_s for at_s in found if scenario.warmup_s < at_s < scenario.total_s}
    return sorted({scenario.warmup_s, *within, scenario.total_s})


def rate_bps_at(scenario: Scenario, at_s: float) -> int:
    """Of the link, in the measured interval."""
    return next(phase.rate_bps for phase in reversed(scenario.phases) if phase.from_s <= at_s)


def streams_at(scenario: Scenario, at_s: float) -> list[Udp]:
    """Those of UDP that send then."""
    return [stream for stream in scenario.udp if _lasts(stream.from_s, stream.to_s, at_s)]


def hosts_at(scenario: Scenario, at_s: float) -> set[int]:
    """Those whose long flows send then, and want all that they can get."""
    idle = scenario.idle
    on = idle is None or next(
        on for begin_s, end_s, on in idle.times(scenario.total_s) if begin_s <= at_s < end_s
    )
    return {
        host for host, (start_s, stop_s) in enumerate(scenario.lives_s)
        if _lasts(start_s, stop_s, at_s) and (on or not scenario.idles(host))
    }  # fmt: skip
