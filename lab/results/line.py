# SPDX-License-Identifier: GPL-2.0
"""The hidden line behind the qdisc under test, or before it: its queue, and the delay of both."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lab.model.line import Line
from lab.model.scenario import Scenario
from lab.results.readings import DUMP_SLACK_PACKETS, QueueReadings, ResultError, Sojourn

LINE_HANDLE = "1:"
CAPACITY_SLACK = 1.01


@dataclass(frozen=True)
class LinePhase:
    """A part of the measured interval, from 3 s after a step of the line's rate on."""

    from_s: float
    to_s: float
    rate_mbps: float
    utilisation: float
    """Of what the line could carry then, by all that left it."""
    whole_mean_ms: float
    """Delay in both queues of what left the second then; nan if nothing did."""


@dataclass(frozen=True)
class LineResult:
    """A line over the measured interval."""

    rate_mbps: float
    """What it could carry, on average."""
    utilisation: float
    """Of that, by all that left it."""
    sojourn_ms: Sojourn
    """In the line's FIFO."""
    whole_ms: Sojourn
    """From the arrival at the first of both to the end of the second, packet by packet."""
    drops: int
    """For want of room in the FIFO."""
    packets: int
    phases: list[LinePhase]

    @property
    def min_utilisation(self) -> float:
        """Of the worst phase."""
        return min((phase.utilisation for phase in self.phases), default=self.utilisation)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> LineResult:
        """Reads what asdict() wrote."""
        own = {name: Sojourn(**content[name]) for name in ("sojourn_ms", "whole_ms")}
        phases = [
            LinePhase(**{key: math.nan if value is None else value for key, value in part.items()})
            for part in content["phases"]
        ]
        return cls(**{**content, **own, "phases": phases})


def _line(found: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What tc said of the line at a time."""
    for qdisc in found.get(name, []):
        if qdisc.get("handle") == LINE_HANDLE and "capacity_bytes" in qdisc:
            reading: dict[str, Any] = qdisc
            return reading
    raise ResultError(f"the guest did not read the line: {name}")


def _sojourn(reading: Mapping[str, int]) -> Sojourn:
    return Sojourn(
        mean=reading["mean_ns"] / 1e6,
        p50=reading["p50_us"] / 1000,
        p95=reading["p95_us"] / 1000,
        p99=reading["p99_us"] / 1000,
        max=reading["max_us"] / 1000,
        source="line",
    )


def _mean_ms(first: Mapping[str, Any], last: Mapping[str, Any]) -> float:
    """Delay of what left between two readings, each of which has the mean up to then."""
    wholes = [reading["whole"] for reading in (first, last)]
    sums = [whole["mean_ns"] * whole["packets"] for whole in wholes]
    packets = wholes[1]["packets"] - wholes[0]["packets"]
    return (sums[1] - sums[0]) / packets / 1e6 if packets else math.nan


def _problems(line: Line, end: Mapping[str, Any], queue: QueueReadings) -> list[str]:
    """Whether one got what the other let go, and the line carried no more than it can."""
    problems = []
    if line.before:
        first, left, second, came = "line", end["packets_out"], "queue", queue.meter.delta("packets_in")
    else:
        first, left, second, came = "queue", queue.meter.delta("packets_out"), "line", end["packets_in"]
    if abs(left - came) > DUMP_SLACK_PACKETS:
        problems.append(f"{left} packets left the {first}, {came} came to the {second}")
    if end["bytes_out"] > end["capacity_bytes"] * CAPACITY_SLACK:
        problems.append(f"{end['bytes_out']} bytes left the line, of {end['capacity_bytes']}")
    return problems


def compute(scenario: Scenario, found: Mapping[str, Any],
            queue: QueueReadings) -> LineResult | None:  # fmt: skip
    """From a guest's documents; None if there is no line. Raises ResultError."""
    if not scenario.line:
        return None
    end = _line(found, f"end-{queue.queue.netns}")
    if problems := _problems(scenario.line, end, queue):
        raise ResultError("the numbers of the line do not add up: " + "; ".join(problems))
    phases = []
    for index, phase in enumerate(scenario.line.phases(scenario.warmup_s, scenario.total_s)):
        first, last = (_line(found, f"line-{index}-{name}") for name in ("begin", "end"))
        left, could = (last[key] - first[key] for key in ("bytes_out", "capacity_bytes"))
        seconds = (last["elapsed_ns"] - first["elapsed_ns"]) / 1e9
        phases.append(
            LinePhase(
                phase.from_s, phase.to_s, could * 8 / seconds / 1e6, left / could,
                _mean_ms(first, last),
            )  # fmt: skip
        )
    return LineResult(
        rate_mbps=end["capacity_bytes"] * 8 / (end["elapsed_ns"] / 1e9) / 1e6,
        utilisation=end["bytes_out"] / end["capacity_bytes"],
        sojourn_ms=_sojourn(end["own"]),
        whole_ms=_sojourn(end["whole"]),
        drops=end["line_drops"],
        packets=end["packets_out"],
        phases=phases,
    )
