# SPDX-License-Identifier: GPL-2.0
"""The fair share: the link's rate, in payload, divided by the long flows that cross it.

What a queue lets pass has no part in it: over one that leaves the link idle, all flows
may get less.
"""

from __future__ import annotations

import math
import re
from statistics import fmean

from lab.model.options import ScenarioError
from lab.model.scenario import Scenario, parse_hint, parse_hops
from lab.model.step import Step
from lab.model.units import UnitError, parse_rate
from lab.model.wire import expansion
from lab.results.result import Result
from lab.results.table import Row

MEANING = "the link's rate in payload, divided by the flows"


def of_link(rate_mbps: float, flows: int, expanded: float) -> float:
    """Mbit/s of payload of each flow; `expanded`: bytes on the wire for each of payload."""
    return rate_mbps / expanded / flows


def of_result(result: Result) -> float:
    """The fair share of a flow of a run."""
    carrying = [flow.expansion for flow in result.flows if flow.goodput_mbps]
    hops = max((flow.hop for flow in result.cross), default=1)
    flows = len(result.flows) + len(result.cross) / hops
    return of_link(result.rate_mbps, flows, fmean(carrying or [1.0]))


def of_row(row: Row) -> float:
    """The fair share of a flow of a sweep's run; nan if unknown."""
    try:
        rate_bps, (hint, hinted) = parse_rate(row.rate), parse_hint(row.hint or "none")
        extra = dict(part.split(" ", 1) for part in row.extra.split("; ") if part)
        if "step" in extra:
            steps = tuple(map(Step.parse, extra["step"].split(", ")))
            rate_bps = _mean_rate_bps(rate_bps, steps, row.command)
        if row.line_mbps > 0:
            rate_bps = row.line_mbps * 1e6
        _, crossing = parse_hops(extra.get("hops", "1"))
    except (ScenarioError, UnitError, ValueError):
        return math.nan
    share = hinted if hint == "packet" else 0.0
    expanded = share * expansion(hinted=True) + (1 - share) * expansion(hinted=False)
    return of_link(rate_bps / 1e6, row.flows + len(crossing), expanded) if row.flows else math.nan


def _mean_rate_bps(rate_bps: int, steps: tuple[Step, ...], command: str) -> float:
    """Over the measured interval, which the command tells."""
    found = dict(re.findall(r"--(warmup|duration) (\S+)", command))
    scenario = Scenario(
        rate_bps=rate_bps, steps=steps,
        warmup_s=float(found.get("warmup", "nan")), duration_s=float(found.get("duration", "nan")),
    )  # fmt: skip
    return scenario.mean_rate_bps()
