# SPDX-License-Identifier: GPL-2.0
"""The window arithmetic of endpoints/, compiled for user space and called from Python."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, Structure, byref, c_bool, c_int32, c_uint32, c_uint64
from functools import cache
from pathlib import Path
from typing import Any

from kbuild import compiled

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
OUT = ROOT / "out" / "endpoints"

Q16, Q32 = 2.0**16, 2.0**32

ARGUMENTS = {
    "log2_of": 1, "penalty": 4, "alpha": 3, "libra_cut": 4, "nrhstcp_cut": 3, "exp_cut": 2,
    "prague_share": 4, "prague_part": 2,
}  # fmt: skip
"""Functions of 32-bit numbers, and how many they take."""
STEPS = {"libra_step": 4, "nrhstcp_step": 3, "prague_step": 3}
"""The same with a result of 64 bits."""


class Probe(Structure):
    """struct libra_probe"""

    _fields_ = [
        (name, c_uint32)
        for name in (
            "acked_us", "rtt_us", "bytes", "least_sum_us", "first_us", "apart_us", "capacity_kbps",
        )
    ]


@cache
def library() -> Any:
    """The functions of window.c; what UBSan finds goes to stderr."""
    flags = ["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined",
             "-shared", "-fPIC", f"-I{HERE}", f"-I{ROOT / 'tests/unit'}", f"-I{ROOT / 'endpoints'}"]  # fmt: skip
    made = compiled(OUT / "window.so", "gcc", *flags, HERE / "window.c")
    found = ctypes.CDLL(str(made))
    for results, names in ((c_uint32, ARGUMENTS), (c_uint64, STEPS)):
        for name, count in names.items():
            function = getattr(found, name)
            function.argtypes, function.restype = [c_uint32] * count, results
    found.log2_of.restype = c_int32
    found.exp2_of.argtypes, found.exp2_of.restype = [c_int32], c_uint64
    found.exp_step.argtypes, found.exp_step.restype = [c_uint64, *[c_uint32] * 3], c_uint64
    found.prague_cut.argtypes, found.prague_cut.restype = [c_uint64, c_uint32], c_uint64
    found.credit.argtypes = [POINTER(c_uint32), c_uint32, c_uint64]
    found.credit.restype = c_uint32
    found.probe.argtypes, found.probe.restype = [POINTER(Probe), *[c_uint32] * 4], None
    found.prompt.argtypes, found.prompt.restype = [POINTER(Probe), c_uint32, c_uint32], c_bool
    found.doubt.argtypes, found.doubt.restype = [POINTER(Probe), c_uint64, c_uint32], None
    return found


class Window:
    """A connection in congestion avoidance: what tcp_cong_avoid_ai() does with credit."""

    def __init__(self, cwnd: int) -> None:
        self.cwnd = cwnd
        self.count = 0
        self._part = c_uint32(0)

    @property
    def size(self) -> float:
        """The window with its fraction, segments."""
        return self.cwnd + (self.count + self._part.value / Q32) / self.cwnd

    def acked(self, segments: int, increase: int) -> None:
        """Segments were acknowledged, at an increase per round trip, Q32."""
        self.count += library().credit(byref(self._part), segments, increase)
        whole, self.count = divmod(self.count, self.cwnd)
        self.cwnd += whole
