# SPDX-License-Identifier: GPL-2.0
"""Percentiles as the laboratory's qdiscs read them from their histograms."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lab.toolchain import build

KMOD = build.REPO / "lab" / "kmod"
SHIMS = build.REPO / "tests" / "unit"
BUCKET_US, LONGEST_US = 100, 7777
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <linux/math64.h>
#define DIV_ROUND_UP_ULL(n, d) (((n) + (d) - 1) / (d))
#include "percentile.h"

int main(int argc, char **argv)
{
	u32 histogram[16], buckets = argc - 4;
	u64 packets = 0;

	for (u32 i = 0; i < buckets; i++)
		packets += histogram[i] = atoi(argv[4 + i]);
	printf("%u", percentile_us(histogram, buckets, atoi(argv[1]), packets, atoi(argv[2]),
				   atoi(argv[3])));
	return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The header in user space."""
    made = tmp_path_factory.mktemp("percentile") / "percentile"
    done = subprocess.run(
        ["gcc", "-std=gnu11", "-Wall", "-Werror", f"-I{SHIMS}", f"-I{KMOD}", "-x", "c", "-",
         "-o", made],
        input=PROGRAM, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return made


@pytest.mark.parametrize(
    ("histogram", "per_mille", "us"),
    [
        ((0, 0, 0, 0), 990, 0),
        ((100, 0, 0, 0), 500, 100),
        ((50, 45, 5, 0), 500, 100),
        ((50, 45, 5, 0), 950, 200),
        ((50, 45, 5, 0), 990, 300),
        # the last has all that took longer
        ((90, 0, 4, 6), 500, 100),
        ((90, 0, 4, 6), 950, LONGEST_US),
        ((0, 0, 0, 1), 500, LONGEST_US),
    ],
)
def test_percentile(program: Path, histogram: tuple[int, ...], per_mille: int, us: int) -> None:
    words = map(str, (BUCKET_US, per_mille, LONGEST_US, *histogram))
    assert int(subprocess.check_output([program, *words])) == us


@pytest.mark.parametrize("name", ["sch_meter.c", "sch_line.c"])
def test_qdiscs_take_no_edge_of_the_last_bucket(name: str) -> None:
    text = (KMOD / name).read_text()
    assert "percentile_us(" in text
    assert not re.search(r"percentile_bucket\(", text)
