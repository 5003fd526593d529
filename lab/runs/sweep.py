# SPDX-License-Identifier: GPL-2.0
"""Runs the points of a sweep, several at a time, into a table."""

from __future__ import annotations

import hashlib
import math
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from statistics import fmean
from typing import Protocol

from lab.engines.job import GuestError
from lab.engines.select import get_engine
from lab.host.progress import Bar
from lab.kernels.kernel import Kernel, KernelError
from lab.model import churn, ect1, spoof, step, thin, udp, wire
from lab.model import hosts as hosts_model
from lab.model import scenario as scenario_model
from lab.model.grid import Point
from lab.model.scenario import Scenario
from lab.net import topology, traffic_spec
from lab.results import dues, hosts, line, max_min, moments, readings, result
from lab.results import table as table_of
from lab.results.result import FlowResult, Result, ResultError
from lab.results.table import Row, Table
from lab.runs import runner
from lab.toolchain import build
from lab.toolchain.build import BuildError
from lab.traces import mahimahi

COMPUTING = (
    result, readings, hosts, dues, hosts_model, max_min, moments, churn, ect1, spoof, thin, udp,
    wire, line, table_of, scenario_model, step, sys.modules[__name__],
)  # fmt: skip
"""Modules that make the figures of a row of what a guest measured."""
RUN_ERRORS = (BuildError, GuestError, KernelError, ResultError)


class Guests(Protocol):
    """What does the runs; tests replace it."""

    def release(self, kernel: str) -> str:
        """What uname -r says in a guest of that kernel."""

    def inputs(self, point: Point) -> str:
        """Hash of all that a run is made of, but for its command line and its kernel."""

    def run(self, point: Point) -> Result:
        """Does a run. Raises one of RUN_ERRORS if it has no result."""


class RealGuests:
    """Guests of the engines."""

    @cache  # noqa: B019 - there is one of these, as long as the program runs
    def kernel(self, name: str) -> Kernel:
        """The kernel of an engine, by its name."""
        return get_engine(name).kernel

    def builds(self, point: Point) -> dict[str, Path]:
        """This project's modules that a run needs, by name."""
        kernel = self.kernel(point.scenario.kernel)
        names = runner.module_names(point.scenario)
        return {name: build.kernel_module(name, kernel) for name in names}

    def release(self, kernel: str) -> str:
        return self.kernel(kernel).release

    def inputs(self, point: Point) -> str:
        scenario = point.scenario
        # What is built lies in folders named by the hashes of their sources.
        built = [build.traffic(), *self.builds(point).values()]
        if scenario.autorate:
            built.append(build.autorate())
        for name in runner.plugin_names(scenario):
            built += build.tc_plugin(name).values()
        digest = hashlib.sha256()
        for path in sorted(built):
            digest.update(f"{path.parent.name}/{path.name}\0".encode())
        digest.update(topology.script(scenario).encode() + traffic_spec.spec(scenario).encode())
        if scenario.line:
            digest.update(mahimahi.text(scenario.line.trace).encode())
        for module in COMPUTING:
            digest.update(Path(module.__file__).read_bytes())
        return digest.hexdigest()[:16]

    def run(self, point: Point) -> Result:
        return runner.run(point.scenario, command=point.command, builds=self.builds(point))


