# SPDX-License-Identifier: GPL-2.0
"""zrtt-link and ifupdown's hook where something is missing: with a tc that only notes what it is told."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from routers import ROUTER

ZRTT = "qdisc zrtt 8001: root refcnt 2 mode zrtt"
LINK = ROUTER / "sbin" / "zrtt-link"
HOOK = ROUTER / "ifupdown" / "zrtt"
STANZA = {"IFACE": "eth0", "IF_ZRTT_UPLINK": "20mbit"}


def program(folder: Path, name: str, script: str) -> None:
    """One that is found first."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run(folder: Path, *words: str | Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """With the programs of a folder, and the system's."""
    return subprocess.run(
        words, env={"PATH": f"{folder}:{os.environ['PATH']}", **settings},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(("redirected", "told"), [(False, 0), (True, 2)])
def test_rate_needs_the_redirection(tmp_path: Path, redirected: bool, told: int) -> None:
    """Without it, nothing is changed: as if clsact was deleted, but not the ifb device."""
    shown = "echo '(Egress Redirect to device ifb-eth0) stolen'" if redirected else ":"
    log = tmp_path / "log"
    log.touch()
    program(
        tmp_path, "tc",
        f"case $* in\nfilter*) {shown} ;;\n*show*) echo '{ZRTT}' ;;\n*) echo $* >>{log} ;;\nesac",
    )  # fmt: skip
    rates = {"ZRTT_UPLINK": "5mbit", "ZRTT_DOWNLINK": "9mbit"}
    done = run(tmp_path, LINK, "rate", "eth0", **rates)
    assert len(log.read_text().splitlines()) == told
    assert (done.returncode == 0) == redirected
    assert ("nothing redirects what arrives to ifb-eth0" in done.stderr) == (not redirected)


def test_rate_names_the_ifb_device_that_is_gone(tmp_path: Path) -> None:
    """tc shows the redirection to it as one to a *."""
    program(
        tmp_path, "tc",
        "case $* in\nfilter*) echo '(Egress Redirect to device *) stolen' ;;\n"
        f"*'show dev eth0') echo '{ZRTT}' ;;\n*) exit 1 ;;\nesac",
    )  # fmt: skip
    done = run(tmp_path, LINK, "rate", "eth0", ZRTT_DOWNLINK="9mbit")
    assert done.returncode == 1
    assert done.stderr == "zrtt-link: no zrtt on ifb-eth0: run zrtt-link up eth0 first\n"


@pytest.mark.parametrize(("verb", "bounds"), [("up", "min 128kbit max 10gbit "), ("rate", "")])
def test_rate_keeps_bounds_that_are_not_set(tmp_path: Path, verb: str, bounds: str) -> None:
    """As all that is not; of up they return to their defaults."""
    log = tmp_path / "log"
    program(tmp_path, "tc", f"case $* in *show*) echo '{ZRTT}' ;; *) echo $* >>{log} ;; esac")
    done = run(tmp_path, LINK, verb, "eth0", ZRTT_UPLINK="auto min 1mbit")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"bandwidth auto {bounds}min 1mbit timestamps" in log.read_text()


def test_words_of_settings_are_no_patterns(tmp_path: Path) -> None:
    """Else the names of files here would be parameters."""
    program(tmp_path, "tc", "case $* in *replace*) echo $# ;; esac")
    (tmp_path / "f1").touch()
    (tmp_path / "f2").touch()
    done = subprocess.run(
        [LINK, "up", "eth0"], env={"PATH": f"{tmp_path}:{os.environ['PATH']}", "ZRTT_OPTIONS": "f?"},
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "7\n")


@pytest.mark.parametrize(("shown", "code"), [(ZRTT, 2), ("qdisc noqueue 0: root refcnt 2", 0)])
def test_down_fails_where_the_queue_stays(tmp_path: Path, shown: str, code: int) -> None:
    """As for who is not root; that there is none, or no device, is no failure."""
    program(tmp_path, "tc", f"case $* in *show*) echo '{shown}' ;; *) echo no >&2; exit 2 ;; esac")
    program(tmp_path, "ip", "exit 2")
    done = run(tmp_path, LINK, "down", "eth0")
    assert (done.returncode, done.stderr) == (code, "no\n" if code else "")


def test_down_keeps_an_ifb_device_that_others_redirect_to(tmp_path: Path) -> None:
    """By a filter of any pref: the kernel drops what is redirected to a device that is gone."""
    log = tmp_path / "log"
    log.touch()
    redirected = "echo '(Egress Redirect to device ifb-eth0) stolen'"
    program(tmp_path, "tc", f"case $* in *'filter show'*) {redirected} ;; esac")
    program(tmp_path, "ip", f"case $* in *show*) echo ifb-eth0 ;; *) echo $* >>{log} ;; esac")
    done = run(tmp_path, LINK, "down", "eth0")
    assert (done.returncode, log.read_text()) == (0, "")
    told = "zrtt-link: ifb-eth0 stays: a filter that is not zrtt-link's redirects to it\n"
    assert done.stderr == told


@pytest.mark.parametrize("there", [True, False])
def test_down_keeps_the_ifb_device_where_tc_fails(tmp_path: Path, there: bool) -> None:
    """There may be a filter that redirects to it, unless its device is gone."""
    log = tmp_path / "log"
    log.touch()
    program(tmp_path, "tc", "echo no >&2; exit 3")
    shown = ":" if there else "exit 1"
    program(
        tmp_path, "ip",
        f"case $* in *'show dev eth0') {shown} ;; *show*) echo ifb-eth0 ;; *) echo $* >>{log} ;; esac",
    )  # fmt: skip
    done = run(tmp_path, LINK, "down", "eth0")
    assert (done.returncode, done.stderr) == ((3, "no\n") if there else (0, ""))
    assert log.read_text() == ("" if there else "link del ifb-eth0\n")


def test_tc_is_found_where_cron_does_not_look(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program(tmp_path, "tc", f"echo $PATH >>{log}")
    program(tmp_path, "ip", "exit 1")
    path = f"{tmp_path}:/usr/bin:/bin"
    subprocess.run([LINK, "down", "eth0"], env={"PATH": path}, check=True)
    assert set(log.read_text().splitlines()) == {f"{path}:/usr/sbin:/sbin"}


@pytest.mark.parametrize(
    ("verb", "code", "told"), [("up", 1, "zrtt-link: ifb-eth0 is no ifb device\n"), ("down", 0, "")]
)
def test_device_that_is_no_ifb_is_left_alone(
    tmp_path: Path, verb: str, code: int, told: str
) -> None:
    """As a bridge or a dummy that has the name of one."""
    log = tmp_path / "log"
    log.touch()
    shown = "*'type ifb') ;; *show*) echo ifb-eth0 ;;"
    program(tmp_path, "tc", f"case $* in *show* | 'filter del'*) ;; *) echo $* >>{log} ;; esac")
    program(tmp_path, "ip", f"case $* in {shown} *) echo $* >>{log} ;; esac")
    done = run(tmp_path, LINK, verb, "eth0", ZRTT_DOWNLINK="9mbit")
    assert (done.returncode, done.stderr, log.read_text()) == (code, told, "")


@pytest.mark.skipif(not os.access("/run", os.W_OK), reason="who may not write there has no lock")
@pytest.mark.parametrize("verb", ["up", "rate", "down"])
def test_one_waits_for_another(tmp_path: Path, verb: str) -> None:
    """Else one deletes the ifb device that the other has just redirected to."""
    log = tmp_path / "log"
    program(tmp_path, "flock", f"readlink /proc/$$/fd/$1 >>{log}")
    program(tmp_path, "tc", f"echo tc >>{log}; echo '{ZRTT}'")
    run(tmp_path, LINK, verb, "eth0")
    assert log.read_text().startswith("/run/zrtt-link.lock\ntc\n")


@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a /run of its own")
@pytest.mark.parametrize("older", [False, True])
def test_nobody_else_can_lock(tmp_path: Path, older: bool) -> None:
    """As who can read a file can: also where a version before left one that all can read."""
    for name in ("tc", "ip", "flock"):
        program(tmp_path, name, "stat -c %a /run/zrtt-link.lock" if name == "flock" else "exit 1")
    before = "touch /run/zrtt-link.lock" if older else ":"
    script = f"umask 022; mount -t tmpfs none /run; {before}; exec {LINK} down eth0"
    done = run(tmp_path, "unshare", "--mount", "sh", "-c", script)
    assert (done.returncode, done.stdout) == (0, "600\n")


def test_ifb_device_that_another_redirects_to_stays(tmp_path: Path) -> None:
    """Where the filter of one is there before that of the other, which has made the device."""
    log = tmp_path / "log"
    log.touch()
    shown = "echo '(Egress Redirect to device ifb-eth0) stolen'"
    program(
        tmp_path, "tc",
        f"case $* in *'filter show'*'pref 8111') ;; *'filter show'*) {shown} ;;\n"
        "*'filter add'*) exit 2 ;; esac",
    )  # fmt: skip
    program(tmp_path, "ip", f"case $* in *show*) exit 1 ;; *) echo $* >>{log} ;; esac")
    done = run(tmp_path, LINK, "up", "eth0", ZRTT_DOWNLINK="9mbit")
    assert done.returncode == 2
    assert log.read_text() == "link add ifb-eth0 type ifb\nlink set ifb-eth0 up\n"


@pytest.mark.parametrize("signal", ["HUP", "INT", "TERM"])
def test_signal_leaves_no_new_ifb_device(tmp_path: Path, signal: str) -> None:
    """As Ctrl-C does; who runs this in the background may ignore some."""
    log = tmp_path / "log"
    program(tmp_path, "tc", f"case $* in 'qdisc replace'*) kill -{signal} $PPID ;; esac")
    program(tmp_path, "ip", f"case $* in *show*) exit 1 ;; *) echo $* >>{log} ;; esac")
    done = run(tmp_path, "env", "--default-signal", LINK, "up", "eth0", ZRTT_DOWNLINK="9mbit")
    assert done.returncode == 1
    assert log.read_text().endswith("link set ifb-eth0 up\nlink del ifb-eth0\n")


@pytest.mark.parametrize("mode", ["start", "stop"])
def test_hook_that_is_left_behind_is_silent(tmp_path: Path, mode: str) -> None:
    """Of a package that was removed, not purged."""
    done = subprocess.run(
        [HOOK], env={"PATH": str(tmp_path), "MODE": mode, **STANZA},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize(("mode", "verb"), [("start", "up"), ("stop", "down")])
def test_hook_warns_where_it_fails(tmp_path: Path, mode: str, verb: str) -> None:
    """As without the module: the link itself is up all the same."""
    program(tmp_path, "zrtt-link", "echo $* $ZRTT_UPLINK; exit 2")
    done = run(tmp_path, HOOK, MODE=mode, **STANZA)
    assert (done.returncode, done.stdout) == (0, f"{verb} eth0 20mbit\n")
    assert done.stderr == f"zrtt: zrtt-link {verb} eth0 failed\n"


def test_hook_leaves_other_stanzas_alone(tmp_path: Path) -> None:
    program(tmp_path, "zrtt-link", "echo $*")
    done = run(tmp_path, HOOK, MODE="start", IFACE="eth0")
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
