# SPDX-License-Identifier: GPL-2.0
"""The capacity that Libra's connections believe in, where a queue hides it."""

from __future__ import annotations

import re

import pytest
from arithmetic import HERE

from lab import runner
from lab.engine import get_engine
from lab.scenario import Link, Scenario

CROWD = Scenario(
    kernel="uml", qdisc="pfifo limit 1000", rate_bps=20_000_000, link=Link.WIRE,
    rtts_ms=tuple(20.0 * n for n in range(1, 21)), cc=("libra",), warmup_s=10, duration_s=8,
)  # fmt: skip
CAPACITY_BPS = CROWD.rate_bps * 1500 / 1514


def test_all_of_a_crowd_find_the_capacity() -> None:
    """A delayed ACK would look like 272 kbit/s, and no pair after it like less delay."""
    output = runner.guest_output(
        CROWD, get_engine("uml"), around=runner.Around(HERE / "guest" / "capacities.sh")
    )
    assert output.rc == 0, output.console
    believed = [int(bps) for bps in re.findall(r" libra .* bbr:\(bw:(\d+)bps", output.console)]
    assert len(believed) == len(CROWD.rtts_ms)
    assert believed == pytest.approx([CAPACITY_BPS] * len(believed), rel=0.01)
