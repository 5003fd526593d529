# SPDX-License-Identifier: GPL-2.0
"""lab matrix: builds with each compiler for each kernel."""

from __future__ import annotations

import argparse
import sys

from lab.commands.parsing import Commands
from lab.output.text_table import aligned
from lab.toolchain import matrix


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "matrix",
        help="build for each kernel with each compiler",
        description="Builds the modules, with W=1, and the tc plugin with "
        f"{' and '.join(matrix.COMPILERS)} for {', '.join(matrix.KERNELS)}, and prints a table. "
        "Whatever a compiler says is a failure.",
    )
    p.set_defaults(handler=_matrix)


def _matrix(_: argparse.Namespace) -> int:
    table: dict[tuple[str, str], list[str]] = {}
    failed = False
    for cell in matrix.cells():
        if cell.fault:
            failed = True
            print(f"{cell.subject}, {cell.kernel}, {cell.compiler}:\n{cell.fault}", file=sys.stderr)
        table.setdefault((cell.subject, cell.kernel), []).append("failed" if cell.fault else "ok")
    head = ["", "kernel", *matrix.COMPILERS]
    print(
        "\n".join(aligned([head, *([*names, *verdicts] for names, verdicts in table.items())], 2))
    )
    return 1 if failed else 0
