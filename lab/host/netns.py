# SPDX-License-Identifier: GPL-2.0
"""Network namespaces of this machine: creates, enters and deletes them."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.host.process import said

CLONE_NEWNET = 0x40000000
FOLDER = Path("/run/netns")


class NetnsError(RuntimeError):
    """A namespace, or something in it, could not be made."""


_run = partial(said, NetnsError)


def _setns(fd: int) -> None:
    """Of this thread only. Python has it from 3.12 on."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(fd, CLONE_NEWNET):
        error = ctypes.get_errno()
        raise NetnsError(f"setns: {os.strerror(error)}")


@dataclass(frozen=True)
class Namespace:
    """One that `ip netns` knows."""

    name: str

    def run(self, *words: str | Path) -> str:
        """Runs a program in the namespace; returns its output."""
        return _run("ip", "netns", "exec", self.name, *words)

    def ip(self, *words: str) -> None:
        """Changes its network: `ip WORDS`."""
        _run("ip", "-n", self.name, *words)

    def ip_batch(self, lines: Iterable[str]) -> None:
        """The same, many times."""
        text = "".join(f"{line}\n" for line in lines)
        command = ["ip", "-n", self.name, "-batch", "-"]
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
        if done.returncode:
            raise NetnsError(f"{text}{done.stderr.strip()}")

    def tc(self, *words: str) -> None:
        """Changes its queues: `tc WORDS`."""
        _run("tc", "-n", self.name, *words)

    def set(self, name: str, value: str) -> None:
        """A setting below /proc/sys/net."""
        with self.entered():
            Path("/proc/sys/net", name).write_text(value)

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Moves this thread into the namespace; sockets that it opens stay there."""
        home = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
        there = os.open(FOLDER / self.name, os.O_RDONLY)
        try:
            _setns(there)
            yield
        finally:
            _setns(home)
            os.close(there)
            os.close(home)

    def delete(self) -> None:
        """Deletes the namespace, if it exists."""
        if (FOLDER / self.name).exists():
            _run("ip", "netns", "del", self.name)


@contextmanager
def made(*names: str) -> Iterator[list[Namespace]]:
    """New ones, loopback up; they are gone when the caller is done. Needs root."""
    spaces = [Namespace(f"zrtt{os.getpid()}-{name}") for name in names]
    try:
        for space in spaces:
            _run("ip", "netns", "add", space.name)
            space.ip("link", "set", "lo", "up")
        yield spaces
    finally:
        for space in spaces:
            space.delete()
