# SPDX-License-Identifier: GPL-2.0
"""What the tests of the laboratory share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from lab.model.grid import Sweep
from lab.runs import sweep, sweepfile


@pytest.fixture(autouse=True, scope="session")
def git_is_asked_once() -> Iterator[None]:
    """The sources do not change meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sweep, "revision", cache(sweep.revision))
        yield


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Sweep]:
    """Reads a sweep file of that text."""

    def read(text: str) -> Sweep:
        path = tmp_path / "small.toml"
        path.write_text(text)
        return sweepfile.load(path)

    return read
