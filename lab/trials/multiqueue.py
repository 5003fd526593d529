# SPDX-License-Identifier: GPL-2.0
"""Measures fairness on a device with two queues, each with a qdisc of its own.

The queues are served in turn, packet by packet, by one link, as the transmit queues of
a NIC are; here DRR does so. All packets of a flow take the same queue.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from lab.host.progress import Progress
from lab.model.scenario import Scenario, parse_rtts
from lab.results.result import Result, jain
from lab.runs import runner
from lab.toolchain import build

SCRIPT = build.REPO / "lab" / "guest" / "multiqueue.sh"
RATE_BPS = 20_000_000
RTTS = "20ms..400ms/20"
FLOWS = 20


@dataclass(frozen=True)
class Layout:
    """Which flows take the second queue."""

    name: str
    second: tuple[int, ...]

    @property
    def groups(self) -> list[list[int]]:
        """The flows of each queue; without a second one, all are in one."""
        first = [flow for flow in range(FLOWS) if flow not in self.second]
        return [first, list(self.second)] if self.second else [first]


@dataclass(frozen=True)
class Shared:
    """How a layout shares the link."""

    layout: Layout
    result: Result

    @property
    def goodputs(self) -> list[list[float]]:
        """Mbit/s of the flows of each queue."""
        flows = self.result.flows
        return [[flows[n].goodput_mbps for n in group] for group in self.layout.groups]

    @property
    def jains(self) -> list[float]:
        """Within each queue."""
        return [jain(group) for group in self.goodputs]

    @property
    def share(self) -> float:
        """Of the first queue."""
        return sum(self.goodputs[0]) / self.result.goodput_mbps


def layouts(seed: int) -> list[Layout]:
    """One queue, both kinds of halves, and what a hash may make of the flows."""
    chance = random.Random(seed)
    hashed = tuple(flow for flow in range(FLOWS) if chance.random() < 0.5)
    return [
        Layout("one queue", ()),
        Layout("RTTs in turn", tuple(range(1, FLOWS, 2))),
        Layout("short and long RTTs", tuple(range(FLOWS // 2, FLOWS))),
        Layout(f"by a hash, seed {seed}", hashed),
    ]


def run(qdisc: str, layout: Layout, seed: int, progress: Progress | None = None) -> Shared:
    """Runs a layout. Raises what runner.run() raises."""
    scenario = Scenario(
        kernel="uml", qdisc=qdisc, rate_bps=RATE_BPS, rtts_ms=parse_rtts(RTTS), seed=seed
    ).check()
    around = None
    if layout.second:
        around = runner.Around(SCRIPT, [qdisc, *map(str, layout.second)])
    return Shared(layout, runner.run(scenario, around=around, progress=progress))


def lines(shared: Sequence[Shared]) -> list[tuple[str, ...]]:
    """A table."""
    head = ("", "flows", "Jain", "within each queue", "first queue's share", "sojourn p95")
    return [
        head,
        *(
            (
                one.layout.name,
                " + ".join(str(len(group)) for group in one.layout.groups),
                f"{one.result.jain:.3f}",
                ", ".join(f"{value:.3f}" for value in one.jains),
                f"{one.share:.1%}",
                f"{one.result.sojourn_ms.p95:.1f} ms",
            )
            for one in shared
        ),
    ]
