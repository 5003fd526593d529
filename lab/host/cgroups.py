# SPDX-License-Identifier: GPL-2.0
"""A cgroup for this process: TCP options are written for the sockets of a cgroup."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class CgroupError(RuntimeError):
    """There are no cgroups of version 2 here."""


def _root() -> Path:
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    found = [Path(mount[1]) for mount in mounts if mount[2] == "cgroup2"]
    if not found:
        raise CgroupError("no cgroup2 is mounted: mount -t cgroup2 cgroup /sys/fs/cgroup")
    return found[0]


def _current() -> str:
    """The one that this process is in."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    return next(line.removeprefix("0::/") for line in lines if line.startswith("0::"))


def _move(pid: int | str, cgroup: Path) -> None:
    (cgroup / "cgroup.procs").write_text(str(pid))


def _empty(cgroup: Path, into: Path) -> None:
    """Processes may come and go meanwhile."""
    while pids := (cgroup / "cgroup.procs").read_text().split():
        for pid in pids:
            with suppress(ProcessLookupError):
                _move(pid, into)


@contextmanager
def own() -> Iterator[Path]:
    """Moves this process, and what it starts, into a new cgroup until the caller is done."""
    root = _root()
    before = root / _current()
    cgroup = root / f"zrtt-{os.getpid()}"
    cgroup.mkdir()
    try:
        _move(os.getpid(), cgroup)
        yield cgroup
    finally:
        _empty(cgroup, before)
        cgroup.rmdir()
