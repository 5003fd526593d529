# SPDX-License-Identifier: GPL-2.0
"""lab kernel: finds, fetches, builds and lists kernels."""

from __future__ import annotations

import argparse

from lab.commands.parsing import Commands
from lab.engines.select import get_engine
from lab.kernels.kernel import DEBUG, KERNELS, OTHER_TICKS


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "kernel",
        help="find, fetch, build and list kernels",
        description="Fetches the newest of Debian's kernels into the cache, with the headers "
        "to build modules for them, builds user-mode Linux, and says what they are.",
    )
    p.add_argument("kernels", nargs="*", choices=[[], *KERNELS, *OTHER_TICKS, DEBUG],
                   metavar="KERNEL",
                   help=f"some of {', '.join(KERNELS)}, which is the default; "
                   f"{' and '.join(OTHER_TICKS)} are user-mode Linux with another HZ, "
                   f"{DEBUG} that with sanitizers, for lab stress")  # fmt: skip
    p.set_defaults(handler=_kernel)


def _kernel(args: argparse.Namespace) -> None:
    for name in args.kernels or KERNELS:
        kernel = get_engine(name).kernel
        print(f"{name:10} {kernel.release}  {kernel.image}")
