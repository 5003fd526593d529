# SPDX-License-Identifier: GPL-2.0
"""Arithmetic that C does not define fails the test that met it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _defined(capfd: pytest.CaptureFixture[str]) -> Iterator[None]:
    yield
    assert "runtime error" not in capfd.readouterr().err
