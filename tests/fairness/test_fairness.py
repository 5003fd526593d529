# SPDX-License-Identifier: GPL-2.0
"""What it is all for, in one short run: flows of different RTTs get the same.

Ten New Reno flows of 20 to 200 ms share 10 Mbit/s, once with ZRTT and once with
BLUE, which knows nothing of RTTs. Virtual time and a fixed seed: the figures
are the same on each machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out" / "fairness"
SCENARIO = (
    "--kernel 6.12 --rate 10mbit --rtts 20ms..200ms/10 --cc reno --warmup 20 --duration 30 --seed 1"
)
MODES = ("zrtt", "blue")


@dataclass(frozen=True)
class Outcome:
    """The figures looked at here."""

    jain: float
    utilisation: float


def _run(mode: str) -> Outcome:
    OUT.mkdir(parents=True, exist_ok=True)
    result = OUT / f"{mode}.json"
    command = [sys.executable, "-m", "lab", "run", "--qdisc", f"zrtt mode {mode}"]
    command += [*SCENARIO.split(), "--json", str(result)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads(result.read_text())
    return Outcome(figures["jain"], figures["utilisation"])


@cache
def _runs() -> dict[str, Future[Outcome]]:
    pool = ThreadPoolExecutor(max_workers=len(MODES))
    return {mode: pool.submit(_run, mode) for mode in MODES}


def outcome(mode: str) -> Outcome:
    """What came of a mode."""
    return _runs()[mode].result()


def test_flows_get_the_same() -> None:
    assert outcome("zrtt").jain >= 0.97


def test_flows_get_more_alike_than_with_blue() -> None:
    assert outcome("zrtt").jain > outcome("blue").jain


def test_link_is_used() -> None:
    assert outcome("zrtt").utilisation >= 0.95
