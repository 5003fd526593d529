# SPDX-License-Identifier: GPL-2.0
"""Core-stateless fair queueing: fair to senders that heed nothing, and deaf to nonsense."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from frames import ECT0, Frame
from guests import OUT, Report, program

from lab.engines.script import run_script

HERE = Path(__file__).resolve().parent / "guest"
LINK_MBPS, SECONDS = 12, 10
# 12 Mbit/s among senders of 2, 8 and 24: one is content with less than a third.
SHARES_MBPS = {1000: 2.0, 1001: 5.0, 1002: 5.0}
TOLERANCE = 0.05

REFUSALS = {
    "limit 100": "rate must be 10kbit to 10gbit",
    "rate 9kbit": "rate must be 10kbit to 10gbit",
    "rate 11gbit": "rate must be 10kbit to 10gbit",
    "rate 12mbit limit 0": "limit must be 1 to 1000000 packets",
    "rate 12mbit k 999us": "k must be 1ms to 10s",
    "rate 12mbit k_alpha 11s": "k_alpha must be 1ms to 10s",
    "rate 12mbit window 0": "window must be 1ms to 10s",
    "rate fast": 'bad or no value of "rate"',
    "rate 12mbit limit": 'bad or no value of "limit"',
    "rate 12mbit fair": 'unknown parameter "fair"',
}
CLASS = re.compile(r"class meter 2:(\w+) parent 2: \n Sent (\d+) bytes")


def _line(port: int) -> str:
    """1000 bytes to that port, which the meter tells flows by; the checksum is nobody's concern."""
    frame = Frame(9, ecn=ECT0, payload=bytes(958)).bytes()
    return (frame[:36] + port.to_bytes(2, "big") + frame[38:]).hex()


@cache
def report() -> Report:
    """What the experiment printed."""
    OUT.mkdir(parents=True, exist_ok=True)
    refusals, lines = OUT / "csfq_refusals", OUT / "csfq_frames"
    refusals.write_text("".join(f"{words}\n" for words in REFUSALS))
    lines.write_text("".join(f"{_line(port)}\n" for port in SHARES_MBPS))
    rc, console = run_script(
        "uml",
        HERE / "csfq.sh",
        files=[HERE / "lib.sh", program("frames"), refusals, lines],
        kmods=["sch_meter", "sch_csfq"],
    )
    assert rc == 0, console
    return Report(console)


def qdisc(part: str = "dropping") -> dict[str, Any]:
    """CSFQ's statistics in a part."""
    (found,) = [q for q in json.loads(report().part(part)) if q["kind"] == "csfq"]
    return found


@pytest.mark.parametrize("port", SHARES_MBPS)
def test_share_is_fair(port: int) -> None:
    sent = {int(minor, 16): int(count) for minor, count in CLASS.findall(report().part("classes"))}
    mbps = sent[2 + port] * 8 / SECONDS / 1e6
    assert mbps == pytest.approx(SHARES_MBPS[port], rel=TOLERANCE)


def test_fair_share_is_known() -> None:
    assert qdisc()["fair_share"] / 1e6 == pytest.approx(5, rel=0.1)
    accepted = mean(qdisc(f"rates.{i + 1}")["accepted_rate"] for i in range(20))
    assert accepted / 1e6 == pytest.approx(LINK_MBPS, rel=0.05)
    assert qdisc()["congested"] is True


def test_drops_are_accounted() -> None:
    found = qdisc()
    assert found["drops"] == found["drop_share"] + found["drop_limit"]
    assert found["drop_share"] > found["drop_limit"]


def test_nothing_is_marked_unless_asked_for() -> None:
    assert qdisc()["ecn_mark"] == 0


def test_marks_instead_of_drops() -> None:
    before, after = qdisc("changed"), qdisc("marking")
    assert after["ecn_mark"] > 100
    # Those that the queue had no room for are dropped for it, or for their share.
    assert after["drops"] > before["drops"]
    assert after["drops"] == after["drop_share"] + after["drop_limit"]


def test_options_are_shown() -> None:
    options = {
        "rate": 12_000_000, "limit": 200, "k": 50_000, "k_alpha": 200_000, "window": 100_000,
    }  # fmt: skip
    assert qdisc()["options"] == options | {"ecn": False}
    assert qdisc("changed")["options"] == options | {"ecn": True}


def test_nonsense_is_refused() -> None:
    said = re.split(r"rc=\d+\n", report().part("refusals"))[: len(REFUSALS)]
    assert len(said) == len(REFUSALS)
    for text, reason in zip(said, REFUSALS.values(), strict=True):
        assert reason in text
