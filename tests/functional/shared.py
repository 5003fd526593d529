# SPDX-License-Identifier: GPL-2.0
"""Guests whose reports several files read."""

from __future__ import annotations

from functools import cache

from cases import DATA, EXPERIMENTS
from guests import KERNELS, Guest, Report, Reports, start


@cache
def reports() -> Reports:
    """All experiments that need no guest of their own."""
    return start([Guest(kernel, EXPERIMENTS, DATA) for kernel in KERNELS])


@cache
def two_cpu_report() -> Report:
    """Those that need two processors, in real time."""
    guest = Guest("6.12", ("smp", "mq", "together"), DATA, cpus=2, virtual_time=False)
    return start([guest])[guest.kernel].result()
