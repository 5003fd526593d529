# SPDX-License-Identifier: GPL-2.0
"""Compiler and sparse say nothing of the congestion controls, on any kernel of the lab."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from arithmetic import ROOT

from lab.engine import KERNELS, get_engine
from lab.kernels import SERIES

MODULES = {"tcp_libra.ko", "tcp_nrhstcp.ko", "tcp_exp.ko"}
# Said of the machine, not of the modules.
HARMLESS = re.compile(r"compiler differs|Skipping BTF generation|^ *(The kernel was|You are)")


@pytest.mark.parametrize("kernel", KERNELS)
def test_build_is_silent(kernel: str, tmp_path: Path) -> None:
    home = shutil.copytree(ROOT / "cc", tmp_path / "cc")
    built_for = get_engine(kernel).kernel
    sparse = "C=2" if kernel in SERIES else "C=0"  # Debian's is too old for a newer kernel
    command = ["make", "-s", "-C", str(built_for.build_dir), f"M={home}", *built_for.make_args,
               "W=1", sparse, "modules"]  # fmt: skip
    # those of a make around it have it tell each folder
    env = {name: value for name, value in os.environ.items() if name != "MAKEFLAGS"}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    said = [line for line in (done.stdout + done.stderr).splitlines() if not HARMLESS.search(line)]
    assert (done.returncode, said) == (0, [])
    assert {path.name for path in home.glob("*.ko")} == MODULES
