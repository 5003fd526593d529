# SPDX-License-Identifier: GPL-2.0
"""Python, and packages of it, for a guest that does not see this machine's files.

They go there as compiled modules without sources: compiling them again would
take an emulated machine longer than all the rest.
"""

from __future__ import annotations

import re
import subprocess
import sysconfig
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import cache_from_source
from pathlib import Path

SPARED = ("ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter")
"""Large, and never asked for."""
EXTENSIONS = (
    "_bz2", "_contextvars", "_ctypes", "_decimal", "_json", "_lzma", "_queue", "_typing",
    "resource", "termios",
)  # fmt: skip
"""The modules in C that are."""
HOME, LIBRARIES = "python", "python/libraries"
ENVIRONMENT = f"export PYTHONHOME=$LAB/{HOME} LD_LIBRARY_PATH=$LAB/{LIBRARIES}"


def _compiled(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """The compiled modules of a folder, by their names in the guest."""
    for source in folder.rglob("*.py"):
        place = source.relative_to(folder)
        compiled = Path(cache_from_source(str(source)))
        if place.parts[0] not in SPARED and compiled.exists():
            yield f"{name}/{place.with_suffix('.pyc')}", compiled


def _extensions(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Modules in C, and the libraries that they need."""
    for extension in EXTENSIONS:
        module = folder / (extension + EXTENSION_SUFFIXES[0])
        yield f"{name}/{module.name}", module
        ldd = subprocess.run(["ldd", str(module)], capture_output=True, text=True, check=False)
        for path in re.findall(r"=> (/\S+) \(0x", ldd.stdout):
            yield f"{LIBRARIES}/{Path(path).name}", Path(path)


def standard_library() -> dict[str, Path]:
    """Name below $LAB -> file here."""
    stdlib = Path(sysconfig.get_path("stdlib"))
    place = f"{HOME}/lib/{stdlib.name}"
    return {
        **dict(_compiled(stdlib, place)),
        **dict(_extensions(stdlib / "lib-dynload", f"{place}/lib-dynload")),
    }


def files(package: Path) -> dict[str, Path]:
    """Name below $LAB -> file here, of the standard library and of a package's folder."""
    return {**standard_library(), **dict(_compiled(package, package.name))}
