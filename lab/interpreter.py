# SPDX-License-Identifier: GPL-2.0
"""Chooses the Python that runs the laboratory.

Debian's has matplotlib; the first python3 in PATH may be another one, which has not.
Any Python 3 must be able to read this module.
"""

import os
import sys
from importlib.util import find_spec

SYSTEM = "/usr/bin/python3"
OLDEST = (3, 11)
NEEDED = "matplotlib"
PASSED_ON = "ZRTT_LAB_PASSED_ON"
"""Is in the environment of the interpreter that was chosen, so that it chooses no other."""


def suits() -> bool:
    """Whether the running interpreter can do all that the laboratory does."""
    return sys.version_info[:2] >= OLDEST and find_spec(NEEDED) is not None


def choose() -> None:
    """Starts the laboratory again with the system's Python, unless this one suits; at most once."""
    chosen = os.environ.pop(PASSED_ON, None)
    if chosen or suits() or not os.access(SYSTEM, os.X_OK):
        return
    sys.stdout.flush()
    command = [SYSTEM, "-m", "lab", *sys.argv[1:]]
    os.execve(SYSTEM, command, {**os.environ, PASSED_ON: "1"})
