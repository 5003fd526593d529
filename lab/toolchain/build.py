# SPDX-License-Identifier: GPL-2.0
"""Builds the kernel modules, tc plugins and programs of guests.

Each product is kept in the cache under a hash of all that went into it, so it
is rebuilt exactly when something changed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from lab.host.cache import cache_dir, filled
from lab.kernels.kernel import Kernel

REPO = Path(__file__).resolve().parents[2]
PLUGIN_COMPAT = REPO / "tc-plugin" / "compat"
UAPI = REPO / "include" / "uapi"

ENDPOINTS_SHARED = ("endpoints/Kbuild", "endpoints/fixed.h", "endpoints/reno.h")
# What a module or plugin is made of: files and folders, relative to REPO. A module's
# makefile is beside the first.
MODULE_SOURCES = {
    "sch_zrtt": ("sch_zrtt.c", "Kbuild", "qdisc", "include", "compat-include"),
    "sch_meter": (
        "lab/kmod/sch_meter.c",
        "lab/kmod/meter.h",
        "lab/kmod/percentile.h",
        "lab/kmod/tuples.h",
        "lab/kmod/Kbuild",
    ),
    "sch_line": (
        "lab/kmod/sch_line.c",
        "lab/kmod/line.h",
        "lab/kmod/percentile.h",
        "lab/kmod/Kbuild",
    ),
    "sch_csfq": ("lab/kmod/sch_csfq.c", "lab/kmod/csfq.h", "lab/kmod/Kbuild"),
    "mqlink": ("lab/kmod/mqlink.c", "lab/kmod/Kbuild"),
    "tcp_libra": (
        "endpoints/tcp_libra.c",
        "endpoints/libra.h",
        "endpoints/trace_libra.h",
        *ENDPOINTS_SHARED,
    ),
    "tcp_nrhstcp": ("endpoints/tcp_nrhstcp.c", "endpoints/nrhstcp.h", *ENDPOINTS_SHARED),
    "tcp_exp": ("endpoints/tcp_exp.c", "endpoints/exp.h", *ENDPOINTS_SHARED),
    "tcp_prague": (
        "endpoints/tcp_prague.c",
        "endpoints/prague.h",
        "endpoints/accecn.h",
        *ENDPOINTS_SHARED,
    ),
    "qledger": (
        "tests/conservation/kmod/qledger.c",
        "tests/conservation/kmod/packets.h",
        "tests/conservation/kmod/Kbuild",
        "qdisc/sched.h",
        "include",
        "compat-include",
    ),
    "qhold": ("tests/functional/kmod/qhold.c", "tests/functional/kmod/Kbuild"),
    "qpeek": ("tests/functional/kmod/qpeek.c", "tests/functional/kmod/Kbuild"),
    "qbench": (
        "lab/bench/kmod/qbench.c",
        "lab/bench/kmod/Kbuild",
        "include/zrtt/hint.h",
        "compat-include",
    ),
}
PLUGIN_SOURCES = {
    "sch_zrtt": "tc-plugin/q_zrtt.c",
    "sch_meter": "lab/kmod/q_meter.c",
    "sch_line": "lab/kmod/q_line.c",
    "sch_csfq": "lab/kmod/q_csfq.c",
    "sch_dualpi2": "lab/kmod/q_dualpi2.c",  # its module is the kernel's own
    "sch_cake_mq": "lab/kmod/q_cake_mq.c",  # likewise
}


class BuildError(RuntimeError):
    """A compiler or make failed; its output is the message."""


def _files(sources: Iterable[Path], root: Path = REPO) -> list[Path]:
    """All regular files of the sources, folders walked, in a fixed order."""
    found: list[Path] = []
    for source in sources:
        if not source.exists():
            raise BuildError(f"{source.relative_to(root)} does not exist")
        found += [source] if source.is_file() else sorted(p for p in source.rglob("*.h"))
    return found


def _digest(files: Iterable[Path], *words: str, root: Path = REPO) -> str:
    digest = hashlib.sha256("\0".join(words).encode())
    for file in files:
        digest.update(file.relative_to(root).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:16]


def _make(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BuildError(f"{' '.join(command)}\n{done.stdout}{done.stderr}".rstrip())


def _cached(kind: str, digest: str, product: str, recipe: Callable[[Path], None]) -> Path:
    """Returns PRODUCT from the folder of its hash, after making it there if need be."""
    return filled(cache_dir() / "build" / kind / digest, recipe) / product


def kernel_module(name: str, kernel: Kernel, root: Path = REPO) -> Path:
    """The module NAME.ko for a kernel, of this tree or of a changed copy (variant.py)."""
    sources = [root / source for source in MODULE_SOURCES[name]]
    files = _files(sources, root)
    product = f"{name}.ko"

    def recipe(folder: Path) -> None:
        for file in files:
            target = folder / file.relative_to(root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        home = (folder / MODULE_SOURCES[name][0]).parent
        _make(
            [*kernel.view, "make", "-s", "-C", str(kernel.build_dir), f"M={home}",
             *kernel.make_args, "modules"]
        )  # fmt: skip
        if home != folder:
            (home / product).rename(folder / product)

    digest = _digest(files, name, kernel.release, *kernel.make_args, root=root)
    return _cached(f"{name}-{kernel.release}", digest, product, recipe)


def tc_plugin(name: str) -> dict[str, Path]:
    """The tc plugin that goes with a module, under its name below $LAB; none with a TCP."""
    if name not in PLUGIN_SOURCES:
        return {}
    source = REPO / PLUGIN_SOURCES[name]
    product = source.with_suffix(".so").name
    flags = ["-O2", "-Wall", "-Werror", "-shared", "-fPIC", f"-I{PLUGIN_COMPAT}", f"-I{UAPI}"]
    files = _files([source, *source.parent.glob("*.h"), PLUGIN_COMPAT, UAPI])

    def recipe(folder: Path) -> None:
        _make(["gcc", *flags, "-o", str(folder / product), str(source)])

    return {f"tc/{product}": _cached(f"plugin-{name}", _digest(files), product, recipe)}


def traffic() -> Path:
    """The traffic program."""
    return _program("traffic")


def autorate() -> Path:
    """What sets the bandwidth of cake by the rule of cake-autorate."""
    return _program("autorate")


def _program(name: str) -> Path:
    """A program of guests, linked statically to run on any root file system."""
    folder = REPO / "lab" / "guest" / name
    sources, headers = sorted(folder.glob("*.c")), sorted(folder.glob("*.h"))
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-static"]

    def recipe(made: Path) -> None:
        _make(["gcc", *flags, "-o", str(made / name), *map(str, sources), "-lm"])

    return _cached(name, _digest([*sources, *headers], *flags), name, recipe)


def profiler() -> Path:
    """The plugin of QEMU that counts what `lab bench --profile` shows."""
    source = REPO / "lab" / "bench" / "qemu" / "profile.c"
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]

    def recipe(folder: Path) -> None:
        _make(["gcc", *flags, "-o", str(folder / "libprofile.so"), str(source)])

    return _cached("profile", _digest([source], *flags), "libprofile.so", recipe)
