# SPDX-License-Identifier: GPL-2.0
"""No warnings of compiler and sparse for the congestion controls, on any kernel of the lab."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from arithmetic import ROOT
from kbuild import make

from lab.engines.select import get_engine
from lab.kernels.debian import SERIES
from lab.kernels.kernel import KERNELS
from lab.toolchain.matrix import HARMLESS

MODULES = {"tcp_libra.ko", "tcp_nrhstcp.ko", "tcp_exp.ko", "tcp_prague.ko"}


@pytest.mark.parametrize("kernel", KERNELS)
def test_build_has_no_warnings(kernel: str, tmp_path: Path) -> None:
    home = shutil.copytree(ROOT / "endpoints", tmp_path / "endpoints")
    built_for = get_engine(kernel).kernel
    sparse = "C=2" if kernel in SERIES else "C=0"  # Debian's is too old for a newer kernel
    command = ["-s", "-C", str(built_for.build_dir), f"M={home}", *built_for.make_args,
               "W=1", sparse, "modules"]  # fmt: skip
    done = make(*command, view=built_for.view)
    said = [line for line in (done.stdout + done.stderr).splitlines() if not HARMLESS.search(line)]
    assert (done.returncode, said) == (0, [])
    assert {path.name for path in home.glob("*.ko")} == MODULES
