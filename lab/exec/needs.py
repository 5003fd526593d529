# SPDX-License-Identifier: GPL-2.0
"""The files that the programs of a plan need in a guest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from lab.engines import guest_python
from lab.engines.initramfs import libraries
from lab.exec import builds, packages
from lab.exec.plan import Command, Plan
from lab.model.options import ScenarioError

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
MAX_SCRIPTS = 4
"""Scripts that name a script as their interpreter."""
ENV = "/usr/bin/env"


class Needs:
    """Finds the files, on this machine and in packages unpacked for the plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        root = packages.unpacked(plan.packages)
        self._folders: list[Path] = []
        self._path = ":".join([*(str(builds.built(name)) for name in plan.builds), PATH])
        if root:
            self._folders = [root / name for name in packages.LIBRARY_FOLDERS]
            own = [str(root / name) for name in packages.PROGRAM_FOLDERS]
            self._path = ":".join([*own, self._path])

    def located(self, command: Command, program: str) -> Path:
        """The absolute path of a program. Raises ScenarioError if it is not on this machine.

        A path with a slash is relative to the file's folder.
        """
        if "/" in program:
            path = Path(os.path.abspath(self._plan.path.parent / program))
            if path.is_file() and os.access(path, os.X_OK):
                return path
        elif found := shutil.which(program, path=self._path):
            return Path(found)
        raise ScenarioError(
            f"{command.at}: {command.name}: there is no program {program} on this machine;"
            " a Debian package that has it can be named in packages"
        )

    def programs(self, command: Command) -> list[Path]:
        """The programs of a command."""
        return [self.located(command, word) for word in (command.words[0], *command.programs)]

    def host_files(self) -> list[Path]:
        """What the guest is to have at the same paths: programs, libraries, named files."""
        found: dict[Path, None] = {}
        for command in self._plan.commands:
            for program in self.programs(command):
                found |= dict.fromkeys(self._of_program(program))
            for named in command.files:
                if named.is_absolute():
                    found |= dict.fromkeys(_below(named))
        return list(found)

    def _of_program(self, path: Path, depth: int = 0) -> Iterator[Path]:
        """A program, its libraries, and the interpreters of a script with theirs."""
        yield path
        yield from libraries(path, self._folders)
        for interpreter in _interpreters(path) if depth < MAX_SCRIPTS else ():
            if found := shutil.which(interpreter, path=self._path):
                yield from self._of_program(Path(found), depth + 1)

    def _runs_python(self) -> bool:
        """Whether a program is Python, or a script in it, which needs its library."""
        return any(path.name.startswith("python3") for path in self.host_files())

    def lab_files(self, *, sees_host: bool) -> dict[str, Path]:
        """Name below $LAB -> file: what is copied to commands' folders, and Python's library."""
        own = {
            f"data/{command.name}/{file.name}": self._plan.path.parent / file
            for command in self._plan.commands
            for file in command.files
            if not file.is_absolute()
        }
        if not sees_host and self._runs_python():
            own |= guest_python.standard_library()
        return own

    def environment(self, *, sees_host: bool) -> str:
        """Lines of a script, for all commands."""
        lines = [f"export PATH=$PATH:{self._path} PYTHONUNBUFFERED=1"]
        if not sees_host and self._runs_python():
            lines.append(guest_python.ENVIRONMENT)
        if self._folders:
            folders = ":".join(map(str, self._folders))
            lines.append(f"export LD_LIBRARY_PATH={folders}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}")
        return "\n".join(lines)


def _interpreters(path: Path) -> list[str]:
    """What the first line of a script names; nothing, of a binary."""
    with path.open("rb") as stream:
        line = stream.readline(256)
    if not line.startswith(b"#!"):
        return []
    words = line[2:].decode(errors="replace").split()
    return words[:2] if words[:1] == [ENV] else words[:1]


def _below(path: Path) -> Iterator[Path]:
    """The regular files of a folder, or the file itself."""
    if path.is_dir():
        yield from (file for file in sorted(path.rglob("*")) if file.is_file())
    else:
        yield path
