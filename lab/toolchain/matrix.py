# SPDX-License-Identifier: GPL-2.0
"""Builds the modules and the tc plugin with each compiler, for each kernel.

A compiler that says anything, with W=1, has found a fault.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.host.process import outside_make
from lab.kernels.debian import SERIES, YOUNGER, debian_kernel
from lab.toolchain import clang
from lab.toolchain.build import REPO

KERNELS = (*SERIES, YOUNGER)
COMPILERS = ("gcc", clang.CLANG)
MODULES = {
    "sch_zrtt": ("sch_zrtt.c", "Kbuild", "qdisc", "include", "compat-include"),
    "endpoints": ("endpoints",),
}
"""Name -> what is copied to build it; its makefile is at the top, or in the folder of its name."""
PLUGIN = "q_zrtt.so"

HARMLESS = re.compile(
    r"(compiler|pahole version) differs|Skipping BTF generation|^ *(The kernel was|You are)"
)
"""Said of the machine, not of the source."""


@dataclass(frozen=True)
class Cell:
    """The outcome of a build."""

    subject: str
    kernel: str
    compiler: str
    fault: str
    """What the compiler said; empty if it was content."""


def _fault(command: Sequence[str | Path]) -> str:
    done = subprocess.run(command, env=outside_make(), capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if not HARMLESS.search(line)]
    return "\n".join(said) or (f"make ended with {done.returncode}" if done.returncode else "")


def modules(subject: str, series: str, compiler: str) -> Cell:
    """Builds modules for a kernel."""
    kernel = debian_kernel(series)
    with TemporaryDirectory(prefix="zrtt-matrix-") as name:
        folder = Path(name)
        if compiler == clang.CLANG:
            kernel = clang.headers(kernel, folder / "headers")
        home = folder / "source"
        for part in MODULES[subject]:
            copy = shutil.copytree if (REPO / part).is_dir() else shutil.copyfile
            home.mkdir(exist_ok=True)
            copy(REPO / part, home / part)
        made = home / subject if (home / subject).is_dir() else home
        command = [*kernel.view, "make", "-s", "-C", kernel.build_dir, f"M={made}",
                   *kernel.make_args, "W=1", "modules"]  # fmt: skip
        return Cell(subject, kernel.release, compiler, _fault(command))


def plugin(compiler: str) -> Cell:
    """Builds the tc plugin, which needs no kernel."""
    with TemporaryDirectory(prefix="zrtt-matrix-") as folder:
        command = ["make", "-s", "-C", REPO / "tc-plugin", f"OUT={folder}", f"CC={compiler}"]
        return Cell(PLUGIN, "any", compiler, _fault(command))


def cells() -> Iterator[Cell]:
    """All of them, as they are done."""
    for compiler in COMPILERS:
        yield plugin(compiler)
        for series in KERNELS:
            for subject in MODULES:
                yield modules(subject, series, compiler)
