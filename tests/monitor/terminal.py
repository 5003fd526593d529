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
from collections.abc import Callable, Sequence

import pyte

LIMIT_S = 60.0
"""For what takes no time unless the machine is busy."""
POLL_S = 0.02


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
        self._fd = -1

    @property
    def _lines(self) -> list[str]:
        """Of the screen, as it is now."""
        return [line.rstrip() for line in self._screen.display]

    def _read(self, seconds: float) -> bool:
        """Shows what the program writes within so many seconds; False if there is nothing."""
        if not select.select([self._fd], [], [], seconds)[0]:
            return False
        try:
            self._stream.feed(os.read(self._fd, 65536))
        except OSError:  # the program has ended
            return False
        return True

    def look(self, seconds: float) -> list[str]:
        """What is on the screen after some time; for programs whose time is virtual."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 and self._read(left):
            pass
        return self._lines

    def wait(self, wanted: Callable[[list[str]], object]) -> list[str]:
        """What is on the screen as soon as it is as wanted. Raises TimeoutError if it never is."""
        until = time.monotonic() + LIMIT_S
        while not wanted(self._lines):
            left = until - time.monotonic()
            if left <= 0 or not self._read(left):
                raise TimeoutError("\n".join(self._lines))
        return self._lines

    def status(self) -> int:
        """Exit status, once it has ended, which it must soon. Raises TimeoutError."""
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until:
            pid, status = os.waitpid(self._pid, os.WNOHANG)
            if pid:
                return os.waitstatus_to_exitcode(status)
            if self._fd < 0 or not self._read(POLL_S):
                time.sleep(POLL_S)
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        raise TimeoutError("it does not end")
