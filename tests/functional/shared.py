# SPDX-License-Identifier: GPL-2.0
"""Guests whose reports several files read."""

from __future__ import annotations

from functools import cache

from cases import ALIKE, DATA, EXPERIMENTS
from guests import KERNELS, KERNELS_ALIKE, Guest, Report, Reports, start


@cache
def reports() -> Reports:
    """All experiments that need no guest of their own."""
    return start([Guest(kernel, EXPERIMENTS, DATA) for kernel in KERNELS])


@cache
def alike() -> Reports:
    """All that do the same on all kernels."""
    return start([Guest(kernel, ALIKE, DATA) for kernel in KERNELS_ALIKE])


@cache
def two_cpu_report() -> Report:
    """Those that need two processors, in real time."""
    guest = Guest("6.12", ("smp", "mq", "together"), DATA, cpus=2, virtual_time=False)
    return start([guest])[guest.kernel].result()
