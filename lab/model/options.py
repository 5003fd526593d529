# SPDX-License-Identifier: GPL-2.0
"""What the options of a scenario share."""

from __future__ import annotations

from collections.abc import Collection


class ScenarioError(ValueError):
    """An option that makes no sense; the message names it."""


def words(text: str, option: str, needed: Collection[str],
          others: Collection[str] = ()) -> dict[str, str]:  # fmt: skip
    """Reads "name=value name=value"."""
    pairs = [word.partition("=")[::2] for word in text.split()]
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ScenarioError(f"{option}: {twice} twice")
    if not set(needed) <= set(found) <= {*needed, *others} or not all(found.values()):
        want = [f"{name}=..." for name in needed] + [f"[{name}=...]" for name in others]
        raise ScenarioError(f"{option}: want {' '.join(want)}")
    return found
