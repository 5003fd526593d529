# SPDX-License-Identifier: GPL-2.0
"""Has a guest pass packets through zrtt under one change after the other, and reads the books."""

from __future__ import annotations

import json
import random
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from lab.engines.job import GuestJob
from lab.engines.select import get_engine
from lab.toolchain import build, variant
from lab.toolchain.variant import Edit

SCRIPT = Path(__file__).with_name("ledger.sh")
KERNEL = "uml"
ROUND_PACKETS = 10_000
"""Offered in a round; GSO packets count as one, so more are counted."""
FLOWS = 5000
"""More than the smaller tables have slots for, few enough to be seen twice in 134 ms or so."""
MEMORY_MB = 512
MOST_MEMORY = 32 << 10
"""Of the one packet that may be above the limit, as it changed when it came."""
TIMEOUT_S = 1800.0

# Some change what the queue does with packets, some what it has to remember. A target so low
# makes packets late that are left in the queue between two rounds.
CHANGES = (
    "limit 50", "limit 1000", "limit 300",
    "memory_limit 100k", "memory_limit 500k", "memory_limit 8m",
    "flows 64", "flows 1024", "flows 65536",
    "mode zrtt target 15ms", "mode zrtt target 100us tupdate 1ms", "controller pblue",
    "mode blue threshold 1 increment 20% freeze 1ms", "mode paper threshold 10 freeze 1ms",
    "mode mrtt", "mode prto threshold 20", "mode zrtt nolanes", "mode zrtt l4s", "mode zrtt nolanes l4s",
    "ecn", "noecn", "mark_max 100%", "mark_max 1%",
    "hint clamp", "hint trust", "hint ignore", "timestamps", "notimestamps", "names", "nonames",
)  # fmt: skip
LATE = (
    ("mode zrtt target 1s tupdate 1ms limit 3000 memory_limit 8m split_gso", 0),
    ("mark_max 1% split_gso", 2000),
    ("target 100us split_gso", 0),
)
"""Words and backlog of rounds that empty the queue, so that P_i will drop few, leave packets in it, and
make them late: more than leave in 10 targets, which are kept."""
LOWERED = (
    ("mode zrtt target 1s limit 1000 memory_limit 8m split_gso", 0),
    ("mark_max 100% split_gso", 2000),
    ("limit 50 split_gso", 20),
)
"""Words and backlog of rounds that empty the queue, fill it with what a target of 1 s lets in whatever
the machine's speed, and lower its limit."""
LOWERS = re.compile(r"limit|mode|controller")
"""Words after which less may fit in than is queued: the default limit is the controller's."""
OF_PARENT = ("bytes", "packets", "qlen", "backlog")
"""What zrtt's parent must know as well as zrtt."""
BACKLOGS = (0, 1, 30, 100, 400, 2000)
"""Some above the limits, so that packets are refused."""


@dataclass(frozen=True)
class Sum:
    """A side of the books."""

    pieces: int
    segs: int
    bytes: int

    def __add__(self, other: Sum) -> Sum:
        return Sum(self.pieces + other.pieces, self.segs + other.segs, self.bytes + other.bytes)


@dataclass(frozen=True)
class Round:
    """What qledger wrote down by then, and what tc says."""

    words: str
    books: Mapping[str, Sum]
    parent: Mapping[str, Any]
    zrtt: Mapping[str, Any]

    @property
    def options(self) -> Mapping[str, Any]:
        """Of zrtt."""
        return dict(self.zrtt["options"])

    def of_lanes(self, name: str) -> int:
        """Sum of a statistic over zrtt's lanes."""
        return sum(lane[name] for lane in self.zrtt["lanes"])

    def problems(self) -> list[str]:
        """What zrtt or its parent says that is not in the books."""
        came, out, at_head = self.books["in"], self.books["out"], self.books["at_head"]
        queued = self.books["queued"]
        was_queued = self.books["room"] + at_head  # they may be marked
        dropped = self.books["refused"] + was_queued
        zrtt, marked = self.zrtt, self.books["marked"].segs
        pairs = {
            "pieces": (out + dropped + queued, came),
            "packets_in": (zrtt["packets_in"], came.segs),
            "packets": (zrtt["packets"], out.segs),
            "bytes": (zrtt["bytes"], out.bytes),
            "drops": (zrtt["drops"], dropped.pieces),
            "all drops": (
                zrtt["drop_mark"] + zrtt["drop_limit"] + zrtt["drop_late"], dropped.segs
            ),
            "qlen": (zrtt["qlen"], queued.pieces),
            "backlog": (zrtt["backlog"], queued.bytes),
            "backlog_packets": (zrtt["backlog_packets"], queued.segs),
            "backlog of sparse": (
                zrtt["lanes"][0]["backlog_packets"], self.books["sparse"].segs
            ),
            "backlog of l4s": (zrtt["lanes"][2]["backlog_packets"], self.books["l4s"].segs),
            "marks of lanes": (self.of_lanes("marks"), zrtt["ecn_mark"]),
            "packets of lanes": (self.of_lanes("packets"), out.segs),
            "bytes of lanes": (self.of_lanes("bytes"), out.bytes),
            "drops of lanes": (self.of_lanes("drops"), dropped.segs),
            "backlog of lanes": (self.of_lanes("backlog_packets"), queued.segs),
            **{f"{name} of the parent": (self.parent[name], zrtt[name]) for name in OF_PARENT},
        }  # fmt: skip
        found = [f"{name}: {said}, not {want}" for name, (said, want) in pairs.items()
                 if said != want]  # fmt: skip
        if not marked <= zrtt["ecn_mark"] <= marked + was_queued.segs + queued.segs:
            found.append(f"ecn_mark: {zrtt['ecn_mark']}, {marked} of them came out")
        # the others were above a limit that was lowered, or hit by P_i
        least = at_head.segs - zrtt["drop_late"] - zrtt["drop_mark"]
        if not 0 <= at_head.segs - zrtt["drop_late"] or least > zrtt["drop_limit"]:
            found.append(f"drop_late: {zrtt['drop_late']}, {at_head.segs} dropped at the head")
        if bool(zrtt["memory_used"]) != bool(queued.pieces):
            found.append(f"memory_used: {zrtt['memory_used']} of {queued.pieces} pieces")
        if queued.pieces > 1 and zrtt["memory_used"] > self.options["memory_limit"] + MOST_MEMORY:
            found.append(f"memory_used: {zrtt['memory_used']}")
        if zrtt["flows"] > self.options["flows"]:
            found.append(f"{zrtt['flows']} flows in a table of {self.options['flows']}")
        return found


