# SPDX-License-Identifier: GPL-2.0
"""Runs jobs on a kernel that is a process: user-mode Linux, in virtual time.

Processing takes no virtual time and waiting no real time, so the real TCP stack
runs many times faster than in an emulated machine; no figure of CPU cost means
anything, of course. A run repeats to the byte: its clock starts at a fixed date,
and its random numbers follow from the seed.

The guest's root is the host's own file system, read-only. All it may write to
is one folder of its own and memory, so guests can run side by side.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.engines.initramfs import APPLETS
from lab.engines.job import (
    MAX_STARTS,
    RERUN_SEED,
    STARTED,
    GuestError,
    GuestJob,
    GuestOutput,
    covered,
)
from lab.host.process import installed
from lab.kernels.kernel import Kernel
from lab.kernels.uml_build import seed_library, uml_kernel

START_LIMIT_S = 60.0
"""A guest boots in a tenth of a second; one that takes this long hangs."""
NO_ACCIDENT = re.compile(r"Kernel panic|\bOops\b|\bBUG:|reboot: ")
"""The guest's own doing: the next start would do the same."""
# The kernel stirs its command line into its random numbers, so the folder, which
# is another for each run, goes by a name that is always the same.
WORK = "/proc/self/cwd"
FLAGS = (
    f"init={WORK}/init", "uml_dir=./",
    "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "con=null", "con0=null,fd:1",
    "seccomp=on", "loglevel=5", "panic=-1", "oops=panic", "panic_on_warn=1",
    "noreboot",
)  # fmt: skip
VIRTUAL_TIME = ("time-travel=inf-cpu", "time-travel-start=1767225600000000000")
"""From 2026-01-01 on, in ns."""

# /mnt, as /tmp is about to be covered and nothing else is sure to exist. The
# small tools are busybox's, as they are in the QEMU guest.
INIT = """#!/bin/sh
/bin/busybox mount -t hostfs -o {work} work /mnt # before the guest's own /proc hides it
export PATH=/mnt/bin:/usr/sbin:/usr/bin:/sbin:/bin
export LAB=/mnt/lab RESULT=/mnt/result OUT=/mnt/out TC_LIB_DIR=/mnt/lab/tc HOME=/tmp
mount -t devtmpfs dev /dev; mount -t proc proc /proc; mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run
{place}echo {started}
ip link set lo up
cd /mnt/lab
rc=0
for module in {modules}; do
	insmod "$module" || {{ echo "insmod $module failed"; rc=125; }}
done
: >$RESULT
[ $rc -ne 0 ] || /bin/sh /mnt/script {args} || rc=$?
echo "$rc" >/mnt/rc
poweroff -f
"""


@dataclass(frozen=True)
class _Ended:
    """How one start of the kernel ended."""

    console: str
    wall_s: float
    cpu_s: float
    timed_out: bool

    @property
    def started(self) -> bool:
        return STARTED in self.console


_which = partial(installed, GuestError)


def _prepare(job: GuestJob, work: Path) -> None:
    """Lays out the folder the guest sees as /mnt."""
    for folder in ("bin", "host", "lab", "modules", "out"):
        (work / folder).mkdir()
    busybox = _which("busybox")
    for applet in APPLETS:
        (work / "bin" / applet).symlink_to(busybox)
    for program in job.programs:
        _which(program)
    for name, source in job.files.items():
        target = work / "lab" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    for file in job.host_files:
        if covered(file):
            target = work / "host" / file.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    modules = []
    for module in job.kmods:
        shutil.copy(module, work / "modules")
        modules.append(f"/mnt/modules/{module.name}")
    shutil.copy(job.script, work / "script")
    # only then: another process would be another replicate of every run
    place = "/bin/busybox cp -R /mnt/host/. /\n" if job.host_files else ""
    init = work / "init"
    init.write_text(
        INIT.format(
            work=WORK,
            started=STARTED,
            place=place,
            modules=shlex.join(modules),
            args=shlex.join(job.args),
        )
    )
    init.chmod(0o755)


def _copy_regular(folder: Path, out: Path) -> None:
    """Its regular files: a link would lead to a file of this machine."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            target = out / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


class _Guard:
    """Kills a guest, all its processes, that does not start or end in time."""

    def __init__(self, process: subprocess.Popen[str], limit_s: float) -> None:
        self._group = process.pid
        self.fired = False
        self._timers = [threading.Timer(s, self._fire) for s in (START_LIMIT_S, limit_s)]
        for timer in self._timers:
            timer.daemon = True
            timer.start()

    def _fire(self) -> None:
        self.fired = True
        os.killpg(self._group, signal.SIGKILL)

    def started(self) -> None:
        self._timers[0].cancel()

    def ended(self) -> None:
        for timer in self._timers:
            timer.cancel()


def _start(kernel: Kernel, job: GuestJob, seed: int, work: Path) -> _Ended:
    """Runs the kernel once, to its end or to a time limit."""
    clock = VIRTUAL_TIME if job.virtual_time else ()
    command = [str(kernel.image), f"mem={job.memory_mb}M", *FLAGS, *clock]
    environment = os.environ | {"LD_PRELOAD": str(seed_library()), "ZRTT_SEED": str(seed)}
    began = time.monotonic()
    console: list[str] = []
    process = subprocess.Popen(
        command, cwd=work, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
        start_new_session=True,
    )  # fmt: skip
    guard = _Guard(process, job.timeout_s)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            console.append(line)
            if STARTED in line:
                guard.started()
            if job.watch:
                job.watch(line.strip())
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    finally:
        guard.ended()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return _Ended(
        "".join(console).replace("\r", ""),
        time.monotonic() - began,
        usage.ru_utime + usage.ru_stime,
        guard.fired,
    )


class UmlEngine:
    """Starts a user-mode kernel for each job."""

    clock = "virtual time, processing takes none (user-mode Linux)"

    def __init__(self, name: str) -> None:
        self.kernel = uml_kernel(name)

    def run(self, job: GuestJob) -> GuestOutput:
        """Runs a job to its end. Raises GuestError if it has none.

        A kernel that dies without a word, as user-mode Linux does now and then,
        is started again; the starts lost are counted. A panic of a guest that
        was under way is never excused: it may be the module's.
        """
        for reruns in range(MAX_STARTS):
            with tempfile.TemporaryDirectory(prefix="zrtt-uml-") as folder:
                work = Path(folder)
                _prepare(job, work)
                ended = _start(self.kernel, job, job.seed + reruns * RERUN_SEED, work)
                if job.out:
                    _copy_regular(work / "out", job.out)
                rc = work / "rc"
                if rc.exists():
                    return GuestOutput(
                        rc=int(rc.read_text()),
                        result=(work / "result").read_text(errors="replace"),
                        console=ended.console,
                        wall_s=ended.wall_s,
                        cpu_s=ended.cpu_s,
                        reruns=reruns,
                    )
            if ended.started and ended.timed_out:
                raise GuestError(f"guest exceeded {job.timeout_s:.0f} s on the host", ended.console)
            if ended.started and NO_ACCIDENT.search(ended.console):
                raise GuestError("guest panicked or switched itself off", ended.console)
        raise GuestError(f"guest died {MAX_STARTS} times without a result", ended.console)
