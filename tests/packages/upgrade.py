# SPDX-License-Identifier: GPL-2.0
"""What takes minutes, for `make deb-check`: upgrades, and the same packages from the same source.

Not for `make test`, hence the file's name.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from debian_root import Root, clean_root
from kbuild import checkout
from life import MODULES, PACKAGES, boot, install, packages, prepare, purge
from test_packages import VERSION

from lab.host.process import said
from lab.kernels.debian import newest_release

VERSIONED = ("dkms.conf", "endpoints/dkms.conf", "debian/changelog", "sch_zrtt.c")
NEXT = f"{VERSION}.1"
OLD_KERNEL, NEW_KERNEL = "6.1", "6.12"


def _build(folder: Path, version: str) -> list[Path]:
    """The packages of another checkout, as if it were of a version."""
    checkout(folder)
    for name in VERSIONED:
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace(VERSION, version))
    said(RuntimeError, "git", "init", "--quiet", folder)
    said(RuntimeError, "git", "add", "--all", cwd=folder)
    return packages(folder)


def _digests(debs: list[Path]) -> dict[str, str]:
    return {deb.name: hashlib.sha256(deb.read_bytes()).hexdigest() for deb in debs}


def _built(root: Root, release: str) -> set[str]:
    """Names of our modules that there are for a kernel."""
    folder = root.folder / "lib" / "modules" / release / "updates" / "dkms"
    return {path.name.partition(".")[0] for path in folder.glob("*.ko*")}


def test_same_source_gives_same_packages(tmp_path: Path) -> None:
    assert _digests(_build(tmp_path, VERSION)) == _digests(packages())


def test_upgrades_of_kernel_and_packages(tmp_path: Path) -> None:
    """Modules follow both; the newer kernel runs them; no trace stays on either."""
    newer = _build(tmp_path, NEXT)
    with clean_root() as root:
        prepare(root, OLD_KERNEL)
        install(root, packages())
        releases = [newest_release(series) for series in (OLD_KERNEL, NEW_KERNEL)]
        assert _built(root, releases[0]) == set(MODULES)
        root.apt_get("install", f"linux-headers-{releases[1]}")
        assert _built(root, releases[1]) == set(MODULES)
        install(root, newer)
        status = root.run("dkms", "status").splitlines()
        assert {line.partition(",")[0] for line in status} == {
            f"{name}/{NEXT}" for name in ("sch_zrtt", "tcp_rttfair")
        }
        assert all(_built(root, release) == set(MODULES) for release in releases)
        boot(root, NEW_KERNEL)
        purge(root)
        assert root.run("dkms", "status") == ""
        assert not any(_built(root, release) for release in releases)
        left = [path for path in root.paths() if "zrtt" in path or "rttfair" in path]
        assert not left
    assert len(newer) == len(PACKAGES)