def revision() -> str:
    """The git revision of the tree, with +dirty if it differs."""
    done = subprocess.run(
        ["git", "describe", "--always", "--exclude=*", "--dirty=+dirty", "--abbrev=12"],
        cwd=build.REPO, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() or "unknown"


def _mean_goodput(flows: Sequence[FlowResult]) -> float:
    return fmean(flow.goodput_mbps for flow in flows) if flows else math.nan


def _goodputs(flows: Sequence[FlowResult]) -> str:
    return ";".join(f"{flow.goodput_mbps:.6g}" for flow in flows)


def _liar_share(scenario: Scenario, done: Result) -> float:
    lied = [done.flows[index].goodput_mbps for index in scenario.liars]
    mean = _mean_goodput(done.flows)
    return max(lied) / mean if lied and mean else math.nan


def _ect1_share(scenario: Scenario, done: Result) -> float:
    """Of those that are there all the time; short flows and thin traffic claim nothing."""
    demands = [stream.rate_mbps for stream in done.udp]
    *of_udp, of_flow = max_min.max_min(done.rate_mbps, [*demands, *[math.inf] * len(done.flows)])[
        : len(demands) + 1
    ]
    shares = [done.flows[f.index].wire_mbps / of_flow for f in scenario.flows if f.lies]
    if scenario.ect1.udp:
        shares += [s.delivered_mbps / due for s, due in zip(done.udp, of_udp, strict=True)]
    return max(shares, default=math.nan)


def _limit_drops(done: Result) -> float:
    """Of the queues that the flows cross."""
    told = [queue.limit_drops for queue in done.queues if queue.name != "reverse"]
    return math.nan if None in told or not told else float(sum(filter(None, told)))


def _row(point: Point, done: Result, inputs: str) -> Row:
    sojourn, options = done.sojourn_ms, point.options
    short = done.short_flows
    completion = short.completion_s if short else None
    return Row(
        sweep=point.sweep,
        cell=point.cell,
        qdisc=point.qdisc,
        words=point.scenario.qdisc,
        kernel=point.scenario.kernel,
        seed=done.seed,
        cc=options["cc"],
        flows=len(done.flows),
        rtts=options["rtts"],
        sessions=point.scenario.sessions,
        rate=options["rate"],
        ecn=options["ecn"],
        gso=options["gso"],
        hint=options["hint"],
        extra=point.extra,
        jain=done.jain,
        max_min_ratio=math.inf if done.max_min_ratio is None else done.max_min_ratio,
        utilisation=done.utilisation,
        min_phase_utilisation=done.min_phase_utilisation,
        tcp_share=done.tcp_share,
        goodput_mean_mbps=done.goodput_mbps / len(done.flows),
        max_class_ratio=done.max_class_ratio,
        liar_share=_liar_share(point.scenario, done),
        fct_mean_s=completion.mean if completion else math.nan,
        fct_p95_s=completion.p95 if completion else math.nan,
        short_unfinished=short.unfinished if short else 0,
        cross_mean_mbps=_mean_goodput(done.cross),
        reverse_mean_mbps=_mean_goodput(done.reverse),
        sojourn_mean_ms=sojourn.mean,
        sojourn_p50_ms=sojourn.p50,
        sojourn_p95_ms=sojourn.p95,
        sojourn_p99_ms=sojourn.p99,
        sojourn_max_ms=sojourn.max,
        marks=done.marks,
        drops=done.drops,
        retransmits=sum(flow.retransmits for flow in done.flows),
        goodputs_mbps=_goodputs(done.flows),
        wall_s=done.wall_s,
        reruns=done.reruns,
        release=done.kernel,
        revision=revision(),
        inputs=inputs,
        command=point.command,
        drop_rate=done.drop_rate,
        cross_goodputs_mbps=_goodputs(done.cross),
        victim_mbps=fmean(s.victim_mbps for s in done.spoof) if done.spoof else math.nan,
        limit_drops=_limit_drops(done),
        thin=";".join(thin.packed() for thin in done.thin),
        ecn_classes=";".join(ecn.packed() for ecn in done.ecn_classes),
        ect1_share=_ect1_share(point.scenario, done),
        host_jain=done.host_jain,
        within_jain=done.within_jain,
        host_error=done.host_error,
        host_due=done.host_due,
        receiver_jain=math.nan if done.receiver_jain is None else done.receiver_jain,
        host_goodputs_mbps=";".join(f"{host.goodput_mbps:.6g}" for host in done.hosts),
        line_mbps=done.line.rate_mbps if done.line else math.nan,
        line_mean_ms=done.line.sojourn_ms.mean if done.line else math.nan,
        line_p95_ms=done.line.sojourn_ms.p95 if done.line else math.nan,
        whole_mean_ms=done.line.whole_ms.mean if done.line else math.nan,
        whole_p95_ms=done.line.whole_ms.p95 if done.line else math.nan,
        line_drops=done.line.drops if done.line else math.nan,
    )


@dataclass
class Outcome:
    """The outcome of a sweep."""

    known: int
    """Runs that the table had already."""
    done: int = 0
    failed: int = 0

    def __str__(self) -> str:
        return f"{self.done} runs done, {self.failed} failed, {self.known} known before"


def _run_one(guests: Guests, point: Point) -> Row:
    inputs = guests.inputs(point)
    return _row(point, guests.run(point), inputs)


def _identity(guests: Guests, point: Point) -> tuple[str, str, str]:
    return (point.command, guests.release(point.scenario.kernel), guests.inputs(point))


def current(points: Iterable[Point], table: Table, guests: Guests) -> list[Row]:
    """The rows of these runs, of the sources as they are."""
    wanted = {_identity(guests, point) for point in points}
    return [row for row in table.rows if row.identity in wanted]


def _pending(guests: Guests, points: Iterable[Point], table: Table) -> list[Point]:
    """The runs that the table lacks. One that it has is made the last of its cell, qdisc and seed,
    as after it there may be one of other sources, or it may be known by other names."""
    known = {row.identity: row for row in table.rows}
    last = {row.place: row.identity for row in table.rows}
    lacking = []
    for point in points:
        identity = _identity(guests, point)
        if identity not in known:
            lacking.append(point)
            continue
        if last.get(point.place) != identity:
            names = {"sweep": point.sweep, "cell": point.cell, "qdisc": point.qdisc}
            table.append(replace(known[identity], **names))
    return lacking


class _Sweeping:
    """A sweep under way."""

    def __init__(self, futures: dict[Future[Row], Point], table: Table, outcome: Outcome) -> None:
        self._waiting = futures
        self._table, self._outcome = table, outcome
        self.bar = Bar(len(futures))

    def collect(self) -> None:
        """Records each run as it ends."""
        for future in as_completed(list(self._waiting)):
            self._take(future)

    def collect_ended(self) -> None:
        """Records the runs that have ended since."""
        for future in [f for f in self._waiting if f.done() and not f.cancelled()]:
            self._take(future)

    def _take(self, future: Future[Row]) -> None:
        point = self._waiting.pop(future)
        try:
            self._table.append(future.result())
            self._outcome.done += 1
        except RUN_ERRORS as error:
            self._outcome.failed += 1
            self.bar.say(f"failed: {point.label}: {error}\n  {point.command}")
        self.bar.show(self._outcome.done, self._outcome.failed)


def run(points: Sequence[Point], table: Table, *, jobs: int, fresh: bool = False,
        guests: Guests | None = None) -> Outcome:  # fmt: skip
    """Does the runs that the table lacks, or with `fresh` all of them.

    A run that fails is told and counted, and has no row: the next sweep tries
    it again. If interrupted, it ends with the runs that are under way.
    """
    guests = guests or RealGuests()
    pending = list(points) if fresh else _pending(guests, points, table)
    outcome = Outcome(known=len(points) - len(pending))
    pool = ThreadPoolExecutor(jobs)
    futures = {pool.submit(_run_one, guests, point): point for point in pending}
    sweeping = _Sweeping(futures, table, outcome)
    try:
        sweeping.collect()
    except KeyboardInterrupt:
        sweeping.bar.say("stopping with the runs under way; the same command goes on from there")
        pool.shutdown(cancel_futures=True)
        sweeping.collect_ended()
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        sweeping.bar.close()
    return outcome
