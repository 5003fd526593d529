# SPDX-License-Identifier: GPL-2.0
"""What an agent has in the kernel: programs, maps, links, filters, pins.

Others may use BPF at the same time. So an agent's objects are those programs of
its name that were not there before, and what belongs to them.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.host.netns import Namespace
from lab.senders.agent import BPF_NAME

PATIENCE_S = 60.0
"""The kernel frees some things a moment later, and a busy one later than that."""
BPFFS = Path("/sys/fs/bpf")
STATE = Path("/run")


def _shown(kind: str) -> list[dict[str, Any]]:
    """bpftool fails while another program's object, of which it knows the number, is being made."""
    command = ["bpftool", "-j", kind, "show"]
    end = time.monotonic() + PATIENCE_S
    while True:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not done.returncode:
            return list(json.loads(done.stdout or "[]"))
        assert "Resource temporarily unavailable" in done.stdout, done.stdout + done.stderr
        assert time.monotonic() < end, done.stdout
        time.sleep(0.1)


def _paths() -> frozenset[str]:
    """Pins and files of state."""

    def found() -> Iterator[str]:
        for folder in (BPFFS, *STATE.glob("zrtt*")):
            for path, folders, files in os.walk(folder):
                yield from (os.path.join(path, name) for name in (*folders, *files))

    return frozenset(found())


@dataclass(frozen=True)
class Objects:
    """Identifiers by kind, and paths."""

    programs: frozenset[int]
    maps: frozenset[int]
    links: frozenset[int]
    paths: frozenset[str]

    def __bool__(self) -> bool:
        return any((self.programs, self.maps, self.links, self.paths))


NONE = Objects(frozenset(), frozenset(), frozenset(), frozenset())


def present(before: Objects = NONE) -> Objects:
    """What agents have there now, and have not had before."""
    programs = [
        one for one in _shown("prog")
        if one.get("name", "").startswith(BPF_NAME) and one["id"] not in before.programs
    ]  # fmt: skip
    own = frozenset(program["id"] for program in programs)
    maps = {number for program in programs for number in program.get("map_ids", [])}
    links = {link["id"] for link in _shown("link") if link.get("prog_id") in own}
    return Objects(own, frozenset(maps), frozenset(links), _paths() - before.paths)


def left_of(made: Objects, patience_s: float = PATIENCE_S) -> Objects:
    """What is still there of it, after some patience."""
    end = time.monotonic() + patience_s
    while True:
        left = Objects(
            made.programs & {one["id"] for one in _shown("prog")},
            made.maps & {one["id"] for one in _shown("map")},
            made.links & {one["id"] for one in _shown("link")},
            made.paths & _paths(),
        )
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.05)


def map_bytes(made: Objects) -> dict[int, int]:
    """Memory of its maps."""
    return {one["id"]: one["bytes_memlock"] for one in _shown("map") if one["id"] in made.maps}


def filters(space: Namespace, device: str) -> str:
    """Queues and filters of a device, as tc shows them."""
    shown = space.run("tc", "qdisc", "show", "dev", device)
    for way in ("ingress", "egress"):
        shown += space.run("tc", "filter", "show", "dev", device, way)
    return shown
