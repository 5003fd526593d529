# SPDX-License-Identifier: GPL-2.0
"""Fixtures of the monitor's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from canned import Canned


@pytest.fixture
def kernel(tmp_path: Path) -> Canned:
    """Replaces the kernel by prepared replies."""
    canned = Canned(tmp_path)
    canned.say([])
    return canned
