# SPDX-License-Identifier: GPL-2.0
"""What the documents tell one to type is what the laboratory takes."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import cli
from lab.commands import run
from lab.grid import Sweep

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
# In a code block, up to the end of the line or of those that it goes on in.
COMMAND = re.compile(r"^(?: {4})?(?:\$ |sudo )*python3 -m lab ((?:\\\n|.)*)", re.MULTILINE)
COMMANDS = [
    pytest.param(match[1].replace("\\\n", " "), id=f"{path.name}: {match[1].splitlines()[0]}")
    for path in DOCUMENTS
    for match in COMMAND.finditer(path.read_text())
]
OF_SWEEP = re.compile(r"^## A sweep file\n\n((?: {4}.*\n|\n)+)", re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_command_is_taken(command: str) -> None:
    words = shlex.split(command, comments=True)
    args = cli.parser().parse_args(words)
    if words[0] == "run":
        run.scenario_of(args)


@pytest.mark.parametrize("command", COMMANDS)
def test_files_are_there(command: str) -> None:
    """But for those that commands make."""
    for word in re.findall(r"\S+\.(?:toml|batch)\b", command):
        assert (ROOT / word).exists(), word


def test_sweep_file_is_read(load: Callable[[str], Sweep]) -> None:
    (block,) = OF_SWEEP.findall((ROOT / "docs" / "lab.md").read_text())
    plan = load(textwrap.dedent(block))
    assert plan.points()
    assert plan.targets
