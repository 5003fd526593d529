# SPDX-License-Identifier: GPL-2.0
"""Debian's kernels: find the newest, download, unpack without installing.

Old patch levels vanish from the archive, so no version is written down here:
apt-cache says at run time which is the newest of a series. That of a younger
Debian comes with the compiler and the libraries that its headers want.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from lab.host.cache import cache_dir, filled, locked
from lab.host.process import said
from lab.kernels.apt import PrivateApt, by_number
from lab.kernels.image import unpacked
from lab.kernels.kernel import Kernel, KernelError

SERIES = ("6.1", "6.12")
"""Of the suites that this machine uses."""
YOUNGER = "7.x"
"""The newest in the backports of a younger Debian."""
YOUNGER_RELEASE = r"7\.\d+\.\d+\+deb\d+-amd64"
YOUNGER_TOOLS = (
    "make", "clang", "bash", "coreutils", "dash", "diffutils", "findutils", "grep", "mawk",
    "perl-base", "sed",
)  # fmt: skip
"""What its make runs, beside the gcc that its headers depend on."""

_run = partial(said, KernelError)


def _release_pattern(series: str) -> re.Pattern[str]:
    """Matches linux-image-RELEASE of a series: neither cloud, rt nor a meta-package."""
    return re.compile(rf"^linux-image-({re.escape(series)}\.\d+(?:-\d+|\+deb12)-amd64)$")


def available() -> list[str]:
    """The series that apt offers here, newest first. 6.12 is in bookworm-security only."""
    found = []
    for series in reversed(SERIES):
        try:
            newest_release(series)
        except KernelError:
            continue
        found.append(series)
    return found


def _apt_cache(*words: str) -> str:
    """Where apt is told to keep no cache of its own it takes a second each time."""
    kept = cache_dir().resolve() / "apt" / "pkgcache.bin"
    kept.parent.mkdir(exist_ok=True)
    return _run("apt-cache", f"-oDir::Cache::pkgcache={kept}", *words)


def newest_release(series: str) -> str:
    """Newest release of a series that has both an image and headers to download."""
    names = set(_apt_cache("pkgnames", "linux-").split())
    releases = [match[1] for match in map(_release_pattern(series).match, names) if match]
    pairs = {r: {f"linux-image-{r}", f"linux-headers-{r}"} for r in releases}
    offered = _with_candidate(names & {name for pair in pairs.values() for name in pair})
    found = [release for release, pair in pairs.items() if pair <= offered]
    if not found:
        raise KernelError(
            f"no linux-image of {series} known to apt; apt-get update, or another suite?"
        )
    return max(found, key=by_number)


def _with_candidate(packages: Iterable[str]) -> set[str]:
    """apt knows names of packages it can no longer download; this tells them apart."""
    policy = _apt_cache("policy", *packages)
    return set(re.findall(r"(?m)^(\S+):\n.*\n  Candidate: (?!\(none\))", policy))


def _unpack(release: str) -> Path:
    """Downloads a kernel and unpacks it into the cache; returns its root folder."""
    root = cache_dir() / "kernels" / release
    with locked(root):
        if not (root / ".complete").exists():
            _run("apt-get", "download", f"linux-image-{release}", cwd=root)
            package = next(root.glob("linux-image-*.deb"))
            _run("dpkg-deb", "-x", package, root)
            package.unlink()
            _run("depmod", "-b", root, release)
            (root / ".complete").touch()
    return root


def _ensure_headers(release: str) -> Path:
    """Installs what modules are built against. Its makefiles know only /usr/src."""
    build_dir = Path("/usr/src") / f"linux-headers-{release}"
    with locked(cache_dir() / "kernels"):
        if not (build_dir / "Module.symvers").exists():
            _run("apt-get", "-o", "DPkg::Lock::Timeout=600", "install", "-y", "-q",
                 "--no-install-recommends", f"linux-headers-{release}")  # fmt: skip
    return build_dir


def _fetch_younger(root: Path) -> None:
    apt = PrivateApt()
    release = apt.newest(f"linux-headers-({YOUNGER_RELEASE})")
    parts = [f"linux-{part}-{release}" for part in ("binary", "modules", "headers")]
    apt.unpack_with_all_it_needs([*parts, *YOUNGER_TOOLS], root)
    awk = root / "usr" / "bin" / "awk"  # a link that mawk makes when it is installed
    awk.unlink(missing_ok=True)
    awk.symlink_to("mawk")
    _run("depmod", "-b", root, release)


def _younger_kernel() -> Kernel:
    """A program in its view sees its /usr in place of this machine's; nothing else differs."""
    root = filled(cache_dir().resolve() / "kernels" / YOUNGER, _fetch_younger)
    (modules,) = (root / "usr" / "lib" / "modules").iterdir()
    rights = () if os.geteuid() == 0 else ("--map-root-user",)
    script = f"mount --bind '{root}/usr' /usr && exec \"$@\""
    return Kernel(
        name=YOUNGER,
        release=modules.name,
        image=unpacked(modules / "vmlinuz", root),
        modules=modules,
        build_dir=Path("/usr/src") / f"linux-headers-{modules.name}",
        view=("unshare", "--mount", *rights, "sh", "-c", script, "sh"),
    )


def debian_kernel(series: str) -> Kernel:
    """Makes the newest kernel of a series ready to boot and to build for."""
    if series == YOUNGER:
        return _younger_kernel()
    if series not in SERIES:
        raise KernelError(f"unknown kernel {series}; one of {', '.join((*SERIES, YOUNGER))}")
    release = newest_release(series)
    root = _unpack(release)
    return Kernel(
        name=series,
        release=release,
        image=unpacked(root / "boot" / f"vmlinuz-{release}", root),
        modules=root / "lib" / "modules" / release,
        build_dir=_ensure_headers(release),
    )
