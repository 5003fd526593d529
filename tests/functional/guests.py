# SPDX-License-Identifier: GPL-2.0
"""Runs experiments in guests of the laboratory, once, and keeps what they said.

An experiment is a script in guest/. It prints parts under headings "@@ NAME";
tests read the parts. One guest per kernel runs all experiments, and those that do
the same on all kernels run on user-mode Linux, which takes a fifteenth of the time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from kbuild import compiled

from lab.engines.job import GuestJob
from lab.engines.select import get_engine
from lab.host.cache import locked
from lab.toolchain import build

KERNELS = tuple(os.environ.get("KERNELS", "6.1 6.12").split())
KERNELS_ALIKE = KERNELS if "KERNELS" in os.environ else ("uml",)
"""For what does the same on all of them: another one, unless some are asked for."""
LIMIT_S = 7200.0
"""Of a guest, which may be beside three others on two busy processors: it ends what hangs."""
PROGRAMS = ("frames", "nlset", "stream")
HERE = Path(__file__).resolve().parent
OUT = HERE.parents[1] / "out" / "functional"

MODULES = (
    "veth", "dummy", "ifb", "bridge", "8021q", "sch_htb", "sch_prio", "sch_tbf", "sch_netem",
    "sch_fq_codel", "sch_ingress", "cls_matchall", "act_mirred", "act_skbedit",
    "nft_chain_nat", "nft_masq", "nft_nat", "sch_red",
)  # fmt: skip

TROUBLE = re.compile(
    r"WARNING:|\bBUG\b|Oops:|Call Trace|general protection|UBSAN|KASAN|refcount_t|"
    r"possible recursive|suspicious RCU|unregister_netdevice: waiting"
)


class NoSuchPartError(KeyError):
    """An experiment ended before it printed a part."""


@dataclass(frozen=True)
class Report:
    """What the experiments of one guest printed."""

    text: str
    parts: Mapping[str, str] = field(init=False)

    def __post_init__(self) -> None:
        pieces = re.split(r"^@@ (.+)\n", self.text, flags=re.MULTILINE)
        object.__setattr__(self, "parts", dict(zip(pieces[1::2], pieces[2::2], strict=True)))

    def part(self, name: str) -> str:
        """The text of a part."""
        if name not in self.parts:
            raise NoSuchPartError(f"no part {name}; the guest said:\n{self.text}")
        return self.parts[name]

    def lines(self, name: str) -> list[str]:
        """The lines of a part."""
        return self.part(name).splitlines()

    def trouble(self) -> list[str]:
        """What the kernel's log should not have."""
        log = self.lines("dmesg")
        assert log
        return [line for line in log if TROUBLE.search(line)]

    def memory(self, name: str) -> dict[str, int]:
        """Lines of /proc/meminfo in a part, KB by name."""
        return {k: int(kb) for k, kb in re.findall(r"(\w+):\s+(\d+) kB", self.part(name))}

    def memory_kb(self, name: str) -> int:
        """What the kernel has allocated, by the same lines: large tables are in either."""
        memory = self.memory(name)
        return memory["Slab"] + memory["VmallocUsed"]

    def qdiscs(self, name: str) -> list[dict[str, Any]]:
        """All qdiscs called zrtt in a part that is what tc -j printed."""
        text = self.part(name)
        try:
            found = json.loads(text)
        except json.JSONDecodeError as error:
            raise AssertionError(f"{name} is no JSON:\n{text}") from error
        return [qdisc for qdisc in found if qdisc["kind"] == "zrtt"]

    def qdisc(self, name: str) -> dict[str, Any]:
        """The one qdisc called zrtt in a part."""
        (only,) = self.qdiscs(name)
        return only


def unaccounted(qdisc: dict[str, Any]) -> int:
    """Packets that came and are nowhere. Those sent on are the sum over lanes, which is "packets"
    at the time of the others: that itself is read a little later, when one more may have left.
    """
    ends = ("drop_mark", "drop_limit", "drop_late", "purged", "backlog_packets")
    sent = sum(lane["packets"] for lane in qdisc["lanes"])
    return qdisc["packets_in"] - sent - sum(qdisc[end] for end in ends)


def assert_empty(report: Report, part: str) -> None:
    """Nothing is queued, says zrtt and says its parent, which sent as much."""
    parent, zrtt = json.loads(report.part(part))
    for qdisc in (parent, zrtt):
        assert (qdisc["qlen"], qdisc["backlog"]) == (0, 0), qdisc["kind"]
    assert zrtt["backlog_packets"] == 0
    assert parent["packets"] == zrtt["packets"]


@cache
def program(name: str) -> Path:
    """A program of guest/, static so that it runs anywhere."""
    source, product = HERE / "guest" / f"{name}.c", OUT / name
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-static"]
    return compiled(product, "gcc", *flags, source)


@dataclass(frozen=True)
class Guest:
    """A guest and what is to be done in it."""

    kernel: str
    experiments: Sequence[str]
    data: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Files of lines that the experiments read."""
    cpus: int = 1
    memory_mb: int = 1024
    virtual_time: bool = True
    counted: bool = False
    timeout_s: float = LIMIT_S

    def run(self) -> Report:
        """Boots the guest and waits for its end."""
        if self.cpus > 1:
            with locked(OUT / "alone"):  # whichever process of pytest it is
                return self._run()
        return self._run()

    def _run(self) -> Report:
        engine = get_engine(self.kernel)
        folder = OUT / f"{self.kernel}-{self.experiments[0]}-{self.memory_mb}mb"
        folder.mkdir(parents=True, exist_ok=True)
        files = {name: program(name) for name in PROGRAMS}
        files |= {path.name: path for path in (HERE / "guest").glob("*.sh")}
        for name, lines in self.data.items():
            files[name] = folder / name
            files[name].write_text("".join(f"{line}\n" for line in lines))
        files |= build.tc_plugin("sch_zrtt")
        if "holds" in self.experiments:
            files["qhold.ko"] = build.kernel_module("qhold", engine.kernel)
        job = GuestJob(
            script=HERE / "guest" / "run.sh",
            args=self.experiments,
            files=files,
            modules=MODULES,
            kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
            programs=("ethtool", "nft", "nsenter", "unshare"),
            cpus=self.cpus,
            memory_mb=self.memory_mb,
            virtual_time=self.virtual_time,
            counted=self.counted,
            timeout_s=self.timeout_s,
        )
        output = engine.run(job)
        (folder / "result").write_text(output.result)
        return Report(output.result)


Reports = dict[str, Future[Report]]

_POOL = ThreadPoolExecutor(max_workers=len(KERNELS))
_ALONE = ThreadPoolExecutor(max_workers=1)
"""For guests of several processors, which spin for locks whose holders the host does not run."""


def start(guests: Sequence[Guest]) -> Reports:
    """Starts guests, by kernel: side by side, or one after the other if they need processors."""
    for name in PROGRAMS:
        program(name)  # here, so that no two guests build it at once
    return {
        guest.kernel: (_ALONE if guest.cpus > 1 else _POOL).submit(guest.run) for guest in guests
    }
