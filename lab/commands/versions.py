# SPDX-License-Identifier: GPL-2.0
"""Tells of results that were not all measured with the same sources."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from lab.results import summary
from lab.results.table import Row


def warn(rows: Iterable[Row]) -> None:
    """A line on stderr, if rows of one kernel are of several versions."""
    if found := summary.versions(rows):
        print(f"lab: warning: rows of several versions: {found}", file=sys.stderr)


def warn_of_hidden(rows: Iterable[Row]) -> None:
    """A line on stderr, if tables have runs that a later table has of another version, or another
    run of the same name."""
    rows = list(rows)
    if found := summary.hidden(rows):
        reason = "not shown, as a later row is of the same run"
        print(f"lab: warning: {reason}: {found}", file=sys.stderr)
    if others := summary.hidden_others(rows):
        reason = "not shown, as a later row has the same cell, qdisc and seed"
        print(f"lab: warning: {reason}: {others} of another command", file=sys.stderr)
