# SPDX-License-Identifier: GPL-2.0
"""Blocks of docs/recipes.md: "```sh NAME" opens one of commands, "```ini FILE" one of settings."""

from __future__ import annotations

import re

from lab.toolchain.build import REPO

DOCUMENT = REPO / "docs" / "recipes.md"
BLOCKS: dict[str, str] = dict(
    re.findall(r"^```\w+ (\S+)\n(.*?)^```$", DOCUMENT.read_text(), re.MULTILINE | re.DOTALL)
)
