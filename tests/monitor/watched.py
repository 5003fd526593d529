# SPDX-License-Identifier: GPL-2.0
"""zrtt-mon in guests: on a router with traffic, and with thousands of flows and hosts."""

from __future__ import annotations

from collections.abc import Sequence
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
SUBSCRIBERS, WEIGHTS = (42, 7, 7, 9), (1, 1, 1, 2)
"""Of the hosts; the last one's weighs as much as both others."""
CROWD = [
    Frame(port, ip_options=ipv4_hint(RTT_US // 32), payload=b"") for port in range(1000, 17_000)
]
"""All of them with the same hint."""
CROWD_HOSTS = 3000
HOST_CROWD = [
    Frame(port, ends=(bytes([10, 1, host >> 8, host & 255]), bytes([10, 0, 0, 2])), payload=b"")
    for host in range(CROWD_HOSTS)
    for port in range(1000, 1004)
]
"""Four flows of each host."""


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
    seen = watched(scenario, "observe.py", settle_s=12)
    keep("view.txt", seen["view"]["resumed"])
    return seen


@cache
def subscribed() -> dict[str, Any]:
    """What guest/subscribers.py saw: three, with one, five and six flows."""
    scenario = Scenario(
        kernel="uml",
        qdisc="zrtt names fair mark 0xff00 weight mark 0xff",
        rate_bps=RATE_BPS,
        rtts_ms=(30, 60, 90, 120),
        sessions=0,
        sessions_of=(1, 2, 3, 6),
        subscribers=SUBSCRIBERS,
        weights=WEIGHTS,
        warmup_s=10,
        duration_s=70,
    ).check()
    seen = watched(scenario, "subscribers.py", settle_s=60)
    keep("subscribers.txt", seen["view"]["both"])
    return seen


def watched(scenario: Scenario, watcher: str, settle_s: float) -> dict[str, Any]:
    """What a program of guest/ saw while the scenario ran."""
    files = {path.name: path for path in GUEST.glob("*.py")}
    files |= {"zrtt-mon": program(), "terminal.py": HERE / "terminal.py"}
    around = runner.Around(GUEST / "watched.sh", args=(watcher, str(settle_s)), files=files)
    output = runner.guest_output(scenario, get_engine("uml"), around=around)
    seen: dict[str, Any] = sections(output.result)["observed"]
    return seen


def keep(name: str, lines: Sequence[str]) -> None:
    """For people."""
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / name).write_text("\n".join(lines).rstrip() + "\n")


@cache
def crowded() -> Report:
    """What guest/crowd.sh printed."""
    folder = OUT / "crowd"
    folder.mkdir(parents=True, exist_ok=True)
    crowds = {"crowd": CROWD, "hosts": HOST_CROWD}
    for name, frames in crowds.items():
        (folder / name).write_text("".join(f"{frame.line()}\n" for frame in frames))
    engine = get_engine("uml")
    job = GuestJob(
        script=GUEST / "crowd.sh",
        files={
            "zrtt-mon": program(),
            "interrupted": interrupted_program(),
            **{name: folder / name for name in crowds},
            "frames": frames_program("frames"),
            "lib.sh": FUNCTIONAL / "guest" / "lib.sh",
            **build.tc_plugin("sch_zrtt"),
        },
        kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
    )
    output = engine.run(job)
    assert output.rc == 0, output.console
    return Report(output.result)
