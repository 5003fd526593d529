# SPDX-License-Identifier: GPL-2.0
"""One version: dkms.conf defines it, the makefiles of the programs read it there, the rest repeats it."""

from __future__ import annotations

import re

import pytest
from sources import ROOT

NUMBER = r"\d+(?:\.\d+)+"
MANUALS = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/**/*.8") if "out" not in path.parts)


def _found(name: str, pattern: str) -> list[str]:
    return re.findall(pattern, (ROOT / name).read_text(), re.MULTILINE)


(VERSION,) = _found("dkms.conf", rf'^PACKAGE_VERSION="({NUMBER})"$')

PLACES = {
    "sch_zrtt.c": rf'^MODULE_VERSION\("({NUMBER})"\);$',
    "endpoints/dkms.conf": rf'^PACKAGE_VERSION="({NUMBER})"$',
    "router/openwrt/sch-zrtt/Makefile": rf"^PKG_VERSION:=({NUMBER})$",
    "docs/packages.md": rf"\bsch_zrtt[-/]({NUMBER})",
    **dict.fromkeys(MANUALS, rf'^\.TH .* "sch_zrtt ({NUMBER})" '),
}
NEWEST_FIRST = {
    "debian/changelog": rf"^sch-zrtt \(({NUMBER})\) ",
    "CHANGELOG.md": rf"^## \[({NUMBER})\] - \d{{4}}-\d\d-\d\d$",
}


@pytest.mark.parametrize("name", PLACES)
def test_place_repeats_the_version(name: str) -> None:
    assert set(_found(name, PLACES[name])) == {VERSION}


@pytest.mark.parametrize("name", NEWEST_FIRST)
def test_newest_release_is_the_version(name: str) -> None:
    assert _found(name, NEWEST_FIRST[name])[:1] == [VERSION]


@pytest.mark.parametrize("folder", ["agent", "monitor"])
def test_program_is_given_the_version(folder: str) -> None:
    """And prints it: their own tests run --version."""
    assert "../dkms.conf" in (ROOT / folder / "Makefile").read_text()


def test_manuals_are_found() -> None:
    assert len(MANUALS) == 5
