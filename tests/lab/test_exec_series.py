# SPDX-License-Identifier: GPL-2.0
"""Several runs of lab exec: variants, samples, targets, the table; and the program of quinn."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lab import cli
from lab.engines.job import GuestError
from lab.exec import builds, network, plan, runner, targets, vary
from lab.exec.figures import ClassFigures, Direction, Figures, FlowFigures
from lab.exec.needs import Needs
from lab.exec.samples import SampleError, Samples
from lab.exec.targets import Done
from lab.model.options import ScenarioError
from lab.results.readings import QueueResult, Sojourn

ROOT = Path(__file__).resolve().parents[2]
TOP = 'rate = "5mbit"\nduration = 6\nwarmup = 2\n'
HOSTS = '[hosts]\na = { side = "left", rtt = "20ms" }\nb = { side = "right" }\n'
COMMAND = '[[command]]\nname = "first"\nhost = "a"\nrun = "sleep 1"\n'
GOOD = TOP + HOSTS + COMMAND
SERIES = (
    'builds = ["quinn"]\necn = "{ecn}"\n' + TOP + "[[vary]]\necn = [true, false]\n" + HOSTS + """
[[command]]
name = "server"
host = "a"
run = "lab-quinn serve 443 cubic"
listen = "udp 443"
[[command]]
each = ["1", "2"]
name = "get{each}"
host = "b"
run = "lab-quinn get a 443 100000000"
[[command]]
name = "pages"
host = "b"
run = "lab-quinn pages a 443 20000 100"
samples = "ms"
[[target]]
metric = "pages.median"
max = 1
"""
)
TIMEOUT_S = 10


def read(folder: Path, text: str) -> list[plan.Plan]:
    """All variants of a file of that text."""
    path = folder / "own.toml"
    path.write_text(text)
    return plan.load(path)


def test_each_combination_is_a_variant(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        'ecn = "{ecn}"\n' + TOP + '[[vary]]\ncc = ["bbr", "reno"]\necn = [true, false]\n'
        "[[vary]]\ncc = 'cubic'\necn = false\n"
        + HOSTS.replace('"20ms"', '"20ms", cc = "{cc}"') + COMMAND.replace("sleep 1", "x {cc} {no}"),
    )  # fmt: skip
    assert [(of.hosts[0].cc, of.ecn) for of in found] == [
        ("bbr", True), ("bbr", False), ("reno", True), ("reno", False), ("cubic", False),
    ]  # fmt: skip
    assert [of.variant for of in found][1:3] == ["cc=bbr,ecn=false", "cc=reno,ecn=true"]
    assert found[0].commands[0].words == ("x", "bbr", "{no}")


def test_command_for_each(tmp_path: Path) -> None:
    (found,) = read(tmp_path, GOOD.replace('"first"', '"first-{each}"') + 'each = ["a", "b"]\n')
    assert [command.name for command in found.commands] == ["first-a", "first-b"]
    assert not found.variant


def test_ecn_is_cleared_of_what_hosts_send(tmp_path: Path) -> None:
    """Without it, a QUIC library would go on to use it, whatever the kernel's TCP does."""
    off, on = read(tmp_path, 'ecn = "{ecn}"\n' + TOP + "[[vary]]\necn = [false, true]\n" + HOSTS + COMMAND)
    scripts = [network.script(of, ["zrtt"], {"first": "/x"}, "") for of in (off, on)]
    assert [script.count("retain 0x03") for script in scripts] == [2, 0]
    assert "act_pedit" in network.modules(off) and not network.modules(on)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("vary = 3\n" + GOOD, r":1: vary: want \[\[vary\]\]"),
        (GOOD + "[[vary]]\ncc = []\n", r":12: vary\[1\]\.cc: want a value or a list of values"),
        (GOOD + "[[vary]]\ncc = [[1]]\n", r":12: vary\[1\]\.cc: want a value"),
        (GOOD + '[[vary]]\neach = "x"\n', r":12: vary\[1\]\.each: a name has"),
        ('ecn = "{cc}"\n' + GOOD + '[[vary]]\ncc = "x"\n', r":1: ecn: want true or false"),
        (GOOD + 'each = "ab"\n', r":11: command\[1\]\.each: want a list of texts"),
        (GOOD + "each = []\n", r":11: command\[1\]\.each: want a list of texts"),
        (GOOD + 'each = ["a", "b"]\n', r"command\[1\]\.name: there is a first already"),
        (GOOD + "samples = 1\n", r":11: command\[1\]\.samples: want text"),
        ('builds = ["lynx"]\n' + GOOD, r":1: builds: no program lynx; one of quinn"),
        (GOOD + "[target]\n", r":11: target: want \[\[target\]\]"),
        (GOOD + '[[target]]\nmetric = "speed"\n', r":12: target\[1\]\.metric: one of jain, class"),
        (GOOD + '[[target]]\nmetric = "first.p95"\n', r":12: target\[1\]\.metric: one of jain"),
        (GOOD + '[[target]]\nmetric = "jain"\n', r":11: target\[1\]: want min, max or not_above"),
        (GOOD + '[[target]]\nmetric = "jain"\nmin = "1"\n', r":13: target\[1\]\.min: want a number"),
        (GOOD + "[[target]]\nmin = 1\n", r"target\[1\]\.metric: is missing"),
    ],
)  # fmt: skip
def test_wrong_file_names_line_and_key(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read(tmp_path, text)
    assert re.search(complaint, str(error.value)), error.value


def test_unknown_variant_ends_the_command(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(GOOD)
    done = lab(path, "--only", "other:*")
    assert (done.returncode, done.stderr) == (1, "lab: --only other:*: no variant is like this\n")


def test_samples_are_read() -> None:
    text = "".join(f"{number} more words\n" for number in range(100, 0, -1))
    assert Samples.read("ms", text) == Samples("ms", 100, 50.5, 95.0)
    assert Samples.read("s", "0.5\n") == Samples("s", 1, 0.5, 0.5)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "printed no sample"),
        ("1\nslow\n", "printed no number first in line 2: 'slow'"),
        ("1\n\n2\n", "printed no number first in line 2: ''"),
        ("1\nnan\n", "printed no number first in line 2: 'nan'"),
    ],
)
def test_what_is_no_sample_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(SampleError) as error:
        Samples.read("ms", text)
    assert str(error.value) == complaint


def done(of: plan.Plan, qdisc: str, mbps: dict[str, list[float]], p95: float = 1.0, seed: int = 1) -> Done:
    """A run with such flows in each class."""
    sojourn = Sojourn(2.0, 2.0, 3.0, 4.0, 5.0)
    flows = [
        FlowFigures(name, "udp", "a:1", "b:2", each, 0, 6, 10, 0, 0, sojourn, counted=True, rtt=None)
        for name, all_of in mbps.items()
        for each in all_of
    ]
    queue = QueueResult("to the right", 0.98, sojourn, 0, 0, 10, {})
    classes = [ClassFigures(name, len(mbps[name]), sum(mbps[name]), 10, 0, 0, sojourn) for name in mbps]
    way = Direction("to the right", 5, 6, 0.97, queue, classes, flows)
    samples = {"first": Samples("ms", 9, 0.5, p95)}
    return Done(of, Figures(qdisc, "7", "virtual", seed, 0, "lab", {}, [way], samples))


def test_targets_are_judged(tmp_path: Path) -> None:
    (of,) = read(
        tmp_path,
        GOOD + 'samples = "ms"\n[[target]]\nmetric = "class_ratio"\nmax = 1.1\n'
        '[[target]]\nmetric = "utilisation"\nmin = 0.99\n[[target]]\nmetric = "jain"\nmin = 0.9\n'
        '[[target]]\nmetric = "first.p95"\nnot_above = ["fq_codel", "cake"]\n',
    )
    ours = done(of, "zrtt target 5ms", {"quic": [2.0, 4.0], "tcp": [2.0, 2.0]}, p95=10)
    assert ours.figures.metrics()["class_ratio"] == pytest.approx(1.5)
    lines = targets.missed([ours])
    assert lines == [
        "own, zrtt target 5ms, seed 1: class_ratio 1.5, want at most 1.1",
        "own, zrtt target 5ms, seed 1: utilisation 0.98, want at least 0.99",
    ]
    rivals = [
        done(of, "fq_codel", {"quic": [2.0]}, p95=9), done(of, "cake", {"quic": [2.0]}, p95=10),
        done(of, "fq_codel", {"quic": [2.0]}, p95=1, seed=2), done(of, "pie", {"quic": [2.0]}, p95=1),
        done(replace(of, variant="x"), "cake", {"quic": [2.0]}, p95=1),
    ]  # fmt: skip
    assert targets.missed([ours, *rivals])[2:] == [
        "own, zrtt target 5ms, seed 1: first.p95 10, want at most fq_codel's 9"
    ]
    alone = done(of, "zrtt", {"quic": [2.0]})
    assert targets.missed([alone])[0] == "own, zrtt, seed 1: class_ratio: there is none"


def test_run_that_fails_does_not_end_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """But one alone ends the command, as before."""

    def run(of: plan.Plan, options: runner.Options, *_: object) -> Figures:
        if options.qdisc == "cake":
            raise GuestError("guest panicked", "its last words")
        return done(of, options.qdisc, {"quic": [2.0]}).figures

    path, out = tmp_path / "own.toml", tmp_path / "json"
    path.write_text(GOOD)
    monkeypatch.setattr(runner, "run", run)
    words = ["lab", "exec", str(path), "--out", str(tmp_path / "out"), "--json", str(out), "--qdisc", "cake"]
    monkeypatch.setattr(sys, "argv", [*words, "--qdisc", "zrtt"])
    assert cli.main() == 1
    said = capsys.readouterr()
    assert said.err.endswith("its last words\nfailed: own cake, seed 1: guest panicked\n")
    assert re.search(r"(?m)^own +zrtt +1 +quic 2.00 ", said.out)
    assert [record["qdisc"] for record in json.loads(out.read_text())] == ["zrtt"]
    monkeypatch.setattr(sys, "argv", words)
    assert cli.main() == 1
    assert capsys.readouterr().err.endswith("its last words\nlab: guest panicked\n")


def lab(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The command, as one types it."""
    command = [sys.executable, "-m", "lab", "exec", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_absent_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZRTT_CACHE", str(tmp_path))
    monkeypatch.setitem(builds.BUILDS, "quinn", replace(builds.BUILDS["quinn"], packages=("bash",)))
    monkeypatch.setattr(builds, "PATH", "/nowhere")
    with pytest.raises(builds.BuildError, match="builds: quinn: bash has no program cargo"):
        builds.built("quinn")


def test_what_does_not_build_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZRTT_CACHE", str(tmp_path))
    cargo = tmp_path / "cargo"
    cargo.write_text("#!/bin/sh\necho no network >&2\nexit 1\n")
    cargo.chmod(0o755)
    monkeypatch.setitem(builds.BUILDS, "quinn", replace(builds.BUILDS["quinn"], packages=("bash",)))
    monkeypatch.setattr(builds, "PATH", f"{tmp_path}:{builds.PATH}")
    with pytest.raises(builds.BuildError, match="quinn could not be built:\nno network"):
        builds.built("quinn")


def test_lock_has_a_checksum_of_each_crate() -> None:
    lock = (ROOT / "lab/exec/quinn/Cargo.lock").read_text()
    crates = lock.split("[[package]]")[1:]
    bare = [crate for crate in crates if not re.search(r'checksum = "[0-9a-f]{64}"', crate)]
    assert len(crates) > 50
    assert [re.findall(r'name = "(.*)"', crate) for crate in bare] == [["lab-quinn"]]


@pytest.fixture(scope="module")
def quinn() -> Path:
    """The program, built if it is not yet."""
    return builds.built("quinn") / builds.BUILDS["quinn"].program


@pytest.fixture
def server(quinn: Path) -> Iterator[int]:
    """The port of a server on this machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    with subprocess.Popen([quinn, "serve", str(port), "bbr"]) as process:
        yield port
        process.terminate()


@pytest.mark.guest
def test_quinn_fetches(quinn: Path, server: int) -> None:
    get = [str(quinn), "get", "localhost", str(server), "3000000"]
    deadline = time.monotonic() + TIMEOUT_S
    while f":{server:04X} " not in Path("/proc/net/udp").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    subprocess.run(get, check=True, timeout=TIMEOUT_S)


@pytest.mark.guest
@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("serve 443 vegas", "no congestion control vegas; one of cubic, bbr, reno"),
        ("serve http cubic", "PORT: bad number 'http'"),
        ("get localhost 443 much", "BYTES: bad number 'much'"),
        ("pages localhost 443 20000", "usage: lab-quinn"),
    ],
)
def test_quinn_refuses(quinn: Path, words: str, complaint: str) -> None:
    said = subprocess.run([quinn, *words.split()], capture_output=True, text=True, check=False)
    assert said.returncode == 1
    assert said.stderr.startswith(f"lab-quinn: {complaint}")


@pytest.mark.guest
def test_series_of_quic(tmp_path: Path) -> None:
    """Two variants: a line and a record for each. ECN is used, or cleared, and pages are timed."""
    path = tmp_path / "series.toml"
    path.write_text(SERIES)
    said = lab(path, "--check", "--out", tmp_path / "out", "--json", tmp_path / "json")
    assert said.returncode == 1
    with_ecn, without = json.loads((tmp_path / "json").read_text())
    assert (with_ecn["variant"], without["variant"]) == ("ecn=true", "ecn=false")
    for run in (with_ecn, without):
        (way,) = run["directions"]
        assert [flow["protocol"] for flow in way["flows"] if flow["counted"]] == ["udp", "udp"]
        assert way["queue"]["utilisation"] > 0.95
        assert run["samples"]["pages"]["count"] > 10
        assert run["samples"]["pages"]["median"] > 40  # two round trips
        assert f"missed: series {run['variant']}, zrtt, seed 1: pages.median" in said.stdout
    queues = [run["directions"][0]["queue"] for run in (with_ecn, without)]
    assert queues[0]["marks"] > 0 == queues[1]["marks"]
    assert queues[1]["drops"] > 0
    assert (tmp_path / "out/series/ecn=true/zrtt/seed-1/pages/stdout").exists()
    assert re.search(r"(?m)^series  ecn=false  zrtt .* pages \d", said.stdout)


@pytest.mark.guest
def test_program_is_found_in_its_build(quinn: Path, tmp_path: Path) -> None:
    (of,) = read(tmp_path, 'builds = ["quinn"]\n' + GOOD.replace("sleep 1", "lab-quinn"))
    assert quinn in Needs(of).host_files()


def test_values_are_put_into_texts() -> None:
    document = {"a": "{x}", "b": ["{x}{y}", 3], "c": {"d": "${x} {z}"}}
    assert vary.put(document, {"x": True, "y": 2}) == {
        "a": True, "b": ["true2", 3], "c": {"d": "$true {z}"},
    }  # fmt: skip
