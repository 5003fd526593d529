# SPDX-License-Identifier: GPL-2.0
"""The files that a command's programs need in a guest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from lab.engines.initramfs import libraries
from lab.exec.plan import Command, Plan
from lab.model.options import ScenarioError

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MAX_SCRIPTS = 4
"""Scripts that name a script as their interpreter."""
ENV = "/usr/bin/env"


def located(plan: Plan, command: Command, program: str) -> Path:
    """The absolute path of a program. Raises ScenarioError if it is not on this machine.

    A path with a slash is relative to the file's folder.
    """
    if "/" in program:
        path = Path(os.path.abspath(plan.path.parent / program))
        if path.is_file() and os.access(path, os.X_OK):
            return path
    elif found := shutil.which(program, path=PATH):
        return Path(found)
    raise ScenarioError(
        f"{plan.path}: command {command.name}: there is no program {program} on this machine"
    )


def _interpreters(path: Path) -> list[str]:
    """What the first line of a script names; nothing, of a binary."""
    with path.open("rb") as stream:
        line = stream.readline(256)
    if not line.startswith(b"#!"):
        return []
    words = line[2:].decode(errors="replace").split()
    return words[:2] if words[:1] == [ENV] else words[:1]


def _of_program(path: Path, depth: int = 0) -> Iterator[Path]:
    """A program, its libraries, and the interpreters of a script with theirs."""
    yield path
    yield from libraries(path)
    for interpreter in _interpreters(path) if depth < MAX_SCRIPTS else ():
        if found := shutil.which(interpreter, path=PATH):
            yield from _of_program(Path(found), depth + 1)


def programs(plan: Plan, command: Command) -> list[Path]:
    """The programs of a command."""
    return [located(plan, command, word) for word in (command.words[0], *command.programs)]


def _below(path: Path) -> Iterator[Path]:
    """The regular files of a folder, or the file itself."""
    if path.is_dir():
        yield from (file for file in sorted(path.rglob("*")) if file.is_file())
    else:
        yield path


def of_host(plan: Plan) -> list[Path]:
    """All files that the guest is to have at the same paths: programs, libraries, named files."""
    found: dict[Path, None] = {}
    for command in plan.commands:
        for program in programs(plan, command):
            found |= dict.fromkeys(_of_program(program))
        for named in command.files:
            if named.is_absolute():
                found |= dict.fromkeys(_below(named))
    return list(found)


def runs_python(plan: Plan) -> bool:
    """Whether a program is Python, or a script in it, which needs its library."""
    paths = (path for command in plan.commands for path in programs(plan, command))
    return any(file.name.startswith("python3") for path in paths for file in _of_program(path))


def data(plan: Plan) -> dict[str, Path]:
    """Name below $LAB -> file, of those that are copied to a command's folder."""
    return {
        f"data/{command.name}/{file.name}": plan.path.parent / file
        for command in plan.commands
        for file in command.files
        if not file.is_absolute()
    }
