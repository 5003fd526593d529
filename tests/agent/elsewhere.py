# SPDX-License-Identifier: GPL-2.0
"""Runs tests in guests: the same pytest, by the same Python, with files from here.

A guest runs what is to be run there, once, and tells how it went, a line of JSON
for each test, and the files that tests left in OUT.
"""

from __future__ import annotations

import base64
import json
import sys
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from importlib.util import cache_from_source, find_spec
from pathlib import Path

from capture import OUT
from places import PLACE_VARIABLE

from lab.engines.job import GuestJob, GuestOutput
from lab.engines.select import get_engine
from lab.mininet import packages
from lab.senders import agent
from lab.toolchain import build
from lab.toolchain.build import REPO

MODULES = ("veth", "8021q", "sch_netem", "sch_ingress", "cls_bpf", "cls_u32")
PROGRAMS = ("python3", "ethtool", "bpftool", "nsenter", "setpriv", "unshare")
PACKAGES = ("_pytest", "pytest", "pluggy", "iniconfig", "packaging", "attr", "py", "unittest")
"""What pytest is made of."""
MEMORY_MB = 2048
TIMEOUT_S = 3600.0
"""Where BPF is forbidden, a guest runs all of it; and hosts may be busy."""
SCRIPT = f"""#!/bin/sh
set -eu
mount -t bpf bpf /sys/fs/bpf
mount -t cgroup2 cgroup /sys/fs/cgroup
{packages.ENVIRONMENT}:$LAB/{agent.LIBRARIES}
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$LAB/packages {PLACE_VARIABLE}=$1
shift
cd tests
rc=0
python3 -m pytest -q -p no:cacheprovider "$@" || rc=$?
[ "$rc" -le 1 ] # some failed: it says which
"""


def _compiled(package: str) -> Iterator[tuple[str, Path]]:
    """Its modules, compiled, as an emulated machine takes long for that."""
    spec = find_spec(package)
    assert spec and spec.origin, f"no {package} for {sys.executable}"
    folder = Path(spec.origin).parent
    for source in folder.rglob("*.py"):
        compiled = Path(cache_from_source(str(source)))
        if compiled.exists():
            place = source.relative_to(folder.parent).with_suffix(".pyc")
            yield f"packages/{place}", compiled


def _files() -> dict[str, Path]:
    """Name in the guest -> file here."""
    files = packages.files()
    for package in PACKAGES:
        files |= _compiled(package)
    for folder, pattern in (("lab", "**/*.py"), ("tests", "pytest.ini"), ("tests/agent", "*.py")):
        for path in (REPO / folder).glob(pattern):
            files[path.relative_to(REPO).as_posix()] = path
    files[agent.PROGRAM.relative_to(REPO).as_posix()] = agent.program()
    files |= agent.libraries()
    files |= build.tc_plugin("sch_zrtt")
    return files


def _keep(name: str, content: str) -> None:
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / name).write_bytes(zlib.decompress(base64.b64decode(content)))


class Outcomes:
    """Of the tests of a guest: what went wrong, by the test."""

    def __init__(self, place: str, output: GuestOutput) -> None:
        self._place, self._console = place, output.console
        self._failures: dict[str, list[str]] = defaultdict(list)
        self._seen: set[str] = set()
        for line in output.result.splitlines():
            said = json.loads(line)
            if "file" in said:
                _keep(said["file"], said["content"])
                continue
            self._seen.add(said["test"])
            if said["outcome"] != "passed":
                self._failures[said["test"]].append(said["text"])

    def failure(self, test: str) -> str:
        """Why a test failed; empty if it passed."""
        if test not in self._seen:
            return f"did not run on {self._place}; that guest said:\n{self._console}"
        return "\n".join(self._failures[test])


def _run(place: str, tests: Iterable[str]) -> Outcomes:
    engine = get_engine(place)
    with tempfile.TemporaryDirectory(prefix="zrtt-agent-") as folder:
        script = Path(folder) / "script"
        script.write_text(SCRIPT)
        output = engine.run(
            GuestJob(
                script=script,
                args=[place, *tests],
                files=_files(),
                modules=MODULES,
                kmods=[build.kernel_module("sch_zrtt", engine.kernel)],
                programs=PROGRAMS,
                memory_mb=MEMORY_MB,
                timeout_s=TIMEOUT_S,
            )
        )
    assert output.rc == 0, f"pytest failed on {place}:\n{output.console}"
    return Outcomes(place, output)


class Guests:
    """All of them, side by side, in processes of their own: this one goes into cgroups."""

    def __init__(self, tests: Mapping[str, list[str]]) -> None:
        """`tests` to run, by place."""
        self._pool = ProcessPoolExecutor(max(1, len(tests)))
        self._outcomes: dict[str, Future[Outcomes]] = {
            place: self._pool.submit(_run, place, ids) for place, ids in tests.items()
        }

    def failure(self, place: str, test: str) -> str:
        """Why a test failed there; empty if it passed."""
        outcomes = self._outcomes[place].result()
        if all(future.done() for future in self._outcomes.values()):
            self._pool.shutdown()  # what its processes cost is known once they ended
        return outcomes.failure(test)
