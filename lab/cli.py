# SPDX-License-Identifier: GPL-2.0
"""The command line of the laboratory."""

from __future__ import annotations

import argparse
import os
import signal
import sys

from lab.commands import (
    ablation,
    agentcost,
    arena,
    bench,
    crosscheck,
    demo,
    figures,
    flent,
    flood,
    kernel,
    longrun,
    matrix,
    mininet,
    multiqueue,
    run,
    stress,
    sweep,
    tdc,
    trace,
)
from lab.commands import exec as exec_command
from lab.commands import report as report_command
from lab.engines import initramfs
from lab.engines.job import GuestError
from lab.host import files
from lab.host.cgroups import CgroupError
from lab.host.netns import NetnsError
from lab.kernels.apt import AptError
from lab.kernels.kernel import KernelError
from lab.mininet.network import MininetError
from lab.model import grid
from lab.model.scenario import ScenarioError
from lab.model.units import UnitError
from lab.output import pictures
from lab.results import report, table
from lab.results.result import ResultError
from lab.senders.agent import AgentError
from lab.senders.agentcost import AgentCostError
from lab.toolchain import build

COMMANDS = (
    run, demo, sweep, arena, exec_command, flent, report_command, figures, crosscheck, ablation, mininet,
    bench, agentcost, multiqueue, longrun, flood, tdc, stress, trace, kernel, matrix,
)  # fmt: skip
EXPECTED_ERRORS = (
    ScenarioError,
    UnitError,
    AptError,
    KernelError,
    build.BuildError,
    initramfs.InitramfsError,
    report.ReportError,
    files.FileError,
    pictures.PictureError,
    ResultError,
    GuestError,
    MininetError,
    table.TableError,
    AgentError,
    AgentCostError,
    CgroupError,
    NetnsError,
)


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    top = argparse.ArgumentParser(
        prog="python3 -m lab",
        description="The laboratory of sch_zrtt: real kernels in virtual time.",
    )
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        command.add(commands)
    return top


def main() -> int:
    """Runs a command. Returns the exit status."""
    # kill(1) ends what Ctrl-C ends: the guests, too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    args = parser().parse_args()
    try:
        status = args.handler(args) or 0
        sys.stdout.flush()
    except grid.GridError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except EXPECTED_ERRORS as error:
        if isinstance(error, GuestError) and error.console:
            print(error.last_lines(), file=sys.stderr)
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # Whoever read, as head(1), has seen enough; Python would complain at its exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    return status
