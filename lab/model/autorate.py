# SPDX-License-Identifier: GPL-2.0
"""A comparator: cake whose bandwidth a program sets, by the rule of cake-autorate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lab.model.options import ScenarioError
from lab.model.units import UnitError, parse_rate


@dataclass(frozen=True)
class Autorate:
    """Its three rates; lab/guest/autorate/rule.h has the rule."""

    NAME: ClassVar[str] = "cake-autorate"
    min_bps: int
    base_bps: int
    max_bps: int

    @classmethod
    def parse(cls, words: Sequence[str]) -> Autorate:
        """Reads "cake-autorate min 1mbit base 10mbit max 50mbit", as words."""
        option = f"--qdisc {' '.join(words)!r}"
        given = dict(zip(words[1::2], words[2::2], strict=False))
        if len(words) != 7 or list(given) != ["min", "base", "max"]:
            raise ScenarioError(f"{option}: want {cls.NAME} min RATE base RATE max RATE")
        try:
            found = cls(*map(parse_rate, given.values()))
        except UnitError as error:
            raise ScenarioError(f"{option}: {error}") from error
        if not 0 < found.min_bps <= found.base_bps <= found.max_bps:
            raise ScenarioError(f"{option}: more than 0, and no rate below the one before it")
        return found

    @property
    def rates_bps(self) -> tuple[int, int, int]:
        """The least, the base and the most."""
        return self.min_bps, self.base_bps, self.max_bps

    @property
    def tc_words(self) -> list[str]:
        """The qdisc as it is at first."""
        return ["cake", "bandwidth", f"{self.base_bps}bit"]
