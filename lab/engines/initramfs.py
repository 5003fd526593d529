# SPDX-License-Identifier: GPL-2.0
"""Builds the root file system of a QEMU guest, as small as possible, in memory.

A guest whose every input is in its initramfs repeats to the byte, and one that
holds busybox, iproute2 and a few modules boots in seconds even when emulated.
Modules are put in loading order here, so the guest needs insmod only.
"""

from __future__ import annotations

import lzma
import os
import re
import stat
import subprocess
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

from lab.engines.job import STARTED, GuestJob, covered
from lab.host.process import installed
from lab.kernels.kernel import Kernel

LAB = "lab"
# dash, as on the host: busybox's own shell would take its ip and tc before ours.
BASE_PROGRAMS = ("sh", "ip", "tc")
APPLETS = (
    "awk cat chmod cmp cp cut date dd dmesg echo env expr false find grep head id "
    "insmod kill killall ln ls lsmod md5sum mkdir mknod mktemp modinfo mount mv nc nproc od "
    "ping ping6 poweroff printf ps pwd reboot rm rmdir rmmod sed seq sleep sort stat stty "
    "sync sysctl tail tee test timeout touch tr true umount uname uniq usleep wc xargs [ [["
).split()
PRECEDED_BY = {"libcrc32c": "crc32c_generic"}
"""Modules that others ask for when they start, where the kernel has them."""

INIT = """#!/bin/sh
export PATH=/bin:/sbin LAB=/lab RESULT=/tmp/result OUT=/tmp/out TC_LIB_DIR=/lab/tc HOME=/tmp
mount -t devtmpfs dev /dev; mount -t proc proc /proc; mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run
exec </dev/null >/dev/ttyS0 2>&1
{started}stty raw </dev/ttyS1
{place}ip link set lo up
cd /lab
rc=0
for module in $(cat /modules.order); do
	insmod "$module" || {{ echo "insmod $module failed"; rc=125; }}
done
: >$RESULT
[ $rc -ne 0 ] || /bin/sh /script {args} || rc=$?
cat $RESULT >/dev/ttyS1
{send_out}echo "RC=$rc" >/dev/ttyS1
stty raw </dev/ttyS1 # drains what is still on its way
reboot -f
"""


SEND_OUT = """stty raw </dev/ttyS2
busybox tar -c -C $OUT . >/dev/ttyS2
stty raw </dev/ttyS2
"""


class InitramfsError(RuntimeError):
    """Something a guest needs is not on this machine."""


