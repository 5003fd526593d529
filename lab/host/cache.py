# SPDX-License-Identifier: GPL-2.0
"""The cache of kernels, builds and verdicts. All of it can be made again."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_dir() -> Path:
    """$ZRTT_CACHE, or ~/.cache/zrtt."""
    folder = Path(os.environ.get("ZRTT_CACHE") or Path.home() / ".cache" / "zrtt")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A lock on a folder, so that two runs do not make the same thing at the same time."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def filled(folder: Path, recipe: Callable[[Path], object]) -> Path:
    """The folder, after the recipe has filled it once."""
    with locked(folder):
        done = folder / ".done"
        if not done.exists():
            recipe(folder)
            done.touch()
    return folder
