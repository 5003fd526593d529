# SPDX-License-Identifier: GPL-2.0
"""Builds qbench, the module that measures, for a guest's kernel."""

from __future__ import annotations

import shutil
from pathlib import Path

from lab import build
from lab.kernels import Kernel

SOURCES = ("bench/qbench.c", "bench/Kbuild", "include/zrtt/hint.h", "compat-include")
MODULE = "qbench.ko"


def qbench(kernel: Kernel) -> Path:
    """The module for a kernel, built now if the cache has none of these sources."""
    files = build._files([build.REPO / source for source in SOURCES])

    def recipe(folder: Path) -> None:
        for file in files:
            target = folder / file.relative_to(build.REPO)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        build._make(["make", "-s", "-C", str(kernel.build_dir), f"M={folder}/bench",
                     *kernel.make_args, "modules"])  # fmt: skip

    digest = build._digest(files, kernel.release, *kernel.make_args)
    return build._cached(f"qbench-{kernel.release}", digest, f"bench/{MODULE}", recipe)
