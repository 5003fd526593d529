# SPDX-License-Identifier: GPL-2.0
"""Runs make for what it says."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def make(
    *args: str, cwd: Path = ROOT, view: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Runs make to its end, in the view of a kernel, whatever the flags of a make around it."""
    env = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    return subprocess.run(
        [*view, "make", *args], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
