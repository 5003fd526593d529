# SPDX-License-Identifier: GPL-2.0
"""Runs tdc, the kernel's test suite for qdiscs, in a guest.

Its cases come in files. A case that it skips counts as failed here, as does one
that it never came to: both mean that nothing was shown.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from lab.engines import guest_python
from lab.engines.job import Engine, GuestJob, GuestOutput
from lab.toolchain import build
from lab.trials import tdc_source
from lab.trials.tdc_source import TdcError

SUITE = build.REPO / "tests" / "tdc" / "zrtt.json"
UPSTREAM = "tc-tests/qdiscs"
PARTS = ("tdc*.py", "Tdc*.py", "plugins/*.py", "plugin-lib/nsPlugin.py")
MODULES = (
    "veth", "dummy", "ifb", "sch_htb", "sch_hfsc", "sch_drr", "sch_prio", "sch_tbf",
    "sch_codel", "sch_fq_codel", "sch_ingress", "cls_matchall", "act_mirred",
)  # fmt: skip
TDC, PYROUTE2 = "tdc", "pyroute2"
WRITTEN = {
    # tdc's own way to be configured; tc is to find its plugin
    f"{TDC}/tdc_config_local.py": "import os\nENVIR = os.environ.copy()\n",
    # all that tdc asks of pyroute2: to load the rest takes twice as long
    f"{PYROUTE2}-0.dist-info/entry_points.txt":
        f"[{PYROUTE2}]\nIPRoute = {PYROUTE2}.iproute:IPRoute\n",
}  # fmt: skip
"""Name below $LAB -> text."""
SCRIPT = f"""#!/bin/sh
set -eu
{guest_python.ENVIRONMENT} PYTHONPATH=$LAB PYTHONDONTWRITEBYTECODE=1
cd {TDC}
rc=0
python3 -u tdc.py --outfile "$RESULT" --file "$@" || rc=$?
[ "$rc" -le 1 ] # some cases failed: the result says which
# a device that is never freed is all that the kernel reports without a panic
! dmesg | grep 'unregister_netdevice: waiting'
"""
TAP_LINE = re.compile(r"(?m)^(ok|not ok) \d+ (\w+) - [^#\n]*")
SKIPPED = "# skipped"
CONSOLE_LINE = re.compile(r"(?m)^Test (\w+): .*$")
CONSOLE_END = "\nAll test results"


@dataclass(frozen=True)
class Case:
    """One of tdc's cases."""

    file: Path
    id: str
    name: str


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case."""

    case: Case
    failure: str
    """Empty if it passed."""


def suite(name: str) -> Path:
    """A file of cases, by its path, or by what upstream calls it: codel."""
    path = Path(name)
    if path.suffix != ".json":
        path = tdc_source.home() / UPSTREAM / f"{name}.json"
    if not path.is_file():
        raise TdcError(f"{name}: no such file of cases, nor does the kernel's source have one")
    return path


def cases(path: Path) -> list[Case]:
    """The cases of a file. tdc itself ignores a file that it cannot read."""
    try:
        return [Case(path, case["id"], case["name"]) for case in json.loads(path.read_text())]
    except (ValueError, TypeError, KeyError) as error:
        raise TdcError(f"{path}: not a list of cases with id and name: {error}") from error


def _pyroute2() -> Path:
    """Without it tdc runs, but does not wait for the devices that it makes."""
    spec = find_spec(PYROUTE2)
    if not spec or not spec.origin:
        raise TdcError(
            f"no {PYROUTE2} for {sys.executable}: apt-get install python3-{PYROUTE2}, "
            "and run with Debian's /usr/bin/python3"
        )
    return Path(spec.origin).parent


def _files(suites: Sequence[Path], written: Path) -> dict[str, Path]:
    """Name below $LAB -> file here; those of `written` come from there."""
    home = tdc_source.home()
    parts = [path for pattern in PARTS for path in home.glob(pattern)]
    return {
        **guest_python.files(_pyroute2()),
        **build.tc_plugin("sch_zrtt"),
        **{f"{TDC}/{path.relative_to(home)}": path for path in parts},
        **{f"{TDC}/{path.name}": path for path in suites},
        **{name: written / Path(name).name for name in WRITTEN},
    }


def _outcomes(wanted: Sequence[Case], output: GuestOutput) -> Iterator[Outcome]:
    """A failure is in the result, in TAP, but what a command said may be on the console only."""
    pieces = TAP_LINE.split(output.result)[1:]
    results = {id: (verdict, text) for verdict, id, text in zip(*[iter(pieces)] * 3, strict=True)}
    pieces = CONSOLE_LINE.split(output.console.partition(CONSOLE_END)[0])[1:]
    said = dict(zip(pieces[::2], pieces[1::2], strict=True))
    for case in wanted:
        verdict, text = results.get(case.id, ("", "tdc did not come to it"))
        passed = verdict == "ok" and SKIPPED not in text
        yield Outcome(case, "" if passed else f"{said.get(case.id, '')}{text}".strip())


def run(engine: Engine, suites: Sequence[Path], timeout_s: float) -> list[Outcome]:
    """Runs all cases of the files. Raises GuestError if tdc fails."""
    wanted = [case for path in suites for case in cases(path)]
    twice = [id for id, number in Counter(case.id for case in wanted).items() if number > 1]
    if twice:
        raise TdcError(f"cases with the same id: {', '.join(twice)}")
    with tempfile.TemporaryDirectory(prefix="zrtt-tdc-") as name:
        written = Path(name)
        for path, text in WRITTEN.items():
            (written / Path(path).name).write_text(text)
        script = written / "script"
        script.write_text(SCRIPT)
        output = engine.run(
            GuestJob(
                script=script,
                args=[path.name for path in suites],
                files=_files(suites, written),
                modules=MODULES,
                kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
                programs=("python3",),
                timeout_s=timeout_s,
            )
        )
    if output.rc:
        raise TdcError(f"tdc ended with status {output.rc}", output.console)
    return list(_outcomes(wanted, output))
