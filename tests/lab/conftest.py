# SPDX-License-Identifier: GPL-2.0
"""What the tests of the laboratory share."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from lab.model.grid import Sweep
from lab.runs import sweep, sweepfile

SCENARIOS = Path(__file__).resolve().parents[2] / "lab/scenarios"


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


@pytest.fixture(scope="session")
def scenario_program() -> Callable[[str], ModuleType]:
    """Imports a program of lab/scenarios/ by its name."""

    def load_program(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, SCENARIOS / f"{name}.py")
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look there
        spec.loader.exec_module(module)
        return module

    return load_program
