# SPDX-License-Identifier: GPL-2.0
"""Python and Mininet for a guest that does not see this machine's files."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from lab.engines import guest_python
from lab.mininet.network import MininetError, absent

PROGRAMS = ("python3", "bash", "mnexec", "ifconfig", "which")
"""Beside those of any guest: what Mininet calls."""
ENVIRONMENT = guest_python.ENVIRONMENT


def files() -> dict[str, Path]:
    """Name below $LAB -> file here."""
    spec = find_spec("mininet")
    if not spec or not spec.origin:
        raise MininetError(absent())
    return guest_python.files(Path(spec.origin).parent)
