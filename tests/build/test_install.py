# SPDX-License-Identifier: GPL-2.0
"""What make installs is where it should be, and make uninstall takes all of it away."""

from __future__ import annotations

import os
import re
import shlex
import stat
import subprocess
from pathlib import Path

import pytest
from kbuild import ROOT, checkout, make

from lab.host.process import outside_make
from lab.kernels.debian import debian_kernel

SYSTEMS = ("install-sqm", "install-ifupdown", "install-kubernetes")
TARGETS = ("install", "install-agent", "install-cc", *SYSTEMS)
MODULES = {"sch_zrtt.ko", "tcp_libra.ko", "tcp_nrhstcp.ko", "tcp_exp.ko", "tcp_prague.ko"}
PROGRAMS = {"zrtt-agent", "zrtt-check", "zrtt-link", "zrtt-mon"}
FIXED = ("lib/modules/", "usr/lib/", "etc/bash_completion.d/", "etc/network/")
"""Where the kernel, tc, bash-completion, ifupdown and sqm-scripts look, and nowhere else."""
CONTROL = (ROOT / "debian" / "control").read_text()
OF_SYSTEMS = re.compile("sqm|etc/network|zrtt.yaml")

# A machine with the modules of one kernel, which is not the running one; all else is
# kept out of its way.
ELSEWHERE = """set -e
mount -t tmpfs none "$(readlink -f /lib/modules)"
mkdir /lib/modules/$RELEASE
[ "$1" = bare ] || touch /lib/modules/$RELEASE/modules.order
places="PREFIX=$HERE ETCDIR=$HERE TC_LIB_DIR=$HERE SQMDIR=$HERE MANDIR=$HERE UNITDIR=$HERE"
make -s install-module install-cc KDIR=$KDIR >/dev/null
find /lib/modules -type f -name '*.ko*' -o -name modules.dep | sort
echo --
cat /lib/modules/$RELEASE/modules.dep 2>/dev/null || true
echo --
make -s uninstall $places >/dev/null
find /lib/modules -type f -name '*.ko*' -o -name modules.dep -size +0
"""


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
    return _files(copy / root)


def _files(root: Path) -> set[str]:
    files = (path for path in root.rglob("*") if not path.is_dir())
    return {path.relative_to(root).as_posix() for path in files}


def _elsewhere(copy: Path, place: Path, how: str) -> list[list[str]]:
    """Modules after an installation, what depmod says of them, and what an uninstall leaves."""
    kernel = debian_kernel("6.1")
    words = {"RELEASE": kernel.release, "KDIR": kernel.build_dir, "HERE": place}
    script = "".join(f"{k}={shlex.quote(str(v))}\n" for k, v in words.items()) + ELSEWHERE
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", script, "sh", how], cwd=copy, env=outside_make(),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return [part.splitlines() for part in re.split(r"(?m)^--\n", done.stdout)]


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


@pytest.mark.parametrize(("image", "said"), [(False, "detach --all\n"), (True, "")])
def test_uninstall_detaches_the_agent(tmp_path: Path, image: bool, said: str) -> None:
    """That of this machine; what is in an image has attached nothing here."""
    log, program = tmp_path / "log", tmp_path / "sbin" / "zrtt-agent"
    log.touch()
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho $* >>{log}\nexit 2\n")
    program.chmod(0o755)
    place = {"DESTDIR": tmp_path, "PREFIX": ""} if image else {"PREFIX": tmp_path}
    done = make("-C", "agent", "uninstall", *(f"{name}={value}" for name, value in place.items()))
    assert done.returncode == 0, done.stderr
    assert log.read_text() == said
    assert not program.exists()


def test_folders_may_be_relative(copy: Path, tmp_path: Path) -> None:
    """To where make is run, not to where it goes from there."""
    installed = _make(copy, tmp_path, "/usr/local", "install")
    assert _make(copy, Path("image"), "/usr/local", "install") == installed
    assert _make(copy, Path("image"), "/usr/local", "uninstall") == set()


