# SPDX-License-Identifier: GPL-2.0
"""What make installs is where it should be, and make uninstall takes all of it away."""

from __future__ import annotations

from pathlib import Path

import pytest
from kbuild import checkout, make

from lab.kernels import debian_kernel

TARGETS = ("install", "install-agent", "install-cc")
MODULES = {"sch_zrtt.ko", "tcp_libra.ko", "tcp_nrhstcp.ko", "tcp_exp.ko"}
PROGRAMS = {"zrtt-agent", "zrtt-check", "zrtt-link", "zrtt-mon"}
FIXED = ("lib/modules/", "usr/lib/", "etc/bash_completion.d/", "etc/network/")
"""Where the kernel, tc, bash-completion, ifupdown and sqm-scripts look, and nowhere else."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout to build in."""
    return checkout(tmp_path_factory.mktemp("checkout"))


def _make(copy: Path, root: Path, prefix: str, *targets: str) -> set[str]:
    """Files in the root thereafter."""
    build_dir = debian_kernel("6.1").build_dir
    words = (f"DESTDIR={root}", f"PREFIX={prefix}", f"KDIR={build_dir}")
    for target in targets:
        done = make(target, *words, cwd=copy)
        assert done.returncode == 0, done.stdout + done.stderr
    files = (path for path in root.rglob("*") if not path.is_dir())
    return {path.relative_to(root).as_posix() for path in files}


@pytest.mark.parametrize("prefix", ["/usr/local", "/opt/zrtt"])
def test_uninstall_takes_away_what_install_brings(copy: Path, tmp_path: Path, prefix: str) -> None:
    stranger = tmp_path / "usr/share/man/man8/tc.8"
    stranger.parent.mkdir(parents=True)
    stranger.touch()
    before = {stranger.relative_to(tmp_path).as_posix()}
    installed = _make(copy, tmp_path, prefix, *TARGETS) - before
    assert MODULES <= {Path(name).name for name in installed if name.startswith("lib/modules/")}
    assert {f"{prefix[1:]}/sbin/{program}" for program in PROGRAMS} <= installed
    assert not [name for name in installed if not name.startswith((*FIXED, f"{prefix[1:]}/"))]
    units = [tmp_path / name for name in installed if name.endswith(".service")]
    assert units and all(f"={prefix}/sbin/zrtt-" in unit.read_text() for unit in units)
    assert _make(copy, tmp_path, prefix, "uninstall") == before
