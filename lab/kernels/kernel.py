# SPDX-License-Identifier: GPL-2.0
"""The kernels of the laboratory: their names, and what engines and builds need of one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

KERNELS = ("6.1", "6.12", "7.x", "uml")
OTHER_TICKS = ("uml-100hz", "uml-1000hz")
"""User-mode Linux with HZ=100 and HZ=1000; all of KERNELS have 250."""
DEBUG = "debug"
"""User-mode Linux with sanitizers: slow, and no kernel to measure anything on."""


class KernelError(RuntimeError):
    """A kernel could not be found, downloaded or unpacked."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that a guest can boot and modules can be built for."""

    name: str
    """What the user calls it: 6.1, 6.12, 7.x, uml or debug."""
    release: str
    """What uname -r says in the guest."""
    image: Path
    modules: Path | None
    """Folder with modules.dep, or None where everything is built in."""
    build_dir: Path
    """What make -C wants to build a module."""
    make_args: tuple[str, ...] = ()
    """Further arguments of that make, such as ARCH=um."""
    view: tuple[str, ...] = ()
    """What to run that make with, where it needs another compiler than this machine's."""
