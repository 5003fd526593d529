# SPDX-License-Identifier: GPL-2.0
"""tc-zrtt(8) is complete and formats without complaint."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest
from uapi import ATTRIBUTES
from uapi_contract import LANE_STATS, ROOT, XSTATS, shown_xstats

PAGE = ROOT / "tc-plugin/tc-zrtt.8"


def section(title: str) -> str:
    """Source of one section."""
    return PAGE.read_text().split(f".SH {title}\n")[1].split("\n.SH ")[0]


def bold_words(source: str) -> set[str]:
    """Words of the lines that head an item."""
    heads = re.findall(r"^\.TP\n(\..*)$", source, re.MULTILINE)
    return set(re.findall(r"\w+", " ".join(heads)))


def test_every_keyword_has_an_entry() -> None:
    several = {"alpha_law": "alpha", "fair_mask": "fair", "weight_mask": "weight"}
    several |= {"weight_dscp": "weight", "auto": "bandwidth", "auto_min": "min", "auto_max": "max"}
    keywords = {several.get(name.lower(), name.lower()) for name in ATTRIBUTES}
    assert keywords <= bold_words(section("PARAMETERS") + section("RESEARCH PARAMETERS"))


def test_everyday_use_comes_first() -> None:
    titles = re.findall(r"^\.SH (.*)$", PAGE.read_text(), re.MULTILINE)
    expected = ["PARAMETERS", "EXAMPLES", "STATISTICS", "RESEARCH PARAMETERS", "MODES"]
    assert [title for title in titles if title in expected] == expected


def test_every_statistic_has_an_entry() -> None:
    heads = bold_words(section("STATISTICS"))
    assert shown_xstats(dict.fromkeys((field for field, _ in XSTATS), 1)).keys() <= heads
    assert {field for field, _ in LANE_STATS} <= heads


@pytest.mark.parametrize("command", [["man", "--warnings", "-l"], ["mandoc", "-Tlint"]])
def test_formats_silently(command: list[str]) -> None:
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    done = subprocess.run(
        [*command, PAGE],
        check=True,
        env=os.environ | {"LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
    )
    complaints = done.stderr + (done.stdout if command[0] == "mandoc" else "")
    assert complaints == ""
