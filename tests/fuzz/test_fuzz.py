# SPDX-License-Identifier: GPL-2.0
"""A slice of fuzzing, the same in each run, and proof that it would find a bug."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
RUNS = 300_000
TARGETS = sorted(source.stem.removeprefix("fuzz_") for source in HERE.glob("fuzz_*.c"))


@dataclass(frozen=True)
class Bug:
    """What stands in a header, and what would be wrong there."""

    name: str
    target: str
    right: str
    wrong: str
    header: str = ""  # the one that the target is called after

    def plant(self, include: Path) -> None:
        """Into a copy of the headers."""
        shutil.copytree(INCLUDE / "zrtt", include / "zrtt")
        header = include / "zrtt" / f"{self.header or self.target}.h"
        text = header.read_text()
        assert text.count(self.right) == 1
        header.write_text(text.replace(self.right, self.wrong))


BUGS = [
    Bug("reads beyond an option", "hint", "if (off + len > have)", "if (0)"),
    Bug("reads a length that is not there", "hint", "if (off + 1 >= have)", "if (0)"),
    Bug("believes a length beyond the area", "hint", "len < 2 || off + len > total", "len < 2"),
    Bug("steps by less than it read", "hint", "if (len < 2 ||", "if (len < 1 ||"),
    Bug("reads on and on", "hint", "have = ZRTT_HINT_SCAN_BYTES;", "have += 0;"),
    Bug("takes any length", "hint", "if (len != fmt->len)", "if (0)"),
    Bug("takes a reserved value", "hint", "!hint->units || hint->units >", "!hint->units && 0 >"),
    Bug("takes another's experiment", "hint", "zrtt_hint_get16(value) != fmt->exid", "0"),
    Bug("goes on behind the end", "hint", "if (type == fmt->end)", "if (0)"),
    Bug("knows one IPv4 type only", "hint", ".type = type, ", ".type = type ? 158 : 0, "),
    Bug("builds little-endian", "hint", "p[0] = (__u8)(v >> 8);", "p[0] = (__u8)v;"),
    Bug("reads IPv4 options that are not there", "packet", "zrtt_has(b, off, len) ?", "1 ?"),
    Bug("reads IPv6 options that are not there", "packet", "zrtt_has(b, area_off, have) ?", "1 ?"),
    Bug("reads TCP options that are not there", "packet", "!zrtt_has(b, off, len)) {", "0) {"),
    Bug("reads ports that are not there", "packet", "if (!zrtt_has(b, off, 4))", "if (0)"),
    Bug("times by what is not there", "packet", "off + ZRTT_TIMESTAMPS_LEN <= len", "off < len"),
    Bug("looks for what it need not", "packet", "return wanted->hint &&", "return wanted &&"),
    Bug("finds the hint elsewhere", "packet", "(u16)(area_off + hint->off)", "(u16)area_off"),
    Bug("announces the wrong header", "packet", "p->nexthdr_off = (u16)off;", "p->nexthdr_off++;"),
    Bug(
        "gives later fragments ports",
        "packet",
        "if (!(zrtt_hint_get16(ip + 6) & ZRTT_IPV4_FRAGMENT))",
        "if (!(zrtt_hint_get16(ip + 6) & 0x2000))",
    ),
    Bug(
        "is quick with fragments",
        "packet",
        "!len || zrtt_hint_get16(ip + 6) & ZRTT_IPV4_FRAGMENT",
        "!len",
    ),
    Bug("goes on behind a length of 1", "packet", "if (step < 2)", "if (!step)"),
    Bug("hashes what is not there", "packet", "if (p->version == 4)", "if (0)", "hash"),
    Bug("shifts by any exponent", "fixed", "if (exponent >= 16)", "if (0)"),
    Bug("adds below 0", "fixed", "if (sum < 0)", "if (0)"),
    Bug("averages in 32 bits", "fixed", "((s64)x - avg)", "((s32)x - (s32)avg)"),
    Bug("is never frozen", "controller", "now_ns - ctl->changed_ns <=", "0 * now_ns >"),
    Bug("owes one more", "controller", "steps = 1 + (", "steps = 2 + ("),
    Bug("winds up", "controller", ">> ZRTT_PI2_DECAY_SHIFT", ">> 30"),
    Bug("wraps a few packets", "controller", "(u64)params->target_us * ", "params->target_us * "),
    Bug("wraps a slope", "controller", "(s64)sojourn_us - ctl->s", "sojourn_us - ctl->s"),
    Bug("takes queueing for flying", "halves", "== ZRTT_PROBE_FLYING", ">= ZRTT_PROBE_QUEUED"),
    Bug("does not know that clocks wrap", "halves", "(s32)(a - b) > 0", "a > b"),
    Bug("never forgets", "halves", "if (!windows)", "if (conn)"),
    Bug("leaves its set", "zrtt", "t->mask & ~(ZRTT_WAYS - 1)", "t->mask", "table"),
    Bug("takes what is in use", "zrtt", "if (f->live || t->unused)", "if (t->unused)", "table"),
    Bug("forgets to sum", "zrtt", "t->sum_rtt_us += (s64)sign *", "t->sum_rtt_us +=", "table"),
    Bug("lets alpha go below 0", "zrtt", "if (law->fit_q16 < 0)", "if (0)", "law"),
    Bug(
        "names ports that are not there",
        "packet",
        "= p->l4_off && p->proto !=",
        "= p->proto !=",
        "names",
    ),
    Bug(
        "takes 16 bytes of any packet",
        "packet",
        "len = zrtt_name_addr_bytes(name);",
        "len = 16;",
        "names",
    ),
    Bug("wraps a negative length", "shaper", "s64 sum = (s64)len +", "s64 sum = len +"),
    Bug("counts a link header twice", "shaper", "if (params->raw)", "if (0)"),
    Bug("lets a packet be endless", "shaper", "bytes < ZRTT_SHAPER_BYTES_MAX", "1"),
    Bug("makes up for an hour", "shaper", "if (begin_ns + ZRTT_SHAPER_LATE_NS < now_ns)", "if (0)"),
    Bug(
        "drops the rest",
        "shaper",
        "bytes * params->cost_q20 + s->rest_q20",
        "bytes * params->cost_q20",
    ),
    Bug("starts anew at a change", "shaper", "bytes * to->", "(bytes & 0) * to->"),
    Bug("owes at the old rate", "shaper", "bytes * to->", "bytes * (to->rate ? from : to)->"),
    Bug("marks at any P_i", "zrtt", "ect && marks ?", "ect ?", "law"),
]
ENDLESS_LOOP = Bug("never ends", "hint", "if (len < 2 ||", "if (")


def fuzz(target: str, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    """Builds a target and runs the slice, from the corpus in git."""
    command = ["make", "-C", str(HERE), f"TARGETS={target}", f"OUT={out}", f"RUNS={RUNS}", *more]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def fuzz_with(bug: Bug, folder: Path, *more: str) -> str:
    """What libFuzzer says of it."""
    bug.plant(folder)
    done = fuzz(bug.target, folder, f"INCLUDE={folder}", *more)
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_target_stands_the_slice(target: str, tmp_path: Path) -> None:
    done = fuzz(target, tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"stat::number_of_executed_units: {RUNS}\n" in done.stderr


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: f"{bug.target} {bug.name}")
def test_slice_finds_bug(bug: Bug, tmp_path: Path) -> None:
    said = fuzz_with(bug, tmp_path)
    assert "Test unit written to" in said, said
    assert "libFuzzer: timeout" not in said, said


def test_slice_finds_endless_loop(tmp_path: Path) -> None:
    said = fuzz_with(ENDLESS_LOOP, tmp_path, "TIMEOUT=1")
    assert "libFuzzer: timeout" in said, said
