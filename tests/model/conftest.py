# SPDX-License-Identifier: GPL-2.0
"""How many examples: few and always the same, or with --hypothesis-profile=long many."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("short", max_examples=100, derandomize=True, deadline=None, database=None)
settings.register_profile("long", max_examples=10_000, deadline=None, database=None)
settings.load_profile("short")
