# SPDX-License-Identifier: GPL-2.0
"""Debian packages: free of faults, and what becomes of a machine that they come to and leave."""

from __future__ import annotations

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from kbuild import ROOT
from life import MODULES, OUT, PACKAGES, PROGRAMS, Life, live, packages

from lab.kernels.debian import newest_release

SERIES = "6.1"
VERSION = re.search(r'(?m)^PACKAGE_VERSION="(.+)"$', (ROOT / "dkms.conf").read_text())[1]


@cache
def _life() -> Life:
    return live(SERIES)


@pytest.fixture
def life() -> Life:
    """That of the packages on Debian 12's kernel."""
    return _life()


def test_all_packages_are_built() -> None:
    assert {package.name.partition("_")[0] for package in packages()} == set(PACKAGES)


def test_lintian_has_nothing_to_say() -> None:
    packages()
    (changes,) = (ROOT / OUT).glob("*.changes")
    command = ["lintian", "--allow-root", "--fail-on", "error,warning", changes]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_tools_come_with_what_they_call() -> None:
    """Also without what is but recommended."""
    (tools,) = (package for package in packages() if package.name.startswith("zrtt-tools_"))
    command = ["dpkg-deb", "--field", tools, "Depends"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "iproute2" in done.stdout.split(", ")


@pytest.mark.parametrize(
    ("why", "chroot", "said"),
    [("remove", 1, "detach --all\n"), ("remove", 2, "detach --all\n"), ("remove", 0, ""), ("upgrade", 1, "")],
)
def test_removal_detaches(tmp_path: Path, why: str, chroot: int, said: str) -> None:
    """From the machine's devices, which are not those of a chroot. What ischroot says of one is 0."""
    for name, script in (("zrtt-agent", "echo $*; exit 2"), ("ischroot", f"exit {chroot}")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    done = subprocess.run(
        ["sh", ROOT / "debian" / "zrtt-agent.prerm", why],
        env={"PATH": f"{tmp_path}:{os.environ['PATH']}"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, said)


def test_modules_are_built_for_the_kernel(life: Life) -> None:
    release = newest_release(SERIES)
    folder = f"lib/modules/{release}/updates/dkms"
    assert {f"usr/{folder}/{name}.ko" for name in MODULES} <= life.installed
    for name in ("sch_zrtt", "tcp_rttfair"):
        assert f"{name}/{VERSION}, {release}, x86_64: installed" in life.status


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_runs(life: Life, program: str) -> None:
    assert VERSION in life.versions[program]


def test_qdisc_is_loaded_and_used(life: Life) -> None:
    assert "qdisc zrtt" in life.guest
    assert "loaded 2" in life.guest


def test_nothing_is_started(life: Life) -> None:
    """Nor will it be: a unit that is enabled has a link."""
    units = {path for path in life.installed - life.before if "/systemd/system/" in path}
    assert any(path.endswith("/zrtt-mon.service") for path in units)
    assert not [path for path in units if ".wants/" in path]


def test_purge_leaves_nothing(life: Life) -> None:
    assert life.after == life.before
    assert life.status_after == ""
