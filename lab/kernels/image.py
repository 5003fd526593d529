# SPDX-License-Identifier: GPL-2.0
"""The kernel in a bzImage, which an emulated processor takes ten seconds to unpack."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path

from lab.host import files
from lab.host.cache import locked
from lab.host.process import installed
from lab.kernels.kernel import KernelError

SECTOR = 512
SETUP_SECTORS = 0x1F1
PAYLOAD = 0x248
"""Where it begins, behind the setup code, and how long it is: 32 bits each. The last 32 of it say how
long the kernel is.
"""
UNPACKERS = {b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}
"""By the first bytes of a payload. They complain of that length, which is none of theirs."""


def unpacked(image: Path, folder: Path) -> Path:
    """The ELF file of a bzImage, made once in a folder of the cache (Documentation/arch/x86/boot.rst)."""
    product = folder / "vmlinux"
    with locked(folder):
        if not product.exists():
            files.write(product, _unpack(image))
    return product


def _unpack(image: Path) -> bytes:
    data = image.read_bytes()
    begin, length = struct.unpack_from("<II", data, PAYLOAD)
    begin += (1 + data[SETUP_SECTORS]) * SECTOR
    payload = data[begin : begin + length]
    for first, program in UNPACKERS.items():
        if payload.startswith(first):
            command = [installed(KernelError, program), "-dcq"]
            kernel = subprocess.run(command, input=payload, capture_output=True, check=False).stdout
            if struct.pack("<I", len(kernel)) != payload[-4:]:
                raise KernelError(f"{image}: damaged")
            return kernel
    raise KernelError(f"{image}: compressed in an unknown way")
