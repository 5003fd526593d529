# SPDX-License-Identifier: GPL-2.0
"""Finds programs of this machine, runs them and returns their output."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

PATH = "/bin:/sbin:/usr/bin:/usr/sbin"


def said(failure: Callable[[str], Exception], *command: str | Path,
         cwd: Path | None = None) -> str:  # fmt: skip
    """Its standard output. Raises `failure` with the program's own words if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise failure(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def installed(failure: Callable[[str], Exception], program: str) -> Path:
    """Where a program of Debian's is. Raises `failure` if it is not on this machine."""
    found = shutil.which(program, path=PATH)
    if not found:
        raise failure(f"{program} is not installed; run lab/setup.sh")
    return Path(found)


def outside_make() -> dict[str, str]:
    """The environment for a make that must not inherit flags from one around it."""
    return {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
