# SPDX-License-Identifier: GPL-2.0
"""Classes of scenarios, to find what those have in common in which a qdisc is behind."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lab.arena.figures import Bout, Figures
from lab.model.ect1 import SCALABLE
from lab.model.scenario import Scenario

THICK = 0.3
"""UDP whose rate is a larger share of the link is thick."""


def _udp_share(scenario: Scenario) -> float:
    return sum(stream.rate_bps for stream in scenario.udp) / scenario.rate_bps


def _alone(scenario: Scenario) -> bool:
    """Whether thin traffic is all that there is beside the long flows."""
    others = (scenario.churn, scenario.reverse, scenario.udp, scenario.steps, scenario.starts_s,
              scenario.stops_s, scenario.cross_rtts_ms)  # fmt: skip
    return not any(others)


CLASSES: dict[str, Callable[[Scenario], bool]] = {
    "below 5 Mbit/s": lambda s: s.capacity_bps < 5e6,
    "5 to 100 Mbit/s": lambda s: 5e6 <= s.capacity_bps < 100e6,
    "100 Mbit/s and more": lambda s: s.capacity_bps >= 100e6,
    "up to 4 flows": lambda s: s.n_flows <= 4,
    "5 to 30 flows": lambda s: 4 < s.n_flows <= 30,
    "more than 30 flows": lambda s: s.n_flows > 30,
    "ECN": lambda s: s.ecn and not s.ecn_mixed,
    "no ECN": lambda s: not s.ecn,
    "ECN of half": lambda s: s.ecn_mixed,
    "one congestion control": lambda s: len(s.ccs) == 1,
    "mixed": lambda s: len(s.ccs) > 1,
    "BBR among them": lambda s: "bbr" in s.ccs,
    "no hints": lambda s: s.hint == "none",
    "GSO": lambda s: s.gso,
    "long flows alone": _alone,
    "churn": lambda s: s.churn is not None,
    "reverse": lambda s: s.reverse > 0,
    "thin UDP": lambda s: 0 < _udp_share(s) <= THICK,
    "thick UDP": lambda s: _udp_share(s) > THICK,
    "steps, traces": lambda s: s.steps != (),
    "join, leave": lambda s: any(s.starts_s) or s.stops_s != (),
    "thin traffic": lambda s: s.thin != (),
    "scalable flows alone": lambda s: set(s.ccs) <= set(SCALABLE),
    "scalable and others": lambda s: 0 < len(set(s.ccs) - set(SCALABLE)) < len(s.ccs),
    "ECT(1) of others": lambda s: bool(s.ect1.ccs or s.ect1.udp),
    "hosts": lambda s: s.sessions_of != (),
    "two hops": lambda s: s.hops > 1,
}
"""A scenario may be of several."""


def by_class(found: Sequence[Bout], qdisc: str) -> dict[str, list[Figures]]:
    """The runs of a qdisc in the scenarios of each class that has any that all qdiscs have."""
    runs = {
        name: [
            bout.figures[qdisc] for bout in found
            if bout.whole and qdisc in bout.figures and holds(bout.scenario.points[qdisc].scenario)
        ]
        for name, holds in CLASSES.items()
    }  # fmt: skip
    return {name: own for name, own in runs.items() if own}
