# SPDX-License-Identifier: GPL-2.0
"""Libra's estimate of the capacity, where a queue hides it."""

from __future__ import annotations

import re
from statistics import median

import pytest
from arithmetic import HERE, ROOT

from lab.engines.select import get_engine
from lab.model.scenario import Link, Scenario
from lab.runs import runner

CROWD = Scenario(
    kernel="6.12", qdisc="pfifo limit 1000", rate_bps=20_000_000, link=Link.WIRE,
    rtts_ms=tuple(20.0 * n for n in range(1, 21)), cc=("libra",), warmup_s=10, duration_s=12,
)  # fmt: skip
AROUND = runner.Around(
    HERE / "guest" / "capacities.sh", files={"libra-info.sh": ROOT / "endpoints" / "libra-info.sh"}
)
CAPACITY_BPS = CROWD.rate_bps * 1500 / 1514


def test_many_flows_estimate_the_capacity() -> None:
    """A delayed ACK would look like 272 kbit/s, and no pair after it like less delay.

    Time in the guest is not exact: a single estimate that is 3 % off has been seen.
    """
    output = runner.guest_output(CROWD, get_engine("6.12"), around=AROUND)
    assert output.rc == 0, output.console
    rows = re.findall(r"^10\.\S+ +10\.255\.0\.2:\d+ +([\d.]+) ", output.console, re.MULTILINE)
    believed = [1e6 * float(mbps) for mbps in rows]
    assert len(believed) == len(CROWD.rtts_ms)
    assert median(believed) == pytest.approx(CAPACITY_BPS, rel=0.01)
    assert believed == pytest.approx([CAPACITY_BPS] * len(believed), rel=0.05)
