# SPDX-License-Identifier: GPL-2.0
"""The tree: imports have an order, packages a size, and CONTRIBUTING.md names each folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from sources import ROOT, all_sources, code_of, includes_of, name_of

from lab import cli

LAB = ROOT / "lab"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in all_sources()
    if path.suffix == ".py" and path.is_relative_to(LAB)
}
"""Of the laboratory, by their names."""
PACKAGES = sorted({path.parent for path in MODULES.values()} - {LAB})
COMMANDS = LAB / "commands"
MAX_MODULES = 15
SHARED_BY_COMMANDS = {"parsing", "versions"}
TRAFFIC = sorted((LAB / "guest" / "traffic").glob("*.[ch]"))

MADE = {"out", "__pycache__"}
"""Folders that are not written by hand."""

Graph = Mapping[str, Iterable[str]]


def circle(graph: Graph) -> list[str]:
    """Names in a circle, the first again at the end; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def imported(path: Path) -> set[str]:
    """Modules of the laboratory that a module imports, wherever it does so."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{name_of(path)}: a relative import"
            names = {str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)}
        else:
            continue
        found |= names & MODULES.keys()
    return found - {"lab"}


def package(module: str) -> str:
    """The folder of lab/ that a module is in, or the module itself."""
    return ".".join(module.split(".")[:2])


def defines(code: str, function: str) -> bool:
    """Whether a source has the function itself, not only a call or a declaration."""
    return bool(re.search(rf"(?m)^\w.*\b{function}\([^;{{}}]*\)\n\{{", code))


def mapped() -> list[str]:
    """Files and folders of the map in CONTRIBUTING.md, from its first line on."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    section = re.search(r"(?ms)^## Where things are\n(.*?)^## ", text)
    assert section
    return re.findall(r"(?m)^\| `([\w./-]+)` \|", section[1])


@cache
def graph_of_modules() -> dict[str, set[str]]:
    """The modules that each module of the laboratory imports."""
    return {name: imported(path) for name, path in MODULES.items()}


def test_imports_are_found() -> None:
    """The rules below would hold of an empty graph."""
    assert len(graph_of_modules()) > 100
    assert {"lab.engines.select", "lab.results.result"} <= graph_of_modules()["lab.runs.runner"]
    assert circle({"a": ["b"], "b": ["c"], "c": ["a"]})


def test_modules_import_in_no_circle() -> None:
    assert circle(graph_of_modules()) == []


def test_packages_import_those_above_them() -> None:
    """In the order of the map, so that there is no circle of packages either."""
    above: set[str] = set()
    for folder in (name for name in mapped() if re.fullmatch(r"lab/\w+/", name)):
        own = f"lab.{Path(folder).name}"
        used = {package(other) for module, others in graph_of_modules().items()
                for other in others if package(module) == own}  # fmt: skip
        assert used - {own} <= above, folder
        above.add(own)


def test_parts_of_the_traffic_program_include_in_no_circle() -> None:
    """A part is a source and its header, which declares functions of that source only."""
    assert len(TRAFFIC) > 10
    graph: dict[str, set[str]] = {}
    for path in TRAFFIC:
        code, includes = code_of(path), includes_of(path)
        own = {name.strip('"').removesuffix(".h") for name in includes if name.startswith('"')}
        graph.setdefault(path.stem, set()).update(own - {path.stem})
        if path.suffix == ".h":
            source = code_of(path.with_suffix(".c"))
            declared = re.findall(r"(?m)^\w.*?(\w+)\([^;{]*\);", code)
            assert declared
            assert not [name for name in declared if not defines(source, name)], name_of(path)
    assert circle(graph) == []


@pytest.mark.parametrize("folder", [LAB, *PACKAGES], ids=name_of)
def test_package_can_be_surveyed(folder: Path) -> None:
    modules = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    if folder == COMMANDS:
        assert modules - SHARED_BY_COMMANDS == {c.__name__.split(".")[-1] for c in cli.COMMANDS}
    else:
        assert len(modules) <= MAX_MODULES


def folders(parent: Path) -> set[str]:
    """Those that have anything in them."""
    return {
        f"{path.relative_to(ROOT).as_posix()}/"
        for path in parent.iterdir()
        if path.is_dir() and path.name not in MADE and not path.name.startswith(".")
        if any(file.is_file() for file in path.rglob("*"))
    }


def test_map_names_each_folder() -> None:
    """And no other: those at the top, and those of the laboratory."""
    names = mapped()
    assert len(names) == len(set(names))
    assert not [name for name in names if not (ROOT / name).exists()]
    of_lab = {name for name in names if name.startswith("lab/")} - {"lab/"}
    assert of_lab == folders(LAB)
    at_the_top = {f"{name.split('/')[0]}/" for name in names if "/" in name}
    assert at_the_top == folders(ROOT)


def test_all_folders_of_tests_are_run() -> None:
    """pytest passes over a folder of its list that does not exist, and one that is not listed."""
    (listed,) = re.findall(r"(?m)^testpaths = (.*)$", (ROOT / "tests/pytest.ini").read_text())
    found = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert sorted(listed.split()) == sorted(found)
