# SPDX-License-Identifier: GPL-2.0
"""python3 -m lab.guest.stress KIND SEED COUNT: runs it and writes $RESULT, as JSON."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path
from random import Random

from lab.guest.stress import faults, fuzz, health, storm

KINDS = {"faults": faults.run, "fuzz": fuzz.run, "storm": storm.run}


def main() -> None:
    kind, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    said, finding = "", ""
    health.begin()
    try:
        said = KINDS[kind](Random(seed), count)
        health.unload()
    except Exception:  # whatever it is, the kernel is asked, too
        finding = traceback.format_exc()
    result = {"said": said, "finding": finding, "complaints": health.complaints()}
    Path(os.environ["RESULT"]).write_text(json.dumps(result))


main()
