# SPDX-License-Identifier: GPL-2.0
"""Models of lines whose rate changes all the time. No trace is a recording of a network.

LTE-like: the logarithm of the rate is a first-order autoregressive process, with a
correlation that falls to 1/e in 1 s (the coherence time), around a median of 10 Mbit/s; the
rate is kept within 1 and 50 Mbit/s. Outages without any service come as a Poisson process,
30 s apart on average, and last 50 to 400 ms.

Starlink-like: at each multiple of 15 s the line is given anew, with a rate drawn from 8 to
45 Mbit/s and after a gap of 20 to 80 ms without service. In between, the logarithm of the
rate varies likewise, but by less and more slowly: 5 s, with a standard deviation of 0.15.

Stalls: 20 Mbit/s, but the line stands still for 1 to 3 s, 10 to 20 s apart.

The rate stays for 20 ms at a time. Frames leave as soon as as many bits have added up.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from lab.traces.mahimahi import FRAME_BITS

STEP_MS = 20
LENGTH_S = 120
LEAST_MBPS, MOST_MBPS = 1.0, 50.0

LTE_MEDIAN_MBPS = 10.0
LTE_DEVIATION = 0.8
"""Of the logarithm."""
LTE_COHERENCE_S = 1.0
OUTAGES_APART_S = 30.0
OUTAGE_MS = (50, 400)

STARLINK_PERIOD_S = 15
STARLINK_MBPS = (8.0, 45.0)
STARLINK_GAP_MS = (20, 80)
STARLINK_DEVIATION = 0.15
STARLINK_COHERENCE_S = 5.0

STALLS_MBPS = 20.0
STALLS_APART_S = (10, 20)
STALL_MS = (1000, 3000)

Rates = list[float]
"""Mbit/s of each millisecond."""


def _variation(chance: random.Random, deviation: float, coherence_s: float) -> Iterator[float]:
    """An autoregressive process around 0, a value for each step."""
    keep = math.exp(-STEP_MS / 1000 / coherence_s)
    value = chance.gauss(0, deviation)
    while True:
        yield value
        value = keep * value + chance.gauss(0, deviation * math.sqrt(1 - keep * keep))


def _within(mbps: float) -> float:
    return min(max(mbps, LEAST_MBPS), MOST_MBPS)


def _silence(rates: Rates, from_ms: int, length_ms: int) -> None:
    for ms in range(from_ms, min(from_ms + length_ms, len(rates))):
        rates[ms] = 0.0


def lte(seconds: int, seed: int) -> Rates:
    """LTE-like."""
    chance = random.Random(f"lte {seed}")
    changes = _variation(chance, LTE_DEVIATION, LTE_COHERENCE_S)
    rates: Rates = []
    for _ in range(seconds * 1000 // STEP_MS):
        rates += [_within(LTE_MEDIAN_MBPS * math.exp(next(changes)))] * STEP_MS
    at_s = chance.expovariate(1 / OUTAGES_APART_S)
    while at_s < seconds:
        _silence(rates, int(at_s * 1000), chance.randint(*OUTAGE_MS))
        at_s += chance.expovariate(1 / OUTAGES_APART_S)
    return rates


def starlink(seconds: int, seed: int) -> Rates:
    """Starlink-like."""
    chance = random.Random(f"starlink {seed}")
    changes = _variation(chance, STARLINK_DEVIATION, STARLINK_COHERENCE_S)
    rates: Rates = []
    given = 0.0
    for step in range(seconds * 1000 // STEP_MS):
        if step % (STARLINK_PERIOD_S * 1000 // STEP_MS) == 0:
            given = chance.uniform(*STARLINK_MBPS)
        rates += [_within(given * math.exp(next(changes)))] * STEP_MS
    for at_s in range(0, seconds, STARLINK_PERIOD_S):
        _silence(rates, at_s * 1000, chance.randint(*STARLINK_GAP_MS))
    return rates


def stalls(seconds: int, seed: int) -> Rates:
    """One that stands still now and then."""
    chance = random.Random(f"stalls {seed}")
    rates: Rates = [STALLS_MBPS] * (seconds * 1000)
    at_s = chance.uniform(*STALLS_APART_S)
    while at_s < seconds:
        _silence(rates, int(at_s * 1000), chance.randint(*STALL_MS))
        at_s += chance.uniform(*STALLS_APART_S)
    return rates


MODELS: dict[str, Callable[[int, int], Rates]] = {
    "lte": lte,
    "starlink": starlink,
    "stalls": stalls,
}


def slots(rates: Sequence[float]) -> tuple[int, ...]:
    """The trace: a time in ms for each frame. The last is the end, where one always leaves."""
    times, bits = [], 0.0
    for ms, mbps in enumerate(rates):
        bits += mbps * 1000
        whole = int(bits // FRAME_BITS)
        times += [ms] * whole
        bits -= whole * FRAME_BITS
    return (*times, len(rates))


@cache
def trace(name: str, seed: int, seconds: int = LENGTH_S) -> tuple[int, ...]:
    """A trace of a model, by its name."""
    return slots(MODELS[name](seconds, seed))
