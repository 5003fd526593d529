# SPDX-License-Identifier: GPL-2.0
"""Shows each cmocka test of this folder as a test of pytest."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from lab.host import files
from lab.host.process import outside_make

HERE = Path(__file__).resolve().parent
SANITIZED = not os.environ.get("QUICK")
OUT = HERE.parents[1] / "out" / ("unit" if SANITIZED else "unit-quick")

# (program, test) as the sources register them
TESTS = [
    (source.stem, name)
    for source in sorted(HERE.glob("test_*.c"))
    for name in re.findall(r"cmocka_unit_test\((\w+)\)", source.read_text())
]


@cache
def built() -> subprocess.CompletedProcess[str]:
    """Builds all programs."""
    command = ["make", "-s", f"-j{os.cpu_count()}", "-C", str(HERE), f"OUT={OUT}"]
    if not SANITIZED:
        command += ["SANITIZE=", "DEBUG="]
    return subprocess.run(
        command, env=outside_make(), capture_output=True, text=True, check=False
    )


@cache
def report(program: str) -> subprocess.CompletedProcess[str]:
    """Runs a program once; in a quick run not again if it has passed since it was built."""
    said = OUT / f"{program}.passed"
    if not SANITIZED and said.exists() and said.stat().st_mtime > (OUT / program).stat().st_mtime:
        return subprocess.CompletedProcess([], 0, said.read_text(), "")
    done = subprocess.run(
        [OUT / program],
        capture_output=True,
        text=True,
        check=False,
        timeout=1200,
        env=os.environ | {"CMOCKA_MESSAGE_OUTPUT": "STDOUT"},
    )
    if done.returncode == 0:
        files.write(said, done.stdout + done.stderr)
    return done


def test_programs_build() -> None:
    assert built().returncode == 0, built().stdout + built().stderr


@pytest.mark.parametrize(("program", "name"), TESTS)
def test_unit(program: str, name: str) -> None:
    assert built().returncode == 0, "the programs do not build"
    done = report(program)
    assert f"[       OK ] {name}\n" in done.stdout + done.stderr, done.stdout + done.stderr


@pytest.mark.parametrize("program", sorted({program for program, _ in TESTS}))
def test_program_ends_well(program: str) -> None:
    """Sanitizers report leaks at the end only."""
    assert built().returncode == 0, "the programs do not build"
    done = report(program)
    assert done.returncode == 0, done.stdout + done.stderr
