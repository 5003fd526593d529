# SPDX-License-Identifier: GPL-2.0
"""The kernel in a bzImage is found and unpacked, once."""

from __future__ import annotations

import lzma
import random
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.kernels.image import PAYLOAD, SECTOR, SETUP_SECTORS, unpacked
from lab.kernels.kernel import KernelError

KERNEL = random.Random(1).randbytes(1 << 20)


def bzimage(folder: Path, payload: bytes, setup_sectors: int = 3, gap: int = 100) -> Path:
    """Setup code, the decompressor, the payload, and what follows."""
    head = bytearray((1 + setup_sectors) * SECTOR)
    head[SETUP_SECTORS] = setup_sectors
    struct.pack_into("<II", head, PAYLOAD, gap, len(payload))
    image = folder / "vmlinuz"
    image.write_bytes(bytes(head) + bytes(gap) + payload + b"relocations")
    return image


def with_length(packed: bytes) -> bytes:
    """As the kernel's makefiles leave it."""
    return packed + struct.pack("<I", len(KERNEL))


def xz(data: bytes) -> bytes:
    return lzma.compress(data, check=lzma.CHECK_CRC32)


def zstd(data: bytes) -> bytes:
    return subprocess.run(["zstd", "-q"], input=data, capture_output=True, check=True).stdout


@pytest.mark.parametrize("pack", [xz, zstd])
def test_kernel_is_unpacked_once(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    image = bzimage(tmp_path, with_length(pack(KERNEL)))
    product = unpacked(image, tmp_path)
    assert product.read_bytes() == KERNEL
    image.unlink()
    assert unpacked(image, tmp_path) == product


@pytest.mark.parametrize(
    ("payload", "said"),
    [
        (b"unknown", "compressed in an unknown way"),
        (with_length(zstd(KERNEL)[: 1 << 19]), "damaged"),
        (with_length(xz(KERNEL)[: 1 << 19]), "damaged"),
    ],
    ids=["unknown", "zstd", "xz"],
)
def test_what_cannot_be_unpacked_leaves_nothing(tmp_path: Path, payload: bytes, said: str) -> None:
    for _ in range(2):
        with pytest.raises(KernelError, match=said):
            unpacked(bzimage(tmp_path, payload), tmp_path)
    assert not list(tmp_path.glob("vmlinux*"))
