# SPDX-License-Identifier: GPL-2.0
"""What the parsers of the commands share."""

from __future__ import annotations

import argparse

Commands = argparse._SubParsersAction


class Help(argparse.ArgumentDefaultsHelpFormatter):
    """Shows defaults, but for options that have none."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        return super()._get_help_string(action) if action.default else action.help


def seeds(text: str) -> list[int]:
    """Reads 1,2,..."""
    return [int(word) for word in text.split(",")]
