# SPDX-License-Identifier: GPL-2.0
"""The kernel in a bzImage is found and unpacked, once."""

from __future__ import annotations

import random
import struct
import subprocess
from pathlib import Path

import pytest

from lab.kernels.image import PAYLOAD, SECTOR, SETUP_SECTORS, UNPACKERS, unpacked
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


def packed(program: str) -> bytes:
    done = subprocess.run([program, "-cq"], input=KERNEL, capture_output=True, check=True)
    return done.stdout


@pytest.mark.parametrize("program", UNPACKERS.values())
def test_kernel_is_unpacked_once(tmp_path: Path, program: str) -> None:
    image = bzimage(tmp_path, with_length(packed(program)))
    product = unpacked(image, tmp_path)
    assert product.read_bytes() == KERNEL
    image.unlink()
    assert unpacked(image, tmp_path) == product


def refused(folder: Path, payload: bytes, said: str) -> bool:
    """Each time, and nothing is left."""
    for _ in range(2):
        with pytest.raises(KernelError, match=said):
            unpacked(bzimage(folder, payload), folder)
    return not list(folder.glob("vmlinux*"))


def test_unknown_payload_is_refused(tmp_path: Path) -> None:
    assert refused(tmp_path, b"unknown", "compressed in an unknown way")


@pytest.mark.parametrize("program", UNPACKERS.values())
def test_damaged_payload_is_refused(tmp_path: Path, program: str) -> None:
    assert refused(tmp_path, with_length(packed(program)[: 1 << 19]), "damaged")
