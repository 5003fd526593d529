# SPDX-License-Identifier: GPL-2.0
"""dualpi2, which user-mode Linux has, Debian 12's tc does not know, and its kernels lack."""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path

import pytest
from guests import Report

from lab import cli
from lab.engines.script import run_script
from lab.toolchain import build

HERE = Path(__file__).resolve().parent / "guest"
REFUSALS = [
    'unknown parameter "target"',
    '"limit" must be at least 1 packet',
    '"limit" must be at least 1 packet',
    '"limit" must be at least 1 packet',
]


@cache
def report() -> Report:
    """What the experiment printed."""
    files = {"lib.sh": HERE / "lib.sh", **build.tc_plugin("sch_dualpi2")}
    rc, console = run_script("uml", HERE / "dualpi2.sh", files=files)
    assert rc == 0, console
    return Report(console)


def test_json_is_json() -> None:
    (qdisc,) = json.loads(report().part("json"))
    assert qdisc["kind"] == "dualpi2"
    assert qdisc["options"] == {"limit": 77, "target": 15_000}
    assert {"prob", "delay_c_us", "delay_l_us", "ecn_mark", "step_mark"} <= set(qdisc)


def test_text_shows_the_same() -> None:
    text = report().part("text")
    assert "limit 77p target 15000us" in text
    assert "prob 0.000000 delay_c 0us" in text


def test_nonsense_is_refused() -> None:
    said = report().part("refusals").split("rc=1\n")
    assert len(said) == len(REFUSALS) + 1
    for text, reason in zip(said, REFUSALS, strict=False):
        assert f"dualpi2: {reason}" in text
    assert "dualpi2" not in report().part("none")


def test_kernel_without_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "run", "--kernel", "6.12", "--qdisc", "dualpi2"])
    assert cli.main() == 1
    assert "has no module sch_dualpi2" in capsys.readouterr().err.splitlines()[-1]
