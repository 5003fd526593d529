# SPDX-License-Identifier: GPL-2.0
"""Finds the project's sources and reads them without comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_GENERATED = {"out", "__pycache__", "debian"}
_GENERATED_SUFFIXES = (".mod.c", ".skel.h")
_SUFFIXES = {".c", ".h", ".py", ".sh"}
_NAMES = {"Makefile", "Kbuild"}


def all_sources() -> Iterator[Path]:
    """Every source file of the checkout, generated ones and hidden folders aside."""
    folders = [ROOT]
    for folder in folders:
        for path in sorted(folder.iterdir()):
            if path.name.startswith(".") or path.name in _GENERATED:
                continue
            if path.is_dir():
                folders.append(path)
            elif path.name.endswith(_GENERATED_SUFFIXES):
                continue
            elif path.suffix in _SUFFIXES or path.name in _NAMES:
                yield path


def name_of(path: Path) -> str:
    """How a file is called in messages."""
    return path.relative_to(ROOT).as_posix()


@cache
def code_of(path: Path) -> str:
    """A C file without comments and the contents of strings."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.DOTALL)
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"(?m)^(?!\s*#\s*include)(.*)$", _blank_strings, text)


def _blank_strings(line: re.Match[str]) -> str:
    return re.sub(r'"(?:[^"\\]|\\.)*"', '""', line[0])


def includes_of(path: Path) -> list[str]:
    """What a file includes, with its brackets or quotes."""
    pattern = r'^\s*#\s*include(?:_next)?\s*(<[^>]+>|"[^"]+")'
    return re.findall(pattern, code_of(path), re.MULTILINE)
