# SPDX-License-Identifier: GPL-2.0
"""Builds the user-mode Linux kernels of the lab, once, and keeps them in the cache.

The source is the newest linux-source package of a Debian suite younger than the
machine's own.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from lab.apt import BACKPORTS, PrivateApt
from lab.cache import cache_dir, locked
from lab.kernels import Kernel, KernelError
from lab.process import said

LAB = Path(__file__).parent
CORE = LAB / "uml-core.config"
CONFIGS = {"uml": LAB / "uml.config", "debug": LAB / "uml-debug.config"}
"""What each kernel has on top of the core."""
SEED_SOURCE = LAB / "umlseed.c"
ARCH = "ARCH=um"
HZ = 250
"""As Debian's kernels have it; TCP's timers tick in it. UML's own is 100."""


_run = partial(said, KernelError)


def _cache() -> Path:
    """Absolute: apt, make and the kernel each run in a folder of their own."""
    return cache_dir().resolve() / "uml"


def _fetch(tree: Path) -> None:
    """Downloads the source and unpacks it into the tree."""
    apt = PrivateApt()
    version = apt.newest(r"linux-source-(\d+\.\d+)")
    package = f"linux-source-{version}"
    tree.mkdir()
    with tempfile.TemporaryDirectory(dir=tree.parent) as folder:
        apt.unpack(package, Path(folder))
        archive = Path(folder) / "usr" / "src" / f"{package}.tar.xz"
        _run("tar", "-xJf", archive, "-C", tree, "--strip-components=1")


def _set_hz(tree: Path) -> None:
    """UML offers no choice of HZ: its Kconfig has to be told."""
    kconfig = tree / "arch" / "um" / "Kconfig"
    text, changes = re.subn(
        r"(?m)^(config HZ\n\tint\n\tdefault) \d+$", rf"\1 {HZ}", kconfig.read_text()
    )
    if changes != 1:
        raise KernelError(f"{kconfig}: no HZ to set")
    kconfig.write_text(text)


def _wanted(text: str, digest: str) -> list[str]:
    """The fragments, and a name that makes modules follow a change of them."""
    lines = [line for line in text.splitlines() if line.startswith("CONFIG_")]
    return [*lines, f"CONFIG_HZ={HZ}", f'CONFIG_LOCALVERSION="-lab-{digest}"']


def _configure(tree: Path, wanted: Sequence[str]) -> None:
    """Everything off but what is wanted; kconfig drops silently what it cannot give."""
    fragment = tree / "lab.config"
    fragment.write_text("\n".join(wanted) + "\n")
    _run("make", "-s", "-C", tree, ARCH, f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig")
    got = set((tree / ".config").read_text().splitlines())
    lost = [line for line in wanted if line not in got]
    if lost:
        raise KernelError(f"this kernel cannot have {', '.join(lost)}")


def _build(tree: Path, wanted: Sequence[str]) -> None:
    # A build that was interrupted leaves nothing worth keeping.
    shutil.rmtree(tree, ignore_errors=True)
    _fetch(tree)
    _set_hz(tree)
    _configure(tree, wanted)
    _run("make", "-s", "-C", tree, ARCH, f"-j{os.cpu_count()}", "linux", "modules")


def uml_kernel(name: str) -> Kernel:
    """One of CONFIGS, built now if the cache has none of this configuration."""
    text = CORE.read_text() + CONFIGS[name].read_text()
    digest = hashlib.sha256(f"{BACKPORTS} {HZ}\n{text}".encode()).hexdigest()[:8]
    folder = _cache() / digest
    complete, tree = folder / ".complete", folder / "linux"
    with locked(folder):
        if not complete.exists():
            what = f"user-mode Linux ({name})"
            print(f"lab: building {what}, once; some minutes", file=sys.stderr, flush=True)
            _build(tree, _wanted(text, digest))
            complete.touch()
    return Kernel(
        name=name,
        release=(tree / "include" / "config" / "kernel.release").read_text().strip(),
        image=tree / "linux",
        modules=None,
        build_dir=tree,
        make_args=(ARCH,),
    )


def seed_library() -> Path:
    """What to preload so that the kernel's random numbers follow from ZRTT_SEED."""
    digest = hashlib.sha256(SEED_SOURCE.read_bytes()).hexdigest()[:8]
    library = _cache() / f"umlseed-{digest}.so"
    if not library.exists():
        with tempfile.TemporaryDirectory(dir=library.parent) as folder:
            made = Path(folder) / library.name
            _run("gcc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC", "-o", made, SEED_SOURCE)
            made.replace(library)
    return library
