# SPDX-License-Identifier: GPL-2.0
"""Shell scripts stop at errors and please shellcheck."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

from sources import ROOT, all_sources, name_of

from lab.host.cache import filled

SCRIPTS = [path for path in all_sources() if path.suffix == ".sh"] + [ROOT / ".ci/run"]
BASH = [path for path in SCRIPTS if path.read_text().startswith("#!/bin/bash")]


SHELLCHECK = ["shellcheck", "--external-sources", *map(name_of, SCRIPTS)]


def checked(_: Path) -> None:
    """All in one process: one for each script would take longer to start than to read it."""
    done = subprocess.run(SHELLCHECK, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_shellcheck_is_silent(tmp_path: Path) -> None:
    """In a quick run, scripts that it was silent about are not read again."""
    if not os.environ.get("QUICK"):
        checked(tmp_path)
        return
    digest = hashlib.sha256(subprocess.check_output(["shellcheck", "--version"]))
    for path in SCRIPTS:
        digest.update(f"{name_of(path)}\0{path.read_text()}\0".encode())
    filled(ROOT / "out" / "shellcheck" / digest.hexdigest()[:16], checked)


def test_bash_stops_at_errors() -> None:
    assert [name_of(path) for path in BASH if "set -euo pipefail" not in path.read_text()] == []
