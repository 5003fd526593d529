# SPDX-License-Identifier: GPL-2.0
"""Entry point: python3 -m lab."""

import sys

from lab.cli import main

sys.exit(main())
