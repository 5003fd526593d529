# SPDX-License-Identifier: GPL-2.0
"""Packages of a Debian younger than this machine's own.

They come from the archive that the machine uses already, through an apt
configuration of its own, so that the machine's suites stay as they are, and are
unpacked, not installed.
"""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.host.cache import cache_dir
from lab.host.process import said

SUITE = "trixie"
BACKPORTS = f"{SUITE}-backports"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")


class AptError(RuntimeError):
    """apt does not know a package, or cannot download it."""


_run = partial(said, AptError)


def archive_uri() -> str:
    """The Debian archive this machine's own apt sources name."""
    targets = _run(
        "apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)",
        "Created-By: Packages", "Origin: Debian",
    )  # fmt: skip
    for line in targets.splitlines():
        uri, release = line.split()
        if "-" not in release:  # else it is an update or a security suite
            return uri
    raise AptError("apt knows no Debian archive; run apt-get update")


def by_number(version: str) -> tuple[int, ...]:
    """What sorts versions."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


class PrivateApt:
    """apt with suites, lists and state of its own, where nothing is installed."""

    def __init__(self) -> None:
        folder = cache_dir().resolve() / "apt"  # absolute: apt runs in other folders
        sources, status, lists = folder / "sources.list", folder / "status", folder / "lists"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        (folder / "cache" / "archives" / "partial").mkdir(parents=True, exist_ok=True)
        archive = f"deb [signed-by={KEYRING}] {archive_uri()}"
        sources.write_text("".join(f"{archive} {suite} main\n" for suite in (SUITE, BACKPORTS)))
        status.touch()
        settings = {
            "Dir::Etc::sourcelist": sources,
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": folder,
            "Dir::State::lists": lists,
            "Dir::State::status": status,
            "Dir::Cache": folder / "cache",
            "APT::Sandbox::User": "root",
            "APT::Update::Error-Mode": "any",
        }
        self._options = [f"-o{name}={value}" for name, value in settings.items()]
        _run("apt-get", *self._options, "-qq", "update")

    def newest(self, pattern: str) -> str:
        """The highest version that a pattern finds, as its group, in names of packages."""
        names = _run("apt-cache", *self._options, "pkgnames").split()
        versions = [m[1] for m in (re.fullmatch(pattern, name) for name in names) if m]
        if not versions:
            raise AptError(f"{SUITE} and its backports have no {pattern}")
        return max(versions, key=by_number)

    def unpack(self, package: str, folder: Path) -> None:
        """Only this one."""
        with TemporaryDirectory(dir=folder) as name:
            _run("apt-get", *self._options, "download", package, cwd=Path(name))
            _unpack_all(Path(name), folder)

    def unpack_with_all_it_needs(self, packages: list[str], folder: Path) -> None:
        """These, and what they depend on."""
        with TemporaryDirectory(dir=folder) as name:
            (Path(name) / "partial").mkdir()
            _run(
                "apt-get", *self._options, f"-oDir::Cache::archives={name}", "-qq", "--yes",
                "--download-only", "--no-install-recommends", "install", *packages,
            )  # fmt: skip
            _unpack_all(Path(name), folder)


def _unpack_all(packages: Path, folder: Path) -> None:
    for package in packages.glob("*.deb"):
        _run("dpkg-deb", "-x", package, folder)
