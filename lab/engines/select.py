# SPDX-License-Identifier: GPL-2.0
"""The engine of each kernel."""

from __future__ import annotations

from lab.engines.job import Engine
from lab.engines.qemu import QemuEngine
from lab.engines.uml import UmlEngine
from lab.kernels.kernel import DEBUG, OTHER_TICKS


def get_engine(kernel: str) -> Engine:
    """Returns the engine for one of KERNELS, OTHER_TICKS or DEBUG, its kernel ready to boot."""
    if kernel in ("uml", *OTHER_TICKS, DEBUG):
        return UmlEngine(kernel)
    return QemuEngine(kernel)
