# SPDX-License-Identifier: GPL-2.0
"""Installed files, and the OpenWrt packages as far as they can be tested without an SDK."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from kbuild import make
from routers import INSTALLS, ROUTER

from lab.toolchain.build import REPO

MANUALS = sorted((ROUTER / "man").iterdir())
SCRIPTS = [*(ROUTER / "sbin").iterdir(), ROUTER / "ifupdown" / "zrtt", ROUTER / "sqm/zrtt.qos"]
LINE = 80

OPENWRT = ROUTER / "openwrt" / "sch-zrtt"
TOP_OF_MAKEFILE = "No SDK of OpenWrt has built this"
PACKAGES = {
    "kmod-sched-zrtt": {"@!LINUX_5_15", "+kmod-sched-core"},
    "tc-mod-zrtt": {"+tc-full", "+kmod-sched-zrtt"},
    "zrtt-scripts": {"+tc-mod-zrtt", "+ip-full", "+kmod-ifb"},
    "sqm-scripts-zrtt": {"+sqm-scripts", "+tc-mod-zrtt"},
    "zrtt-mon": {"+libnl-core", "+libncurses", "+libmicrohttpd-no-ssl"},
}
"""Name -> what it depends on."""

# What packages use of OpenWrt's rules.mk, include/kernel.mk and include/package.mk. A kernel
# is not built: what its make is told is checked, and the module is an empty file.
RULES = """
INCLUDE_DIR := $(TOPDIR)/include
INSTALL_DIR := install -d
INSTALL_BIN := install -m 755
INSTALL_DATA := install -m 644
CP := cp -fpR
TARGET_CFLAGS := -O2
MAKE_VARS := CC=gcc
comma := ,
"""
KERNEL_RULES = r"""
KERNEL_MAKE := sh -c 'cd "$${1\#M=}" && test "$$2" = modules -a -e Kbuild && touch sch_zrtt.ko' sh
AutoProbe = probe $(1)
define KernelPackage
$(eval $(KernelPackage/$(1)))$(info package: kmod-$(1)|$(TITLE)|$(DEPENDS)|$(AUTOLOAD)|$(FILES))
endef
"""
PACKAGE_RULES = """
PKG_BUILD_DIR := $(TOPDIR)/build/$(PKG_NAME)-$(PKG_VERSION)
define BuildPackage
$(eval $(Package/$(1)))$(info package: $(1)|$(TITLE)|$(DEPENDS)|$(SECTION) $(CATEGORY)|)
all: $(1)
$(1): compile
	$$(call Package/$(1)/install,$(TOPDIR)/root/$(1))
endef
compile:
	$(Build/Prepare)
	$(Build/Compile)
nothing:
.PHONY: all compile nothing
.DEFAULT_GOAL := all
$(foreach v,NAME VERSION RELEASE LICENSE LICENSE_FILES MAINTAINER SOURCE_PROTO SOURCE_URL \
	SOURCE_VERSION MIRROR_HASH FILE_DEPENDS,$(info PKG_$(v): $(PKG_$(v))))
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
def test_manual_formats_silently_and_fits_a_terminal(manual: Path) -> None:
    lint = subprocess.run(["mandoc", "-Tlint", manual], capture_output=True, text=True, check=False)
    assert lint.stdout == ""
    command = ["mandoc", "-Tutf8", f"-Owidth={LINE}", manual]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = re.sub(r".\x08", "", shown)
    assert max(map(len, text.splitlines())) <= LINE
    assert '""' not in text


@pytest.mark.parametrize("prefix", ["/usr/local", "/usr"])
def test_uninstall_removes_what_install_added(tmp_path: Path, prefix: str) -> None:
    places = (f"DESTDIR={tmp_path}", f"PREFIX={prefix}")
    made = make("-C", "router", *INSTALLS, *places)
    assert made.returncode == 0, made.stderr
    home = prefix.lstrip("/")
    assert {f"{home}/sbin/zrtt-check", f"{home}/lib/zrtt-check/report.sh"} <= set(tree(tmp_path))
    unit = (tmp_path / home / "lib/systemd/system/zrtt@.service").read_text()
    assert f"ExecStart={prefix}/sbin/zrtt-link up %I\n" in unit
    assert not re.search(r"@[A-Z]+@", unit)
    make("-C", "router", "uninstall", *places)
    assert tree(tmp_path) == []


