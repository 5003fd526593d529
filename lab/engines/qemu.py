# SPDX-License-Identifier: GPL-2.0
"""Runs jobs on Debian's own kernels, in QEMU.

Without KVM the guest runs in virtual time: one instruction is 1 ns and waiting
costs nothing, so a slow or busy host changes nothing in the figures. With KVM it
runs in real time. A /dev/kvm that exists proves nothing, so a tiny guest is
booted once to see whether KVM works; the verdict is kept in the cache.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import tarfile
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path, PurePosixPath

from lab.engines import initramfs
from lab.engines.job import MAX_STARTS, RERUN_SEED, STARTED, GuestError, GuestJob, GuestOutput
from lab.host.cache import cache_dir, locked
from lab.kernels.debian import debian_kernel
from lab.kernels.kernel import Kernel

QEMU = "qemu-system-x86_64"
PROBE_LIMIT_S = 30.0
PROBE_MARKER = "zrtt-kvm-works"
POLL_S = 0.1
ACCIDENTS = (
    re.compile(r"^[^\n]*\bint3: 0000 \[#1\](?:(?!RIP:).)*RIP: \S+[+]\S+$", re.M | re.S),
    re.compile(
        r"\A(?:(?!WARNING:).)*WARNING: (?:(?!RIP:).)*RIP: \S+:exc_debug_kernel[+]\S+$"
        r"(?:(?!RIP:).)* EFLAGS: (?!00[0-3])[0-9a-f]{8}$",
        re.M | re.S,
    ),
)
"""What befalls a kernel on two emulated processors while it patches its own code.

A breakpoint that nobody set, in the kernel itself: its own, of code that it had patched by then,
as a processor may see it late. A module sets none; nor is the accident excused in a module's
code, whose name in brackets would follow.

