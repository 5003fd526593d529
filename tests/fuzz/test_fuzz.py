# SPDX-License-Identifier: GPL-2.0
"""A slice of fuzzing, the same in each run, and proof that it would find a bug."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
HINT = Path("zrtt/hint.h")
RUNS = 500_000

# name -> what stands in hint.h, and what would be wrong there
BUGS = {
    "reads beyond an option": ("if (off + len > have)", "if (0)"),
    "reads a length that is not there": ("if (off + 1 >= have)", "if (0)"),
    "believes a length beyond the area": ("if (len < 2 || off + len > total)", "if (len < 2)"),
    "steps by less than it read": ("if (len < 2 ||", "if (len < 1 ||"),
    "reads on and on": ("have = ZRTT_HINT_SCAN_BYTES;", "have += 0;"),
    "takes any length": ("if (len != fmt->len)", "if (0)"),
    "takes a reserved value": ("!hint->units || hint->units > ZRTT_HINT_MAX", "!hint->units"),
    "takes another's experiment": ("zrtt_hint_get16(value) != fmt->exid", "0"),
    "goes on behind the end": ("if (type == fmt->end)", "if (0)"),
    "knows one IPv4 type only": (".type = type, ", ".type = type ? 158 : 0, "),
    "builds little-endian": ("p[0] = (__u8)(v >> 8);\n\tp[1] = (__u8)v;", "*(__u16 *)p = v;"),
}


ENDLESS_LOOP = ("if (len < 2 ||", "if (")


def fuzz(out: Path, include: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Builds the target and runs the slice, from the corpus in git."""
    command = ["make", "-C", str(HERE), f"OUT={out}", f"INCLUDE={include}", f"RUNS={RUNS}", *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def fuzz_with_bug(folder: Path, right: str, wrong: str, *more: str) -> str:
    """What libFuzzer says of a copy of hint.h that is wrong in one place."""
    header = folder / HINT
    header.parent.mkdir()
    text = (INCLUDE / HINT).read_text()
    assert text.count(right) == 1
    header.write_text(text.replace(right, wrong))
    done = fuzz(folder, folder, *more)
    assert done.returncode != 0
    return done.stderr


def test_parsers_stand_the_slice(tmp_path: Path) -> None:
    done = fuzz(tmp_path, INCLUDE)
    assert done.returncode == 0, done.stderr
    assert f"stat::number_of_executed_units: {RUNS}\n" in done.stderr


@pytest.mark.parametrize("bug", BUGS)
def test_slice_finds_bug(bug: str, tmp_path: Path) -> None:
    said = fuzz_with_bug(tmp_path, *BUGS[bug])
    assert "Test unit written to" in said, said
    assert "libFuzzer: timeout" not in said, said


def test_slice_finds_endless_loop(tmp_path: Path) -> None:
    said = fuzz_with_bug(tmp_path, *ENDLESS_LOOP, "TIMEOUT=1")
    assert "libFuzzer: timeout" in said, said
