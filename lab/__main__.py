# SPDX-License-Identifier: GPL-2.0
"""Entry point: python3 -m lab."""

import sys

from lab import interpreter

interpreter.choose()

from lab.cli import main  # noqa: E402 - needs the interpreter that was chosen

sys.exit(main())
