# SPDX-License-Identifier: GPL-2.0
"""Builds zrtt-agent and runs it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lab.host.cache import locked
from lab.host.process import said
from lab.toolchain.build import REPO, BuildError

PROGRAM = REPO / "out" / "agent" / "zrtt-agent"
"""Where its Makefile leaves it."""
LIBRARIES = "lib"
"""Where those that it needs are in a guest, below $LAB."""
BPF_NAME = "zrtt_agent"
"""What the names of its programs begin with."""


class AgentError(RuntimeError):
    """The agent refused, in its own words."""


@dataclass(frozen=True)
class Status:
    """The agent's status of a device."""

    netns: str
    dev: str
    encoding: str
    every_packet: bool
    ipv4_option: int
    attached: str
    to: Sequence[str]
    packets: int
    stamped: int
    skipped: Mapping[str, int]
    connections: int
    """Those that got a hint."""

    def __post_init__(self) -> None:
        if self.packets != self.stamped + sum(self.skipped.values()):
            raise AgentError(f"counters do not add up: {self}")


@cache
def program() -> Path:
    """The program, built first unless in a guest, which cannot build it."""
    folder = REPO / "agent"
    if folder.exists():
        with locked(PROGRAM.parent):
            said(BuildError, "make", "-s", "-C", folder)
    return PROGRAM


def libraries() -> dict[str, Path]:
    """The shared libraries that it needs, by their names below $LAB."""
    found = re.findall(r"=> (/\S+) \(0x", said(BuildError, "ldd", program()))
    return {f"{LIBRARIES}/{Path(path).name}": Path(path) for path in found}


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs the agent; returns whatever comes of it."""
    command = [str(program()), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def done(*words: str) -> str:
    """Runs the agent; returns its output. Raises AgentError if it fails."""
    ended = run(*words)
    if ended.returncode or ended.stderr:
        raise AgentError(ended.stderr.strip() or f"zrtt-agent: status {ended.returncode}")
    return ended.stdout


def statuses(*words: str) -> list[Status]:
    """Of all devices, or of those that the words select."""
    return [Status(**device) for device in json.loads(done("status", *words, "-j"))]
