# SPDX-License-Identifier: GPL-2.0
"""The columns of the arena's tables: of a run, and of all runs of a qdisc."""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import fmean, median

from lab.arena.figures import JAIN_BEHIND, JAIN_FAR_BEHIND, UTILISATION_BEHIND, Figures
from lab.html.tables import Column


def _only(found: list[float]) -> float:
    """The figure of a single run."""
    return found[0]


def _below(bound: float) -> Callable[[list[float]], float]:
    """Counts the values below a bound."""
    return lambda found: float(sum(value < bound for value in found))


def _unless_known(_: Figures) -> float:
    """Shown if at least one run has this figure."""
    return -math.inf


OF_RUN = (
    Column("Jain", "Jain's index of the TCP flows that are there all the time, or of their hosts",
           "jain", _only, ".4f", max),
    Column("lead", "less that of the better of fq_codel and cake", "jain_lead", _only, "+z.4f"),
    Column("max/min", "of these flows' goodput", "max_min_ratio", _only, ".2f", min),
    Column("used", "share of the link", "utilisation", _only, ".1%", max),
    Column("lead used", "less that of the better of fq_codel and cake", "utilisation_lead",
           _only, "+z.1%"),
    Column("p95, ms", "95 % of the packets were shorter in the queue", "sojourn_p95_ms",
           _only, ".1f", min),
    Column("short, s", "mean completion time of short flows", "fct_mean_s",
           _only, ".3f", min, _unless_known),
    Column("to best", "to that of the better of fq_codel and cake", "fct_ratio",
           _only, ".2f", None, _unless_known),
    Column("unfinished", "short flows that did not end in time", "short_unfinished",
           _only, ".0f", min, _unless_known),
    Column("reverse", "Mbit/s of a flow the other way", "reverse_mbps",
           _only, ".3f", max, _unless_known),
    Column("of best", "to that over the better of fq_codel and cake", "reverse_ratio",
           _only, ".2f", None, _unless_known),
    Column("TCP/due", "what TCP got beside UDP that asks for more than its share, to its "
           "max-min fair share", "tcp_of_due", _only, ".1%", max, _unless_known),
    Column("thin p99, ms", "sojourn of calls, games, queries and pings, the worst of them",
           "thin_p99_ms", _only, ".2f", min, _unless_known),
    Column("L4S p99, ms", "sojourn of ECT(1) packets of scalable flows", "l4s_p99_ms",
           _only, ".2f", min, _unless_known),
    Column("liar/due", "rate of the best-off sender of ECT(1) that is not scalable, to its max-min "
           "fair share", "ect1_share", _only, ".2f", min, _unless_known),
    Column("within", "Jain's index of the flows of one host, the worst, where hosts are compared",
           "within_jain", _only, ".4f", max, _unless_known),
    Column("least used", "share of the line, at the rate at which it is used least", "least_used",
           _only, ".1%", max, _unless_known),
    Column("whole, ms", "mean sojourn in the queue and in the line's", "whole_mean_ms",
           _only, ".1f", min, _unless_known),
    Column("whole p95", "likewise", "whole_p95_ms", _only, ".1f", min, _unless_known),
)  # fmt: skip

