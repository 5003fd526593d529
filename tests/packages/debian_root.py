# SPDX-License-Identifier: GPL-2.0
"""A Debian 12 in a folder, in which packages come and go and nothing is ever started."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from lab.host.cache import cache_dir, filled
from lab.host.process import said
from lab.kernels.apt import archive_uri

SUITE = "bookworm"
LISTS, ARCHIVES = "var/lib/apt/lists", "var/cache/apt/archives"
VOLATILE = ("dev", "proc", "run", "tmp", "var/cache", "var/log", "var/lib/apt", "var/lib/dpkg")
"""What apt and dpkg write for themselves, whatever they install."""

# apt's lists are this machine's, so that both know the same kernels. Processes
# that a package may leave behind end with the command.
_ENTER = f"""set -e
mount -t proc proc "$0/proc"
mount --bind /{LISTS} "$0/{LISTS}"
mount --bind "$1" "$0/{ARCHIVES}"
root=$0
shift
exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \\
	DEBIAN_FRONTEND=noninteractive "$@"
"""


class RootError(RuntimeError):
    """A command failed in the root, or the root could not be made."""


_run = partial(said, RootError)


def _home() -> Path:
    return cache_dir().resolve() / "roots"


def _share_sources(root: Path) -> None:
    """apt reads lists by the names of the sources that they came from."""
    here, there = Path("/etc"), root / "etc"
    (there / "apt/sources.list").unlink()
    for name in ("apt/sources.list", "apt/sources.list.d/*", "resolv.conf"):
        for source in here.glob(name):
            shutil.copy(source, there / source.relative_to(here))


def _debootstrap(home: Path) -> None:
    root = home / "root"
    shutil.rmtree(root, ignore_errors=True)
    _run("debootstrap", "--variant=minbase", SUITE, root, archive_uri())
    starter = root / "usr/sbin/policy-rc.d"
    starter.write_text("#!/bin/sh\nexit 101\n")
    starter.chmod(0o755)
    _run("tar", "-C", root, "-cf", home / "root.tar", ".")
    shutil.rmtree(root)


@dataclass(frozen=True)
class Root:
    """One of them."""

    folder: Path

    def run(self, *command: str | Path) -> str:
        """What a command says in there. Raises RootError with its words if it fails."""
        archives = _home() / "archives"
        (archives / "partial").mkdir(parents=True, exist_ok=True)
        words = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _ENTER]
        return _run(*words, self.folder, archives, *command)

    def apt_get(self, *words: str) -> str:
        """Without recommended packages: a router's administrator chooses."""
        quiet = ("-o", "APT::Sandbox::User=root", "--yes", "--no-install-recommends")
        return self.run("apt-get", *quiet, *words)

    def paths(self) -> set[str]:
        """All that is in there and lasts."""
        found = {path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*")}
        return {name for name in found if not name.startswith(VOLATILE)}


@contextmanager
def clean_root() -> Iterator[Root]:
    """A fresh one of the fewest packages; it is gone when the caller is done."""
    archive = filled(_home() / SUITE, _debootstrap) / "root.tar"
    with TemporaryDirectory(prefix="zrtt-root-") as folder:
        _run("tar", "-C", folder, "-xf", archive)
        _share_sources(Path(folder))
        yield Root(Path(folder))
