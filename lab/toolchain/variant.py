# SPDX-License-Identifier: GPL-2.0
"""Builds a module from a copy of its sources with some pieces of text changed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.kernels.kernel import Kernel
from lab.toolchain import build


@dataclass(frozen=True)
class Edit:
    """A piece of a source that stands there once, and what it is changed to."""

    path: str
    """Relative to the tree's root."""
    old: str
    new: str


def _apply(edit: Edit, root: Path) -> None:
    text = (root / edit.path).read_text()
    if text.count(edit.old) != 1:
        raise build.BuildError(f"{edit.path}: {text.count(edit.old)} times, not once:\n{edit.old}")
    (root / edit.path).write_text(text.replace(edit.old, edit.new))


@contextmanager
def edited(name: str, edits: Iterable[Edit]) -> Iterator[Path]:
    """A tree with the sources of a module, changed. Raises BuildError if an edit has no place."""
    with tempfile.TemporaryDirectory(prefix="zrtt-variant-") as folder:
        root = Path(folder)
        for source in build.MODULE_SOURCES[name]:
            (root / source).parent.mkdir(parents=True, exist_ok=True)
            if (build.REPO / source).is_dir():
                shutil.copytree(build.REPO / source, root / source)
            else:
                shutil.copyfile(build.REPO / source, root / source)
        for edit in edits:
            _apply(edit, root)
        yield root


def module(name: str, kernel: Kernel, edits: Iterable[Edit]) -> Path:
    """The module NAME.ko for a kernel, with these changes."""
    with edited(name, edits) as root:
        return build.kernel_module(name, kernel, root)
