# SPDX-License-Identifier: GPL-2.0
"""The demonstration: one dumbbell, five queues, a table and a picture."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from lab import kernels, report, runner
from lab.progress import Board
from lab.scenario import Scenario, parse_rtts

GUESTS_AT_A_TIME = 2

# The paper's queues hold 100 packets and mark at random; zrtt is as shipped.
QDISCS = {
    "blue": "zrtt mode blue limit 100",
    "mrtt": "zrtt mode mrtt limit 100",
    "paper": "zrtt mode paper limit 100",
    "zrtt": "zrtt limit 1000",
    "fq_codel": "fq_codel",
}

SCENARIO = Scenario(
    rate_bps=20_000_000,
    rtts_ms=parse_rtts("20ms..400ms/20"),
    warmup_s=30.0,
    duration_s=90.0,
)


def choose_kernel() -> str:
    """The newest series to be had here."""
    offered = kernels.available()
    if not offered:
        raise kernels.KernelError("apt offers no kernel; run apt-get update")
    return offered[0]


def run(kernel: str, seed: int, out: Path) -> list[report.Run]:
    """Runs all queues, two guests at a time; writes demo.json and demo.png to `out`."""
    report.pyplot()  # now rather than after minutes, if it is missing
    base = replace(SCENARIO, kernel=kernel, seed=seed)
    board = Board()
    done: dict[str, report.Run] = {}
    with ThreadPoolExecutor(GUESTS_AT_A_TIME) as pool:
        futures = {}
        for label, qdisc in QDISCS.items():
            scenario = replace(base, qdisc=qdisc).check()
            job = pool.submit(
                runner.run, scenario, command="python3 -m lab demo", progress=board.track(label)
            )
            futures[job] = label
        try:
            for job in as_completed(futures):
                label = futures[job]
                spent = job.result()
                done[label] = report.Run(label, spent)
                board.done(label, f"{spent.wall_s:.0f} s, {spent.cpu_s:.0f} s of CPU")
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    runs = [done[label] for label in QDISCS]
    report.save(runs, out / "demo.json")
    report.plot(runs, out / "demo.png")
    return runs
