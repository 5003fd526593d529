# SPDX-License-Identifier: GPL-2.0
"""A run of a day of virtual time: finds drift, and failures where a clock wraps.

Long flows share a link whose rate steps down and up again once in each part of the
run, while short flows come and go. All parts are alike, so the last must come out as
the first. Some RTTs are told by hints; the others are read off a 32-bit clock of
microseconds, which wraps every 72 minutes, and some of what the queue does goes by
32-bit jiffies, which wrap 5 minutes after the boot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean
from typing import Any

from lab.engines.select import get_engine
from lab.host.progress import Progress
from lab.model.churn import Churn
from lab.model.scenario import Scenario, Step, parse_rtts
from lab.results import result
from lab.results.readings import QDISC_HANDLE, ResultError, sections
from lab.runs import runner
from lab.toolchain import build

SCRIPT = build.REPO / "lab" / "guest" / "longrun.sh"
RATE_BPS, LOW_RATE_BPS = 5_000_000, 1_500_000
LOW_FROM, LOW_TO = 0.4, 0.6
"""When the rate is low, in parts of a part."""
WARMUP_S = 60
READING_S = 60
"""Between two readings of counters and goodputs."""
MAX_PARTS = 30
"""The traffic program's readings suffice for as many."""
TIMEOUT_S = 3 * 3600.0
US_WRAP_S = 2**32 / 1e6
JIFFIES_WRAP_S = 300
"""After the boot: INITIAL_JIFFIES."""

GAUGES = frozenset(
    "backlog qlen backlog_packets prob alpha delay_us dq_rate rtt_avg_us flows flows_hinted "
    "flows_handshake flows_quic flows_marked flows_timestamps memory_used limit_now".split()
)
"""Statistics that may fall; all others count."""
ENDS = ("packets", "drop_mark", "drop_limit", "drop_late", "purged", "backlog_packets")
"""What becomes of packets_in."""

# How far the last part may be from the first.
JAIN_DRIFT = 0.005
UTILISATION_DRIFT = 0.02
RTT_DRIFT = 0.10

Reading = Mapping[str, Any]
"""What tc says of the qdisc."""


@dataclass(frozen=True)
class Part:
    """One of the equal parts of a run."""

    jain: float
    utilisation: float
    """Of the link, by the goodput of the long flows alone."""
    delay_ms: float
    rtt_avg_ms: float
    """This and the others are means of what the qdisc said."""
    prob: float
    flows: float


@dataclass(frozen=True)
class LongRun:
    """A run, part by part, and the problems that were found."""

    parts: Sequence[Part]
    problems: Sequence[str]
    us_wraps: int
    jiffies_wrapped: bool
    packets: int
    kernel: str
    wall_s: float


def scenario(parts: int, part_s: int, seed: int = 1) -> Scenario:
    """What runs; half of the flows hint."""
    steps = []
    for begin_s in range(WARMUP_S, WARMUP_S + parts * part_s, part_s):
        steps.append(Step(begin_s + LOW_FROM * part_s, rate_bps=LOW_RATE_BPS))
        steps.append(Step(begin_s + LOW_TO * part_s, rate_bps=RATE_BPS))
    return Scenario(
        kernel="uml",
        qdisc="zrtt timestamps",
        back="zrtt timestamps",
        rate_bps=RATE_BPS,
        rtts_ms=parse_rtts("20ms..160ms/8"),
        hint_share=0.5,
        churn=Churn.parse("load=5% size=web"),
        warmup_s=WARMUP_S,
        duration_s=parts * part_s,
        steps=tuple(steps),
        sample_ms=READING_S * 1000,
        seed=seed,
    ).check()


