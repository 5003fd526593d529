# SPDX-License-Identifier: GPL-2.0
"""zrtt-mon in guests: on a router with traffic, and with 16,000 flows."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from canned import HERE, OUT, ROOT, interrupted_program
from canned import build as build_monitor
from functional.frames import Frame, ipv4_hint
from functional.guests import HERE as FUNCTIONAL
from functional.guests import Report
from functional.guests import program as frames_program

from lab.engines.job import GuestJob
from lab.engines.select import get_engine
from lab.model.scenario import Scenario, parse_rtts
from lab.results.readings import sections
from lab.runs import runner
from lab.toolchain import build

RATE_BPS = 20_000_000
RTTS_MS = parse_rtts("20ms..200ms/10")
GUEST = HERE / "guest"
RTT_US = 64_000
CROWD = [
    Frame(port, ip_options=ipv4_hint(RTT_US // 32), payload=b"") for port in range(1000, 17_000)
]
"""All of them with the same hint."""


def program() -> Path:
    """As it is installed."""
    return build_monitor(ROOT / "out" / "monitor")


@cache
def observed() -> dict[str, Any]:
    """What guest/observe.py saw: ten flows, half of which hint."""
    scenario = Scenario(
        kernel="uml",
        qdisc="zrtt names",
        rate_bps=RATE_BPS,
        rtts_ms=RTTS_MS,
        hint_share=0.5,
        warmup_s=10,
        duration_s=90,
    ).check()
    files = {
        "zrtt-mon": program(),
        "observe.py": GUEST / "observe.py",
        "terminal.py": HERE / "terminal.py",
    }
    around = runner.Around(GUEST / "watched.sh", files=files)
    output = runner.guest_output(scenario, get_engine("uml"), around=around)
    seen = sections(output.result)["observed"]
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "view.txt").write_text("\n".join(seen["view"]["resumed"]).rstrip() + "\n")
    return seen


@cache
def crowded() -> Report:
    """What guest/crowd.sh printed."""
    folder = OUT / "crowd"
    folder.mkdir(parents=True, exist_ok=True)
    frames = folder / "crowd"
    frames.write_text("".join(f"{frame.line()}\n" for frame in CROWD))
    engine = get_engine("uml")
    job = GuestJob(
        script=GUEST / "crowd.sh",
        files={
            "zrtt-mon": program(),
            "interrupted": interrupted_program(),
            "crowd": frames,
            "frames": frames_program("frames"),
            "lib.sh": FUNCTIONAL / "guest" / "lib.sh",
            **build.tc_plugin("sch_zrtt"),
        },
        kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
    )
    output = engine.run(job)
    assert output.rc == 0, output.console
    return Report(output.result)
