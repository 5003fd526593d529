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
