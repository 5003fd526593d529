# SPDX-License-Identifier: GPL-2.0
"""Bottlenecks beside the qdisc under test, each with a FIFO: a hidden line, or one host's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from lab.model.options import ScenarioError, words
from lab.model.step import Phase
from lab.model.units import UnitError, parse_rate, parse_time
from lab.model.wire import FRAME_BYTES
from lab.traces import mahimahi, models
from lab.traces.mahimahi import TraceError

LINK_BPS = 1_000_000_000
"""Of what leads to it."""
RATES_BPS = (10_000, LINK_BPS)
SETTLED_S = 3.0
"""After a step, before utilisation counts."""
MIN_STEP_S = 4.0
MAX_STEPS = 100
MAX_BUFFER_BYTES = 100_000_000
MAX_LOSS_PERCENT = 50.0
PLACES = ("behind", "before")
"""Where a line is, seen from the qdisc under test; the first if not stated."""
_BYTES = {"B": 1, "kB": 1000, "MB": 1_000_000}


@dataclass(frozen=True)
class Line:
    """Its rate, by steps or by a trace, and the room of its FIFO."""

    buffer_bytes: int
    rates: tuple[tuple[float, int], ...] = ()
    """Since the start of the traffic, warm-up included: seconds, and bit/s from then on."""
    trace: tuple[int, ...] = ()
    """In place of rates: times in ms at which a frame may leave; it repeats."""
    before: bool = False
    """The qdisc under test gets what the line carries, as one on the LAN's side, or on an ifb."""

    @classmethod
    def parse(cls, text: str) -> Line:
        """Reads "rate=20mbit@0,5mbit@20 buffer=500ms", "trace=FILE ..." or "model=lte:1 ...".

        With "place=before" it is before the qdisc under test.
        """
        option = f"--line {text!r}"
        others = ("rate", "trace", "model", "place")
        given = words(text, option, needed=("buffer",), others=others)
        place = given.pop("place", PLACES[0])
        if place not in PLACES:
            raise ScenarioError(f"{option}: place is {' or '.join(PLACES)}")
        if len(given) != 2:
            raise ScenarioError(f"{option}: one of rate, trace and model")
        before = place == "before"
        try:
            if "rate" in given:
                rates = _rates(given["rate"])
                return cls(_buffer(given["buffer"], rates[0][1]), rates=rates, before=before)
            trace = _file(given["trace"]) if "trace" in given else _model(given["model"])
            mean_bps = mahimahi.mean_bps(trace, 0, trace[-1])
            return cls(_buffer(given["buffer"], mean_bps), trace=trace, before=before)
        except (OSError, ValueError) as error:
            raise ScenarioError(f"{option}: {error}") from error

    @cached_property
    def peak_bps(self) -> float:
        """The highest rate; of a trace, within a second."""
        if self.rates:
            return max(rate for _, rate in self.rates)
        return max(
            mahimahi.mean_bps(self.trace, ms, ms + 1000) for ms in range(0, self.trace[-1], 1000)
        )

    def mean_bps(self, from_s: float, to_s: float) -> float:
        """What it could carry in that time."""
        if self.trace:
            return mahimahi.mean_bps(self.trace, from_s * 1000, to_s * 1000)
        steps = self._steps(from_s, to_s)
        return sum(p.rate_bps * (p.to_s - p.from_s) for p in steps) / (to_s - from_s)

    def phases(self, from_s: float, to_s: float) -> list[Phase]:
        """The parts of that time in which utilisation counts: from 3 s after each step on."""
        if self.trace:
            return [Phase(from_s, to_s, round(self.mean_bps(from_s, to_s)))]
        return self._steps(from_s, to_s, SETTLED_S)

    def _steps(self, from_s: float, to_s: float, later_s: float = 0.0) -> list[Phase]:
        """The rates within a time, each but the first from so much after its step on."""
        ends = [at_s for at_s, _ in self.rates[1:]] + [max(to_s, self.rates[-1][0])]
        spans = [
            Phase(max(at_s + later_s if at_s else at_s, from_s), min(end_s, to_s), rate)
            for (at_s, rate), end_s in zip(self.rates, ends, strict=True)
        ]
        return [span for span in spans if span.from_s < span.to_s]


