# SPDX-License-Identifier: GPL-2.0
"""Writes pictures, and checks that each can be opened."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from lab.host import files

DPI = 140
SUFFIXES = (".png", ".svg")


class PictureError(RuntimeError):
    """A picture that cannot be drawn."""


def pyplot() -> Any:
    """matplotlib, drawing to files. Only pictures need it, so it is imported here."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot as module
    except ImportError as error:
        hint = "install python3-matplotlib and run with Debian's /usr/bin/python3"
        raise PictureError(f"no matplotlib in {sys.executable} ({error}): {hint}") from error
    return module


def named(text: str) -> Path:
    """A file to draw to. Raises ValueError if its name does not say how."""
    path = Path(text)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"{text}: the name of a picture ends in {' or '.join(SUFFIXES)}")
    return path


def check(path: Path) -> None:
    """Raises PictureError if the file is named as a PNG or an SVG and cannot be opened as one."""
    try:
        if path.suffix == ".svg":
            ElementTree.parse(path)
        elif path.suffix == ".png":
            from PIL import Image  # what matplotlib writes PNG with

            with Image.open(path) as image:
                image.verify()
    except (OSError, SyntaxError, ElementTree.ParseError) as error:
        raise PictureError(f"{path.name}: no picture: {error}") from error


@contextmanager
def drawn(path: Path) -> Iterator[Path]:
    """Gives a file to draw to, which takes the path's place if it is a picture then."""
    with files.whole(path) as part:
        yield part
        check(part)


def save(figure: Any, path: Path) -> None:
    """Writes a figure of matplotlib, in the format that the file's name says."""
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    with drawn(path) as part:
        figure.savefig(part, dpi=DPI, metadata=metadata)
