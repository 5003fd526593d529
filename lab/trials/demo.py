# SPDX-License-Identifier: GPL-2.0
"""The demonstration: one dumbbell, several queues, a table and a picture."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path

from lab.engines.select import get_engine
from lab.host.progress import Board, say, stage
from lab.kernels import debian
from lab.model.scenario import Scenario, parse_rtts
from lab.output import pictures
from lab.results import report
from lab.runs import runner
from lab.toolchain import build

GUESTS_AT_A_TIME = 2

# The paper's queues hold 100 packets and mark at random; as no sender hints, they time
# handshakes, which they would not by themselves. zrtt is as shipped.
QDISCS = {
    "blue": "zrtt mode blue limit 100",
    "mrtt": "zrtt mode mrtt limit 100 handshake",
    "paper": "zrtt mode paper limit 100 handshake",
    "zrtt": "zrtt",
    "fq_codel": "fq_codel",
}
IN_BRIEF = ("blue", "paper", "zrtt", "fq_codel")
"""An even number, as two run at a time."""

SCENARIO = Scenario(
    rate_bps=20_000_000,
    rtts_ms=parse_rtts("20ms..400ms/20"),
    warmup_s=30.0,
    duration_s=90.0,
    hint="none",
)
BRIEF_SCENARIO = replace(SCENARIO, warmup_s=20.0, duration_s=60.0)


def choose_kernel() -> str:
    """The newest series to be had here."""
    offered = debian.available()
    if not offered:
        raise debian.KernelError("apt offers no kernel; run apt-get update")
    return offered[0]


def _prepare(base: Scenario) -> None:
    """What the runs would do first, each waiting for the other."""
    own = base.kernel == "uml"
    what = "building user-mode Linux, once" if own else f"fetching Linux {base.kernel}"
    with stage(f"1 of 3: {what}", 360 if own else 40):
        kernel = get_engine(base.kernel).kernel
    with stage("2 of 3: building the module, the tc plugin and the traffic program", 20):
        for name in runner.module_names(replace(base, qdisc="zrtt")):
            build.kernel_module(name, kernel)
            build.tc_plugin(name)
        build.traffic()


def run(kernel: str, seed: int, out: Path, *, full: bool = False) -> list[report.Run]:
    """Runs the queues, two guests at a time; writes demo.json and demo.png to `out`."""
    pictures.pyplot()  # now rather than after minutes, if it is missing
    base = replace(SCENARIO if full else BRIEF_SCENARIO, kernel=kernel, seed=seed)
    labels = tuple(QDISCS) if full else IN_BRIEF
    _prepare(base)
    traffic = f"{base.warmup_s + base.duration_s:.0f} s of {len(base.flows)} TCP flows"
    usual = "" if kernel == "uml" else ", usually 4 min on two processors without KVM"
    say(f"3 of 3: {traffic} through each of {len(labels)} queues{usual}")
    board = Board(len(labels))
    done: dict[str, report.Run] = {}
    with ThreadPoolExecutor(GUESTS_AT_A_TIME) as pool:
        futures = {}
        for label in labels:
            scenario = replace(base, qdisc=QDISCS[label]).check()
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
    runs = [done[label] for label in labels]
    report.save(runs, out / "demo.json")
    report.plot(runs, out / "demo.png")
    return runs