def test_check_runs_where_it_is_installed(tmp_path: Path) -> None:
    make("-C", "router", "install", f"DESTDIR={tmp_path}", "PREFIX=/usr")
    done = subprocess.run(
        ["zrtt-check", "nope"], env={"PATH": f"{tmp_path}/usr/sbin:{os.environ['PATH']}"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "zrtt-check: no device nope\n")


def _openwrt(tmp_path: Path, *words: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Variables of the package, and packages with their title, dependencies and the like."""
    (tmp_path / "include").mkdir()
    (tmp_path / "rules.mk").write_text(RULES)
    (tmp_path / "include/kernel.mk").write_text(KERNEL_RULES)
    (tmp_path / "include/package.mk").write_text(PACKAGE_RULES)
    done = make(f"TOPDIR={tmp_path}", *words, cwd=OPENWRT)
    assert done.returncode == 0, done.stderr
    variables = dict(re.findall(r"(?m)^PKG_(\w+): (.*)$", done.stdout))
    packages = {}
    for line in re.findall(r"(?m)^package: (.*)$", done.stdout):
        name, *rest = line.split("|")
        packages[name] = rest
    return variables, packages


def test_openwrt_makefile_states_that_it_is_untested() -> None:
    assert TOP_OF_MAKEFILE in " ".join((OPENWRT / "Makefile").read_text().splitlines()[:4])


def test_openwrt_variables_are_set(tmp_path: Path) -> None:
    variables, packages = _openwrt(tmp_path)
    version = re.search(r'PACKAGE_VERSION="(.+)"', (REPO / "dkms.conf").read_text())
    assert version and variables["VERSION"] == version[1]
    assert variables["NAME"] == "sch-zrtt" and variables["RELEASE"].isdigit()
    assert variables["LICENSE"] == "GPL-2.0-only"
    assert (REPO / variables["LICENSE_FILES"]).is_file()
    assert variables["MAINTAINER"] in (REPO / "debian" / "control").read_text()
    assert all(Path(path).exists() for path in variables["FILE_DEPENDS"].split())
    assert {name: set(rest[1].split()) for name, rest in packages.items()} == PACKAGES
    assert all(rest[0] for rest in packages.values())
    (autoload, files) = packages["kmod-sched-zrtt"][2:]
    assert autoload == "probe sch_zrtt"
    assert Path(files).is_file() and Path(files).name == "sch_zrtt.ko"


def test_openwrt_packages_have_all_their_files(tmp_path: Path) -> None:
    _openwrt(tmp_path)
    parts = [path.name for path in (ROUTER / "lib" / "zrtt-check").iterdir()]
    programs = [path.name for path in (ROUTER / "sbin").iterdir()]
    assert tree(tmp_path / "root") == sorted(
        [f"zrtt-scripts/usr/lib/zrtt-check/{name}" for name in parts]
        + [f"zrtt-scripts/usr/sbin/{name}" for name in programs]
        + ["tc-mod-zrtt/usr/lib/tc/q_zrtt.so", "zrtt-mon/usr/sbin/zrtt-mon"]
        + [f"sqm-scripts-zrtt/usr/lib/sqm/zrtt.qos{end}" for end in ("", ".help")]
    )
    (home,) = (tmp_path / "build").iterdir()
    assert {"Kbuild", "sch_zrtt.c", "include/zrtt/zrtt.h"} <= set(tree(home))


def test_openwrt_takes_a_repository(tmp_path: Path) -> None:
    """One that OpenWrt's own rules would fetch: here, only its variables are seen."""
    words = ("ZRTT_URL=https://example.org/zrtt.git", "ZRTT_COMMIT=abc", "nothing")
    variables, packages = _openwrt(tmp_path, *words)
    assert variables["SOURCE_PROTO"] == "git"
    assert variables["SOURCE_URL"] == "https://example.org/zrtt.git"
    assert (variables["SOURCE_VERSION"], variables["MIRROR_HASH"]) == ("abc", "skip")
    assert variables["FILE_DEPENDS"] == ""
    assert set(packages) == set(PACKAGES)


EXPORTED = {"show_stats", "print_nl", "print_tm", "parse_rtattr", "parse_rtattr_flags", "get_u32",
            "matches", "addattr_l", "addattr_nest", "addattr_nest_end"}  # fmt: skip
"""By tc-full, without the line of docs/recipes.md."""


def test_openwrt_line_exports_all_symbols_of_the_plugin(tmp_path: Path) -> None:
    assert make("-C", "tc-plugin", f"OUT={tmp_path}").returncode == 0
    command = ["nm", "-D", "--undefined-only", "--format=just-symbols", tmp_path / "q_zrtt.so"]
    wanted = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    of_tc = {name for name in wanted if "@" not in name and not name.startswith("_")}
    (line,) = re.findall(r"(?s)```make\n(.*?)```", (REPO / "docs/recipes.md").read_text())
    (tmp_path / "flags.mk").write_text(f"{line}\nall:\n\t@echo $(TARGET_LDFLAGS)\n")
    told = make("-s", "-f", str(tmp_path / "flags.mk")).stdout
    names = set(re.findall(r"--export-dynamic-symbol=(\w+)", told))
    assert of_tc - EXPORTED <= names
    assert names <= of_tc
    assert set(re.findall(r"-u,(\w+)", told)) == names
