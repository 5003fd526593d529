# SPDX-License-Identifier: GPL-2.0
"""The table of `lab flent`, of a data file made here; and the options of its testbed."""

from __future__ import annotations

import gzip
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lab import cli
from lab.flent import summary
from lab.flent.network import Network

START = "2026-01-01T00:00:00Z"
START_S = datetime.fromisoformat(START).timestamp()
BEFORE_S, LENGTH_S = 5, 10
RTTS_MS = {"h20ms": 20.0, "h40ms": 40.0}


def point(second: float, value: float | None) -> dict[str, float]:
    """A packet of so many seconds after the start; None: it is lost."""
    return {"t": START_S + second} | ({} if value is None else {"val": value})


def data_file(
    folder: Path, series: dict[str, dict[str, Any]], raw: dict[str, list[dict[str, float]]]
) -> Path:
    metadata = {"T0": START, "LENGTH": LENGTH_S, "TOTAL_LENGTH": LENGTH_S + 2 * BEFORE_S,
                "HOST": "h20ms", "SERIES_META": series}  # fmt: skip
    path = folder / "batch-rrul-zrtt.flent.gz"
    with gzip.open(path, "wt") as stream:
        json.dump({"metadata": metadata, "raw_values": raw}, stream)
    return path


def table(path: Path) -> dict[str, str]:
    head, line = summary.lines([path], RTTS_MS)
    return dict(zip(head, line, strict=True))


def irtt(sent: int, received: int) -> dict[str, Any]:
    return {"RUNNER": "IrttRunner", "PACKETS_SENT": sent, "PACKETS_RECEIVED": received}


def netperf(mbps: float) -> dict[str, Any]:
    return {"RUNNER": "NetperfDemoRunner", "MEAN_VALUE": mbps}


def test_pings_count_under_load_only(tmp_path: Path) -> None:
    points = [point(1, 20), *[point(6 + i / 10, 20 + i) for i in range(1, 21)], point(16, 900)]
    path = data_file(
        tmp_path, {"Ping (ms) ICMP": {"RUNNER": "PingRunner"}}, {"Ping (ms) ICMP": points}
    )
    assert table(path) == {
        "data file": "rrul-zrtt", "ICMP mean": "10.5", "ICMP p95": "19.0", "ICMP max": "20.0",
    }  # fmt: skip


@pytest.mark.parametrize("name", ["Ping (ms) ICMP2 h40ms", "Ping (ms)::h40ms"])
def test_path_is_that_of_the_series(tmp_path: Path, name: str) -> None:
    path = data_file(tmp_path, {name: {"RUNNER": "PingRunner"}}, {name: [point(6, 43)]})
    assert table(path)["ICMP mean"] == "3.0"


def test_call_and_udp_pings_apart_their_losses_together(tmp_path: Path) -> None:
    series = {"Ping (ms) UDP EF": irtt(10, 9), "VoIP": irtt(90, 90), "VoIP::delay": netperf(0)}
    raw = {"Ping (ms) UDP EF": [point(6, 21), point(7, None)], "VoIP": [point(8, 22)]}
    values = table(data_file(tmp_path, series, raw))
    assert (values["UDP mean"], values["call mean"], values["lost"]) == ("1.0", "2.0", "1.00%")


def test_goodputs_are_sums_of_flows(tmp_path: Path) -> None:
    sum_of_flent = {"RUNNER": "SumRunner", "MEAN_VALUE": 9.0}
    series = {"TCP download BE": netperf(1.25), "TCP download EF": netperf(2),
              "TCP download sum": sum_of_flent, "TCP upload::h20ms": netperf(4)}  # fmt: skip
    assert table(data_file(tmp_path, series, {})) == {
        "data file": "rrul-zrtt", "down": "3.25", "up": "4.00",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([3, 1, 2], 0.95, 3), ([1], 0.95, 1), (list(range(1, 21)), 0.95, 19), ([1, 2], 0.5, 1)],
)
def test_percentile(values: list[float], share: float, expected: float) -> None:
    assert summary.percentile(values, share) == expected


def test_each_direction_has_its_rate() -> None:
    script = Network(100_000_000, 20_000_000, (20, 40)).check().script().splitlines()
    (lan,) = [line for line in script if "class add dev lan" in line]
    (wan,) = [line for line in script if "class add dev wan" in line]
    assert "rate 100000000bit" in lan
    assert "rate 20000000bit" in wan


@pytest.mark.parametrize(
    ("option", "value"),
    [
        *[("--rate", rate) for rate in ("fast", "20mbit/", "/20mbit", "20mbit/1", "1bit",
                                        "1mbit/2mbit/3mbit", "20mbit/9kbit")],
        *[("--line", room) for room in ("long", "300", "4ms", "0ms", "6s")],
    ],
)  # fmt: skip
def test_lines_that_are_none_are_refused(
    option: str, value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "flent", "flent-configs/zrtt.batch", "--batch", "rrul", option, value]
    monkeypatch.setattr(sys, "argv", words)
    try:
        status = cli.main()
    except SystemExit as refusal:
        status = int(str(refusal.code))
    assert status
    assert option in capsys.readouterr().err
