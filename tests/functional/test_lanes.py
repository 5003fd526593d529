# SPDX-License-Identifier: GPL-2.0
"""Lanes below a parent that peeks: a full queue, a reset, and modes that have none."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

import pytest
from cases import ATTRIBUTES, LOAD_LINE, QUEUED_FRAMES
from guests import HERE, Report, program, unaccounted

from lab.engines.script import run_script
from lab.toolchain import build

KERNEL = "uml"
LIMIT = 60
THIN = [frame.line() for frame in QUEUED_FRAMES[:12]]


@cache
def report() -> Report:
    """What the guest said."""
    with tempfile.TemporaryDirectory() as folder:
        files = {"load": Path(folder) / "load", "thin": Path(folder) / "thin"}
        files["load"].write_text(f"{LOAD_LINE}\n")
        files["thin"].write_text("".join(f"{line}\n" for line in THIN))
        files["switch"] = Path(folder) / "switch"
        number = ATTRIBUTES["LANES"].number
        files["switch"].write_text(f"{number} 1 0\n{number} 1 1\n")
        files |= {"nlset": program("nlset"), "frames": program("frames"), "lib.sh": HERE / "guest" / "lib.sh"}
        files |= build.tc_plugin("sch_zrtt")
        rc, console = run_script(
            KERNEL, HERE / "guest" / "lanes.sh", files=files, kmods=["sch_zrtt"],
        )  # fmt: skip
    assert rc == 0, console
    return Report(console)


def test_kernel_log_is_clean() -> None:
    assert not report().trouble()


def test_full_queue_loses_no_sparse_packet() -> None:
    """They made room for themselves, and went first."""
    got = report().lines("received")
    assert [line for line in got if line in THIN] == THIN
    last = max(i for i, line in enumerate(got) if line in THIN)
    assert len(got) - last > LIMIT / 2
    full = report().qdisc("full")
    assert full["backlog_packets"] == LIMIT
    assert full["drop_limit"] >= len(THIN)


@pytest.mark.parametrize("part", ["full", "drained", "before", "down", "up"])
def test_each_packet_is_accounted_for(part: str) -> None:
    assert unaccounted(report().qdisc(part)) == 0


def test_drained_queue_is_empty() -> None:
    for part in ("drained", "up"):
        qdisc = report().qdisc(part)
        ends = ("qlen", "backlog", "backlog_packets", "memory_used")
        assert [qdisc[end] for end in ends] == [0] * 4


def test_reset_empties_all_lanes() -> None:
    before, down, up = (report().qdisc(part) for part in ("before", "down", "up"))
    assert before["backlog_packets"] == LIMIT
    assert (down["backlog_packets"], down["memory_used"], down["qlen"]) == (0, 0, 0)
    assert down["purged"] >= LIMIT - 2
    assert up["packets"] - down["packets"] == 2 * len(THIN)


@pytest.mark.parametrize("mode", ["blue", "paper", "mrtt", "prto"])
def test_reproductions_have_no_lanes(mode: str) -> None:
    off, on = report().lines(f"switched.{mode}")
    assert off.split()[0] == "0"
    error, attribute, message = on.split(" ", 2)
    assert int(error) < 0
    assert int(attribute) == ATTRIBUTES["LANES"].number
    assert message == "sch_zrtt: lanes need mode zrtt"


def test_lanes_are_switched() -> None:
    assert [line.split()[0] for line in report().lines("switched.zrtt")] == ["0", "0"]
