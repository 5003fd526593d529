# SPDX-License-Identifier: GPL-2.0
"""Measures whether two queues of a device, each on its processor, slow each other down.

The guest emulates both processors in real time, so its microseconds say little. What
counts is by how much a packet takes longer when the other processor sends, too, beside
what that does to pfifo, whose queues share nothing.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from lab.engines.job import GuestError, GuestJob
from lab.engines.select import get_engine
from lab.results.readings import ResultError
from lab.toolchain import build

SCRIPT = build.REPO / "lab" / "guest" / "multiqueue_cost.sh"
KERNEL = "6.12"
QDISCS = ("pfifo", "fq_codel", "zrtt")
TIMEOUT_S = 3600.0
HANDLES = ("11:", "12:")
"""Of the first queue and of the second."""


@dataclass(frozen=True)
class Load:
    """Which processors send, and through which queues."""

    whose: str
    """own: each processor has a queue, one: there is only one."""
    cpus: int

    def __str__(self) -> str:
        queues = self.cpus if self.whose == "own" else 1
        return f"{self.cpus} CPU{'s' * (self.cpus > 1)}, {queues} queue{'s' * (queues > 1)}"


ALONE, BESIDE, TOGETHER = Load("own", 1), Load("own", 2), Load("one", 2)
LOADS = (ALONE, BESIDE, TOGETHER)


@dataclass(frozen=True)
class Sent:
    """The packets and the time of a processor."""

    us: int
    sent: int
    refused: int
    """By the queue."""

    @property
    def packets(self) -> int:
        """That it offered."""
        return self.sent + self.refused


@dataclass(frozen=True)
class Reading:
    """One measurement."""

    sent: Sequence[Sent]
    queues: Sequence[Mapping[str, Any]]

    @property
    def us_per_packet(self) -> float:
        """Of a processor, whatever the other does."""
        return sum(one.us / one.packets for one in self.sent) / len(self.sent)

    def check(self, words: str, load: Load) -> Reading:
        """Itself, unless a queue lost count."""
        wanted = [one.packets for one in self.sent]
        if load == TOGETHER:
            wanted = [sum(wanted)]
        counted = [int(queue["packets"]) + int(queue["drops"]) for queue in self.queues]
        if counted[: len(wanted)] != wanted or any(counted[len(wanted) :]):
            raise ResultError(f"{words}, {load}: {wanted} packets came, {counted} counted")
        return self


Readings = Mapping[tuple[str, Load], Sequence[Reading]]
"""By qdisc; one per round."""


def parse(text: str) -> list[Reading]:
    """Reads the guest's result."""
    readings = []
    for piece in text.split("@sent\n")[1:]:
        lines, _, qdiscs = piece.partition("@qdiscs\n")
        found = {qdisc["handle"]: qdisc for qdisc in json.loads(qdiscs)}
        readings.append(
            Reading(
                [Sent(*map(int, line.split())) for line in lines.splitlines()],
                [found[handle] for handle in HANDLES if handle in found],
            )
        )
    return readings


def measure(packets: int, rounds: int, qdiscs: Sequence[str] = QDISCS) -> Readings:
    """All qdiscs and loads take turns. Raises GuestError or ResultError."""
    engine = get_engine(KERNEL)
    cells = [(words, load) for words in qdiscs for load in LOADS]
    with tempfile.TemporaryDirectory(prefix="zrtt-multiqueue-") as folder:
        plan = Path(folder) / "plan"
        lines = [f"{load.whose}|{load.cpus}|{words}\n" for words, load in cells]
        plan.write_text("".join(lines * rounds))
        job = GuestJob(
            script=SCRIPT,
            args=[str(packets)],
            files={plan.name: plan, **build.tc_plugin("sch_zrtt")},
            modules=("dummy", "pktgen", "sch_fq_codel"),
            kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
            cpus=2,
            virtual_time=False,
            timeout_s=TIMEOUT_S,
        )
        output = engine.run(job)
    if output.rc:
        raise GuestError(f"the guest's script ended with status {output.rc}", output.console)
    readings = parse(output.result)
    if len(readings) != len(cells) * rounds:
        raise ResultError(f"{len(readings)} of {len(cells) * rounds} measurements came back")
    return {
        (words, load): [one.check(words, load) for one in readings[n :: len(cells)]]
        for n, (words, load) in enumerate(cells)
    }


def slowdown(readings: Readings, words: str, load: Load) -> float:
    """How much longer a packet takes than if one processor sends alone: median of rounds."""
    pairs = zip(readings[words, load], readings[words, ALONE], strict=True)
    return median(one.us_per_packet / alone.us_per_packet for one, alone in pairs)
