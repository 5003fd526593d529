# SPDX-License-Identifier: GPL-2.0
"""The life of the packages on a machine: installed, used in a guest, gone."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from debian_root import Root, clean_root
from kbuild import ROOT, make

from lab.engines.job import GuestJob
from lab.engines.select import get_engine
from lab.kernels.debian import newest_release

HERE = Path(__file__).resolve().parent
OUT = Path("out/deb")
LIMIT_S = 3600.0
"""Of a guest: hosts may be busy."""
PACKAGES = ("sch-zrtt-dkms", "tc-zrtt", "zrtt-agent", "zrtt-tools", "tcp-rttfair-dkms")
MODULES = ("sch_zrtt", "tcp_exp", "tcp_libra", "tcp_nrhstcp", "tcp_prague")
USED_BY_GUEST = (
    "lib/modules/*/modules.*",
    "lib/modules/*/updates/dkms/*",
    "usr/lib/*/tc/q_zrtt.so",
)
PROGRAMS = ("zrtt-agent", "zrtt-mon")


@cache
def packages(checkout: Path = ROOT) -> list[Path]:
    """What make deb makes of a checkout."""
    done = make("deb", cwd=checkout)
    assert done.returncode == 0, done.stdout + done.stderr
    return sorted((checkout / OUT).glob("*.deb"))


@dataclass(frozen=True)
class Life:
    """What was seen of it."""

    before: set[str]
    """Paths in the root."""
    installed: set[str]
    status: str
    """DKMS's, while installed."""
    versions: Mapping[str, str]
    """What programs say of theirs."""
    guest: str
    """What was printed on the kernel that the modules were built for."""
    after: set[str]
    status_after: str


def boot(root: Root, series: str) -> str:
    """What the test that comes with the packages prints on a kernel, with what is installed."""
    engine = get_engine(series)
    release = engine.kernel.release
    used = [path for pattern in USED_BY_GUEST for path in root.folder.resolve().glob(pattern)]
    names = {path.relative_to(root.folder.resolve()).as_posix(): path for path in used}
    files = {f"root/{n}": p for n, p in names.items() if "/modules/" not in n or release in n}
    output = engine.run(
        GuestJob(
            script=HERE / "guest" / "installed.sh",
            files={**files, "test": ROOT / "debian" / "tests" / "qdisc"},
            modules=("dummy",),
            programs=("modprobe",),
            timeout_s=LIMIT_S,
        )
    )
    assert output.rc == 0, output.console
    return output.console


def prepare(root: Root, series: str) -> None:
    """The root of a machine on which modules can be built for a kernel."""
    release = newest_release(series)
    root.apt_get("install", "dkms", f"linux-headers-{release}")
    root.run("depmod", release)


def install(root: Root, debs: Sequence[Path]) -> None:
    """Packages, and what they depend on."""
    for deb in debs:
        shutil.copy(deb, root.folder / "tmp")
    root.apt_get("install", *(f"/tmp/{deb.name}" for deb in debs))


def purge(root: Root) -> None:
    """All packages, and what was installed for them only."""
    root.apt_get("purge", "--autoremove", *PACKAGES)


def live(series: str) -> Life:
    """Installs, uses and purges the packages in a root with the headers of one kernel."""
    with clean_root() as root:
        prepare(root, series)
        before = root.paths()
        install(root, packages())
        installed, status = root.paths(), root.run("dkms", "status")
        versions = {name: root.run(name, "--version") for name in PROGRAMS}
        guest = boot(root, series)
        purge(root)
        return Life(
            before, installed, status, versions, guest, root.paths(), root.run("dkms", "status")
        )
