# SPDX-License-Identifier: GPL-2.0
"""Runs make for what it says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Said of the machine, not of the module.
HARMLESS = re.compile(r"compiler differs|Skipping BTF generation|^ *(The kernel was|You are)")


def make(*args: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Runs make to its end, whatever the flags of a make around it."""
    env = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    return subprocess.run(
        ["make", *args], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )
