# SPDX-License-Identifier: GPL-2.0
"""Watches the subscribers of a device's zrtt in all forms that zrtt-mon has, as JSON."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from observe import MON, PORT, get, said, serving
from terminal import Terminal


def view(dev: str) -> dict[str, Any]:
    """The live view as it is at first, and after each press of the key that turns it."""
    terminal = Terminal([MON, "-i", "1", dev], 100, 40)
    seen: dict[str, Any] = {"both": terminal.look(2.5)}
    for name in ("hosts", "flows"):
        terminal.type("h")
        seen[name] = terminal.look(0.2)
    terminal.type("q")
    terminal.look(1)
    return seen | {"status": terminal.status()}


def http(dev: str) -> str:
    """What the server says of the first of them."""
    with serving(str(PORT), dev, "-H1"):
        return get("/metrics")


def main() -> None:
    """Watches the device once the traffic has run for a while."""
    dev, settle_s = sys.argv[1], float(sys.argv[2])
    time.sleep(settle_s)
    seen = {
        "tc": said("tc", "class", "show", "dev", dev),
        "line": json.loads(said(MON, "-jn1", "-f", "-H", dev)),
        "text": said(MON, "-H2", dev),
        "prometheus": said(MON, "--prometheus", "-H2", dev),
        "http": http(dev),
        "view": view(dev),
    }
    json.dump(seen, sys.stdout)


if __name__ == "__main__":
    main()
