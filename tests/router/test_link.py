# SPDX-License-Identifier: GPL-2.0
"""zrtt-link and ifupdown's hook where something is missing: with a tc that only notes what it is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from routers import ROUTER

ZRTT = "qdisc zrtt 8001: root refcnt 2 mode zrtt"
HOOK = ROUTER / "ifupdown" / "zrtt"
STANZA = {"IFACE": "eth0", "IF_ZRTT_UPLINK": "20mbit"}


def program(folder: Path, name: str, script: str) -> None:
    """One that is found first."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run(folder: Path, *words: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """With the programs of a folder, and the system's."""
    return subprocess.run(
        words, env={"PATH": f"{folder}:{os.environ['PATH']}", **settings},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(("redirected", "told"), [(False, 0), (True, 2)])
def test_rate_needs_the_redirection(tmp_path: Path, redirected: bool, told: int) -> None:
    """Without it, nothing is changed: as if clsact was deleted, but not the ifb device."""
    shown = "echo '(Egress Redirect to device ifb-eth0) stolen'" if redirected else ":"
    log = tmp_path / "log"
    log.touch()
    program(
        tmp_path, "tc",
        f"case $* in\nfilter*) {shown} ;;\n*show*) echo '{ZRTT}' ;;\n*) echo $* >>{log} ;;\nesac",
    )  # fmt: skip
    rates = {"ZRTT_UPLINK": "5mbit", "ZRTT_DOWNLINK": "9mbit"}
    done = run(tmp_path, ROUTER / "sbin" / "zrtt-link", "rate", "eth0", **rates)
    assert len(log.read_text().splitlines()) == told
    assert (done.returncode == 0) == redirected
    assert ("nothing redirects what arrives to ifb-eth0" in done.stderr) == (not redirected)


@pytest.mark.parametrize("mode", ["start", "stop"])
def test_hook_that_is_left_behind_is_silent(tmp_path: Path, mode: str) -> None:
    """Of a package that was removed, not purged."""
    done = subprocess.run(
        [HOOK], env={"PATH": str(tmp_path), "MODE": mode, **STANZA},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize(("mode", "verb"), [("start", "up"), ("stop", "down")])
def test_hook_warns_where_it_fails(tmp_path: Path, mode: str, verb: str) -> None:
    """As without the module: the link itself is up all the same."""
    program(tmp_path, "zrtt-link", "echo $* $ZRTT_UPLINK; exit 2")
    done = run(tmp_path, HOOK, MODE=mode, **STANZA)
    assert (done.returncode, done.stdout) == (0, f"{verb} eth0 20mbit\n")
    assert done.stderr == f"zrtt: zrtt-link {verb} eth0 failed\n"


def test_hook_leaves_other_stanzas_alone(tmp_path: Path) -> None:
    program(tmp_path, "zrtt-link", "echo $*")
    done = run(tmp_path, HOOK, MODE="start", IFACE="eth0")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
