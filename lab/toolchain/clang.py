# SPDX-License-Identifier: GPL-2.0
"""A kernel's headers, configured for clang: Debian's are for gcc.

Modules built with them show what clang says of the source. They are not for
running: the kernel they name was built by gcc all the same.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path

from lab.host.process import said
from lab.kernels.kernel import Kernel, KernelError

CLANG = "clang-19"
OPTIONS = {
    "CC_IS_GCC": "",
    "CC_IS_CLANG": "y",
    "GCC_VERSION": "0",
    "CLANG_VERSION": "190000",
    "CC_IMPLICIT_FALLTHROUGH": '"-Wimplicit-fallthrough"',
    "CC_HAS_MIN_FUNCTION_ALIGNMENT": "",
    "CC_HAS_NAMED_AS": "",
    "USE_X86_SEG_SUPPORT": "",
    "FTRACE_MCOUNT_USE_CC": "",
    "UBSAN_BOUNDS_STRICT": "",
    "UBSAN_ARRAY_BOUNDS": "y",
}
"""What kconfig finds with it; an empty one is not set."""

_run = partial(said, KernelError)


def headers(kernel: Kernel, folder: Path) -> Kernel:
    """The kernel with a copy of its headers, in a new folder, that make wants clang for."""
    _run(*kernel.view, "cp", "-rL", kernel.build_dir, folder)
    makefile = folder / "Makefile"
    makefile.write_text(makefile.read_text().replace(str(kernel.build_dir), str(folder)))
    names = "|".join(OPTIONS)
    values = [(option, value) for option, value in OPTIONS.items() if value]
    for name, line, yes in (
        ("config/auto.conf", "CONFIG_{}={}\n", "y"),
        ("generated/autoconf.h", "#define CONFIG_{} {}\n", "1"),
    ):
        path = folder / "include" / name
        kept = re.sub(rf"(?m)^(#define )?CONFIG_({names})\b.*\n", "", path.read_text())
        lines = [line.format(option, yes if value == "y" else value) for option, value in values]
        path.write_text(kept + "".join(lines))
    return replace(kernel, build_dir=folder, make_args=(*kernel.make_args, f"CC={CLANG}"))
