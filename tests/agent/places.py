# SPDX-License-Identifier: GPL-2.0
"""Where a test runs: here, if this kernel has what it takes, else in a guest.

Whether BPF is allowed cannot be read anywhere; so a program is loaded, of two
instructions. In a guest, PLACE says which one it is.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Callable
from functools import cache

from lab.host import netns
from lab.host.netns import Namespace, NetnsError

HERE, GUEST, OLD_GUEST = "here", "6.12", "6.1"
"""The guests by their kernels. The old one, which has no tcx, is always needed; so it has those
tests, too, for which this kernel lacks a module, or that want solitude, as nobody else's agent
may be there.
"""
PLACE_VARIABLE = "ZRTT_TEST_PLACE"
PLACE = os.environ.get(PLACE_VARIABLE, HERE)

SYS_BPF = {"x86_64": 321, "aarch64": 280}
BPF_PROG_LOAD, BPF_PROG_TYPE_SCHED_CLS = 5, 3
RETURN_0 = struct.pack("<BBhi", 0xB7, 0, 0, 0) + struct.pack("<BBhi", 0x95, 0, 0, 0)


def _load_program() -> None:
    """Raises NetnsError if the kernel does not want it."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(RETURN_0, len(RETURN_0))
    license_name = ctypes.create_string_buffer(b"GPL")
    attributes = struct.pack(
        "<IIQQIIQII", BPF_PROG_TYPE_SCHED_CLS, len(RETURN_0) // 8, ctypes.addressof(code),
        ctypes.addressof(license_name), 0, 0, 0, 0, 0,
    )  # fmt: skip
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    fd = libc.syscall(SYS_BPF[os.uname().machine], BPF_PROG_LOAD, buffer, len(attributes))
    if fd < 0:
        raise NetnsError(f"bpf: {os.strerror(ctypes.get_errno())}")
    os.close(fd)


def _add_netem(space: Namespace) -> None:
    space.tc("qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms")


def _add_vlan(space: Namespace) -> None:
    space.ip("link", "add", "link", "lo", "name", "lo.5", "type", "vlan", "id", "5")


def _add_zrtt(space: Namespace) -> None:
    space.tc("qdisc", "add", "dev", "lo", "root", "zrtt")


BPF = "bpf"
_PROBES: dict[str, Callable[[Namespace], None]] = {
    BPF: lambda _: _load_program(),
    "netem": _add_netem,
    "vlan": _add_vlan,
    "zrtt": _add_zrtt,
}


@cache
def offered() -> frozenset[str]:
    """What this kernel lets us do."""
    found = set()
    try:
        with netns.made("probe") as (space,):
            for name, probe in _PROBES.items():
                try:
                    probe(space)
                except NetnsError:
                    continue
                found.add(name)
    except NetnsError:
        return frozenset()
    return frozenset(found)


def places(needs: frozenset[str], *, old_too: bool) -> list[str]:
    """Where a test runs that needs this."""
    if PLACE != HERE:
        return [PLACE]
    if BPF not in offered():
        return [GUEST, OLD_GUEST] if old_too else [GUEST]
    if not needs <= offered():
        return [OLD_GUEST]
    return [HERE, OLD_GUEST] if old_too else [HERE]
