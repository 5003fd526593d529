# SPDX-License-Identifier: GPL-2.0
"""Single queries, as they are sent: no counter of the bottleneck tells their ports or gaps."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev

import pytest

from lab.engines.script import run_script
from lab.model.thin import SHAPES, Kind
from lab.toolchain import build

GUEST = Path(__file__).parent / "guest"
SHAPE = SHAPES[Kind.DNS]
GAP_MS = SHAPE.interval_ns / 1e6
TOTAL_MS = 60_000
SPEC = f"""\
receiver q
measure 0 {TOTAL_MS}
sample 0
flow q 127.0.0.1 5001 cubic {2 * TOTAL_MS} -1 300000 none 0 0
thin q 127.0.0.1 9501 {SHAPE.how} {SHAPE.payload_bytes} {SHAPE.interval_ns} 0 {TOTAL_MS} 7
"""
"""The program wants a flow; this one never starts."""
IP_BYTES = range(60, 81)
"""Of a query, headers counted."""
Queries = list[tuple[int, int, int]]
"""When each was sent (ns), its source port, its length (bytes)."""


@pytest.fixture(scope="module")
def queries(tmp_path_factory: pytest.TempPathFactory) -> Queries:
    """About 600 of them. A socket of one protocol gets them as they come in, once."""
    spec = tmp_path_factory.mktemp("queries") / "spec"
    spec.write_text(SPEC)
    files = {"traffic": build.traffic(), "spec": spec, "queries.py": GUEST / "queries.py"}
    rc, console = run_script("uml", GUEST / "queries.sh", files=files)
    assert rc == 0, console
    found = re.findall(r"^query (\d+) (\d+) (\d+)", console, re.MULTILINE)
    return [(int(at), int(port), int(length)) for at, port, length in found]


@pytest.mark.guest
def test_source_ports_differ(queries: Queries) -> None:
    """Drawn at random of about 28,000, so that some come again."""
    assert len({port for _, port, _ in queries}) > 0.95 * len(queries)


@pytest.mark.guest
def test_sizes_are_spread(queries: Queries) -> None:
    assert {length for _, _, length in queries} == set(IP_BYTES)


@pytest.mark.guest
def test_gaps_are_exponential(queries: Queries) -> None:
    """Their standard deviation is as large as their mean."""
    gaps_ms = [(after - before) / 1e6 for (before, *_), (after, *_) in pairwise(queries)]
    assert fmean(gaps_ms) == pytest.approx(GAP_MS, rel=0.15)
    assert pstdev(gaps_ms) == pytest.approx(fmean(gaps_ms), rel=0.15)
