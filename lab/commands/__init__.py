# SPDX-License-Identifier: GPL-2.0
"""The commands of `python3 -m lab`, a module for each: add() declares its options."""
