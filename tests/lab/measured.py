# SPDX-License-Identifier: GPL-2.0
"""What a guest would have said of a scenario, without a guest."""

from __future__ import annotations

import json
from typing import Any

from lab.engine import GuestOutput
from lab.result import Result, compute
from lab.scenario import Scenario

MSS = 1448


def flow_bytes(mbps: float, seconds: float) -> int:
    """Payload received in that time."""
    return round(mbps * 1e6 / 8 * seconds)


def _reading(received: int) -> dict[str, int]:
    return {"bytes_received": received, "starved_us": 0, "retransmits": 0,
            "min_rtt_us": 20_000, "snd_mss": MSS}  # fmt: skip


def _qdiscs(bytes_out: int, packets: int) -> list[dict[str, Any]]:
    meter = {"handle": "2:", "bytes_out": bytes_out, "packets_in": packets,
             "packets_out": packets, "ce_in": 0, "ce_out": 0, "mean_ns": 15_000_000,
             "p50_us": 14_000, "p95_us": 28_000, "p99_us": 30_000, "max_us": 41_000}  # fmt: skip
    return [meter, {"handle": "3:", "drops": 0, "qlen": 0}]


def traffic_of(scenario: Scenario, readings: list[dict[str, Any]]) -> dict[str, Any]:
    """The traffic program's result: its readings at the ends of all phases."""
    first, last = readings[0], readings[-1]
    flows = [
        {"begin": _reading(begin), "end": _reading(end)}
        for begin, end in zip(first["flows"], last["flows"], strict=True)
    ]
    return {"from_ms": first["ms"], "to_ms": last["ms"], "flows": flows,
            "readings": readings, "samples": []}  # fmt: skip


def result_of(scenario: Scenario, traffic: dict[str, Any], sent_mbps: float) -> Result:
    """The result, if that much had left the queue."""
    bytes_out = round(sent_mbps * 1e6 / 8 * scenario.duration_s)
    parts = {"traffic": traffic, "begin": _qdiscs(0, 0), "end": _qdiscs(bytes_out, 1000)}
    text = "".join(f"@{name}\n{json.dumps(part)}\n" for name, part in parts.items())
    output = GuestOutput(
        rc=0, result=f"{text}@classes\n", console="", wall_s=1.0, cpu_s=1.0, reruns=0
    )
    return compute(scenario, output, "release", "clock", "command")