class Cpio:
    """An archive in the kernel's "newc" format."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._names: set[str] = set()
        self._inode = 0

    def _add(self, name: str, mode: int, data: bytes) -> None:
        if name in self._names:
            return
        parent = name.rpartition("/")[0]
        if parent and parent not in self._names:
            self._add(parent, stat.S_IFDIR | 0o755, b"")
        self._names.add(name)
        self._emit(name, mode, data)

    def _emit(self, name: str, mode: int, data: bytes) -> None:
        self._inode += 1
        raw_name = name.encode() + b"\0"
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw_name), 0)
        header = b"070701" + b"".join(b"%08x" % f for f in fields) + raw_name
        self._parts += [header, bytes(-len(header) % 4), data, bytes(-len(data) % 4)]

    def folder(self, name: str) -> None:
        self._add(name, stat.S_IFDIR | 0o755, b"")

    def text(self, name: str, content: str, mode: int = 0o644) -> None:
        self._add(name, stat.S_IFREG | mode, content.encode())

    def data(self, name: str, content: bytes, mode: int = 0o644) -> None:
        self._add(name, stat.S_IFREG | mode, content)

    def file(self, name: str, source: Path) -> None:
        mode = 0o755 if source.stat().st_mode & 0o111 else 0o644
        self.data(name, source.read_bytes(), mode)

    def link(self, name: str, target: str) -> None:
        self._add(name, stat.S_IFLNK | 0o777, target.encode())

    def finish(self) -> bytes:
        self._emit("TRAILER!!!", 0, b"")
        return b"".join(self._parts)


_which = partial(installed, InitramfsError)


def libraries(program: Path, folders: Sequence[Path] = ()) -> list[Path]:
    """The shared libraries of a program, its loader included; none if it is static.

    Searched in these folders first. Raises InitramfsError if one is not found.
    """
    environment = os.environ | {"LD_LIBRARY_PATH": ":".join(map(str, folders))}
    ldd = subprocess.run(
        ["ldd", str(program)],
        capture_output=True, text=True, check=False, env=environment if folders else None,
    )  # fmt: skip
    if missing := re.search(r"(\S+) => not found", ldd.stdout):
        raise InitramfsError(f"{program} needs {missing[1]}, which is not on this machine")
    return [Path(path) for path in re.findall(r"(/\S+) \(0x", ldd.stdout)]


def _add_program(archive: Cpio, program: str) -> None:
    path = _which(program)
    archive.data(f"bin/{program}", path.read_bytes(), 0o755)
    for library in libraries(path):
        archive.data(str(library).lstrip("/"), library.read_bytes(), 0o755)


def module_order(kernel: Kernel, names: Iterable[str]) -> list[Path]:
    """Files of a kernel's modules and all they need, in the order to insert them."""
    folder = kernel.modules
    if folder is None:
        return []

    def name_of(path: str) -> str:
        return Path(path).name.partition(".ko")[0].replace("-", "_")

    needs: dict[str, list[str]] = {}
    for line in (folder / "modules.dep").read_text().splitlines():
        path, _, dependencies = line.partition(":")
        needs[name_of(path)] = [path, *dependencies.split()]
    builtin = {name_of(p) for p in (folder / "modules.builtin").read_text().splitlines()}
    order: list[Path] = []
    for name in names:
        if name in needs:
            path, *dependencies = needs[name]
            for wanted in (*reversed(dependencies), path):
                before = needs.get(PRECEDED_BY.get(name_of(wanted), ""), [])[:1]
                order += [folder / p for p in (*before, wanted) if folder / p not in order]
        elif name not in builtin:
            raise InitramfsError(f"kernel {kernel.release} has no module {name}")
    return order


def _module_bytes(path: Path) -> bytes:
    """insmod in the guest takes no compressed modules."""
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def _quote(args: Sequence[str]) -> str:
    return " ".join("'" + arg.replace("'", "'\\''") + "'" for arg in args)


def build(kernel: Kernel, job: GuestJob) -> bytes:
    """The initramfs of one job, uncompressed: unpacking would cost guest time."""
    archive = Cpio()
    for folder in ("host", "dev", "proc", "sys", "tmp", "run", "etc", "var"):
        archive.folder(folder)
    archive.link("sbin", "bin")
    archive.link("var/run", "/run")
    archive.data("bin/busybox", _which("busybox").read_bytes(), 0o755)
    for program in (*BASE_PROGRAMS, *job.programs):
        _add_program(archive, program)
    for applet in APPLETS:
        archive.link(f"bin/{applet}", "busybox")
    inserted: list[str] = []
    for module in (*module_order(kernel, job.modules), *job.kmods):
        name = f"modules/{module.name.partition('.ko')[0]}.ko"
        archive.data(name, _module_bytes(module))
        inserted.append(f"/{name}")
    archive.text("modules.order", "\n".join(inserted) + "\n")
    archive.folder(LAB)
    for name, source in job.files.items():
        archive.file(f"{LAB}/{name}", source)
    for file in job.host_files:
        archive.file(f"{'host' if covered(file) else ''}{file}".lstrip("/"), file)
    archive.file("script", job.script)
    # only where needed: another line or process would be another replicate of every run
    started = "" if job.virtual_time else f"echo {STARTED}\n"
    place = "mkdir /tmp/out; cp -R /host/. /\n" if job.host_files or job.out else ""
    send_out = SEND_OUT if job.out else ""
    init = INIT.format(started=started, args=_quote(job.args), place=place, send_out=send_out)
    archive.text("init", init, 0o755)
    return archive.finish()
