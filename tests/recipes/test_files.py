# SPDX-License-Identifier: GPL-2.0
"""What is installed, and OpenWrt's packages, as far as that goes without its SDK."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from kbuild import make
from routers import RECIPES

from lab.build import REPO

MANUALS = sorted((RECIPES / "man").iterdir())
SCRIPTS = [*(RECIPES / "sbin").iterdir(), RECIPES / "ifupdown" / "zrtt", RECIPES / "sqm/zrtt.qos"]
LINE = 80

RULES = """
INCLUDE_DIR := $(TOPDIR)/include
INSTALL_DIR := install -d
INSTALL_BIN := install -m 755
INSTALL_DATA := install -m 644
CP := cp -fpR
KERNEL_MAKE := true
TARGET_CONFIGURE_OPTS := CC=gcc
TARGET_CFLAGS := -O2
"""
PACKAGE = """
PKG_BUILD_DIR := $(TOPDIR)/build/$(PKG_NAME)-$(PKG_VERSION)
all:
	$(Build/Prepare)
	$(Build/Compile)
	$(call Package/tc-mod-zrtt/install,$(TOPDIR)/root)
"""


def tree(folder: Path) -> list[str]:
    """All files below it."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_shellcheck_is_silent(script: Path) -> None:
    command = ["shellcheck", "--external-sources", str(script)]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("manual", MANUALS, ids=lambda path: path.name)
def test_manual_has_no_flaw_and_fits_a_terminal(manual: Path) -> None:
    lint = subprocess.run(["mandoc", "-Tlint", manual], capture_output=True, text=True, check=False)
    assert lint.stdout == ""
    command = ["mandoc", "-Tutf8", f"-Owidth={LINE}", manual]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = re.sub(r".\x08", "", shown)
    assert max(map(len, text.splitlines())) <= LINE


@pytest.mark.parametrize("prefix", ["/usr/local", "/usr"])
def test_what_is_installed_is_taken_away(tmp_path: Path, prefix: str) -> None:
    places = (f"DESTDIR={tmp_path}", f"PREFIX={prefix}")
    made = make("-C", "recipes", "install", *places)
    assert made.returncode == 0, made.stderr
    home = prefix.lstrip("/")
    assert {f"{home}/sbin/zrtt-check", f"{home}/lib/zrtt-check/report.sh"} <= set(tree(tmp_path))
    unit = (tmp_path / home / "lib/systemd/system/zrtt@.service").read_text()
    assert f"ExecStart={prefix}/sbin/zrtt-link up %I\n" in unit
    assert "@" not in re.sub(r"zrtt@\w+", "", unit)
    make("-C", "recipes", "uninstall", *places)
    assert tree(tmp_path) == []


def test_check_runs_where_it_is_installed(tmp_path: Path) -> None:
    make("-C", "recipes", "install", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    done = subprocess.run(
        ["zrtt-check", "nope"], env={"PATH": f"{tmp_path}/usr/sbin:{os.environ['PATH']}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "zrtt-check: no device nope\n")


def test_openwrt_packages_have_all_their_files(tmp_path: Path) -> None:
    """By stand-ins for OpenWrt's own rules."""
    (tmp_path / "include").mkdir()
    (tmp_path / "rules.mk").write_text(RULES)
    (tmp_path / "include/kernel.mk").write_text("")
    (tmp_path / "include/package.mk").write_text(PACKAGE)
    done = make(f"TOPDIR={tmp_path}", cwd=RECIPES / "openwrt" / "sch-zrtt")
    assert done.returncode == 0, done.stderr
    parts = [path.name for path in (RECIPES / "lib" / "zrtt-check").iterdir()]
    programs = [path.name for path in (RECIPES / "sbin").iterdir()]
    assert tree(tmp_path / "root") == sorted(
        [f"usr/lib/zrtt-check/{name}" for name in parts]
        + [f"usr/sbin/{name}" for name in programs]
        + ["usr/lib/tc/q_zrtt.so", "usr/lib/sqm/zrtt.qos", "usr/lib/sqm/zrtt.qos.help"]
    )
    (home,) = (tmp_path / "build").iterdir()
    version = re.search(r'PACKAGE_VERSION="(.+)"', (REPO / "dkms.conf").read_text())
    assert version and home.name == f"sch-zrtt-{version[1]}"
    assert {"Kbuild", "sch_zrtt.c", "include/zrtt/zrtt.h"} <= set(tree(home))
