# SPDX-License-Identifier: GPL-2.0
"""Builds what tests need, and runs make for what it says, here or in a copy."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lab.host.process import outside_make

ROOT = Path(__file__).resolve().parents[1]


def compiled(product: Path, compiler: str, *words: str | Path) -> Path:
    """The product, whole at any time: several processes may make and use it at once."""
    product.parent.mkdir(parents=True, exist_ok=True)
    made = product.with_name(f"{product.name}.{os.getpid()}")
    subprocess.run([compiler, *words, "-o", made], check=True)
    return made.replace(product)


def make(
    *args: str, cwd: Path = ROOT, view: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs make to its end, in the view of a kernel, whatever the flags of a make around it."""
    command = [*view, "make", *args]
    return subprocess.run(
        command, cwd=cwd, env=outside_make(), capture_output=True, text=True, check=False
    )


def checkout(folder: Path) -> Path:
    """Copies the project's files, as they are now, to a folder."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True)
    for name in listed.stdout.decode().split("\0")[:-1]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder
