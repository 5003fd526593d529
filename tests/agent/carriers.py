# SPDX-License-Identifier: GPL-2.0
"""Who may carry a hint, as a parameter of tests."""

from __future__ import annotations

import pytest

each_carrier = pytest.mark.parametrize(
    ("encoding", "family"),
    [("ip", 4), ("ip", 6), ("tcp", 4), ("tcp", 6)],
    ids=["IPv4 option", "IPv6 option", "TCP option, IPv4", "TCP option, IPv6"],
)
