# SPDX-License-Identifier: GPL-2.0
"""Runs a scenario on its engine and returns the result."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab.engines.job import Engine, GuestJob, GuestOutput
from lab.engines.select import get_engine
from lab.host.progress import Progress
from lab.model.scenario import CCS, Scenario
from lab.net import topology, traffic_spec
from lab.results import result
from lab.toolchain import build
from lab.traces import mahimahi

MODULE_OF_QDISC = {"zrtt": "sch_zrtt", "csfq": "sch_csfq"}
PLUGIN_OF_QDISC = {"dualpi2": "sch_dualpi2"}
"""Of qdiscs that the kernel has and Debian 12's tc does not know."""
MEMORY_BASE_MB = 512
SHORT_FLOW_KB = 24
SHORT_FLOWS_MAX_MB = 1024
AROUND = build.REPO / "lab" / "guest" / "around.sh"


@dataclass(frozen=True)
class Around:
    """A script that runs the scenario's beside something else (lab/guest/around.sh)."""

    script: Path
    args: Sequence[str] = ()
    files: Mapping[str, Path] = field(default_factory=dict)
    modules: Sequence[str] = ()
    """That it needs beside the scenario's: of this project, or with a tc plugin of ours."""

    def wrap(self, job: GuestJob) -> GuestJob:
        """The job with that script around it."""
        files = {**job.files, **self.files, "scenario": job.script, AROUND.name: AROUND}
        return replace(job, script=self.script, args=self.args, files=files)


def watcher(progress: Progress) -> Callable[[str], None]:
    """For GuestJob.watch: tells of the lines "PROGRESS MS OF-MS" that a script prints."""

    def watch(line: str) -> None:
        words = line.split()
        if len(words) == 3 and words[0] == "PROGRESS":
            progress(int(words[1]) / 1000, int(words[2]) / 1000)

    return watch


def module_names(scenario: Scenario) -> list[str]:
    """This project's modules that a scenario needs."""
    congestion = [CCS[cc] for cc in scenario.ccs if CCS[cc] in build.MODULE_SOURCES]
    line = ["sch_line"] if scenario.line else []
    return ["sch_meter", *line, *_known(MODULE_OF_QDISC, scenario), *dict.fromkeys(congestion)]


def plugin_names(scenario: Scenario) -> list[str]:
    """The modules, ours or not, that a scenario needs a tc plugin of ours for."""
    names = [*module_names(scenario), *_known(PLUGIN_OF_QDISC, scenario)]
    return [name for name in names if name in build.PLUGIN_SOURCES]


def _known(names: Mapping[str, str], scenario: Scenario) -> list[str]:
    return [names[kind] for kind in scenario.qdisc_kinds if kind in names]


def _memory_mb(scenario: Scenario) -> int:
    """Memory for all send buffers at their maximum, and for receivers."""
    buffers = sum(traffic_spec.send_buffer_bytes(scenario, flow) for flow in scenario.all_flows)
    return MEMORY_BASE_MB + 3 * buffers // 2**20 + _short_flows_mb(scenario)


def _short_flows_mb(scenario: Scenario) -> int:
    """The same for short flows, none of which may be done: where their host has a small share."""
    return min(SHORT_FLOWS_MAX_MB, round(scenario.planned_short_flows * SHORT_FLOW_KB / 1024))


def run(scenario: Scenario, *, command: str = "", around: Around | None = None,
        progress: Progress | None = None, timeout_s: float = 3600.0,
        builds: Mapping[str, Path] = {}) -> result.Result:  # fmt: skip
    """Runs a scenario. Raises GuestError, BuildError or ResultError if it has no result.

    `builds` are modules of this project to use in place of those of its sources.
    """
    engine = get_engine(scenario.kernel)
    output = guest_output(
        scenario, engine, around=around, progress=progress, timeout_s=timeout_s, builds=builds
    )
    return result.compute(scenario, output, engine.kernel.release, engine.clock, command)


def guest_output(scenario: Scenario, engine: Engine, *, around: Around | None = None,
                 progress: Progress | None = None, timeout_s: float = 3600.0,
                 builds: Mapping[str, Path] = {}) -> GuestOutput:  # fmt: skip
    """Runs a scenario, with what goes on around it; returns the guest's output."""
    more = around.modules if around else ()
    names = [*module_names(scenario), *(name for name in more if name in build.MODULE_SOURCES)]
    with tempfile.TemporaryDirectory(prefix="zrtt-run-") as folder:
        script, traffic = Path(folder) / "script", Path(folder) / "spec"
        script.write_text(topology.script(scenario))
        traffic.write_text(traffic_spec.spec(scenario))
        files = {"traffic": build.traffic(), "spec": traffic}
        if scenario.autorate:
            files["autorate"] = build.autorate()
        if scenario.line and scenario.line.trace:
            files["line"] = Path(folder) / "line"
            files["line"].write_text(mahimahi.text(scenario.line.trace))
        for name in (*plugin_names(scenario), *more):
            files.update(build.tc_plugin(name))
        job = GuestJob(
            script=script,
            files=files,
            modules=[name for name in topology.modules(scenario) if name not in names],
            kmods=[builds.get(name) or build.kernel_module(name, engine.kernel) for name in names],
            seed=scenario.seed,
            memory_mb=_memory_mb(scenario),
            timeout_s=timeout_s,
            watch=watcher(progress) if progress else None,
        )
        return engine.run(around.wrap(job) if around else job)
