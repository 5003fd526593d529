# SPDX-License-Identifier: GPL-2.0
"""A program on a terminal that can be looked at, typed on and resized."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import termios
import time
from collections.abc import Sequence

import pyte

END_S = 20.0


class Terminal:
    """Emulates one, and runs a program on it."""

    def __init__(
        self, command: Sequence[str], columns: int, lines: int, term: str = "linux"
    ) -> None:
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        self._pid, self._fd = pty.fork()
        if not self._pid:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
            os.execvpe(command[0], command, os.environ | {"TERM": term})

    def resize(self, columns: int, lines: int) -> None:
        """As if somebody pulled at the window."""
        self._screen.resize(lines, columns)
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, keys: str) -> None:
        """Presses keys."""
        os.write(self._fd, keys.encode())

    def hang_up(self) -> None:
        """Goes away."""
        os.close(self._fd)

    def look(self, seconds: float) -> list[str]:
        """What is on the screen after some time."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if not select.select([self._fd], [], [], left)[0]:
                break
            try:
                self._stream.feed(os.read(self._fd, 65536))
            except OSError:  # the program has ended
                break
        return [line.rstrip() for line in self._screen.display]

    def status(self) -> int:
        """Exit status, once it has ended, which it must soon."""
        until = time.monotonic() + END_S
        while time.monotonic() < until:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            time.sleep(0.02)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        raise TimeoutError("it does not end")
