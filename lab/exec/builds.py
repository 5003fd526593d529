# SPDX-License-Identifier: GPL-2.0
"""Programs of the laboratory that a compiler from Debian builds, with libraries of a registry.

Each has a folder here with its sources and the lock file that fixes all versions by their
checksums. Compiler and program are kept in the cache; nothing is installed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.engines.job import GuestError
from lab.exec import packages
from lab.host.cache import cache_dir, filled

HERE = Path(__file__).parent
PATH = "/usr/bin:/bin"
"""Without the compilers that a user installed beside Debian's."""


class BuildError(GuestError):
    """A program could not be fetched or built."""


@dataclass(frozen=True)
class Crate:
    """A program in Rust."""

    folder: str
    program: str
    packages: tuple[str, ...]
    """Of Debian, with the compiler."""


BUILDS = {"quinn": Crate("quinn", "lab-quinn", ("cargo-web", "rustc-web"))}
"""By the names that a file of `lab exec` has for them."""


def _sources(crate: Crate) -> list[Path]:
    return sorted(path for path in (HERE / crate.folder).rglob("*") if path.is_file())


def _environment(root: Path | None) -> dict[str, str]:
    """To run a compiler that is unpacked there, if it is not installed."""
    found = {**os.environ, "PATH": PATH}
    if root:
        programs = [root / name for name in packages.PROGRAM_FOLDERS]
        libraries = [root / name for name in packages.LIBRARY_FOLDERS]
        found["PATH"] = ":".join([*map(str, programs), PATH])
        found["LD_LIBRARY_PATH"] = ":".join(map(str, libraries))
    return found


def _with_source(pinned: str, resolved: str) -> str:
    """The lock file, where each library has the registry that cargo itself names. Checksums
    fix what comes from there."""
    sources = set(re.findall(r"^source = .*$", resolved, re.MULTILINE))
    if len(sources) != 1:
        raise BuildError(f"builds: cargo names {len(sources)} registries")
    return re.sub(r"^(?=checksum = )", f"{sources.pop()}\n", pinned, flags=re.MULTILINE)


def _build(name: str, crate: Crate, folder: Path) -> None:
    environment = _environment(packages.unpacked(crate.packages))
    cargo = shutil.which("cargo", path=environment["PATH"])
    if not cargo:
        raise BuildError(f"builds: {name}: {crate.packages[0]} has no program cargo")
    with TemporaryDirectory(dir=folder) as scratch:
        copy = Path(scratch) / crate.folder
        shutil.copytree(HERE / crate.folder, copy)
        lock = copy / "Cargo.lock"
        pinned = lock.read_text()
        lock.unlink()
        for words in (["generate-lockfile"], ["build", "--release", "--locked"]):
            done = subprocess.run(
                [cargo, *words, "--quiet", "--manifest-path", copy / "Cargo.toml"],
                env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                raise BuildError(f"builds: {name} could not be built:\n{done.stderr.strip()}")
            if words[0] == "generate-lockfile":
                lock.write_text(_with_source(pinned, lock.read_text()))
        shutil.copy(copy / "target" / "release" / crate.program, folder)


def built(name: str) -> Path:
    """The folder of a program, which is built if its sources have changed."""
    crate = BUILDS[name]
    digest = hashlib.sha256()
    for path in _sources(crate):
        digest.update(f"{path.name}\0".encode() + path.read_bytes())
    folder = cache_dir().resolve() / "exec" / f"{name}-{digest.hexdigest()[:16]}"
    return filled(folder, lambda folder: _build(name, crate, folder))
