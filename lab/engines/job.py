# SPDX-License-Identifier: GPL-2.0
"""The interface of all engines: run a script in a guest, get back its result.

An engine turns a GuestJob into a GuestOutput. Two exist: qemu.py boots a stock
Debian kernel in virtual time, uml.py runs the kernel as a process. The same
scripts run in both, because both keep this promise to the script:

* it is run by /bin/sh as root in the folder $LAB, with job.args as "$@";
* $LAB holds job.files under the names given there;
* job.modules are loaded or built in, then job.kmods were inserted in order;
* ip, tc, insmod, mount and the usual small tools are on PATH; TC_LIB_DIR is
  $LAB/tc, so a plugin placed as "tc/q_NAME.so" is found;
* /proc, /sys, /dev, /run and /tmp are mounted, loopback is up;
* stdout and stderr are the console; what it writes to the file $RESULT comes
  back as GuestOutput.result;
* job.host_files are where they are on this machine;
* what it leaves in the folder $OUT comes to the folder job.out, if that is given, even from
  a guest that was killed, where the engine can (user-mode Linux);
* its exit status comes back as GuestOutput.rc. A guest that never gets that
  far (panic, hang, time limit) raises GuestError instead.

A kernel that dies by accident, as both kinds do now and then, is started again. What counts as
one the engines say; a panic that may be a module's never does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lab.kernels.kernel import Kernel

COVERED = ("/dev", "/mnt", "/proc", "/run", "/sys", "/tmp")
"""Folders of the host that a guest has its own of, once it runs."""
CONSOLE_LINES = 100
"""What is shown of a guest that died: an oops says first what it is."""
STARTED = "zrtt-lab-guest-started"
"""What /init says on the console before it inserts any module; in QEMU in real time only."""
MAX_STARTS = 4
RERUN_SEED = 1 << 32
"""Added for each start that crashed: the same seed would crash again."""


def covered(file: Path) -> bool:
    """Whether a file of the host has to be put there after these are mounted."""
    return any(file.is_relative_to(folder) for folder in COVERED)


class GuestError(RuntimeError):
    """The guest died, or ended without saying how its script did."""

    def __init__(self, reason: str, console: str = "") -> None:
        super().__init__(reason)
        self.console = console

    def last_lines(self) -> str:
        """The end of the console, empty if there is none."""
        return "\n".join(self.console.splitlines()[-CONSOLE_LINES:])


@dataclass(frozen=True)
class GuestJob:
    """One thing to do in one fresh guest."""

    script: Path
    args: Sequence[str] = ()
    files: Mapping[str, Path] = field(default_factory=dict)
    """Name below $LAB in the guest -> file on the host."""
    host_files: Sequence[Path] = ()
    """Files of the host, by absolute paths, that the guest has at the same paths."""
    out: Path | None = None
    """An existing folder for what the script leaves in $OUT."""
    modules: Sequence[str] = ()
    """Modules of the guest's own kernel, by name; dependencies are resolved."""
    kmods: Sequence[Path] = ()
    """Modules built for this guest's kernel, inserted after `modules`."""
    programs: Sequence[str] = ()
    """Programs of the host wanted on PATH beside the usual ones."""
    seed: int = 1
    """Of everything random in the guest: another seed, another replicate."""
    cpus: int = 1
    memory_mb: int = 1024
    virtual_time: bool = True
    """False: as fast as it goes, for functional tests; figures mean nothing."""
    counted: bool = False
    """Instructions must be: QEMU emulates the processor even where KVM works."""
    plugins: Sequence[str] = ()
    """Of QEMU's emulation, as given to its -plugin."""
    timeout_s: float = 1800.0
    """On the host's clock."""
    watch: Callable[[str], None] | None = None
    """Called with each line of the console as it appears."""


@dataclass(frozen=True)
class GuestOutput:
    """The result of a job."""

    rc: int
    result: str
    console: str
    wall_s: float
    cpu_s: float
    reruns: int = 0
    """Starts that crashed before the one reported here."""


class Engine(Protocol):
    """Runs jobs on one kernel."""

    kernel: Kernel

    @property
    def clock(self) -> str:
        """What time figures are measured in, for the record."""

    def run(self, job: GuestJob) -> GuestOutput:
        """Runs a job to its end. Raises GuestError if it has none."""
