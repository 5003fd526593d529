# SPDX-License-Identifier: GPL-2.0
"""Shell scripts stop at errors and please shellcheck."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from sources import ROOT, all_sources, name_of

SCRIPTS = [path for path in all_sources() if path.suffix == ".sh"] + [ROOT / ".ci/run"]
BASH = [path for path in SCRIPTS if path.read_text().startswith("#!/bin/bash")]


@pytest.mark.parametrize("path", SCRIPTS, ids=name_of)
def test_shellcheck_is_silent(path: Path) -> None:
    command = ["shellcheck", "--external-sources", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("path", BASH, ids=name_of)
def test_bash_stops_at_errors(path: Path) -> None:
    assert "set -euo pipefail" in path.read_text()
