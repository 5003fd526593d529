# SPDX-License-Identifier: GPL-2.0
"""Measures the effect of a flood of SYNs, each from another sender, on other flows.

The flood takes its share of the link whatever the queue does. The question is whether
the flows beside it stay alike, and whether the queue still knows them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lab.host.progress import Progress
from lab.model.scenario import Scenario, parse_rtts
from lab.results.result import Result
from lab.runs import runner
from lab.toolchain import build

GUEST = build.REPO / "lab" / "guest"
QDISCS = ("zrtt", "zrtt flows 1024", "fq_codel")
"""The second has fewer slots than the flood has flows in the 2 s that they are remembered."""
SHARES = (0.0, 0.01, 0.05)
"""Of the link."""
JAIN_CHANGE = 0.02
"""The most that a flood may change."""
RATE_BPS = 20_000_000
RTTS = "20ms..400ms/20"
FRAME_BYTES = 64
NS_PER_S = 10**9


@dataclass(frozen=True)
class Flooded:
    """A run with a flood, or without."""

    qdisc: str
    share: float
    packets: int
    """Of the flood, each a flow of its own."""
    result: Result

    @property
    def goodput(self) -> float:
        """Of the flows beside the flood, to the rate of the link."""
        return self.result.goodput_mbps / self.result.rate_mbps


def as_percent(share: float) -> str:
    """As it was asked for: 0.4 is not 0."""
    return f"{100 * share:g}%"


def interval_ns(share: float) -> int:
    """Between two packets of a flood."""
    return round(FRAME_BYTES * 8 * NS_PER_S / (RATE_BPS * share))


def scenario(qdisc: str, duration_s: float, seed: int) -> Scenario:
    """The scenario that is flooded."""
    return Scenario(
        kernel="uml", qdisc=qdisc, rate_bps=RATE_BPS, rtts_ms=parse_rtts(RTTS),
        duration_s=duration_s, seed=seed,
    ).check()  # fmt: skip


def run_one(qdisc: str, share: float, duration_s: float, seed: int = 1,
            progress: Progress | None = None) -> Flooded:  # fmt: skip
    """Runs a qdisc, with or without a flood. Raises what runner.run() raises."""
    planned = scenario(qdisc, duration_s, seed)
    if not share:
        return Flooded(qdisc, share, 0, runner.run(planned, progress=progress))
    gap_ns = interval_ns(share)
    packets = round(planned.total_s * NS_PER_S / gap_ns)
    around = runner.Around(
        GUEST / "flood.sh", [str(packets), str(gap_ns)], {"flood.py": GUEST / "flood.py"}
    )
    return Flooded(qdisc, share, packets, runner.run(planned, around=around, progress=progress))


def run(duration_s: float, seed: int, track: Callable[[str], Progress],
        shares: Sequence[float] = SHARES) -> Sequence[Flooded]:  # fmt: skip
    """All qdiscs, without a flood and with those of these shares of the link."""
    return [
        run_one(qdisc, share, duration_s, seed, track(f"{qdisc} {as_percent(share)}"))
        for qdisc in QDISCS
        for share in (0.0, *filter(None, shares))
    ]


def problems(runs: Sequence[Flooded]) -> list[str]:
    """Floods that changed the fairness of zrtt's flows more than they may."""
    quiet = {run.qdisc: run.result.jain for run in runs if not run.share}
    found = []
    for run in runs:
        jain, before = run.result.jain, quiet[run.qdisc]
        if run.qdisc.startswith("zrtt") and abs(jain - before) > JAIN_CHANGE:
            found.append(
                f"{run.qdisc}: Jain's index {jain:.4f} at {as_percent(run.share)}, not {before:.4f}"
            )
    return found