def test_all_users_may_read_what_root_installs(copy: Path, tmp_path: Path) -> None:
    """Whatever umask root has. Of modules kbuild decides."""
    targets = ("install-plugin", "install-tools", "install-agent", *SYSTEMS)
    command = f"umask 077; exec make {' '.join(targets)} DESTDIR={tmp_path}"
    subprocess.run(["sh", "-c", command], cwd=copy, env=outside_make(), check=True)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files and not [path for path in files if not path.stat().st_mode & stat.S_IROTH]


def test_nothing_comes_for_other_systems_unasked(copy: Path, tmp_path: Path) -> None:
    asked_for = _make(copy, tmp_path / "all", "/usr/local", *TARGETS)
    unasked = _make(copy, tmp_path / "few", "/usr/local", "install", "install-agent", "install-cc")
    others = {name for name in asked_for if OF_SYSTEMS.search(name)}
    assert asked_for - unasked == others
    assert len(others) == 5


def test_modules_of_another_kernel_are_found_by_it(copy: Path, tmp_path: Path) -> None:
    found, dependencies, left = _elsewhere(copy, tmp_path, "kernel")
    (*modules, index) = sorted(found, key=lambda name: name.endswith("modules.dep"))
    assert {Path(name).name for name in modules} == MODULES
    assert Path(index).parent.name == debian_kernel("6.1").release
    assert {Path(line.split(":")[0]).name for line in dependencies} == MODULES
    assert left == []


def test_where_no_kernel_is_depmod_is_left_to_it(copy: Path, tmp_path: Path) -> None:
    found, dependencies, left = _elsewhere(copy, tmp_path, "bare")
    assert {Path(name).name for name in found} == MODULES
    assert dependencies == left == []


def test_an_image_has_its_own_index(copy: Path, tmp_path: Path) -> None:
    """DESTDIR with a kernel in it; what depmod writes is the kernel's, and stays."""
    home = tmp_path / "lib" / "modules" / debian_kernel("6.1").release
    home.mkdir(parents=True)
    (home / "modules.order").touch()
    _make(copy, tmp_path, "/usr/local", "install-module")
    assert "/sch_zrtt.ko:" in (home / "modules.dep").read_text()
    _make(copy, tmp_path, "/usr/local", "uninstall")
    assert (home / "modules.dep").read_text() == ""


def _listed(tree: Path) -> set[str]:
    """What make deb would make packages of."""
    rule = make("-n", "deb", cwd=tree)
    assert rule.returncode == 0, rule.stderr
    copied = re.search(r"(?ms)^mkdir -p out/deb/source\n.*?^\ttar[^\n]*\n", rule.stdout)
    assert copied, rule.stdout
    subprocess.run(["sh", "-ec", copied[0]], cwd=tree, check=True)
    return _files(tree / "out" / "deb" / "source")


def test_packages_take_what_builds_them_and_no_guests(tmp_path: Path) -> None:
    """dpkg-buildpackage wants build-essential, whatever debian/control says."""
    for name, script in (("dpkg-query", "exit 1"), ("id", "echo 1000")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)
    rule = make("--no-print-directory", "-n", "deb", cwd=checkout(tmp_path / "tree"))
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    command = ["sh", "-c", rule.stdout.splitlines()[0]]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    depends = re.search(r"(?s)\nBuild-Depends:.*?\n(?=Standards)", CONTROL)[0]
    wanted = set(re.findall(r"(?m)^ ([^ ,]+)", depends)) - {"debhelper-compat", "dh-sequence-dkms"}
    asked = done.stderr.partition("--no-install-recommends ")[2].split()
    assert set(asked) == {*wanted, "build-essential", "debhelper", "dh-dkms"}


def test_packages_can_be_made_from_a_tarball(tmp_path: Path) -> None:
    """One that was built in, even: what came of it is not among the source."""
    tree = checkout(tmp_path / "tree")
    tracked = _files(tree)
    (tree / "out").mkdir()
    (tree / "out" / "left").touch()
    assert _listed(tree) == tracked


def test_packages_of_a_checkout_have_what_git_knows(tmp_path: Path) -> None:
    tree = checkout(tmp_path / "tree")
    subprocess.run(["git", "-C", tree, "init", "-q"], check=True)
    subprocess.run(["git", "-C", tree, "add", "-A"], check=True)
    tracked = _files(tree) - {n for n in _files(tree) if n.startswith(".git/")}
    (tree / "notes").touch()
    assert _listed(tree) == tracked
