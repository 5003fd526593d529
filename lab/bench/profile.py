# SPDX-License-Identifier: GPL-2.0
"""Attributes the instructions of a packet to functions.

QEMU counts how often each instruction is run between two of qbench's readings of the
clock (qemu/profile.c); the debug information of sch_zrtt tells what was inlined where,
the symbols of the guest's kernel the rest.
"""

from __future__ import annotations

import subprocess
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.bench import guest
from lab.bench.measure import plan
from lab.bench.result import Settings
from lab.bench.subjects import Cell
from lab.engines.select import get_engine
from lab.results.readings import ResultError
from lab.toolchain import build

LEAST = 1.0
"""Instructions per packet that are worth a line."""
CALLER = "qbench_pass_one [qbench]"
"""Runs once per packet."""
OF_THE_BENCH = ("[qbench]", "delay_tsc", "__const_udelay")
"""Its own code, and what compares its clocks."""

Inlining = tuple[str, ...]
"""Of a function: what it is inlined in, the outermost first, and itself."""


def inlined(module: Path, offsets: Sequence[int]) -> dict[int, Inlining]:
    """Maps instructions of a module's text to functions, with inlining."""
    command = ["addr2line", "-f", "-i", "-a", "-j", ".text", "-e", str(module)]
    asked = "".join(f"{offset:#x}\n" for offset in offsets)
    done = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
    found: dict[int, list[str]] = {}
    lines = iter(done.stdout.splitlines())
    for line in lines:
        if line.startswith("0x"):
            names = found.setdefault(int(line, 16), [])
        else:
            names.insert(0, line)
            next(lines)  # the place in the source
    return {offset: tuple(names) for offset, names in found.items()}


class Symbols:
    """The symbols of the guest's kernel."""

    def __init__(self, text: str) -> None:
        places = []
        for line in text.splitlines():
            address, _, *name = line.split()
            places.append((int(address, 16), " ".join(name)))
        places.sort()
        self._starts = [start for start, _ in places]
        self._names = [name for _, name in places]

    def at(self, address: int) -> str:
        """The function at an address."""
        return self._names[bisect_right(self._starts, address) - 1]


def tree(counts: Mapping[int, int], functions: Mapping[int, Inlining]) -> Counter[Inlining]:
    """Instructions executed by each function, with those inlined in it."""
    sums: Counter[Inlining] = Counter()
    for address, count in counts.items():
        names = functions[address]
        for depth in range(1, len(names) + 1):
            sums[names[:depth]] += count
    return sums


def _functions(counts: Mapping[int, int], text: str, module: Path) -> dict[int, Inlining]:
    """The functions of all addresses, from the guest's output."""
    base, _, symbols = text.partition("\n")
    start = int(base, 16)
    kernel = Symbols(symbols)
    named = {address: (kernel.at(address),) for address in counts}
    ours = [address for address, (name,) in named.items() if name.endswith("[sch_zrtt]")]
    found = inlined(module, [address - start for address in ours])
    return named | {address: found[address - start] for address in ours}


def run(cell: Cell, settings: Settings) -> str:
    """Profiles a cell: a line per function, instructions per packet."""
    engine = get_engine(settings.kernel)
    with tempfile.TemporaryDirectory(prefix="zrtt-profile-") as folder:
        out = Path(folder) / "counts"
        text = guest.run(
            engine, "bench_profile.sh", plan([cell], settings), settings.seed,
            plugins=[f"{build.profiler()},out={out}"],
        )  # fmt: skip
        counts: Counter[int] = Counter()
        for line in out.read_text().splitlines():
            address, count = line.split()
            counts[int(address, 16)] += int(count)
    if not counts:
        raise ResultError("the profile is empty")
    module = build.kernel_module("sch_zrtt", engine.kernel)
    functions = _functions(counts, text, module)
    packets = max(counts[a] for a, names in functions.items() if names == (CALLER,))
    return render(tree(counts, functions), packets)


def render(sums: Mapping[Inlining, int], packets: int) -> str:
    """Functions as a tree of inlining, the most expensive first."""
    lines = []

    def show(above: Inlining) -> None:
        own = [p for p in sums if p[:-1] == above and not p[-1].endswith(OF_THE_BENCH)]
        for path in sorted(own, key=lambda p: -sums[p]):
            if sums[path] / packets >= LEAST:
                lines.append(f"{sums[path] / packets:7.1f}  {'  ' * len(above)}{path[-1]}")
                show(path)

    show(())
    return "\n".join(lines)
