# SPDX-License-Identifier: GPL-2.0
"""What ss and the reader of cc/ show of Libra's connections, beside what is true."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import pytest
from arithmetic import HERE, ROOT

from lab import runner
from lab.engine import get_engine
from lab.scenario import Link, Scenario

RTT_MS = 40.0
SCENARIO = Scenario(
    kernel="uml", qdisc="pfifo limit 100", rate_bps=20_000_000, link=Link.WIRE, rtts_ms=(RTT_MS,),
    sessions=2, cc=("libra", "reno"), warmup_s=10, duration_s=10,
)  # fmt: skip
CAPACITY_MBPS = 20 * 1500 / 1514
"""Of IP: Ethernet's headers are no part of what TCP knows."""
WIRE_MS = 2 * 1514 * 8 / 20_000
"""Two packets', as one ACK answers them."""
Q8 = 1 / 256


@cache
def shown() -> dict[str, str]:
    """What the guest printed, by heading."""
    around = runner.Around(
        HERE / "guest" / "values.sh", files={"libra-info.sh": ROOT / "cc" / "libra-info.sh"}
    )
    output = runner.guest_output(SCENARIO, get_engine("uml"), around=around)
    assert output.rc == 0, output.console
    pieces = re.split(r"^@@ (.+)\n", output.console, flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@dataclass(frozen=True)
class Values:
    """A connection's."""

    capacity_mbps: float
    alpha: float
    penalty: float
    min_rtt_ms: float


def values(part: str) -> Values:
    """Those of the one connection that uses Libra, as ss shows them."""
    (line,) = (line for line in shown()[f"{part}.ss"].splitlines() if " libra " in line)
    found = re.search(
        r"bbr:\(bw:(\d+)bps,mrtt:([\d.]+),pacing_gain:([\d.]+),cwnd_gain:([\d.]+)\)", line
    )
    assert found, line
    return Values(int(found[1]) / 1e6, float(found[3]), float(found[4]), float(found[2]))


def test_capacity_is_the_links() -> None:
    assert values("before").capacity_mbps == pytest.approx(CAPACITY_MBPS, rel=0.01)


def test_least_rtt_is_the_paths() -> None:
    assert RTT_MS <= values("before").min_rtt_ms <= RTT_MS + 2 * WIRE_MS


@pytest.mark.parametrize(("part", "k1"), [("before", 2), ("after", 4)])
def test_alpha_is_k1_times_capacity_times_penalty(part: str, k1: float) -> None:
    seen = values(part)
    scale = k1 * seen.capacity_mbps
    assert seen.alpha == pytest.approx(scale * seen.penalty, abs=scale * Q8)


def test_penalty_follows_k2() -> None:
    assert 0.13 < values("before").penalty < 0.95
    assert values("after").penalty > 1 - 2 * Q8


def test_reader_names_the_values() -> None:
    heading, *rows = (line.split() for line in shown()["before.info"].splitlines())
    assert heading == ["LOCAL", "PEER", "CAPACITY_MBPS", "ALPHA", "PENALTY", "MIN_RTT_MS"]
    (row,) = rows
    seen = values("before")
    assert row[1].startswith("10.255.0.2:")
    assert [float(word) for word in row[2:]] == pytest.approx(
        [seen.capacity_mbps, seen.alpha, seen.penalty, seen.min_rtt_ms], rel=0.001
    )
