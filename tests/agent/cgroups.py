# SPDX-License-Identifier: GPL-2.0
"""A cgroup of the test's own: hints in TCP options are for the sockets of a cgroup."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _root() -> Path:
    """Where cgroups of version 2 are."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return next(Path(mount[1]) for mount in mounts if mount[2] == "cgroup2")


def _current() -> str:
    """The one that this process is in."""
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    return next(line.removeprefix("0::/") for line in lines if line.startswith("0::"))


def _enter(cgroup: Path) -> None:
    (cgroup / "cgroup.procs").write_text(str(os.getpid()))


@contextmanager
def own_cgroup() -> Iterator[Path]:
    """This process is in it until the caller is done."""
    before = _root() / _current()
    cgroup = _root() / f"zrtt-test-{os.getpid()}"
    cgroup.mkdir()
    try:
        _enter(cgroup)
        yield cgroup
    finally:
        _enter(before)
        cgroup.rmdir()
