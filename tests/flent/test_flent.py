# SPDX-License-Identifier: GPL-2.0
"""A short batch through the real flent, in user-mode Linux; its file in the real flent, here."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lab.flent import plots, tools

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out" / "test-flent"
BATCHES = ROOT / "flent-configs" / "zrtt.batch"
LINE_BATCHES = ROOT / "flent-configs" / "line.batch"
HOSTS = ("h20ms", "h60ms", "h160ms")
RATE_MBPS = 20
LENGTH_S = 10


def _lab(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "lab", "flent", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def _flent(*options: str) -> subprocess.CompletedProcess[str]:
    plots.Painter()  # puts our tests where flent finds them
    command = [sys.executable, "-m", "flent", *options]
    environment = os.environ | {"PYTHONPATH": str(tools.flent())}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "ERROR" not in done.stderr, done.stderr
    return done


@cache
def _batch() -> list[Path]:
    """Runs the batch and returns the paths of all that it wrote."""
    done = _lab(
        str(BATCHES), "--batch", "zrtt_rtt_fair", "--rate", f"{RATE_MBPS}mbit",
        "--rtts", "20ms,60ms,160ms", "--override", f"length={LENGTH_S}",
        "--override", "for_qdiscs=zrtt,fq_codel", "--out", str(OUT),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return [Path(line) for line in done.stdout.splitlines() if line.startswith(str(OUT))]


def _data(qdisc: str) -> Path:
    (path,) = [p for p in _batch() if p.name == f"batch-zrtt_rtt_fair-{qdisc}.flent.gz"]
    return path


def _content(qdisc: str) -> dict[str, Any]:
    with gzip.open(_data(qdisc), "rt") as stream:
        return json.load(stream)


def _values(name: str) -> list[float]:
    return [value for value in _content("zrtt")["results"][name] if value is not None]


def test_goodput_of_each_host_adds_up() -> None:
    series = _content("zrtt")["metadata"]["SERIES_META"]
    goodputs = [series[f"TCP upload::{host}"]["MEAN_VALUE"] for host in HOSTS]
    assert min(goodputs) > 0
    assert 0.75 * RATE_MBPS < sum(goodputs) < 1.05 * RATE_MBPS
    jain = sum(goodputs) ** 2 / len(goodputs) / sum(g * g for g in goodputs)
    assert series["TCP upload fairness"]["MEAN_VALUE"] == pytest.approx(jain)


def test_hosts_get_alike() -> None:
    series = _content("zrtt")["metadata"]["SERIES_META"]
    assert 0.9 < series["TCP upload fairness"]["MEAN_VALUE"] <= 1


def test_hosts_are_as_far_as_they_say() -> None:
    for host in HOSTS:
        rtt_ms = float(host.strip("hms"))
        assert min(_values(f"Ping (ms)::{host}")) == pytest.approx(rtt_ms, abs=1)


def test_queue_is_watched() -> None:
    queue = "qdisc_stats_router::"
    assert 0 < max(_values(queue + "prob")) < 1
    assert 0 < max(_values(queue + "alpha")) <= 2
    assert 1 < max(_values(queue + "delay")) < 1000
    assert sum(_values(queue + "ecn_mark")) > 0


def test_other_queues_have_no_law() -> None:
    results = _content("fq_codel")["results"]
    assert "qdisc_stats_router::ecn_mark" in results
    assert "qdisc_stats_router::alpha" not in results


@pytest.mark.parametrize("form", ["summary", "stats", "csv"])
def test_flent_opens_it(form: str) -> None:
    done = _flent("-i", str(_data("zrtt")), "-f", form)
    assert all(f"TCP upload::{host}" in done.stdout for host in HOSTS)


def _table(stdout: str) -> dict[str, dict[str, str]]:
    """The lines of a table, by its first column."""
    rows = [re.split("  +", line) for line in stdout.splitlines()]
    (first,) = [i for i, row in enumerate(rows) if row[0] == "data file"]
    return {row[0]: dict(zip(rows[first], row, strict=True)) for row in rows[first + 1 : -1]}


@cache
def _call() -> tuple[dict[str, Any], dict[str, str]]:
    """Runs the batch with a call over unequal rates: the data file, its line of the table."""
    done = _lab(
        str(BATCHES), "--batch", "voip", "--rate", "20mbit/4mbit", "--rtts", "20ms,60ms",
        "--override", f"length={LENGTH_S}", "--override", "for_qdiscs=dualpi2", "--out", str(OUT),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    with gzip.open(OUT / "batch-voip-dualpi2.flent.gz", "rt") as stream:
        return json.load(stream), _table(done.stdout)["voip-dualpi2"]


def test_call_is_made_of_small_packets() -> None:
    series = _call()[0]["metadata"]["SERIES_META"]["VoIP"]
    assert series["RUNNER"] == "IrttRunner"
    assert series["PACKETS_SENT"] == pytest.approx((LENGTH_S + 10) * 50, rel=0.01)
    assert series["RTT_MIN"] == pytest.approx(20, abs=1)


def test_rates_are_down_and_up() -> None:
    columns = _call()[1]
    assert columns["data file"] == "voip-dualpi2"
    assert 0.5 * 20 < float(columns["down"]) < 20
    assert 0.5 * 4 < float(columns["up"]) < 4
    assert float(columns["call p95"]) >= float(columns["call mean"]) > 0


def test_rates_of_a_line_beyond_the_router_are_found() -> None:
    done = _lab(
        str(LINE_BATCHES), "--batch", "rrul", "--rate", "20mbit/5mbit", "--line", "300ms",
        "--rtts", "20ms,60ms", "--override", "length=20",
        "--override", "for_qdiscs=none,zrtt_auto", "--out", str(OUT / "line"),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    rows = _table(done.stdout)
    none, auto = rows["rrul-none"], rows["rrul-zrtt_auto"]
    assert float(none["ICMP mean"]) > 200
    # most of it before the rates are known
    assert float(auto["ICMP mean"]) < 80
    assert float(auto["down"]) > 0.8 * 20, rows
    assert float(auto["up"]) > 0.6 * 5, rows


@pytest.mark.parametrize("batch", ["rrul", "rrul_be", "voip", "rtt_fair"])
def test_what_people_feel_is_measured_over_six_queues(batch: str) -> None:
    done = _flent("-B", str(BATCHES), "-b", batch, "--batch-dry-run")
    queues = re.findall(r"args:(\S+) rep:01", done.stdout)
    assert sorted(queues) == ["blue", "cake", "dualpi2", "fq_codel", "pie", "zrtt"]


def test_eight_tests_run_over_six_queues() -> None:
    done = _flent("-B", str(BATCHES), "-b", "ALL", "--batch-dry-run")
    assert "Would have run 48 tests" in done.stdout


def test_shellcheck_is_silent() -> None:
    command = ["shellcheck", str(ROOT / "flent-configs" / "tc_iterate")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_pictures_are_drawn() -> None:
    pictures = {path.name for path in _batch() if path.read_bytes().startswith(b"\x89PNG")}
    own = "batch-zrtt_rtt_fair-"
    assert {f"{own}zrtt.png", f"{own}zrtt-qdisc.png", f"{own}fq_codel.png"} <= pictures
    assert "zrtt_rtt_fair-bar_jain.png" in pictures


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--batch", "none"], "no batch none"),
        (["--rtts", "20ms"], "--rtts"),
        (["--rtts", "20ms,20ms"], "--rtts"),
        (["--override", "length"], "KEY=VALUE"),
        (["--batch", "tcp_nup", "--override", "for_qdiscs=nothing"], "nothing"),
        (["--batch", "tcp_nup", "--override", "uplink=eth9", "--override", "interfaces=eth9"],
         "eth9"),
    ],
)  # fmt: skip
def test_nonsense_is_refused(options: list[str], complaint: str, tmp_path: Path) -> None:
    done = _lab(str(BATCHES), *options, "--out", str(tmp_path / "out"))
    assert done.returncode != 0
    assert complaint in done.stderr
    assert "Traceback" not in done.stderr
