# SPDX-License-Identifier: GPL-2.0
"""Which guests of QEMU are started again: those that no module can have killed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from lab.engines import initramfs, qemu, uml
from lab.engines.job import MAX_STARTS, RERUN_SEED, STARTED, GuestError, GuestJob
from lab.kernels.kernel import Kernel

KERNEL = Kernel("6.12", "6.12.0", Path("vmlinuz"), None, Path("build"))
REAL_TIME = GuestJob(script=Path("script"), seed=7, cpus=2, virtual_time=False, timeout_s=60.0)
BOOT = "[    0.5] mtrr: your CPUs had inconsistent MTRRdefType settings\n"
PANIC = "[    1.5] Kernel panic - not syncing: Fatal exception in interrupt\n"


@dataclass(frozen=True)
class Start:
    """How a guest ends."""

    console: str
    result: str = ""
    timed_out: bool = False


IN_KERNEL = "__netif_receive_skb_core.constprop.0+0xe7/0x1060"
IN_MODULE = "zrtt_enqueue+0xe7/0x1060 [sch_zrtt]"


IN_STEP = "exc_debug_kernel+0xca/0x160"


def oops(trap: str, place: str, flags: str = "00000246") -> str:
    """As Linux prints it; the lines from RIP on come once more before it panics."""
    rip = f"[    1.4] RIP: 0010:{place}\r\n[    1.4] Code: 03 00 0f <1f> 44 00 00\r\n"
    rip += f"[    1.4] RSP: 0000:fffffe000004bf28 EFLAGS: {flags}\r\n[    1.4] RAX: 0\r\n"
    return f"[    1.4] {trap} PREEMPT SMP NOPTI\r\n[    1.4] CPU: 1 PID: 0\r\n{rip}{rip}{PANIC}"


DIES = Start(BOOT + PANIC)
WORKS = Start(f"{BOOT}{STARTED}\r\ndone\r\n", "4 packets\nRC=3\n")
DIES_LATER = Start(f"{BOOT}{STARTED}\r\n{PANIC}")
DIES_IN_ITS_RESULT = Start(f"{BOOT}{STARTED}\r\n{PANIC}", "4 pack")
BREAKPOINT = oops("Oops: int3: 0000 [#1]", IN_KERNEL)
STEP = oops("WARNING: CPU: 1 PID: 697 at traps.c:1109", IN_STEP, "3fc0a002")
DIES_PATCHING = Start(f"{BOOT}{STARTED}\r\n{BREAKPOINT}")
OTHER_DEATHS = {
    "in-module": oops("int3: 0000 [#1]", IN_MODULE),
    "called-by-module": oops("int3: 0000 [#1]", IN_MODULE) + f"[ 1.4] RIP: 0010:{IN_KERNEL}\n",
    "second": oops("Oops: int3: 0000 [#2]", IN_KERNEL),
    "fault": oops("BUG: unable to handle page fault for address: 0008\n[ 1.4] Oops: 0000 [#1]",
                  IN_KERNEL),
    "warning": oops("WARNING: CPU: 0", IN_MODULE) + BREAKPOINT.replace("[#1]", "[#2]"),
    "step-of-a-real-processor": oops("WARNING: CPU: 0", IN_STEP, "003f0346"),
    "flags-elsewhere": oops("WARNING: CPU: 0", IN_KERNEL, "3fc0a002"),
    "step-after-a-warning": oops("WARNING: CPU: 0", IN_MODULE) + STEP,
}  # fmt: skip
HANGS = Start(BOOT, timed_out=True)
HANGS_LATER = Start(f"{BOOT}{STARTED}\r\n", timed_out=True)


@dataclass
class Machine:
    """Stands for QEMU: its guests end as these do, in turn."""

    starts: Iterator[Start]
    commands: list[list[str]] = field(default_factory=list)
    works: list[Path] = field(default_factory=list)
    announced: list[bool] = field(default_factory=list)

    def run(self, command: list[str], work: Path, limit_s: float, tail: qemu._Tail) -> qemu._Ended:
        assert sorted(path.name for path in work.iterdir()) == ["initrd"]
        start = next(self.starts)
        self.commands.append(command)
        self.works.append(work)
        self.announced.append(STARTED.encode() in (work / "initrd").read_bytes())
        (work / "console").write_text(start.console)
        (work / "result").write_text(start.result)
        (work / "qemu.log").write_text("qemu: said\n")
        tail.poll()
        return qemu._Ended(2.0 + len(self.works), 1.0, start.timed_out)

    def seeds(self) -> list[int]:
        return [int(command[command.index("-seed") + 1]) for command in self.commands]


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Machine:
    """No program is needed on this machine, nor a kernel."""
    stand_in = Machine(iter(()))
    program = tmp_path / "program"
    program.write_text("")
    monkeypatch.setattr(initramfs, "_which", lambda name: program)
    monkeypatch.setattr(initramfs, "libraries", lambda path: [])
    monkeypatch.setattr(qemu, "debian_kernel", lambda series: KERNEL)
    monkeypatch.setattr(qemu, "kvm_works", lambda kernel: False)
    monkeypatch.setattr(qemu, "_run", stand_in.run)
    return stand_in


@pytest.fixture
def job(tmp_path: Path) -> GuestJob:
    script = tmp_path / "script"
    script.write_text("true\n")
    return replace(REAL_TIME, script=script)


def engine_of(machine: Machine, starts: Iterable[Start]) -> qemu.QemuEngine:
    machine.starts = iter(starts)
    return qemu.QemuEngine("6.12")


@pytest.mark.parametrize("lost", range(MAX_STARTS))
def test_early_deaths_are_excused_and_counted(machine: Machine, job: GuestJob, lost: int) -> None:
    output = engine_of(machine, [DIES] * lost + [WORKS]).run(job)
    assert (output.reruns, output.rc, output.result) == (lost, 3, "4 packets\n")
    assert output.console == f"{BOOT}{STARTED}\ndone\n"
    assert output.wall_s == 3.0 + lost


def test_each_start_has_a_folder_and_a_seed(machine: Machine, job: GuestJob) -> None:
    engine_of(machine, [DIES, DIES, WORKS]).run(job)
    assert len(set(machine.works)) == 3
    assert not any(work.exists() for work in machine.works)
    assert machine.seeds() == [7, 7 + RERUN_SEED, 7 + 2 * RERUN_SEED]


def test_who_watches_sees_all_starts(machine: Machine, job: GuestJob) -> None:
    seen: list[str] = []
    engine_of(machine, [DIES, WORKS]).run(replace(job, watch=seen.append))
    assert seen == [BOOT.strip(), PANIC.strip(), BOOT.strip(), STARTED, "done"]


def test_patience_ends(machine: Machine, job: GuestJob) -> None:
    starts = [replace(DIES, console=f"{n}\n{PANIC}") for n in range(MAX_STARTS)]
    with pytest.raises(GuestError, match=f"died {MAX_STARTS} times .* qemu: said") as raised:
        engine_of(machine, [*starts, WORKS]).run(job)
    assert raised.value.console == starts[-1].console
    assert len(machine.works) == MAX_STARTS


@pytest.mark.parametrize("lost", [0, 2])
@pytest.mark.parametrize("last", [DIES_LATER, DIES_IN_ITS_RESULT])
def test_later_deaths_are_not_excused(
    machine: Machine, job: GuestJob, last: Start, lost: int
) -> None:
    with pytest.raises(GuestError, match="without a result line") as raised:
        engine_of(machine, [DIES] * lost + [last, WORKS]).run(job)
    assert PANIC in raised.value.console
    assert len(machine.works) == lost + 1


@pytest.mark.parametrize("lost", range(1, MAX_STARTS))
@pytest.mark.parametrize("console", [BREAKPOINT, BREAKPOINT.replace("Oops: ", ""), STEP])
def test_kernels_that_patch_themselves_are_excused(
    machine: Machine, job: GuestJob, lost: int, console: str
) -> None:
    dies = replace(DIES_PATCHING, console=f"{BOOT}{STARTED}\r\n{console}", result="4 pack")
    output = engine_of(machine, [dies] * lost + [WORKS]).run(job)
    assert (output.reruns, output.rc, output.result) == (lost, 3, "4 packets\n")
    assert machine.seeds() == [7 + i * RERUN_SEED for i in range(lost + 1)]


@pytest.mark.parametrize("console", OTHER_DEATHS.values(), ids=OTHER_DEATHS)
def test_other_deaths_are_not_excused(machine: Machine, job: GuestJob, console: str) -> None:
    with pytest.raises(GuestError, match="without a result line"):
        engine_of(machine, [Start(f"{BOOT}{STARTED}\r\n{console}"), WORKS]).run(job)


@pytest.mark.parametrize("change", [{"cpus": 1}, {"cpus": 1, "virtual_time": True}])
def test_one_processor_sees_no_stale_code(
    machine: Machine, job: GuestJob, change: dict[str, int]
) -> None:
    with pytest.raises(GuestError, match="without a result line"):
        engine_of(machine, [DIES_PATCHING, WORKS]).run(replace(job, **change))


def test_nor_do_real_processors(
    machine: Machine, job: GuestJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qemu, "kvm_works", lambda kernel: True)
    with pytest.raises(GuestError, match="without a result line"):
        engine_of(machine, [DIES_PATCHING, WORKS]).run(job)


@pytest.mark.parametrize("last", [HANGS, HANGS_LATER])
def test_time_limits_are_not_excused(machine: Machine, job: GuestJob, last: Start) -> None:
    with pytest.raises(GuestError, match="exceeded 60 s"):
        engine_of(machine, [last, WORKS]).run(job)
    assert len(machine.works) == 1


def test_virtual_time_repeats(machine: Machine, job: GuestJob) -> None:
    """Such a guest says nothing either: a line would be another replicate."""
    with pytest.raises(GuestError, match="without a result line"):
        engine_of(machine, [DIES, WORKS]).run(replace(job, cpus=1, virtual_time=True))
    assert machine.announced == [False]


def test_kvm_has_no_virtual_time(
    machine: Machine, job: GuestJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qemu, "kvm_works", lambda kernel: True)
    output = engine_of(machine, [DIES, WORKS]).run(replace(job, cpus=1, virtual_time=True))
    assert output.reruns == 1
    assert machine.announced == [True, True]
    assert all("kvm" in command for command in machine.commands)


def test_guests_say_so_before_any_module() -> None:
    for script in (initramfs.INIT, uml.INIT):
        assert 0 < script.index("{started}") < script.index("insmod")
