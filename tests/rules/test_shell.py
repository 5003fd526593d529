# SPDX-License-Identifier: GPL-2.0
"""Shell scripts stop at errors and please shellcheck."""

from __future__ import annotations

import subprocess

from sources import ROOT, all_sources, name_of

SCRIPTS = [path for path in all_sources() if path.suffix == ".sh"] + [ROOT / ".ci/run"]
BASH = [path for path in SCRIPTS if path.read_text().startswith("#!/bin/bash")]


def test_shellcheck_is_silent() -> None:
    """About all scripts: one process for each would take longer to start than to read it."""
    command = ["shellcheck", "--external-sources", *map(name_of, SCRIPTS)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_bash_stops_at_errors() -> None:
    assert [name_of(path) for path in BASH if "set -euo pipefail" not in path.read_text()] == []
