# SPDX-License-Identifier: GPL-2.0
"""Draws hidden lines at random, for what follows their rate: each from a seed and a number."""

from __future__ import annotations

from collections.abc import Callable

from lab.arena.draw import Chance, Drawn
from lab.model.grid import FIELDS, Options
from lab.model.line import PLACES

FAST_KBPS = (4_000, 100_000)
"""The faster rate of a line, uniform in its logarithm as all that follows,"""
FALLS = (2, 30)
"""by how much the slower one is less,"""
LEAST_KBPS = 400
"""but at least that,"""
BUFFER_S = (0.1, 1.5)
"""and how long the slowest rate takes to send what fits into its FIFO,"""
LEAST_BUFFER_BYTES = 6_000
"""at least four packets."""
RTTS_MS = (8, 150)
HOSTS = (1, 1, 2, 3)
"""One of these at random,"""
SESSIONS = (1, 1, 1, 2, 2, 4, 8)
"""and of these: flows of each."""
CCS = ("cubic", "cubic", "bbr", "reno", "mix:cubic,bbr")
ECN = ("on", "off")
CALLS, PAGES = 0.4, 0.3
"""Of the scenarios have calls, and web pages."""
WALK_S, WALK = 5, 0.4
"""How often a rate walks, and the standard deviation of its logarithm."""
WARMUP_S, DURATION_S = 20, 60
UNUSED_RATE = "20mbit"
"""What a table has of each run; the bottleneck is the line."""

Rates = list[tuple[float, float]]
"""kbit/s, and from which second on."""


def _falls(chance: Chance, fast: float, slow: float) -> Rates:
    return [(fast, 0), (slow, 40)]


def _rises(chance: Chance, fast: float, slow: float) -> Rates:
    return [(slow, 0), (fast, 40)]


def _changes(chance: Chance, fast: float, slow: float) -> Rates:
    return [(fast, 0), (slow, 35), (fast, 50), (slow, 65)]


def _dips(chance: Chance, fast: float, slow: float) -> Rates:
    dips = [at for begins in (30, 43, 56) for at in ((slow, begins), (fast, begins + 4))]
    return [(fast, 0), *dips]


def _walks(chance: Chance, fast: float, slow: float) -> Rates:
    times = range(0, WARMUP_S + DURATION_S, WALK_S)
    return [(max(LEAST_KBPS, fast * chance.lognormvariate(0, WALK)), at_s) for at_s in times]


SHAPES: tuple[Callable[[Chance, float, float], Rates], ...] = (
    _falls, _rises, _changes, _dips, _walks,
)  # fmt: skip


def _line(chance: Chance) -> str:
    fast = chance.log_uniform(*FAST_KBPS)
    slow = max(LEAST_KBPS, fast / chance.log_uniform(*FALLS))
    rates = chance.choice(SHAPES)(chance, fast, slow)
    slowest_bytes_per_s = min(kbps for kbps, _ in rates) * 1000 / 8
    buffer = max(LEAST_BUFFER_BYTES, round(slowest_bytes_per_s * chance.log_uniform(*BUFFER_S)))
    return f"rate={','.join(f'{kbps:.0f}kbit@{at_s}' for kbps, at_s in rates)} buffer={buffer}B"


def draw_line(arena: int, number: int, place: str = PLACES[0]) -> Drawn:
    """Scenario number NUMBER, from 1 on, of the arena of lines with that seed; it is at `place`.

    What passes both ways is timed where zrtt is on both sides, so it is on the way back.
    """
    chance = Chance(f"line {arena} {number}")
    seed = chance.randrange(1, 1_000_000)
    rtts = [chance.log_uniform(*RTTS_MS) for _ in range(chance.choice(HOSTS))]
    options: Options = {
        "rate": UNUSED_RATE,
        "rtts": ",".join(f"{rtt:.3g}ms" for rtt in rtts),
        "sessions": str(chance.choice(SESSIONS)),
        "cc": chance.choice(CCS),
        "ecn": chance.choice(ECN),
        "gso": "off",
        "hint": "none",
        "warmup": str(WARMUP_S),
        "duration": str(DURATION_S),
        "back": "zrtt timestamps",
        "line": _line(chance),
    }
    if place != PLACES[0]:
        options["line"] += f" place={place}"
    if options["sessions"] == "1" and len(rtts) == 1:
        options["cc"] = options["cc"].removeprefix("mix:").split(",")[0]
    options |= {"thin": "voip*2"} if chance.happens(CALLS) else {}
    options |= {"churn": "load=20% size=web"} if chance.happens(PAGES) else {}
    return Drawn(arena, number, {name: options[name] for name in FIELDS if name in options}, seed)
