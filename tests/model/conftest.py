# SPDX-License-Identifier: GPL-2.0
"""How many examples: few and always the same, fewer for `make check`, or with
--hypothesis-profile=long many.
"""

from __future__ import annotations

import os
from typing import Any

from hypothesis import HealthCheck, settings

# Whether drawing is slow depends on what else the machine does.
TIMELESS: dict[str, Any] = {
    "deadline": None,
    "database": None,
    "suppress_health_check": [HealthCheck.too_slow],
}
EXAMPLES = 25 if os.environ.get("QUICK") else 100
settings.register_profile("short", max_examples=EXAMPLES, derandomize=True, **TIMELESS)
settings.register_profile("long", max_examples=10_000, **TIMELESS)
settings.load_profile("short")
