# SPDX-License-Identifier: GPL-2.0
"""The algorithm's headers, compiled for user space and loaded into this process.

Each function of model.c is an attribute of LIBRARY, without its prefix; a list of
numbers may stand for an array.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kbuild import compiled

from lab.host.cache import locked

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE = HERE / "model.c"

_TYPES = {
    "void": None,
    "u32": ctypes.c_uint32,
    "s32": ctypes.c_int32,
    "u64": ctypes.c_uint64,
    "s64": ctypes.c_int64,
}
_PROTOTYPE = re.compile(r"^([^\s#/].*?)model_(\w+)\(([^)]*)\)\n\{", re.MULTILINE)
_PARAMETER = re.compile(r"[^\s,][^,]+ [^,]+")


def _type_of(declaration: str) -> Any:
    """ctypes' name of a C type, with or without the name of a parameter behind it."""
    plain = _TYPES[declaration.removeprefix("const ").split()[0]]
    return ctypes.POINTER(plain) if "*" in declaration else plain


def _array(kind: Any, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return (kind._type_ * len(value))(*value)


class Library:
    """The functions and ranges of model.c."""

    def __init__(self, path: Path) -> None:
        self._loaded = ctypes.CDLL(str(path))
        self._types = {
            name: (_type_of(result), [*map(_type_of, _PARAMETER.findall(parameters))])
            for result, name, parameters in _PROTOTYPE.findall(SOURCE.read_text())
        }

    def __getattr__(self, name: str) -> Callable[..., Any]:
        function = getattr(self._loaded, f"model_{name}")
        function.restype, function.argtypes = self._types[name]

        def call(*values: Any) -> Any:
            return function(*map(_array, function.argtypes, values))

        return call

    def range(self, name: str) -> tuple[int, int]:
        """The least and the largest value of a parameter."""
        low, high = (ctypes.c_uint32 * 2).in_dll(self._loaded, f"range_{name}")
        return low, high


def _sources() -> list[Path]:
    """What may be part of it."""
    folders = (ROOT / "include", ROOT / "tests/unit/linux")
    return [SOURCE, *(path for folder in folders for path in folder.rglob("*.h"))]


def _build() -> Path:
    """By whichever process comes first, unless it is there and nothing has changed."""
    made = ROOT / "out/model/model.so"
    include = [ROOT / "tests/unit", ROOT / "include", ROOT / "include/uapi"]
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]
    folders = [f"-I{folder}" for folder in include]
    with locked(made.parent):
        newest_s = max(path.stat().st_mtime for path in (Path(__file__), *_sources()))
        if made.exists() and made.stat().st_mtime > newest_s:
            return made
        return compiled(made, "gcc", *flags, *folders, SOURCE)


LIBRARY = Library(_build())