def lost_early(rounds: Sequence[Round]) -> list[int]:
    """Packets dropped at the head though not late, by round."""
    sums = [each.books["at_head"].segs - each.zrtt["drop_late"] for each in rounds]
    return [now - before for before, now in pairwise([0, *sums])]


def hit_at_head(rounds: Sequence[Round]) -> list[int]:
    """The most packets that P_i dropped at the head, by round: mode zrtt alone does that."""
    sums = [each.zrtt["drop_mark"] for each in rounds]
    modes = ["zrtt", *(each.options["mode"] for each in rounds)]
    return [
        now - before if "zrtt" in of_both else 0
        for (before, now), of_both in zip(pairwise([0, *sums]), pairwise(modes), strict=True)
    ]


def may_lose_early(before: Round | None, now: Round) -> bool:
    """May a round drop packets at the head that are not late? It may if it lowers a limit, or
    if memory was full: a mark can give a packet more of it, and any change trims that."""
    if before and before.zrtt["memory_used"] + MOST_MEMORY > before.options["memory_limit"]:
        return True
    return bool(LOWERS.search(now.words))


def _changes(chance: random.Random) -> list[str]:
    """Two of them, but not two modes: not all parameters go with each."""
    while True:
        words = chance.sample(CHANGES, 2)
        if not all(each.startswith("mode") for each in words):
            return words


def plan(packets: int, seed: int = 1) -> list[str]:
    """A line per round; the last ones leave nothing queued."""
    chance = random.Random(seed)
    lines, split = [], 1
    for _ in range(max(packets // ROUND_PACKETS, len(CHANGES))):
        words = " ".join(_changes(chance))
        if chance.random() < 0.5:
            split = 1 - split
        words += " split_gso" if split else " no_split_gso"
        words += " quic" if len(lines) % 3 else " noquic"
        lines.append(f"{words}|{split}|{chance.choice(BACKLOGS)}|{ROUND_PACKETS}")
    lines += [f"{words}|1|{backlog}|{ROUND_PACKETS}" for words, backlog in LATE + LOWERED]
    return [*lines, f"split_gso|1|0|{ROUND_PACKETS}"]


def _sums(text: str) -> dict[str, Sum]:
    lines = (line.split() for line in text.splitlines())
    return {name: Sum(*map(int, figures)) for name, *figures in lines}


def parse(lines: Sequence[str], text: str) -> list[Round]:
    """The rounds of a plan, from what the guest said."""
    pieces = text.split("@books\n")[1:]
    rounds = []
    for line, piece in zip(lines, pieces, strict=True):
        books, _, qdiscs = piece.partition("@qdiscs\n")
        parent, zrtt = json.loads(qdiscs)
        rounds.append(Round(line.partition("|")[0], _sums(books), parent, zrtt))
    return rounds


def run(packets: int, edits: Sequence[Edit] = ()) -> list[Round]:
    """Passes at least so many packets through zrtt, or a changed copy of it."""
    engine = get_engine(KERNEL)
    lines = plan(packets)
    with tempfile.TemporaryDirectory(prefix="zrtt-ledger-") as folder:
        written = Path(folder) / "plan"
        written.write_text("".join(f"{line}\n" for line in lines))
        module = build.kernel_module("qledger", engine.kernel)
        job = GuestJob(
            script=SCRIPT,
            args=[f"flows={FLOWS}"],
            files={written.name: written, module.name: module, **build.tc_plugin("sch_zrtt")},
            kmods=[variant.module("sch_zrtt", engine.kernel, edits)],
            memory_mb=MEMORY_MB,
            virtual_time=False,
            timeout_s=TIMEOUT_S,
        )
        output = engine.run(job)
    assert output.rc == 0, output.console
    return parse(lines, output.result)
