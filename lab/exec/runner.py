# SPDX-License-Identifier: GPL-2.0
"""Runs the programs of a plan in a guest, and says which of them failed."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

from lab.engines.job import GuestError, GuestJob, GuestOutput
from lab.engines.select import get_engine
from lab.engines.uml import UmlEngine
from lab.exec import figures, network
from lab.exec.figures import Figures
from lab.exec.needs import Needs
from lab.exec.plan import Plan
from lab.exec.samples import SampleError, Samples
from lab.host.progress import Progress
from lab.model.scenario import Scenario
from lab.net import topology
from lab.runs import runner
from lab.toolchain import build

MEMORY_MB = 2048
LAST_LINES = 8
"""Of a program's output, in an error."""
ABSENT = re.compile(r"(/[\w.+/-]+)['\"]?: (?:cannot open shared object file: )?No such file")


class ExecError(GuestError):
    """A program failed, or the run did with it."""


@dataclass(frozen=True)
class Options:
    """Of a run, beside its plan."""

    qdisc: str
    kernel: str
    seed: int
    timeout_s: float
    command: str = ""


def _needs(plan: Plan, options: Options) -> Scenario:
    """A scenario that needs the same modules. Raises ScenarioError on a bad option."""
    ccs = tuple(dict.fromkeys(host.cc for host in plan.hosts))
    return Scenario(
        kernel=options.kernel, qdisc=options.qdisc, rate_bps=plan.rate_bps, cc=ccs,
        seed=options.seed,
    ).check()  # fmt: skip


def last_output(plan: Plan, out: Path, only: str | None = None) -> str:
    """The end of what the programs wrote, each line with the program's name."""
    lines: list[str] = []
    for command in plan.commands:
        for stream in ("stdout", "stderr"):
            file = out / command.name / stream
            if only in (None, command.name) and file.exists():
                said = file.read_bytes().decode(errors="replace").splitlines()
                lines += [f"{command.name}: {line}" for line in said[-LAST_LINES:]]
    return "\n".join(lines)


def absent(text: str) -> list[str]:
    """Files of this machine that a program in the guest says it lacks."""
    paths = dict.fromkeys(ABSENT.findall(text))
    return [path for path in paths if Path(path).exists()]


def _failed(plan: Plan, out: Path, name: str, what: str) -> ExecError:
    (at,) = (command.at for command in plan.commands if command.name == name)
    said = last_output(plan, out, name)
    missing = "".join(f"; the guest lacks {path}: name it in files" for path in absent(said))
    return ExecError(f"{at}: {name} {what}{missing}", said)


def _check_ends(plan: Plan, out: Path, ended: dict[str, int | None]) -> None:
    """Raises ExecError for the first command that did not end as it should."""
    for command in plan.commands:
        status = ended[command.name]
        if status:
            raise _failed(plan, out, command.name, f"failed with status {status}")
        if status is None and command.ends:
            raise _failed(plan, out, command.name, "had not ended by the end of the run")
        if status is not None and command.listen:
            raise _failed(plan, out, command.name, "is a server and ended before the run did")


def _samples(plan: Plan, out: Path) -> dict[str, Samples]:
    """Of each command that prints some. Raises ExecError if one has printed something else."""
    found = {}
    for command in plan.commands:
        if command.samples:
            text = (out / command.name / "stdout").read_text(errors="replace")
            try:
                found[command.name] = Samples.read(command.samples, text)
            except SampleError as error:
                raise _failed(plan, out, command.name, str(error)) from error
    return found


def _guest_output(plan: Plan, options: Options, out: Path, progress: Progress) -> GuestOutput:
    scenario = _needs(plan, options)
    needs = Needs(plan)
    host_files = needs.host_files()  # what is missing is said before a kernel is built
    paths = {command.name: str(needs.programs(command)[0]) for command in plan.commands}
    engine = get_engine(options.kernel)
    names = runner.module_names(scenario)
    sees_host = isinstance(engine, UmlEngine)
    environment = needs.environment(sees_host=sees_host)
    files = needs.lab_files(sees_host=sees_host)
    for name in runner.plugin_names(scenario):
        files |= build.tc_plugin(name)
    with tempfile.TemporaryDirectory(prefix="zrtt-exec-") as folder:
        script = Path(folder) / "script"
        script.write_text(network.script(plan, scenario.qdisc_words, paths, environment))
        return engine.run(
            GuestJob(
                script=script,
                files=files,
                host_files=host_files,
                out=out,
                modules=[
                    *(m for m in topology.modules(scenario) if m not in names),
                    *network.modules(plan),
                ],
                kmods=[build.kernel_module(name, engine.kernel) for name in names],
                seed=options.seed,
                memory_mb=MEMORY_MB,
                timeout_s=options.timeout_s,
                watch=runner.watcher(progress),
            )
        )


def run(plan: Plan, options: Options, out: Path, progress: Progress) -> Figures:
    """Runs a plan. What the programs wrote goes to a folder of each in `out`.

    Raises ScenarioError if it cannot start, ExecError if a program fails.
    """
    try:
        output = _guest_output(plan, options, out, progress)
    except GuestError as error:
        said = last_output(plan, out)
        raise ExecError(f"{plan.path}: {error}", "\n".join(filter(None, (said or error.console,)))
                        ) from error  # fmt: skip
    if output.rc:
        match = re.fullmatch(r"@failed\n(\S+) (.*)\n", output.result)
        if match:
            raise _failed(plan, out, match[1], match[2])
        raise ExecError(f"{plan.path}: the guest's script failed, {output.rc}", output.console)
    engine = get_engine(options.kernel)
    result = figures.compute(
        plan, output, qdisc=options.qdisc, kernel=engine.kernel.release, clock=engine.clock,
        seed=options.seed, command=options.command,
    )  # fmt: skip
    _check_ends(plan, out, result.ended)
    return replace(result, samples=_samples(plan, out))
