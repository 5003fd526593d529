# SPDX-License-Identifier: GPL-2.0
"""Debian packages of programs, unpacked into the cache; nothing is installed."""

from __future__ import annotations

import hashlib
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.engines.job import GuestError
from lab.host.cache import cache_dir, filled
from lab.host.process import said

PROGRAM_FOLDERS = ("usr/sbin", "usr/bin", "sbin", "bin")
LIBRARY_FOLDERS = ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")


class PackageError(GuestError):
    """apt does not know a package, or cannot download it."""


_run = partial(said, PackageError)


def _missing(packages: tuple[str, ...]) -> list[str]:
    """Those that are not installed."""
    listed = _run("dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\\n").splitlines()
    return [package for package in packages if f"{package} installed" not in listed]


def _fetch(packages: list[str], folder: Path) -> None:
    """Downloads and unpacks packages and what else of theirs is not installed here."""
    with TemporaryDirectory(dir=folder) as name:
        (Path(name) / "partial").mkdir()
        _run(
            "apt-get", f"-oDir::Cache::archives={name}", "-oDebug::NoLocking=1",
            "-oAPT::Sandbox::User=", "-qq", "--yes", "--download-only",
            "--no-install-recommends", "install", *packages,
        )  # fmt: skip
        for package in sorted(Path(name).glob("*.deb")):
            _run("dpkg-deb", "-x", package, folder)


def unpacked(packages: tuple[str, ...]) -> Path | None:
    """The folder that has those packages that are not installed; None if all are.

    Another state of this machine's packages has another folder, as fewer or more libraries
    are missing.
    """
    missing = _missing(packages)
    if not missing:
        return None
    state = Path("/var/lib/dpkg/status").read_bytes()
    digest = hashlib.sha256(" ".join(missing).encode() + state).hexdigest()[:16]
    folder = cache_dir().resolve() / "exec" / digest
    return filled(folder, lambda folder: _fetch(missing, folder))
