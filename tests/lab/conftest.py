# SPDX-License-Identifier: GPL-2.0
"""What the tests of sweeps share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from lab.model.grid import Sweep
from lab.runs import sweepfile


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Sweep]:
    """Reads a sweep file of that text."""

    def read(text: str) -> Sweep:
        path = tmp_path / "small.toml"
        path.write_text(text)
        return sweepfile.load(path)

    return read