@dataclass(frozen=True)
class Slow:
    """A bottleneck behind all others, which data from one host cross."""

    host: int
    rate_bps: int
    buffer_bytes: int
    loss_percent: float = 0.0
    """Of packets, each by chance, beside what the FIFO drops."""

    @classmethod
    def parse(cls, text: str) -> Slow:
        """Reads "host=0 rate=1mbit buffer=500ms" or "host=0 rate=1gbit buffer=500ms loss=1%"."""
        option = f"--slow {text!r}"
        given = words(text, option, needed=("host", "rate", "buffer"), others=("loss",))
        if not given["host"].isdecimal():
            raise ScenarioError(f"{option}: host is a number, from 0 on")
        try:
            rate = parse_rate(given["rate"])
            if not RATES_BPS[0] <= rate <= RATES_BPS[1]:
                raise ValueError(f"rate {given['rate']!r}: 10kbit to 1gbit")
            buffer = _buffer(given["buffer"], rate)
            return cls(int(given["host"]), rate, buffer, _loss(given.get("loss", "0%")))
        except ValueError as error:
            raise ScenarioError(f"{option}: {error}") from error


def _rates(text: str) -> tuple[tuple[float, int], ...]:
    """Reads "20mbit" or "20mbit@0,5mbit@20"."""
    found = []
    for word in text.split(","):
        match = re.fullmatch(r"([^@]+)(?:@(\d+(?:\.\d+)?))?", word)
        if not match or (match[2] is None and found):
            raise ValueError(f"rate {word!r}: want RATE@SECOND")
        rate = parse_rate(match[1])
        if not RATES_BPS[0] <= rate <= RATES_BPS[1]:
            raise ValueError(f"rate {match[1]!r}: 10kbit to 1gbit")
        found.append((float(match[2] or 0), rate))
    if found[0][0]:
        raise ValueError(f"rate {text!r}: the first is from second 0 on")
    if any(after - before < MIN_STEP_S for (before, _), (after, _) in pairwise(found)):
        raise ValueError(f"rate {text!r}: steps at least {MIN_STEP_S:g} s apart")
    if len(found) > MAX_STEPS:
        raise ValueError(f"rate: at most {MAX_STEPS} steps")
    return tuple(found)


def _loss(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)%", text)
    if not match or float(match[1]) > MAX_LOSS_PERCENT:
        raise ValueError(f"loss {text!r}: 0% to {MAX_LOSS_PERCENT:g}%")
    return float(match[1])


def _file(path: str) -> tuple[int, ...]:
    try:
        return mahimahi.parse(Path(path).read_text(encoding="ascii"))
    except (TraceError, UnicodeDecodeError) as error:
        raise ValueError(f"trace {path}: {error}") from error


def _model(text: str) -> tuple[int, ...]:
    """Reads "lte:1": a model and its seed."""
    name, _, seed = text.partition(":")
    if name not in models.MODELS or not seed.isdecimal():
        raise ValueError(f"model {text!r}: want {' or '.join(models.MODELS)}, and :SEED")
    return models.trace(name, int(seed))


def _buffer(text: str, rate_bps: float) -> int:
    """Bytes, from "500ms" at a rate or from "1250kB"."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(B|kB|MB)", text)
    try:
        size = float(match[1]) * _BYTES[match[2]] if match else parse_time(text) * rate_bps / 8000
    except UnitError as error:
        raise ValueError(f"buffer {text!r}: want a time, or a size as 1250kB") from error
    if not FRAME_BYTES <= size <= MAX_BUFFER_BYTES:
        raise ValueError(f"buffer {text!r}: {size:.0f} bytes, want {FRAME_BYTES} B to 100 MB")
    return round(size)