def run(parts: int, part_s: int, *, seed: int = 1, progress: Progress | None = None) -> LongRun:
    """Does the run. Raises what runner.run() raises."""
    planned = scenario(parts, part_s, seed)
    engine = get_engine(planned.kernel)
    around = runner.Around(SCRIPT, [str(READING_S)])
    output = runner.guest_output(
        planned, engine, around=around, progress=progress, timeout_s=TIMEOUT_S
    )
    done = result.compute(planned, output, engine.kernel.release, engine.clock, "")
    readings = [_of_qdisc(reading) for reading in sections(output.result)["counters"]]
    if len(readings) < planned.total_s // READING_S - 1:
        raise ResultError(f"{len(readings)} readings of counters in {planned.total_s:g} s")
    found = split(done.samples, readings, parts, part_s)
    return LongRun(
        parts=found,
        problems=[
            *went_back(readings),
            *unaccounted(readings),
            *stood_still(_within(readings, WARMUP_S, part_s), readings[-part_s // READING_S :]),
            *drifted(found[0], found[-1]),
        ],
        us_wraps=int(planned.total_s // US_WRAP_S),
        jiffies_wrapped=planned.total_s > JIFFIES_WRAP_S,
        packets=readings[-1]["packets_in"],
        kernel=done.kernel,
        wall_s=done.wall_s,
    )


def _of_qdisc(reading: Sequence[Reading]) -> Reading:
    (found,) = [qdisc for qdisc in reading if qdisc.get("handle") == QDISC_HANDLE]
    return found


def _within(readings: Sequence[Reading], begin_s: int, part_s: int) -> Sequence[Reading]:
    """Those of a part."""
    return readings[begin_s // READING_S : (begin_s + part_s) // READING_S]


def split(samples: Sequence[Sequence[int]], readings: Sequence[Reading], parts: int,
          part_s: int) -> list[Part]:  # fmt: skip
    """The parts, from what the flows had received and what the qdisc said, by time."""
    received = {round(ms / 1000): row for ms, *row in samples}
    low = LOW_TO - LOW_FROM
    mean_rate_bps = RATE_BPS * (1 - low) + LOW_RATE_BPS * low
    found = []
    for begin_s in range(WARMUP_S, WARMUP_S + parts * part_s, part_s):
        last_s = max(at_s for at_s in received if at_s <= begin_s + part_s)
        pairs = zip(received[begin_s], received[last_s], strict=True)
        goodputs_bps = [8 * (after - before) / (last_s - begin_s) for before, after in pairs]
        said = _within(readings, begin_s, part_s)
        found.append(
            Part(
                jain=result.jain(goodputs_bps),
                utilisation=sum(goodputs_bps) / mean_rate_bps,
                delay_ms=fmean(reading["delay_us"] for reading in said) / 1000,
                rtt_avg_ms=fmean(reading["rtt_avg_us"] for reading in said) / 1000,
                prob=fmean(reading["prob"] for reading in said),
                flows=fmean(reading["flows"] for reading in said),
            )
        )
    return found


def went_back(readings: Sequence[Reading]) -> list[str]:
    """Counters that fell."""
    return [
        f"{name} went back from {before[name]} to {after[name]}"
        for before, after in pairwise(readings)
        for name in before
        if name not in GAUGES and isinstance(before[name], int) and after[name] < before[name]
    ]


def stood_still(first: Sequence[Reading], last: Sequence[Reading]) -> list[str]:
    """Statistics that moved in the first part, but no more in the last."""

    def moved(readings: Sequence[Reading], name: str) -> bool:
        return any(reading[name] != readings[0][name] for reading in readings)

    return [
        f"{name} stands still at {last[0][name]}"
        for name in first[0]
        if moved(first, name) and not moved(last, name)
    ]


def unaccounted(readings: Sequence[Reading]) -> list[str]:
    """Readings that do not add up."""
    return [
        f"{reading['packets_in']} packets came, {ends} are accounted for"
        for reading in readings
        if (ends := sum(reading[end] for end in ENDS)) != reading["packets_in"]
    ]


def drifted(first: Part, last: Part) -> list[str]:
    """Figures of the last part that are not those of the first."""
    changes = (
        ("Jain's index", first.jain, last.jain, JAIN_DRIFT),
        ("utilisation", first.utilisation, last.utilisation, UTILISATION_DRIFT),
        ("RTT_avg, ms", first.rtt_avg_ms, last.rtt_avg_ms, RTT_DRIFT * first.rtt_avg_ms),
    )
    return [
        f"{name} went from {before:.4g} to {after:.4g}"
        for name, before, after, most in changes
        if abs(after - before) > most
    ]
