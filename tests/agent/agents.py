# SPDX-License-Identifier: GPL-2.0
"""The agent of a host."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab.host.netns import Namespace
from lab.senders.agent import Status, done, statuses


@dataclass
class Agent:
    """What is attached to its devices; all of it goes when the test is over."""

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
