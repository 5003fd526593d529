# SPDX-License-Identifier: GPL-2.0
"""Sizes on the wire."""

from __future__ import annotations

FRAME_BYTES = 1514
"""A full one: MTU 1500."""
HEADER_BYTES = 66
"""Ethernet 14, IPv4 20, TCP with time stamps 32."""
HINT_BYTES = 4


def headers(hinted: bool) -> int:
    """Bytes of a TCP segment's headers on the wire."""
    return HEADER_BYTES + (HINT_BYTES if hinted else 0)


def expansion(hinted: bool) -> float:
    """Bytes on the wire for each that a flow of full segments carries."""
    return FRAME_BYTES / (FRAME_BYTES - headers(hinted))
