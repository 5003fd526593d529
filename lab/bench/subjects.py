# SPDX-License-Identifier: GPL-2.0
"""The qdiscs and packets that lab bench measures; no qdisc has reason to drop or mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lab.model.grid import GridError

FLOWS = (1, 100, 10_000, 100_000, 1_000_000)
FLOWS_MAX = 1 << 24
"""Of qbench."""
RECEIVERS_MAX = 1 << 17
"""Of qbench."""
SHAPES = ("frag", "linear", "timestamps", "ack", "ack-plain", "vlan", "frag6", "ack6")
"""Of packets, as kmod/qbench.c has them."""
USUAL = SHAPES[0]
"""What most bytes on a link are: segments of GSO packets."""
PROBED = "zrtt"
"""What has a slow path whose calls are counted."""
IPV6 = ("frag6", "ack6")
COMPARED = ("pie", "fq_codel", "cake", "zrtt")
COMPARED_FLOWS = (1, 10_000)
"""With the other shapes, unless something else is asked for."""


@dataclass(frozen=True)
class Subject:
    """A qdisc and the packets it is given."""

    name: str
    qdisc: str
    """As typed to tc."""
    hint: bool = False
    """In each packet, of IPv4."""
    passes: int = 2
    """Over all flows before any packet is timed."""
    most_flows: int = FLOWS_MAX
    """What it says nothing about beyond."""
    per_host: int = 0
    """Flows to each address, whose packets have a mark of their own; 0 = as few as can be."""

    def receivers(self, flows: int) -> int:
        """Addresses that so many flows go to."""
        return max(1, flows // self.per_host) if self.per_host else RECEIVERS_MAX

    def takes(self, flows: int, shape: str) -> bool:
        """Whether it can be measured with so many flows and this shape."""
        return flows <= self.most_flows and not (self.hint and shape in IPV6)


# RED and SFB want more than a name: thresholds that a backlog of 50 does not reach. BLUE
# takes its first step of 10 % and rests for 10 s, so every tenth packet is marked, and a
# few more or fewer by the penalties of flows. Flows space their marks, hence the passes,
# and must not lose their slot of 16384, hence 10000 of them. The feedback is off, as rates
# before the timed part are others than in it.
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
    Subject("zrtt-hosts", "zrtt fair dsthost", per_host=10, most_flows=10_000),
    Subject("zrtt-subscribers", "zrtt fair mark 0xffffff", per_host=10, most_flows=10_000),
    Subject("zrtt-ceil", "zrtt fair mark 0xffffff ceil 1gbit", per_host=10, most_flows=10_000),
    Subject("cake-hosts", "cake dual-dsthost", per_host=10, most_flows=10_000),
)  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """One thing to measure."""

    subject: Subject
    flows: int
    shape: str = USUAL

    def __str__(self) -> str:
        return f"{self.subject.name} at {self.flows} flows, {self.shape}"


def _usual(subject: Subject, flows: int, shape: str, all_flows: bool) -> bool:
    """Whether a cell is measured when no shape is given."""
    if shape == USUAL:
        return True
    return subject.name in COMPARED and (all_flows or flows in COMPARED_FLOWS)


def cells(
    patterns: Sequence[str], flows: Sequence[int] = (), shapes: Sequence[str] = ()
) -> list[Cell]:
    """The cells of subjects that match a pattern, with the given or default flows and shapes."""
    for pattern in patterns:
        if not any(fnmatchcase(subject.name, pattern) for subject in SUBJECTS):
            raise GridError(f"--only {pattern}: none of {', '.join(s.name for s in SUBJECTS)}")
    found = [
        Cell(subject, count, shape)
        for shape in SHAPES
        if not shapes or shape in shapes
        for count in sorted(set(flows or FLOWS))
        for subject in SUBJECTS
        if any(fnmatchcase(subject.name, p) for p in patterns)
        and subject.takes(count, shape)
        and (shapes or _usual(subject, count, shape, bool(flows)))
    ]
    if not found:
        raise GridError("--flows, --shape: nothing to measure there")
    return found
