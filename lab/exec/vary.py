# SPDX-License-Identifier: GPL-2.0
"""Variants of a file, and commands that are there several times.

    [[vary]]                    # a run for each combination; {cc} and {ecn} stand for the values
    cc = ["cubic", "bbr"]
    ecn = [true, false]

    [[command]]
    each = ["near", "far"]      # a command for each; {each} stands for the value
    name = "get-{each}"
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

from lab.model.options import ScenarioError

Value = str | bool | int | float
Document = dict[str, Any]
Failure = Callable[[str, object], ScenarioError]
NAME = re.compile(r"[a-z][a-z_0-9]*")
EACH = "each"


def put(document: Any, values: dict[str, Value]) -> Any:
    """The document with {NAME} replaced in all texts; a text that is no more becomes the value."""
    if isinstance(document, dict):
        return {key: put(value, values) for key, value in document.items()}
    if isinstance(document, list):
        return [put(value, values) for value in document]
    if not isinstance(document, str):
        return document
    for name, value in values.items():
        if document == f"{{{name}}}":
            return value
        document = document.replace(f"{{{name}}}", as_text(value))
    return document


def as_text(value: Value) -> str:
    """As it is written in TOML, but for the quotes of a text."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def combinations(top: Document, failure: Failure) -> list[dict[str, Value]]:
    """The values of each variant; one without any if the file has no [[vary]]."""
    blocks = top.get("vary", [{}])
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise failure("vary", "want [[vary]]")
    found = []
    for number, block in enumerate(blocks, 1):
        lists = [_choices(f"vary[{number}].{name}", name, block[name], failure) for name in block]
        found += [dict(zip(block, chosen, strict=True)) for chosen in itertools.product(*lists)]
    return found


def _choices(key: str, name: str, value: Any, failure: Failure) -> list[Value]:
    if not NAME.fullmatch(name) or name == EACH:
        raise failure(key, f"a name has a-z, 0-9 and _, and is not {EACH}")
    choices = value if isinstance(value, list) else [value]
    if not choices or not all(isinstance(choice, str | bool | int | float) for choice in choices):
        raise failure(key, "want a value or a list of values")
    return choices


def variant_name(values: dict[str, Value]) -> str:
    """As "cc=bbr,ecn=true"; of use in a path."""
    return ",".join(f"{name}={as_text(value)}".replace("/", "_") for name, value in values.items())


def commands(tables: list[Any], failure: Failure) -> list[tuple[str, Any]]:
    """All commands with their keys: one for each value of `each`."""
    found = []
    for number, table in enumerate(tables, 1):
        key = f"command[{number}]"
        if not isinstance(table, dict) or EACH not in table:
            found.append((key, table))
            continue
        values = table[EACH]
        if not isinstance(values, list) or not values or not all(type(v) is str for v in values):
            raise failure(f"{key}.{EACH}", "want a list of texts")
        rest = {name: value for name, value in table.items() if name != EACH}
        found += [(key, put(rest, {EACH: value})) for value in values]
    return found
