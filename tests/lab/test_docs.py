# SPDX-License-Identifier: GPL-2.0
"""Documents: their commands parse, their links lead somewhere, the first page is short."""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import cli
from lab.commands import run
from lab.model.grid import Sweep

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
DOCUMENTS = (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))
# In a code block, up to the end of the line or of those that it goes on in.
COMMAND = re.compile(r"^(?: {4})?(?:\$ |sudo )*python3 -m lab ((?:\\\n|.)*)", re.MULTILINE)
COMMANDS = [
    pytest.param(match[1].replace("\\\n", " "), id=f"{path.name}: {match[1].splitlines()[0]}")
    for path in DOCUMENTS
    for match in COMMAND.finditer(path.read_text())
]
PAGES = (*DOCUMENTS, *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING", "SECURITY")))
LINK = re.compile(r"\]\(([^)\s]+)\)")
README_LINES_MAX = 110
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
        assert list(ROOT.glob(word)), word


def test_sweep_file_is_read(load: Callable[[str], Sweep]) -> None:
    (block,) = OF_SWEEP.findall((DOCS / "lab.md").read_text())
    plan = load(textwrap.dedent(block))
    assert plan.points()
    assert plan.targets


def _anchors(page: Path) -> set[str]:
    """Of its headings, as GitHub and GitLab make them."""
    headings = re.findall(r"(?m)^#+ (.*)$", page.read_text())
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for link in LINK.findall(page.read_text()):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or anchor in _anchors(target), link


@pytest.mark.parametrize(
    ("index", "folder"),
    [("README.md", ""), ("algorithm.md", "algorithm/"), ("results.md", "results/")],
    ids=["all", "algorithm", "results"],
)
def test_index_names_all_documents(index: str, folder: str) -> None:
    named = {link.partition("#")[0] for link in LINK.findall((DOCS / index).read_text())}
    assert {f"{folder}{path.name}" for path in (DOCS / folder).glob("*.md")} - {index} <= named


def test_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES_MAX
