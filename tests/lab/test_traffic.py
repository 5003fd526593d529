# SPDX-License-Identifier: GPL-2.0
"""The traffic program reads what traffic_spec.py writes, and refuses what it would get wrong."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.model.churn import Churn
from lab.model.hosts import Idle
from lab.model.scenario import Scenario, Step
from lab.model.spoof import Spoof
from lab.model.thin import parse_thin
from lab.model.udp import Udp
from lab.net import traffic_spec as spec
from lab.toolchain import build

ALL = Scenario(
    rtts_ms=(20.0, 40.0), ecn_share=0.5, hops=2, cross_rtts_ms=(30.0,), reverse=2,
    udp=(Udp.parse("1mbit@5-30"),), churn=Churn.parse("load=5% size=web"),
    spoof=(Spoof.parse("flow=1 send=data rate=1mbit"),), steps=(Step.parse("t=40 rate=5mbit"),),
    thin=parse_thin("voip*2,game,dns,ping"), sample_ms=500, starts_s=(5.0, 0.0), stops_s=(60.0, None),
).check()  # fmt: skip
SPEC = spec.spec(ALL)


def start(tmp_path: Path, spec: str) -> subprocess.CompletedProcess[str]:
    """Runs the program; no network namespace of the specification is there."""
    path = tmp_path / "spec"
    path.write_text(spec)
    return subprocess.run(
        [build.traffic(), path, tmp_path / "result"], capture_output=True, text=True, check=False
    )


def complaint(tmp_path: Path, spec: str) -> str:
    """What it says of a specification that it refuses."""
    done = start(tmp_path, spec)
    assert done.returncode == 2
    return done.stderr


def test_all_is_read(tmp_path: Path) -> None:
    """It fails, but later."""
    assert start(tmp_path, SPEC).returncode == 1


def test_idle_times_are_read(tmp_path: Path) -> None:
    """It fails later, too."""
    idle = spec.spec(Scenario(rtts_ms=(20.0, 40.0), idle=Idle(1, 30.0, 20.0)).check())
    assert "\nidle 30000 20000\n" in idle
    assert start(tmp_path, idle).returncode == 1
    assert "no flow" in complaint(tmp_path, f"receiver rx\nidle 30000 20000\n{idle}")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("flaw h0 10.255.0.2 5001 cubic 0 -1 1000 packet 1000 0", "bad line"),
        ("flow h0 10.255.0.2 5001 cubic 0 -1 1000 packet 1000", "bad line"),
        ("flow h0 10.255.0.2 5001 cubic 0 -1 1000 loudly 1000 0", "unknown hint mode loudly"),
        ("flow h0 10.255.0.2 5001 cubic 9 9 1000 packet 1000 0", "stops before it starts"),
        ("udp u0 10.255.0.2 9001 0 0 1000 0 1472", "bad interval"),
        ("udp u0 10.255.0.2 9001 9 0 1000 0 1473", "bad size"),
        ("thin t0 10.255.0.2 9501 steady 200 0 0 9000 1", "bad interval or size"),
        ("thin t0 10.255.0.2 9501 steady 1472 1000 0 9000 1", "bad interval or size"),
        ("thin t0 10.255.0.2 9501 often 200 1000 0 9000 1", "unknown kind of thin traffic: often"),
        ("thin t0 10.255.0.2 9501 steady 200 1000 0 9000", "bad line"),
        ("spoof a0 5001 rst 0 5000 6000 0", "unknown kind of packet rst"),
        ("spoof a0 5001 data -1 5000 6000 0", "bad interval"),
        ("spoof a0 5001 syn 0 5000 6000", "bad line"),
        ("idle 30000", "bad line"),
        ("idle 0 20000", "no time"),
        ("idle 30000 0", "no time"),
        ("short h0 10.255.0.2 cubic 79999 0 none 0", "nothing to send"),
        ("short h0 10.255.0.2 cubic 1 10 none 0", "short flows out of order"),
        ("phase 100", "readings out of order"),
        ("at 0 true", "commands out of order"),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, line: str, said: str) -> None:
    assert said in complaint(tmp_path, f"{SPEC}{line}\n")


def test_short_flow_without_server_is_refused(tmp_path: Path) -> None:
    lines = [line for line in SPEC.splitlines() if not line.startswith("server")]
    assert "no server yet" in complaint(tmp_path, "\n".join(lines) + "\n")
