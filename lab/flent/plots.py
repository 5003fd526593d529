# SPDX-License-Identifier: GPL-2.0
"""Draws data files with flent itself."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.flent import tools
from lab.output import pictures

# flent's usual layout overlaps, and sets the second axis apart, with Debian's matplotlib.
LAYOUT = ("--fallback-layout", "--no-annotation", "--no-print-n")
OF_ONE = (*LAYOUT, "--figure-width", "11", "--figure-height", "8")
OF_MANY = (*LAYOUT, "--figure-width", "7", "--figure-height", "5")
# Plots of one file, beside its default; all are flent's, but for those of our tests.
MORE = {"zrtt_rtt_fair": ("goodput_box",), "zrtt_sessions": ("hosts_box",)}
COMPLAINT = re.compile(r"(?m)^(?:ERROR|CRITICAL): .*$")
OF_OUR_QUEUE, ITS_SERIES = "qdisc", "::prob"
# Plots that compare all files of a test.
COMPARISONS = {
    "zrtt_rtt_fair": ("bar_jain",),
    "zrtt_sessions": ("bar_jain",),
    "rrul": ("box_combine", "icmp_cdf"),
    "rrul_be": ("box_combine", "icmp_cdf"),
    "voip-rrul": ("box_combine", "cdf_combine"),
    "rtt_fair": ("bar_fairness",),
    "rtt_fair_var": ("bar_fairness",),
    "tcp_nup": ("bar_fairness",),
}


@dataclass(frozen=True)
class DataFile:
    """The metadata of a data file."""

    path: Path
    test: str
    series: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> DataFile:
        with gzip.open(path, "rt") as stream:
            content = json.load(stream)
        return cls(path, content["metadata"]["NAME"], tuple(content["results"]))

    @property
    def plots(self) -> tuple[str, ...]:
        """The plots to draw beside the default of its test."""
        own = any(name.endswith(ITS_SERIES) for name in self.series)
        more = MORE.get(self.test, ())
        return (*more, OF_OUR_QUEUE) if more and own else more

    def picture(self, suffix: str = "") -> Path:
        """The path of a picture."""
        return self.path.with_name(self.path.name.partition(".")[0] + f"{suffix}.png")


class Painter:
    """flent, with our tests in its folder of tests."""

    def __init__(self) -> None:
        package = tools.flent()
        for path in tools.tests():
            shutil.copy(path, package / "flent" / "tests")
        self._environment = os.environ | {"PYTHONPATH": str(package), "MPLBACKEND": "Agg"}

    def draw_all(self, paths: Sequence[Path]) -> list[Path]:
        """All pictures of a batch's data files, beside them."""
        files = [DataFile.read(path) for path in paths]
        pictures = []
        for file in files:
            pictures.append(self._draw([file], file.picture(), *OF_ONE))
            for plot in file.plots:
                pictures.append(self._draw([file], file.picture(f"-{plot}"), *OF_ONE, "-p", plot))
        for test in dict.fromkeys(file.test for file in files):
            same = [file for file in files if file.test == test]
            for plot in COMPARISONS.get(test, ()) if len(same) > 1 else ():
                picture = same[0].path.with_name(f"{test}-{plot}.png")
                pictures.append(self._draw(same, picture, *OF_MANY, "-p", plot))
        return pictures

    def _draw(self, files: Sequence[DataFile], picture: Path, *options: str) -> Path:
        """Raises FlentError or PictureError, and leaves no file, if there is no picture then."""
        picture.unlink(missing_ok=True)
        with pictures.drawn(picture) as part:
            words = ["-i", *[str(file.path) for file in files], "-f", "plot", "-o", str(part)]
            done = subprocess.run(
                [sys.executable, "-m", "flent", *words, *options],
                env=self._environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            # flent's exit status is 0 after most errors
            complaints = COMPLAINT.findall(done.stderr)
            if done.returncode or complaints:
                said = complaints or done.stderr.splitlines()[-1:]
                why = said[0] if said else f"status {done.returncode}"
                raise tools.FlentError(f"{picture}: flent draws nothing: {why}")
        return picture
