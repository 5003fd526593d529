# SPDX-License-Identifier: GPL-2.0
"""Fetches flent, and the programs it measures with, into the cache.

Nothing is installed: flent comes from the Python package index, fping,
irtt and netperf from the Debian archive that this machine's apt already uses.
netperf is in non-free, which apt may not look at here; its version and digest
are fixed.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lab.engines.job import GuestError
from lab.host.cache import cache_dir, filled
from lab.host.process import said
from lab.toolchain.build import REPO

REQUIREMENTS = Path(__file__).with_name("requirements.txt")
CONFIGS = REPO / "flent-configs"
APT_HELPER = "/usr/lib/apt/apt-helper"
NETPERF = "pool/non-free/n/netperf/netperf_2.7.0-0.1_amd64.deb"
NETPERF_DIGEST = "SHA256:c20d6afd858945a6e7b35b560d6764192fe35fa0a00e7d78b7bb0ac62df761b2"
PACKAGES = ("fping", "irtt")
"""Of Debian's main archive."""
PROGRAMS = (*PACKAGES, "netperf", "netserver")
PYTHON = "/usr/bin/python3"
"""Of a guest: Debian's, whatever runs the laboratory."""
BUNDLE = Path(__file__).with_name("bundle.py")


class FlentError(GuestError):
    """flent is not available, or failed."""


_run = partial(said, FlentError)


def _cached(name: str, version: bytes, recipe: Callable[[Path], object]) -> Path:
    digest = hashlib.sha256(version).hexdigest()[:8]
    return filled(cache_dir().resolve() / "flent" / f"{name}-{digest}", recipe)


def flent() -> Path:
    """The folder to put on PYTHONPATH; with it `python3 -m flent` runs."""

    def recipe(folder: Path) -> None:
        _run(REPO / "lab" / "setup.sh", "python3-pip")
        _run(
            sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
            "--root-user-action=ignore", "--no-deps", "--no-compile", "--require-hashes",
            "--target", folder, "--requirement", REQUIREMENTS,
        )  # fmt: skip

    return _cached("python", REQUIREMENTS.read_bytes(), recipe)


def _unpack(uri: str, digest: str, root: Path) -> None:
    with tempfile.TemporaryDirectory(dir=root) as folder:
        deb = Path(folder) / "package.deb"
        _run(APT_HELPER, "download-file", uri, deb, digest)
        _run("dpkg-deb", "-x", deb, root)


def programs() -> list[Path]:
    """fping, irtt, netperf and netserver, ready to run."""

    def recipe(folder: Path) -> None:
        for package in PACKAGES:
            quoted, _, _, digest = _run("apt-get", "download", "--print-uris", package).split()
            uri = quoted.strip("'")
            _unpack(uri, digest, folder)
        archive = uri.partition("pool/")[0]
        _unpack(archive + NETPERF, NETPERF_DIGEST, folder)

    folder = _cached("programs", f"{PROGRAMS}{NETPERF_DIGEST}".encode(), recipe)
    return [folder / "usr" / "bin" / name for name in PROGRAMS]


def python_home() -> Path:
    """The standard library of the guest's Python."""
    version = f"{_run(PYTHON, '--version')}{BUNDLE.read_text()}".encode()
    return _cached("bundle", version, lambda folder: _run(PYTHON, BUNDLE, folder))


def tests() -> list[Path]:
    """The tests of this project, for flent's folder of tests."""
    return [path for path in sorted(CONFIGS.iterdir()) if path.suffix in (".conf", ".inc")]
