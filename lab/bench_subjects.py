# SPDX-License-Identifier: GPL-2.0
"""What lab bench measures: qdiscs, set up so that none of them has to act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lab.grid import GridError

FLOWS = (1, 100, 10_000, 100_000, 1_000_000)
FLOWS_MAX = 1 << 24
"""Of qbench."""


@dataclass(frozen=True)
class Subject:
    """A qdisc and the packets it is given."""

    name: str
    qdisc: str
    """As typed to tc."""
    hint: bool = False
    """In each packet."""
    passes: int = 2
    """Over all flows before any packet is timed."""
    most_flows: int = FLOWS_MAX
    """What it says nothing about beyond."""


# RED and SFB want more than a name: thresholds that a backlog of 50 does not reach. BLUE
# takes its first step of 10 % and rests for 10 s, so every tenth packet is marked, and a
# few more by the price of flows. Flows space their marks, hence the passes, and must not
# lose their slot of 16384, hence 10000 of them. The feedback is off, as rates before the
# timed part are others than in it.
SUBJECTS = (
    Subject("pfifo", "pfifo limit 1000"),
    Subject("pfifo_fast", "pfifo_fast"),
    Subject("red", "red limit 3000000 min 300000 max 900000 avpkt 1500 burst 334 bandwidth 1gbit"),
    Subject("codel", "codel"),
    Subject("pie", "pie"),
    Subject("sfb", "sfb limit 1000 max 1000 target 500"),
    Subject("sfq", "sfq"),
    Subject("fq", "fq"),
    Subject("fq_codel", "fq_codel"),
    Subject("fq_pie", "fq_pie"),
    Subject("cake", "cake"),
    Subject("zrtt", "zrtt"),
    Subject("zrtt-hint", "zrtt", hint=True),
    Subject("zrtt-mark",
            "zrtt feedback 0 mark_max 100% controller blue threshold 1 freeze 10s increment 10%",
            passes=20, most_flows=10_000),
    Subject("zrtt-large", "zrtt flows 1048576"),
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One thing to measure."""

    subject: Subject
    flows: int

    def __str__(self) -> str:
        return f"{self.subject.name} at {self.flows} flows"


def cells(patterns: Sequence[str], flows: Sequence[int]) -> list[Cell]:
    """Those of the subjects that match a pattern."""
    for pattern in patterns:
        if not any(fnmatchcase(subject.name, pattern) for subject in SUBJECTS):
            raise GridError(f"--only {pattern}: none of {', '.join(s.name for s in SUBJECTS)}")
    found = [
        Cell(subject, count)
        for count in sorted(set(flows))
        for subject in SUBJECTS
        if count <= subject.most_flows and any(fnmatchcase(subject.name, p) for p in patterns)
    ]
    if not found:
        raise GridError("--flows: nothing to measure at that many")
    return found
