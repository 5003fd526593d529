# SPDX-License-Identifier: GPL-2.0
"""Builds zrtt-agent, runs it, and reads what it says of itself."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from places import HERE, PLACE

from lab.netns import Namespace

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "out" / "agent" / "zrtt-agent"
"""As its Makefile has it."""


@cache
def binary() -> Path:
    """The program; a guest has it already."""
    if PLACE == HERE:
        subprocess.run(["make", "-s", "-C", ROOT / "agent"], check=True)
    return PROGRAM


def run(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Runs it to its end, whatever that is."""
    command = [str(binary()), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def done(*words: str) -> str:
    """What it says, if it does what it is told."""
    ended = run(*words)
    assert ended.returncode == 0, f"zrtt-agent {' '.join(words)}: {ended.stderr}"
    assert ended.stderr == ""
    return ended.stdout


@dataclass(frozen=True)
class Status:
    """What it says of a device."""

    netns: str
    dev: str
    encoding: str
    every_packet: bool
    attached: str
    to: Sequence[str]
    packets: int
    stamped: int
    skipped: Mapping[str, int]
    connections: int
    """Those that got a hint."""

    def __post_init__(self) -> None:
        assert self.packets == self.stamped + sum(self.skipped.values()), self
        assert all(count >= 0 for count in self.skipped.values()), self


def statuses(*words: str) -> list[Status]:
    """Of all devices, or of those that the words select."""
    return [Status(**said) for said in json.loads(done("status", *words, "-j"))]


@dataclass
class Agent:
    """The agent of one host; it is detached when the test is over."""

    space: Namespace
    cgroup: Path

    def attach(self, *options: str, dev: str = "a0", encoding: str = "ip") -> None:
        """To a device."""
        how = ["--encoding", encoding]
        if encoding == "tcp":
            how += ["--cgroup", str(self.cgroup)]
        done("attach", dev, "--netns", self.space.name, *how, *options)

    def detach(self, dev: str = "a0") -> None:
        """From a device."""
        done("detach", dev, "--netns", self.space.name)

    def status(self, dev: str = "a0") -> Status:
        """Of a device."""
        (only,) = statuses(dev, "--netns", self.space.name)
        return only

    def leave(self) -> None:
        """Detaches from all devices of the host."""
        for status in statuses():
            if status.netns == self.space.name:
                self.detach(status.dev)
