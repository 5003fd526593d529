# SPDX-License-Identifier: GPL-2.0
"""Numbers that a program prints, one at the start of each line."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


class SampleError(ValueError):
    """A line that is no number, or no line."""


@dataclass(frozen=True)
class Samples:
    """Of all that a program printed, warm-up included."""

    unit: str
    count: int
    median: float
    p95: float
    """The least that 95 % do not exceed."""

    @classmethod
    def of(cls, unit: str, values: Sequence[float]) -> Samples:
        """Their figures. Raises SampleError if there is none."""
        if not values:
            raise SampleError("printed no sample")
        ordered = sorted(values)
        p95 = ordered[math.ceil(0.95 * len(ordered)) - 1]
        return cls(unit, len(ordered), statistics.median(ordered), p95)

    @classmethod
    def read(cls, unit: str, text: str) -> Samples:
        """From what the program printed. Raises SampleError, which names the line."""
        values = []
        for number, line in enumerate(text.splitlines(), 1):
            try:
                values.append(float(line.split()[0]))
                if not math.isfinite(values[-1]):
                    raise ValueError(line)
            except (ValueError, IndexError) as error:
                raise SampleError(
                    f"printed no number first in line {number}: '{line}'"
                ) from error
        return cls.of(unit, values)
