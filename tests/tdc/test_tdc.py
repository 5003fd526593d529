# SPDX-License-Identifier: GPL-2.0
"""zrtt's cases for tdc, by which the kernel tests its qdiscs; and that a bad one is noticed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from uapi import ATTRIBUTES

from lab.engines.select import get_engine
from lab.trials import tdc, tdc_source
from lab.trials.tdc import Case, Outcome

ROOT = Path(__file__).resolve().parents[2]
KERNELS = tuple(os.environ.get("KERNELS", "uml").split())
"""One that takes half a minute; `make tdc` has 6.1 and 6.12, too."""
TIMEOUT_S = 7200.0
UPSTREAM = {"codel": 9, "fq_codel": 14}
"""Cases that there were when this was written."""
WORDS = {
    "ALPHA_LAW": "alpha",
    "FAIR_MASK": "fair mark",
    "WEIGHT_MASK": "weight mark",
    "WEIGHT_DSCP": "weight dscp",
    "AUTO_MIN": "min",
    "AUTO_MAX": "max",
}
"""What tc calls these."""
FLAGS = {
    "strip", "handshake", "timestamps", "quic", "ecn", "split_gso", "names", "lanes", "l4s", "nat", "atm",
}  # fmt: skip
CASE = {
    "id": "0001",
    "name": "A case",
    "category": ["qdisc"],
    "plugins": {"requires": "nsPlugin"},
    "setup": [],
    "cmdUnderTest": "$TC qdisc add dev $DUMMY root zrtt limit 7",
    "expExitCode": "0",
    "verifyCmd": "$TC qdisc show dev $DUMMY",
    "matchPattern": "qdisc zrtt .* limit 7 ",
    "matchCount": "1",
    "teardown": ["$TC qdisc del dev $DUMMY root"],
}
PLANTED = {
    "0002": ({"matchPattern": "qdisc zrtt .* limit 8 "}, "limit 7 "),
    "0003": ({"matchCount": "2"}, "limit 7 "),
    "0004": ({"expExitCode": "2"}, "Command exited with 0, expected 2"),
    "0005": ({"skip": "yes"}, "skipped"),
    "0006": ({"setup": ["$TC qdisc add dev $DUMMY root nonsense"]}, "did not complete"),
    "0007": ({}, "skipped - previous setup failed"),
}
"""What is wrong with a case, and what must be said of it. The last is right, but behind
one that tdc breaks off at."""


@cache
def _runs() -> dict[str, Future[list[Outcome]]]:
    """All cases on all kernels, side by side."""
    suites = [tdc.SUITE, *map(tdc.suite, UPSTREAM)]
    pool = ThreadPoolExecutor(max_workers=len(KERNELS))
    return {k: pool.submit(tdc.run, get_engine(k), suites, TIMEOUT_S) for k in KERNELS}


@pytest.fixture(params=KERNELS)
def failures(request: pytest.FixtureRequest) -> dict[Case, str]:
    """What was wrong with each case on one kernel."""
    return {outcome.case: outcome.failure for outcome in _runs()[request.param].result()}


@pytest.mark.parametrize("case", tdc.cases(tdc.SUITE), ids=lambda case: f"{case.id} {case.name}")
def test_case_passes(failures: dict[Case, str], case: Case) -> None:
    assert not failures[case], failures[case]


@pytest.mark.parametrize("name", UPSTREAM)
def test_upstreams_own_cases_pass(failures: dict[Case, str], name: str) -> None:
    """As proof that tdc is run as it should be."""
    own = [failure for case, failure in failures.items() if case.file.stem == name]
    assert len(own) >= UPSTREAM[name]
    assert not "".join(own)


def test_ids_are_ours_alone() -> None:
    """tdc runs nothing if two cases have the same."""
    ours = [case.id for case in tdc.cases(tdc.SUITE)]
    assert len(set(ours)) == len(ours)
    folder = tdc_source.home() / "tc-tests"
    theirs = {case.id for path in folder.rglob("*.json") for case in tdc.cases(path)}
    assert theirs
    assert not theirs & set(ours)


def commands(status: str) -> str:
    """The commands that must end with a status, as one text."""
    suite: list[dict[str, Any]] = json.loads(tdc.SUITE.read_text())
    return "\n".join(case["cmdUnderTest"] for case in suite if case["expExitCode"] == status)


def test_every_parameter_has_cases() -> None:
    names = {WORDS.get(name, name.lower()) for name in ATTRIBUTES}
    assert FLAGS < names
    set_, refused = commands("0"), commands("1")
    assert not {name for name in names if not re.search(rf"\b{name}\b", set_)}
    assert not {name for name in names - FLAGS if not re.search(rf"\b{name} ", refused)}


def lab(*options: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab", "tdc", *map(str, options)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_bad_cases_fail(tmp_path: Path) -> None:
    suite = tmp_path / "planted.json"
    bad = [{**CASE, "id": id, "name": f"Case {id}", **wrong} for id, (wrong, _) in PLANTED.items()]
    suite.write_text(json.dumps([CASE, *bad]))
    done = lab(suite, "--kernel", "uml")
    assert done.returncode == 1, done.stderr
    first, *rest = re.split(r"(?m)^(?=0\d{3} Case)", done.stdout)
    assert first.split() == ["uml", "planted", "1", "passed", str(len(PLANTED)), "failed"]
    for text, (id, (_, want)) in zip(rest, PLANTED.items(), strict=True):
        assert text.startswith(id)
        assert want in text


def test_leaked_device_fails(tmp_path: Path) -> None:
    suite = tmp_path / "leak.json"
    leak = "unregister_netdevice: waiting for dummy1 to become free"
    suite.write_text(json.dumps([{**CASE, "setup": [f'sh -c "echo {leak} >/dev/kmsg"']}]))
    done = lab(suite, "--kernel", "uml")
    assert done.returncode == 1
    assert leak in done.stderr


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "no such file"),
        ("[", "not a list of cases"),
        ('[{"id": "1"}]', "not a list of cases"),
        (json.dumps([CASE, CASE]), "the same id: 0001"),
    ],
)
def test_nonsense_is_refused(tmp_path: Path, text: str | None, complaint: str) -> None:
    suite = tmp_path / "suite.json"
    if text is not None:
        suite.write_text(text)
    done = lab(suite, "--kernel", "uml")
    assert done.returncode == 1
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
