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
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.host.cache import cache_dir, locked
from lab.host.process import said
from lab.kernels.apt import BACKPORTS, PrivateApt
from lab.kernels.kernel import Kernel, KernelError

FOLDER = Path(__file__).parent
CORE = FOLDER / "uml-core.config"
SEED_SOURCE = FOLDER / "uml_seed.c"
ARCH = "ARCH=um"


@dataclass(frozen=True)
class Variant:
    """How one of these kernels is configured."""

    config: Path
    """On top of the core."""
    hz: int = 250
    """As Debian's kernels have it; TCP's timers tick in it. UML's own is 100."""
    tree_of: str | None = None
    """A variant whose built tree to begin with: most of it need not be built again."""


BASE = "uml"
VARIANTS = {
    BASE: Variant(FOLDER / "uml.config"),
    "uml-100hz": Variant(FOLDER / "uml.config", hz=100, tree_of=BASE),
    "uml-1000hz": Variant(FOLDER / "uml.config", hz=1000, tree_of=BASE),
    "debug": Variant(FOLDER / "uml-debug.config"),
}


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


def _set_hz(tree: Path, hz: int) -> None:
    """UML offers no choice of HZ: its Kconfig has to be told."""
    kconfig = tree / "arch" / "um" / "Kconfig"
    text, changes = re.subn(
        r"(?m)^(config HZ\n\tint\n\tdefault) \d+$", rf"\1 {hz}", kconfig.read_text()
    )
    if changes != 1:
        raise KernelError(f"{kconfig}: no HZ to set")
    kconfig.write_text(text)


def _wanted(text: str, hz: int, digest: str) -> list[str]:
    """The fragments, and a name that makes modules follow a change of them."""
    lines = [line for line in text.splitlines() if line.startswith("CONFIG_")]
    return [*lines, f"CONFIG_HZ={hz}", f'CONFIG_LOCALVERSION="-lab-{digest}"']


def _configure(tree: Path, wanted: Sequence[str]) -> None:
    """Everything off but what is wanted; kconfig drops silently what it cannot give."""
    fragment = tree / "lab.config"
    fragment.write_text("\n".join(wanted) + "\n")
    _run("make", "-s", "-C", tree, ARCH, f"KCONFIG_ALLCONFIG={fragment}", "allnoconfig")
    got = set((tree / ".config").read_text().splitlines())
    lost = [line for line in wanted if line not in got]
    if lost:
        raise KernelError(f"this kernel cannot have {', '.join(lost)}")


def _build(tree: Path, variant: Variant, wanted: Sequence[str]) -> None:
    # A build that was interrupted leaves nothing worth keeping.
    shutil.rmtree(tree, ignore_errors=True)
    if variant.tree_of:
        _run("cp", "-a", uml_kernel(variant.tree_of).build_dir, tree)
    else:
        _fetch(tree)
    _set_hz(tree, variant.hz)
    _configure(tree, wanted)
    _run("make", "-s", "-C", tree, ARCH, f"-j{os.cpu_count()}", "linux", "modules")


def uml_kernel(name: str) -> Kernel:
    """One of VARIANTS, built now if the cache has none of this configuration."""
    variant = VARIANTS[name]
    text = CORE.read_text() + variant.config.read_text()
    digest = hashlib.sha256(f"{BACKPORTS} {variant.hz}\n{text}".encode()).hexdigest()[:8]
    folder = _cache() / digest
    complete, tree = folder / ".complete", folder / "linux"
    with locked(folder):
        if not complete.exists():
            what = f"user-mode Linux ({name})"
            print(f"lab: building {what}, once; some minutes", file=sys.stderr, flush=True)
            _build(tree, variant, _wanted(text, variant.hz, digest))
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
