# SPDX-License-Identifier: GPL-2.0
"""Port numbers. The meter classifies traffic by the low 12 bits of the destination port."""

from __future__ import annotations

FIRST_PORT = 5001
MAX_FLOWS = 4000
# Those whose low bits no flow has, if there are no more of them than this. Reverse flows cross
# another queue, so theirs may be any.
UDP_PORT, MAX_UDP = 9001, 15
SHORT_PORT = 9016
CROSS_PORT, MAX_CROSS = 9017, 32
REVERSE_PORT = 9049
THIN_PORT = 9501
"""UDP that is never marked, so TCP may have the same."""
_METER_CLASS_FLOWS, _METER_FLOWS = 2, 4096


def meter_class(port: int) -> int:
    """Minor number of the meter's class for a destination port (lab/kmod/sch_meter.c)."""
    return _METER_CLASS_FLOWS + port % _METER_FLOWS
