# SPDX-License-Identifier: GPL-2.0
"""zrtt-mon with sanitizers, and with files in the place of the kernel."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kbuild import ROOT, make

HERE = Path(__file__).resolve().parent
MONITOR = ROOT / "monitor"
OUT = ROOT / "out" / "monitor-tests"
FLAGS = "-g -O1 -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"


def build(out: Path, **variables: str) -> Path:
    """The program, made by its own makefile."""
    make_monitor("all", OUT=str(out), **variables)
    return out / "zrtt-mon"


def make_monitor(target: str, **variables: str) -> None:
    """Makes a target of its makefile."""
    words = [f"{name}={value}" for name, value in variables.items()]
    done = make("-s", target, *words, cwd=MONITOR)
    assert done.returncode == 0, done.stderr


@cache
def program() -> Path:
    """The one that reads files."""
    sources = [path.name for path in MONITOR.glob("*.c") if path.name != "netlink.c"]
    canned = str(HERE / "canned.c")
    return build(OUT, SOURCES=" ".join([*sources, canned]), CPPFLAGS="-I.", CFLAGS=FLAGS)


@cache
def interrupted_program() -> Path:
    """The one whose first replies are inconsistent."""
    sources = [*(path.name for path in MONITOR.glob("*.c")), str(HERE / "interrupted.c")]
    return build(
        OUT / "interrupted",
        SOURCES=" ".join(sources),
        CFLAGS="-O0",
        LDFLAGS="-Wl,--wrap=nl_recvmsgs_default",
    )


@dataclass(frozen=True)
class Said:
    """What it said, and how it ended."""

    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """All but empty ones, words apart by one space."""
        return [" ".join(line.split()) for line in self.out.splitlines() if line.strip()]

    @property
    def objects(self) -> list[dict[str, Any]]:
        """Lines of JSON."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass(frozen=True)
class Canned:
    """A folder of replies."""

    folder: Path

    def reply(self, name: str, number: int, *messages: bytes) -> None:
        """Answers a dump with messages, at once: a program that runs reads no half of them."""
        written = self.folder / "written"
        written.write_bytes(b"".join(messages))
        written.replace(self.folder / f"{name}.{number}")

    def say(self, qdiscs: Sequence[bytes], classes: Sequence[bytes] = ()) -> None:
        """Answers all dumps alike."""
        self.reply("qdiscs", 0, *qdiscs)
        self.reply("classes", 0, *classes)

    @property
    def environment(self) -> dict[str, str]:
        """What the program finds the folder by."""
        return os.environ | {"CANNED": str(self.folder)}

    def run(self, *args: str | Path) -> Said:
        """Runs the program without a terminal."""
        done = subprocess.run(
            [program(), *args], env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert "Sanitizer" not in done.stderr and "runtime error" not in done.stderr, done.stderr
        return Said(done.returncode, done.stdout, done.stderr)
