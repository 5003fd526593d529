# SPDX-License-Identifier: GPL-2.0
"""A router with traffic, in a guest, and zrtt-mon on it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from canned import HERE, ROOT, build

from lab import runner
from lab.engine import get_engine
from lab.readings import sections
from lab.scenario import Scenario, parse_rtts

RATE_BPS = 20_000_000
RTTS_MS = parse_rtts("20ms..200ms/10")
GUEST = HERE / "guest"


def program() -> Path:
    """As it is installed."""
    return build(ROOT / "out" / "monitor")


@cache
def observed() -> dict[str, Any]:
    """What guest/observe.py saw: ten flows, half of which hint."""
    scenario = Scenario(
        kernel="uml",
        qdisc="zrtt",
        rate_bps=RATE_BPS,
        rtts_ms=RTTS_MS,
        hint_share=0.5,
        warmup_s=10,
        duration_s=90,
    ).check()
    files = {"zrtt-mon": program()} | {path.name: path for path in GUEST.glob("*.py")}
    around = runner.Around(GUEST / "watched.sh", files=files)
    output = runner.guest_output(scenario, get_engine("uml"), around=around)
    return sections(output.result)["observed"]
