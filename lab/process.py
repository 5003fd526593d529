# SPDX-License-Identifier: GPL-2.0
"""Runs a program of this machine for what it says."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path


def said(failure: Callable[[str], Exception], *command: str | Path,
         cwd: Path | None = None) -> str:  # fmt: skip
    """Its standard output. Raises `failure` with the program's own words if it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise failure(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout
