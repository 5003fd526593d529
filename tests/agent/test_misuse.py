# SPDX-License-Identifier: GPL-2.0
"""Errors: bad command lines, and refusals of the system in one line."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest
from agents import Agent
from hosts import Network

from lab.senders.agent import done, program, run, statuses

NOBODY = 65534
ANYBODYS = ("/", "/run", "/sys", "/sys/fs")
"""Folders that anybody may open, and so lock for ever."""
LOCK = Path("/run/zrtt-agent.lock")
PATIENCE_S = 60
USAGE, REFUSED = 1, 2


def refused(said: subprocess.CompletedProcess[str], *words: str) -> None:
    """By the system: in one line, with these words in it."""
    assert said.returncode == REFUSED
    assert said.stdout == ""
    (line,) = said.stderr.splitlines()
    assert line.startswith("zrtt-agent: ")
    assert all(word in line for word in words), line


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("stamp",),
        ("attach",),
        ("attach", "a0", "a1"),
        ("attach", "a0", "--encoding", "udp"),
        ("attach", "a0", "--encoding"),
        ("attach", "a0", "--to", "10.0.0.0/33"),
        ("attach", "a0", "--to", "fd00::/129"),
        ("attach", "a0", "--to", "10.0.0"),
        ("attach", "a0", "--to", "example.org"),
        ("attach", "a0", "--to", "10.0.0.0/8x"),
        ("attach", "a0", "--ipv4-option", "1"),
        ("attach", "a0", "--ipv4-option", "256"),
        ("attach", "a0", "--ipv4-option", "158x"),
        ("attach", "a0", "--ipv4-option", "222", "--encoding", "tcp"),
        ("attach", "a0", "--ipv4-option", "158", "--encoding", "tcp"),
        ("attach", "a0", "--sometimes"),
        ("detach",),
        ("status", "a0", "a1"),
    ],
    ids=" ".join,
)
def test_bad_command_line_is_refused(net: Network, agent: Agent, words: tuple[str, ...]) -> None:
    where = ("--netns", net.a.name) if words[1:2] == ("a0",) else ()
    said = run(*words, *where) if words[-1:] != ("--encoding",) else run(*words)
    assert said.returncode == USAGE
    assert said.stdout == ""
    assert said.stderr
    assert run("status", "-j", "--netns", net.a.name).stdout.split() == ["[]"]


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_of_agent(net: Network, option: str) -> None:
    said = run(option)
    assert (said.returncode, said.stderr) == (0, "")
    assert "zrtt-agent" in said.stdout


def test_help_explains_each_option(net: Network) -> None:
    text = run("--help").stdout
    for option in ("netns NAME", "all", "encoding ip", "encoding tcp", "every-packet", "to PREFIX",
                   "ipv4-option TYPE", "cgroup PATH", "json", "help", "version"):  # fmt: skip
        assert re.search(rf"(?m)^ .*--{option} +\w", text), option


def test_unknown_device(net: Network) -> None:
    refused(run("attach", "nowhere0", "--netns", net.a.name), "nowhere0")


def test_names_are_printed_as_plain_text(net: Network, agent: Agent) -> None:
    """A device may have any bytes in its name; the last one here is not UTF-8."""
    name, plain = '\x1b[2J"\\\udcff', '\\x1b[2J"\\\\xff'
    net.a.ip("link", "add", "v0", "type", "veth", "peer", "name", "v1")
    agent.attach(dev="v0")
    net.a.ip("link", "set", "v0", "name", name)
    where = ("--netns", net.a.name)
    assert [status.dev for status in statuses(*where)] == [plain]
    assert run("status", *where).stdout.startswith(f"{plain} netns {net.a.name}: ")
    done("detach", *where)
    refused(run("detach", name, *where), f": {plain}: not attached")


def test_unknown_namespace(net: Network) -> None:
    refused(run("attach", "a0", "--netns", "nowhere"), "nowhere")


def test_unknown_cgroup(net: Network) -> None:
    words = ("attach", "a0", "--netns", net.a.name, "--encoding", "tcp", "--cgroup", "/nowhere")
    refused(run(*words), "/nowhere")


def test_nothing_to_detach(net: Network) -> None:
    refused(run("detach", "a0", "--netns", net.a.name), "a0")


def test_without_root(net: Network) -> None:
    """The program is where anybody may run it."""
    folder = Path("/tmp", f"{net.a.name}-nobody")
    folder.mkdir()
    try:
        anybodys = Path(shutil.copy(program(), folder))
        said = subprocess.run(
            [anybodys, "attach", "lo"], capture_output=True, text=True, check=False,
            user=NOBODY, group=NOBODY, extra_groups=[],
        )  # fmt: skip
    finally:
        shutil.rmtree(folder)
    refused(said, "root")


def test_without_bpf(net: Network) -> None:
    """Root of a container that may not use BPF."""
    command = ["setpriv", "--bounding-set", "-all", str(program()), "attach", "lo"]
    refused(subprocess.run(command, capture_output=True, text=True, check=False))


def test_status_that_cannot_be_written(net: Network) -> None:
    """Who reads half an object of JSON is told."""
    with Path("/dev/full").open("w") as full:
        command = [program(), "status", "-j"]
        said = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert said.returncode == REFUSED
    assert said.stderr == "zrtt-agent: standard output: No space left on device\n"


def test_locks_of_others_do_not_matter(net: Network, agent: Agent) -> None:
    with ExitStack() as held:
        for folder in ANYBODYS:
            fd = os.open(folder, os.O_RDONLY)
            held.callback(os.close, fd)
            fcntl.flock(fd, fcntl.LOCK_EX)
        assert run("status", timeout=PATIENCE_S).returncode == 0
    assert LOCK.stat().st_mode & 0o777 == 0o600


def test_commands_wait_for_each_other(net: Network, agent: Agent) -> None:
    run("status")
    with LOCK.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with subprocess.Popen([program(), "status"], stdout=subprocess.PIPE) as waiting:
            with pytest.raises(subprocess.TimeoutExpired):
                waiting.wait(1)
            fcntl.flock(lock, fcntl.LOCK_UN)
            assert waiting.wait(PATIENCE_S) == 0
