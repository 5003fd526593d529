# SPDX-License-Identifier: GPL-2.0
"""Writes files atomically: on failure the old content stays."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class FileError(RuntimeError):
    """A file that cannot be written."""


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Gives a file to write to, of the same name, that replaces the path at the end.

    Raises FileError if that fails, or if nothing was written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
            part = Path(folder) / path.name
            yield part
            if not part.exists() or not part.stat().st_size:
                raise FileError(f"{path}: nothing was written")
            os.replace(part, path)
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error


def write(path: Path, content: str | bytes) -> None:
    """Writes text as UTF-8, or bytes."""
    with whole(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


def emptied(folder: Path, names: Iterable[str]) -> None:
    """Makes a folder, in which nothing of these names is left. Raises FileError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if (folder / name).is_dir():
                shutil.rmtree(folder / name)
    except OSError as error:
        raise FileError(f"{folder}: {error.strerror or error}") from error
