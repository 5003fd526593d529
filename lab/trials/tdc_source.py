# SPDX-License-Identifier: GPL-2.0
"""Fetches tdc, the kernel's test suite for qdiscs, into the cache.

It is part of Debian's package of the kernel's source, of which the rest is not kept.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

from lab.engines.job import GuestError
from lab.host.cache import cache_dir, filled
from lab.host.process import said

PACKAGE = "linux-source-6.12"
FOLDER = "tools/testing/selftests/tc-testing"


class TdcError(GuestError):
    """tdc is not available, cannot read its cases, or did not finish."""


_run = partial(said, TdcError)


def _unpack(home: Path) -> None:
    with tempfile.TemporaryDirectory(dir=home) as name:
        folder = Path(name)
        _run("apt-get", "download", PACKAGE, cwd=folder)
        (deb,) = folder.glob("*.deb")
        _run("dpkg-deb", "-x", deb, folder)
        archive = folder / "usr" / "src" / f"{PACKAGE}.tar.xz"
        depth = f"--strip-components={1 + FOLDER.count('/') + 1}"
        _run("tar", "-xJf", archive, "-C", home, depth, f"{PACKAGE}/{FOLDER}")


def home() -> Path:
    """The folder of tdc.py."""
    return filled(cache_dir().resolve() / "tdc" / PACKAGE, _unpack)
