# SPDX-License-Identifier: GPL-2.0
"""Reads and writes quantities the way tc does."""

from __future__ import annotations

import re

_RATES_BPS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
_TIMES_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}


class UnitError(ValueError):
    """A quantity that cannot be read."""


def _parse(text: str, units: dict[str, float] | dict[str, int], what: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]+)", text.strip().lower())
    if not match or match[2] not in units:
        raise UnitError(f"bad {what} {text!r}: a number and one of {', '.join(units)}")
    return float(match[1]) * units[match[2]]


def parse_rate(text: str) -> int:
    """Bits per second from "20mbit"."""
    return round(_parse(text, _RATES_BPS, "rate"))


def parse_time(text: str) -> float:
    """Milliseconds from "20ms"."""
    return _parse(text, _TIMES_MS, "time")


def format_ms(ms: float) -> str:
    """A time as tc reads it, to the microsecond."""
    return f"{round(ms * 1000)}us"
