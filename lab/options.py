# SPDX-License-Identifier: GPL-2.0
"""What the options of a scenario share."""

from __future__ import annotations


class ScenarioError(ValueError):
    """An option that makes no sense; the message names it."""