A single step that nobody asked for, as bits of EFLAGS are set that no real processor can set
(above bit 21, Intel's manual, volume 1, 3.4.3): the emulator took another register for it.
"""
APPEND = (
    "console=ttyS0 loglevel=5 panic=-1 oops=panic panic_on_warn=1 nokaslr mitigations=off "
    "preempt=none nowatchdog tsc=reliable rcupdate.rcu_cpu_stall_suppress=1 random.trust_cpu=on"
)


@dataclass(frozen=True)
class _Ended:
    """How a QEMU process ended."""

    wall_s: float
    cpu_s: float
    timed_out: bool


def _accel(job: GuestJob, kvm: bool) -> list[str]:
    if kvm:
        return ["-accel", "kvm", "-cpu", "host", "-smp", str(job.cpus)]
    cpu = ["-cpu", "max,la57=off"]
    if job.virtual_time:
        return ["-accel", "tcg", "-icount", "shift=0,sleep=off", "-smp", "1", *cpu]
    thread = "multi" if job.cpus > 1 else "single"
    return ["-accel", f"tcg,thread={thread}", "-smp", str(job.cpus), *cpu]


def _command(kernel: Kernel, job: GuestJob, initrd: Path, work: Path, kvm: bool) -> list[str]:
    return [
        QEMU, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        *_accel(job, kvm),
        "-m", str(job.memory_mb), "-seed", str(job.seed),
        "-rtc", "base=2026-01-01T00:00:00,clock=vm",
        "-kernel", str(kernel.image), "-initrd", str(initrd), "-append", APPEND,
        "-serial", f"file:{work / 'console'}", "-serial", f"file:{work / 'result'}",
        *(["-serial", f"file:{work / 'out'}"] if job.out else []),
        *[word for plugin in job.plugins for word in ("-plugin", plugin)],
    ]  # fmt: skip


class _Tail:
    """Hands out the lines of a growing file as they appear."""

    def __init__(self, path: Path, watch: Callable[[str], None] | None) -> None:
        self._path, self._watch = path, watch
        self._done = 0

    def poll(self) -> None:
        if self._watch is None or not self._path.exists():
            return
        with self._path.open("rb") as stream:
            stream.seek(self._done)
            whole, newline, _ = stream.read().rpartition(b"\n")
        self._done += len(whole) + len(newline)
        for line in whole.decode(errors="replace").splitlines():
            self._watch(line.strip())


def _run(command: list[str], work: Path, limit_s: float, tail: _Tail) -> _Ended:
    """Runs QEMU to its end or to the time limit."""
    started = time.monotonic()
    with (work / "qemu.log").open("wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        timed_out = False
        try:
            while True:
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
                if pid:
                    break
                tail.poll()
                if not timed_out and time.monotonic() - started > limit_s:
                    timed_out = True
                    process.kill()
                time.sleep(POLL_S)
        except BaseException:
            process.kill()
            process.wait()
            raise
        process.returncode = os.waitstatus_to_exitcode(status)
    tail.poll()
    return _Ended(time.monotonic() - started, usage.ru_utime + usage.ru_stime, timed_out)


def _text(path: Path) -> str:
    return path.read_text(errors="replace").replace("\r", "") if path.exists() else ""


@cache
def kvm_works(kernel: Kernel) -> bool:
    """Whether KVM boots a guest here. Asked once per machine and QEMU version."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return False
    version = subprocess.run([QEMU, "--version"], capture_output=True, text=True, check=True)
    key = f"{platform.release()} {version.stdout.splitlines()[0]}"
    folder = cache_dir() / "kvm"
    with locked(folder):
        verdicts = folder / "verdicts.json"
        known: dict[str, bool] = json.loads(verdicts.read_text()) if verdicts.exists() else {}
        if key not in known:
            known[key] = _probe_kvm(kernel)
            verdicts.write_text(json.dumps(known, indent=1) + "\n")
    return known[key]


def _probe_kvm(kernel: Kernel) -> bool:
    with tempfile.TemporaryDirectory(prefix="zrtt-kvm-") as folder:
        work = Path(folder)
        script = work / "probe.sh"
        script.write_text(f"echo {PROBE_MARKER} >$RESULT\n")
        job = GuestJob(script=script, timeout_s=PROBE_LIMIT_S)
        initrd = work / "initrd"
        initrd.write_bytes(initramfs.build(kernel, job))
        command = _command(kernel, job, initrd, work, kvm=True)
        _run(command, work, PROBE_LIMIT_S, _Tail(work / "console", None))
        return PROBE_MARKER in _text(work / "result")


def _unpack(archive: Path, out: Path) -> None:
    """The regular files that a guest left; none, if it did not get that far."""
    if not archive.exists() or not archive.stat().st_size:
        return
    try:
        with tarfile.open(archive) as content:
            for member in content.getmembers():
                place = PurePosixPath(member.name)
                source = content.extractfile(member) if member.isreg() else None
                if source and not place.is_absolute() and ".." not in place.parts:
                    target = out / place
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(source.read())
    except tarfile.TarError as error:
        raise GuestError(f"the guest's files came back damaged: {error}") from error


class QemuEngine:
    """Boots a Debian kernel for each job."""

    def __init__(self, series: str) -> None:
        self.kernel = debian_kernel(series)

    @property
    def clock(self) -> str:
        """What time figures are measured in, for the record."""
        return "real time (QEMU, KVM)" if kvm_works(self.kernel) else "virtual time (QEMU, icount)"

    def run(self, job: GuestJob) -> GuestOutput:
        """Runs a job to its end. Raises GuestError if it has none.

        An emulated kernel with two processors dies now and then while it patches itself. It is
        started again where that is certain: before its /init runs, when no module is loaded,
        and later where the console says so (ACCIDENTS). The starts lost are counted. Another death
        and a time limit are never excused: a module may be the cause. Nor is any in virtual
        time, where each start is the same.
        """
        kvm = not job.counted and kvm_works(self.kernel)
        virtual_time = job.virtual_time and not kvm
        for reruns in range(MAX_STARTS):
            seed = job.seed + reruns * RERUN_SEED
            this = replace(job, seed=seed, virtual_time=virtual_time)
            with tempfile.TemporaryDirectory(prefix="zrtt-qemu-") as folder:
                work = Path(folder)
                initrd = work / "initrd"
                initrd.write_bytes(initramfs.build(self.kernel, this))
                command = _command(self.kernel, this, initrd, work, kvm)
                tail = _Tail(work / "console", job.watch)
                ended = _run(command, work, job.timeout_s, tail)
                console, result = _text(work / "console"), _text(work / "result")
                log = _text(work / "qemu.log").strip()
                if job.out and not ended.timed_out:
                    _unpack(work / "out", job.out)
            if ended.timed_out:
                raise GuestError(f"guest exceeded {job.timeout_s:.0f} s on the host", console)
            text, marker, rc = result.rpartition("RC=")
            if marker and re.fullmatch(r"\d+\s*", rc):
                return GuestOutput(int(rc), text, console, ended.wall_s, ended.cpu_s, reruns)
            accident = any(accident.search(console) for accident in ACCIDENTS)
            patching = accident and not kvm and job.cpus > 1
            if virtual_time or (STARTED in console and not patching):
                raise GuestError(f"guest ended without a result line {log}", console)
        reason = f"guest died {MAX_STARTS} times while it started or patched itself {log}"
        raise GuestError(reason, console)