_LINES = (
    Column("least used", "share of the line, at the rate at which it is used least; mean of the "
           "scenarios", "least_used", fmean, ".1%", max, _unless_known),
    Column("whole, ms", "mean sojourn in the queue and in the line's, mean of the scenarios",
           "whole_mean_ms", fmean, ".1f", min, _unless_known),
    Column("whole p95", "likewise, median of the scenarios", "whole_p95_ms", median, ".1f", min,
           _unless_known),
    Column("most", "of the scenarios", "whole_p95_ms", max, ".0f", min, _unless_known),
)  # fmt: skip
_HOSTS = (
    Column("within", "Jain's index of the flows of one host, the worst, where hosts are compared; "
           "mean of the scenarios", "within_jain", fmean, ".4f", max, _unless_known),
    Column("least", "of the scenarios", "within_jain", min, ".4f", max, _unless_known),
)  # fmt: skip
_L4S = (
    Column("L4S p99, ms", "sojourn of ECT(1) packets of scalable flows, median of the scenarios",
           "l4s_p99_ms", median, ".2f", min, _unless_known),
    Column("most", "of the scenarios", "l4s_p99_ms", max, ".1f", min, _unless_known),
    Column("liar/due", "rate of the best-off sender of ECT(1) that is not scalable, to its max-min "
           "fair share, the most of the scenarios", "ect1_share", max, ".2f", min, _unless_known),
)  # fmt: skip
_THIN = (
    Column("thin p99, ms", "sojourn of calls, games, queries and pings, the worst of them; median "
           "of the scenarios", "thin_p99_ms", median, ".2f", min, _unless_known),
    Column("most", "of the scenarios", "thin_p99_ms", max, ".1f", min, _unless_known),
)  # fmt: skip
_BEHIND = (
    Column(f"behind {JAIN_BEHIND}", "scenarios in which its Jain's index is below that of the "
           "better of fq_codel and cake by more than that", "jain_lead", _below(-JAIN_BEHIND),
           ".0f", min),
    Column(f"{JAIN_FAR_BEHIND}", "likewise", "jain_lead", _below(-JAIN_FAR_BEHIND), ".0f", min),
    Column("by most", "the least lead in Jain's index", "jain_lead", min, "+z.4f", max),
)  # fmt: skip
_USED_BEHIND = Column(
    f"behind {UTILISATION_BEHIND:.1%}", "scenarios in which it uses less of the link than the "
    "better of fq_codel and cake by more than that", "utilisation_lead",
    _below(-UTILISATION_BEHIND), ".0f", min,
)  # fmt: skip
_OTHERS = (
    Column("short to best", "completion time of short flows to that of the better of fq_codel "
           "and cake, median of the scenarios", "fct_ratio", median, ".2f", min, _unless_known),
    Column("sooner", "scenarios in which that is below 1", "fct_ratio", _below(1.0), ".0f", max,
           _unless_known),
    Column("reverse of best", "goodput of flows the other way to that of the better of fq_codel "
           "and cake, mean of the scenarios", "reverse_ratio", fmean, ".2f", max, _unless_known),
    Column("TCP/due", "what TCP got beside UDP that asks for more than its share, to its "
           "max-min fair share, mean of the scenarios", "tcp_of_due", fmean, ".1%", max,
           _unless_known),
    Column("least", "of the scenarios", "tcp_of_due", min, ".1%", max, _unless_known),
)  # fmt: skip

OF_QDISC = (
    Column("Jain, mean", "mean of the scenarios", "jain", fmean, ".4f", max),
    Column("worst", "of the scenarios", "jain", min, ".4f", max),
    *_BEHIND,
    Column("max/min", "median of the scenarios", "max_min_ratio", median, ".2f", min),
    Column("used, mean", "share of the link", "utilisation", fmean, ".2%", max),
    _USED_BEHIND,
    Column("p95, ms", "median of the scenarios", "sojourn_p95_ms", median, ".1f", min),
    *_OTHERS,
    *_THIN,
    *_L4S,
    *_HOSTS,
    *_LINES,
)
OF_CLASS = (
    Column("Jain, mean", "of the class", "jain", fmean, ".4f"),
    Column("lead", "mean of its lead over the better of fq_codel and cake", "jain_lead", fmean,
           "+z.4f"),
    *_BEHIND,
    Column("used, mean", "share of the link", "utilisation", fmean, ".2%"),
    Column("lead", "mean of its lead over the better of fq_codel and cake", "utilisation_lead",
           fmean, "+z.2%"),
    _USED_BEHIND,
    *_OTHERS,
    *_THIN,
    *_L4S,
    *_HOSTS,
    *_LINES,
)  # fmt: skip
OF_THIN = (
    Column("mean, ms", "sojourn, median of the scenarios", "mean_ms", median, ".2f"),
    Column("p95, ms", "likewise", "p95_ms", median, ".2f"),
    Column("p99, ms", "likewise", "p99_ms", median, ".2f"),
    Column("worst p99, ms", "of the scenarios", "p99_ms", max, ".1f"),
    Column("max, ms", "of all packets", "max_ms", max, ".1f"),
    Column("lost", "mean of the scenarios", "loss", fmean, ".2%"),
    Column("worst", "of the scenarios", "loss", max, ".1%"),
)
"""Of a class of thin traffic over a qdisc."""
