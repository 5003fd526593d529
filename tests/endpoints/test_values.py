# SPDX-License-Identifier: GPL-2.0
"""Libra's tracepoint and its reader, compared with the true values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import pytest
from arithmetic import HERE, ROOT

from lab.engines.select import get_engine
from lab.model.scenario import Link, Scenario
from lab.runs import runner

RTT_MS = 40.0
SCENARIO = Scenario(
    kernel="6.12", qdisc="pfifo limit 30", rate_bps=5_000_000, link=Link.WIRE, rtts_ms=(RTT_MS,),
    sessions=2, cc=("libra", "reno"), warmup_s=8, duration_s=9,
)  # fmt: skip
CAPACITY_MBPS = 5 * 1500 / 1514
"""Of IP: Ethernet's headers are no part of what TCP knows."""
WIRE_MS = 2 * 1514 * 8 / 5_000
"""Two packets', as one ACK answers them."""
SHOWN = 1e-4
"""Decimals of alpha."""
HEADING = ["LOCAL", "PEER", "CAPACITY_MBPS", "ALPHA", "PENALTY", "MIN_RTT_MS"]


@cache
def shown() -> dict[str, str]:
    """What the guest printed, by heading."""
    around = runner.Around(
        HERE / "guest" / "values.sh", files={"libra-info.sh": ROOT / "endpoints" / "libra-info.sh"}
    )
    output = runner.guest_output(SCENARIO, get_engine("6.12"), around=around)
    assert output.rc == 0, output.console
    console = re.sub(r"^PROGRESS .*\n", "", output.console, flags=re.MULTILINE)
    pieces = re.split(r"^@@ (.+)\n", console, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@dataclass(frozen=True)
class Values:
    """A connection's."""

    capacity_mbps: float
    alpha: float
    penalty: float
    min_rtt_ms: float


def values(part: str) -> Values:
    """Those of the one sender that uses Libra; receivers do, too."""
    heading, *rows = (line.split() for line in shown()[part].splitlines())
    assert heading == HEADING
    (row,) = (row for row in rows if row[1].startswith("10.255.0.2:"))
    return Values(*map(float, row[2:]))


def test_capacity_is_the_links() -> None:
    assert values("before").capacity_mbps == pytest.approx(CAPACITY_MBPS, rel=0.01)


def test_least_rtt_is_the_paths() -> None:
    assert RTT_MS <= values("before").min_rtt_ms <= RTT_MS + 2 * WIRE_MS


@pytest.mark.parametrize(("part", "k1"), [("before", 2), ("after", 4)])
def test_alpha_is_k1_times_capacity_times_penalty(part: str, k1: float) -> None:
    seen = values(part)
    scale = k1 * seen.capacity_mbps
    assert seen.alpha == pytest.approx(scale * seen.penalty, rel=0.002, abs=SHOWN)


def test_penalty_follows_k2() -> None:
    assert 0.13 < values("before").penalty < 0.95
    assert values("after").penalty > 0.998


def test_reader_reports_missing_tracepoint() -> None:
    message, status = shown()["unmounted"].splitlines()
    assert message.startswith("libra-info: no tracefs")
    assert status == "rc=1"


def test_reader_leaves_nothing_behind() -> None:
    """Nor if it is stopped early: a trace that stays costs each ACK."""
    assert shown()["instances"] == ""
