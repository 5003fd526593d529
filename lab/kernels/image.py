# SPDX-License-Identifier: GPL-2.0
"""The kernel in a bzImage, which an emulated processor takes ten seconds to unpack."""

from __future__ import annotations

import lzma
import struct
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from lab.host.cache import locked
from lab.host.process import installed
from lab.kernels.kernel import KernelError

SECTOR = 512
SETUP_SECTORS = 0x1F1
PAYLOAD = 0x248
"""Where it begins, behind the setup code, and how long it is: 32 bits each. The last 32 of it say how
long the kernel is.
"""


def _unxz(data: bytes) -> bytes:
    return lzma.LZMADecompressor().decompress(data)


def _unzstd(data: bytes) -> bytes:
    command = [installed(KernelError, "zstd"), "-dcq"]
    return subprocess.run(command, input=data, capture_output=True, check=False).stdout


UNPACKERS: Mapping[bytes, Callable[[bytes], bytes]] = {
    b"\xfd7zXZ\x00": _unxz,
    b"\x28\xb5\x2f\xfd": _unzstd,
}
"""By the first bytes of a payload. What follows the compressed data is none of theirs."""


def unpacked(image: Path, folder: Path) -> Path:
    """The ELF file of a bzImage, made once in a folder of the cache (Documentation/arch/x86/boot.rst)."""
    product = folder / "vmlinux"
    with locked(folder):
        if not product.exists():
            new = product.with_suffix(".new")
            new.write_bytes(_unpack(image.read_bytes(), image))
            new.rename(product)
    return product


def _unpack(data: bytes, image: Path) -> bytes:
    begin, length = struct.unpack_from("<II", data, PAYLOAD)
    begin += (1 + data[SETUP_SECTORS]) * SECTOR
    payload = data[begin : begin + length]
    for first, unpack in UNPACKERS.items():
        if payload.startswith(first):
            kernel = unpack(payload)
            if struct.pack("<I", len(kernel)) != payload[-4:]:
                raise KernelError(f"{image}: damaged")
            return kernel
    raise KernelError(f"{image}: compressed in an unknown way")
