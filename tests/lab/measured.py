# SPDX-License-Identifier: GPL-2.0
"""What a guest would have said of a scenario, without a guest."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lab.engines.job import GuestOutput
from lab.model import grid
from lab.model.ports import meter_class
from lab.model.scenario import Scenario
from lab.net import network
from lab.results.result import Result, compute
from lab.results.table import Row
from lab.runs import sweep

MSS = 1448


def flow_bytes(mbps: float, seconds: float) -> int:
    """Payload received in that time."""
    return round(mbps * 1e6 / 8 * seconds)


def reading(at_s: float, flows: Sequence[int], udp: Sequence[Sequence[int]] = (),
            short: Sequence[int] = (0,)) -> dict[str, Any]:  # fmt: skip
    """What all had received by then: bytes of flows; frames of UDP sent and received; bytes of
    the short flows of each host."""
    return {"ms": round(at_s * 1000), "flows": list(flows), "udp": list(udp),
            "short": sum(short), "short_of": list(short)}  # fmt: skip


def _of_flow(received: int, ecn: bool) -> dict[str, Any]:
    return {"bytes_received": received, "held_bytes": 0, "starved_us": 0, "retransmits": 0,
            "acks": 0, "min_rtt_us": 20_000, "snd_mss": MSS, "ecn": ecn}  # fmt: skip


def traffic_of(scenario: Scenario, readings: list[dict[str, Any]]) -> dict[str, Any]:
    """The traffic program's result: its readings at the ends of all phases."""
    first, last = readings[0], readings[-1]
    flows = [
        {"begin": _of_flow(begin, flow.ecn), "end": _of_flow(end, flow.ecn)}
        for flow, begin, end in zip(
            scenario.all_flows, first["flows"], last["flows"], strict=True
        )
    ]  # fmt: skip
    return {"from_ms": first["ms"], "to_ms": last["ms"], "flows": flows,
            "readings": readings, "samples": []}  # fmt: skip


def _qdiscs(bytes_out: int, packets: int, ce_in: int, ce_out: int,
            p95_us: int) -> list[dict[str, Any]]:  # fmt: skip
    meter = {"handle": "2:", "bytes_out": bytes_out, "packets_in": packets,
             "packets_out": packets, "ce_in": ce_in, "ce_out": ce_out, "mean_ns": 15_000_000,
             "p50_us": 14_000, "p95_us": p95_us, "p99_us": 30_000, "max_us": 41_000}  # fmt: skip
    return [meter, {"handle": "3:", "drops": 0, "qlen": 0}]


def classes_of(marks: Mapping[int, int]) -> str:
    """The meter's classes, as tc shows them, of marks by port."""
    return "".join(
        f"class meter 2:{meter_class(port):x} parent 2: \n"
        f" Sent 5825872 bytes 3848 pkt (dropped 0, overlimits {count} requeues 0) \n"
        " backlog 0b 0p requeues 0\n"
        for port, count in marks.items()
    )


def result_of(scenario: Scenario, traffic: dict[str, Any], *sent_mbps: float,
              marks: Sequence[Mapping[int, int]] = (),
              p95_us: Sequence[int] = (),
              thin: Sequence[Sequence[Mapping[str, int]]] = (),
              ecn: Sequence[Sequence[Mapping[str, int]]] = ()) -> Result:  # fmt: skip
    """The result, if that much had left each queue, with those marks by port.

    `thin` is what the meter of each queue says of the classes of thin traffic, `ecn` what it
    says of those by the ECN field.
    """
    parts = [f"@traffic\n{json.dumps(traffic)}\n"]
    marked = 0
    for i, (queue, sent) in enumerate(zip(network.queues(scenario), sent_mbps, strict=True)):
        of_queue = marks[i] if marks else {}
        bytes_out = round(sent * 1e6 / 8 * scenario.duration_s)
        ce_in, marked = marked if queue.hop > 1 else 0, sum(of_queue.values())
        end = _qdiscs(bytes_out, 1000, ce_in, marked, p95_us[i] if p95_us else 28_000)
        end[0]["thin"] = list(thin[i]) if thin else []
        end[0]["ecn"] = list(ecn[i]) if ecn else []
        parts += [
            f"@begin-{queue.netns}\n{json.dumps(_qdiscs(0, 0, 0, 0, 0))}\n",
            f"@end-{queue.netns}\n{json.dumps(end)}\n",
            f"@classes-{queue.netns}\n{classes_of(of_queue)}",
        ]
    output = GuestOutput(
        rc=0, result="".join(parts), console="", wall_s=1.0, cpu_s=1.0, reruns=0
    )  # fmt: skip
    return compute(scenario, output, "release", "clock", "command")


def row_of(options: Mapping[str, Any], result: Result) -> Row:
    """A sweep's row of a result, whose cell says so."""
    given = {"cc": "cubic", "rtts": "20ms,40ms", "rate": "20mbit", "ecn": "on", "gso": "off",
             "hint": "none", **options}  # fmt: skip
    fields = {k: v for name in given for k, v in grid.FIELDS[name](given[name]).items()}
    return sweep._row(grid.Point("s", "c", "q", given, Scenario(**fields)), result, "")
