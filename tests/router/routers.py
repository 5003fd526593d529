# SPDX-License-Identifier: GPL-2.0
"""Runs experiments of guest/ as those of tests/functional are run, with the recipes at hand."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from documented import BLOCKS
from functional.guests import HERE as FUNCTIONAL
from functional.guests import LIMIT_S, MODULES, Report
from kbuild import make

from lab.engines.job import GuestJob
from lab.engines.select import get_engine
from lab.toolchain import build
from lab.toolchain.build import REPO

HERE = Path(__file__).resolve().parent
ROUTER = REPO / "router"
KMODS = ("sch_zrtt",)
WITH_NAT = ("home_router", "equal_hosts", "auto", "containers")
WITH_FILES = (
    "one_command", "settings", "long_names", "systemd", "ifupdown", "sqm", "rate", "kubernetes",
    "without",
)  # fmt: skip
INSTALLS = ("install", "install-sqm", "install-ifupdown", "install-kubernetes")
OUT = REPO / "out" / "router"


def _blocks() -> dict[str, Path]:
    """As files: their names are the blocks', without folders."""
    OUT.mkdir(parents=True, exist_ok=True)
    files = {}
    for name, text in BLOCKS.items():
        place = f"recipe-{Path(name).name}"
        files[place] = OUT / place
        files[place].write_text(text)
    return files


@cache
def installed() -> dict[str, Path]:
    """All that can be installed, below root/."""
    root = OUT / "root"
    shutil.rmtree(root, ignore_errors=True)
    made = make("-C", "router", *INSTALLS, f"DESTDIR={root}", "PREFIX=/usr/local")
    assert made.returncode == 0, made.stderr
    return {f"root/{p.relative_to(root)}": p for p in root.rglob("*") if p.is_file()}


@dataclass(frozen=True)
class Guest:
    """A guest and what is to be done in it."""

    kernel: str
    experiments: Sequence[str]
    programs: Sequence[str] = ()
    files: Mapping[str, Path] = field(default_factory=dict)

    def run(self) -> Report:
        """Boots it and waits for its end."""
        engine = get_engine(self.kernel)
        scripts = [FUNCTIONAL / "guest" / "lib.sh", *(HERE / "guest").iterdir()]
        output = engine.run(
            GuestJob(
                script=FUNCTIONAL / "guest" / "run.sh",
                args=self.experiments,
                files={
                    **{path.name: path for path in scripts},
                    **installed(),
                    **_blocks(),
                    **build.tc_plugin("sch_zrtt"),
                    **self.files,
                },
                modules=(*MODULES, "cls_bpf"),
                kmods=[build.kernel_module(name, engine.kernel) for name in KMODS],
                programs=self.programs,
                timeout_s=LIMIT_S,
            )
        )
        (OUT / f"{self.experiments[0]}.txt").write_text(output.result)
        return Report(output.result)
