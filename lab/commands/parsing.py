# SPDX-License-Identifier: GPL-2.0
"""What the parsers of the commands share."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TypeVar

Commands = argparse._SubParsersAction
T = TypeVar("T")


def told(parse: Callable[[str], T]) -> Callable[[str], T]:
    """The parser of an option's value, whose ValueErrors are shown in its own words."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return parsed


class Help(argparse.ArgumentDefaultsHelpFormatter):
    """Shows defaults, but for options that have none."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return super()._get_help_string(action) if action.default else action.help


def limit_s(text: str) -> float:
    """Reads a limit of time, in seconds."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not 0 < found < math.inf:
        raise argparse.ArgumentTypeError(f"{text}: want seconds, more than 0")
    return found


def seeds(text: str) -> list[int]:
    """Reads 1,2,...; what is there twice counts once."""
    return list(dict.fromkeys(int(word) for word in text.split(",")))
