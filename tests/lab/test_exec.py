# SPDX-License-Identifier: GPL-2.0
"""Programs of this machine in the laboratory's network: files, errors, and the meter's figures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from lab.engines.initramfs import libraries
from lab.exec import figures, needs, network, plan, rtts, runner, sockets
from lab.exec.figures import Counts, Tuple, upper_edge_us
from lab.exec.needs import Needs
from lab.exec.rtts import Rtt
from lab.model.options import ScenarioError

ROOT = Path(__file__).resolve().parents[2]
GUEST = Path(__file__).parent / "guest"
SCENARIOS = sorted((ROOT / "lab/scenarios").rglob("*.toml"))
TOP = 'rate = "1mbit"\nduration = 3\n'
HOSTS = '[hosts]\na = { side = "left", rtt = "20ms" }\nb = { side = "right" }\n'
COMMAND = '[[command]]\nname = "first"\nhost = "a"\nrun = "sleep 1"\n'
GOOD = TOP + HOSTS + COMMAND
SECOND = COMMAND.replace("first", "second")

PACKETS, PAYLOAD_BYTES, GAP_S = 1500, 958, 0.004
"""1000 bytes with their headers, so 2 Mbit/s."""
LIMIT_PACKETS = 10
FLOOD = f"""
rate = "1mbit"
duration = 8
[hosts]
a = {{ side = "left", rtt = "20ms" }}
b = {{ side = "right", cc = "bbr" }}
[[command]]
name = "counts"
host = "b"
run = "python3 counts.py 7000"
files = ["counts.py"]
listen = "udp 7000"
[[command]]
name = "sends"
host = "a"
run = "python3 sends.py b 7000 {PACKETS} {PAYLOAD_BYTES} {GAP_S}"
files = ["sends.py"]
ends = true
start = 0.5
"""

STARVED = FLOOD.replace("duration = 8", "warmup = 3\nduration = 8").replace(
    f"{PACKETS} {PAYLOAD_BYTES} {GAP_S}", f"{10 * PACKETS} {PAYLOAD_BYTES} {GAP_S / 5}"
).replace("ends = true", "") + """
[[command]]
name = "reads"
host = "b"
run = '''python3 -c "import socket; c = socket.create_server(('', 7001)).accept()[0]
while c.recv(65536): pass"'''
listen = "tcp 7001"
[[command]]
name = "writes"
host = "a"
run = '''python3 -c "import socket; c = socket.create_connection(('b', 7001))
while c.send(bytes(65536)): pass"'''
[flows]
min_rate = "1.5mbit"
"""
"""Ten times the rate of UDP, half a second after a connection began."""

SPOOFED = """
rate = "10mbit"
rate_back = "10mbit"
duration = 1
""" + HOSTS + "".join(
    f"""
[[command]]
name = "{kind}"
host = "a"
run = "python3 flood.py b {kind} {length} 4"
files = ["flood.py"]
[classes.{kind}]
protocol = "{protocol}"
port = 9
"""
    for kind, protocol, length in (("udp", "udp", 50), ("syn", "tcp", 100))
)
"""10,000 and 5,000 packets, each of another sender."""

Load = Callable[[str], plan.Plan]


@pytest.fixture
def read(tmp_path: Path) -> Load:
    """Reads a file of that text."""

    def load(text: str) -> plan.Plan:
        path = tmp_path / "own.toml"
        path.write_text(text)
        (found,) = plan.load(path)
        return found

    return load


def lab(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """The command, as one types it."""
    command = [sys.executable, "-m", "lab", "exec", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_file_is_read(read: Load) -> None:
    found = read(
        TOP + 'rate_back = "500kbit"\nwarmup = 2.5\necn = false\npackages = ["curl"]\n'
        '[flows]\nmin_rate = "5kbit"\npresent = 0.5\n' + HOSTS + 'c = { side = "left", cc = "bbr" }\n'
        + COMMAND.replace('"sleep 1"', '"sh -c \'echo a b\'"') + 'start = 1\nends = true\n'
        'programs = ["cat"]\nzeros = { big = "3 MB" }\n'
        + SECOND + 'listen = "udp 53"\n[classes]\ndns = { host = "a", protocol = "udp", port = 53 }\n'
    )  # fmt: skip
    assert (found.rate_bps, found.rate_back_bps, found.total_s) == (1_000_000, 500_000, 5.5)
    assert (found.ecn, found.min_rate_bps, found.present) == (False, 5000, 0.5)
    a, b, c = found.hosts
    assert (a.address, b.address, c.address) == ("10.0.0.2", "10.1.0.2", "10.0.1.2")
    assert (a.rtt_ms, b.rtt_ms, a.cc, c.cc) == (20.0, 0.0, "cubic", "bbr")
    first, second = found.commands
    assert first.words == ("sh", "-c", "echo a b")
    assert (first.start_s, first.ends, first.programs) == (1.0, True, ("cat",))
    assert first.zeros == {"big": 3_000_000}
    assert second.listen == plan.Endpoint("udp", 53)
    assert found.classes == (plan.Class("dns", "a", "udp", 53),)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("rate =\n", r"own\.toml: .*line 1"),
        (TOP.replace("duration", "duratoin") + HOSTS + COMMAND, r":2: duratoin: unknown"),
        (TOP.replace('"1mbit"', '"1mb"') + HOSTS + COMMAND, r":1: rate: bad rate '1mb'"),
        (TOP.replace('"1mbit"', '"1kbit"') + HOSTS + COMMAND, r":1: rate: at least 10kbit"),
        (TOP.replace("3", "0") + HOSTS + COMMAND, r":2: duration: want 1 to"),
        (TOP.replace("3", "true") + HOSTS + COMMAND, r":2: duration: want a number"),
        (HOSTS + COMMAND, r"own\.toml: rate: is missing"),
        (TOP + COMMAND, r"hosts: is missing"),
        (TOP + HOSTS, r"command: is missing"),
        (TOP + "hosts = 1\n" + COMMAND, r":3: hosts: want a table"),
        ("classes = 1\n" + GOOD, r":1: classes: want a table"),
        (TOP + HOSTS + "[command]\n", r":6: command: want \[\[command\]\]"),
        (GOOD.replace('"right"', '"middle"'), r":5: hosts\.b\.side: want \"left\" or \"right\""),
        (GOOD.replace('"right"', '"left"'), r":3: hosts: none has side = \"right\""),
        (GOOD.replace('"20ms"', "20"), r":4: hosts\.a\.rtt: want text"),
        (GOOD.replace('"20ms"', '"5s"'), r":4: hosts\.a\.rtt: want 0 to 4 s"),
        (GOOD.replace("b = {", "router = {"), r":5: hosts\.router: a name has"),
        (GOOD.replace("b = {", "b = { cc = 'tahoe',"), r":5: hosts\.b\.cc: one of reno"),
        (GOOD.replace('host = "a"', 'host = "q"'), r":8: command\[1\]\.host: no host q; one of a, b"),
        (GOOD + SECOND.replace("host", "hots"), r":12: command\[2\]\.hots: unknown"),
        (GOOD + COMMAND, r":11: command\[2\]\.name: there is a first already"),
        (GOOD + "run = 1\n", r"own\.toml: Cannot overwrite a value \(at line 10"),
        (GOOD.replace('"sleep 1"', "\"sh 'a\""), r":9: command\[1\]\.run: No closing quotation"),
        (GOOD.replace('"sleep 1"', '" "'), r":9: command\[1\]\.run: empty"),
        (GOOD + SECOND + "start = 4\n", r":14: command\[2\]\.start: want 0 to 3"),
        (GOOD + 'listen = "tcp http"\n', r":10: command\[1\]\.listen: want \"tcp PORT\""),
        (GOOD + 'listen = "tcp 80"\nstart = 1\n', r":11: command\[1\]\.start: not with listen"),
        (GOOD + 'files = ["nothing"]\n', r":10: command\[1\]\.files: there is no file .*/nothing"),
        (GOOD + 'files = ["/no/such"]\n', r":10: command\[1\]\.files: there is no file /no/such"),
        (GOOD + 'zeros = { "../x" = "1MB" }\n', r"command\[1\]\.zeros\.\.\./x: a name without /"),
        (GOOD + 'zeros = { x = "1" }\n', r":10: command\[1\]\.zeros\.x: want a number and one of kB"),
        (GOOD + "[classes]\nx = { port = 0 }\n", r":11: classes\.x\.port: want 1 to 65535"),
        (GOOD + '[classes]\nx = { host = "z" }\n', r":11: classes\.x\.host: no host z"),
        (GOOD + "[flows]\npresent = 2\n", r":11: flows\.present: want 0 to 1"),
        ('packages = ["-y"]\n' + GOOD, r":1: packages: -y is no name of a Debian package"),
    ],
)  # fmt: skip
def test_wrong_file_names_line_and_key(read: Load, text: str, complaint: str) -> None:
    with pytest.raises(ScenarioError) as error:
        read(text)
    assert re.search(complaint, str(error.value)), error.value


def test_wrong_file_ends_the_command(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text(GOOD.replace('host = "a"', 'host = "q"'))
    done = lab(path)
    assert done.returncode == 1
    assert done.stderr == f"lab: {path}:8: command[1].host: no host q; one of a, b\n"


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_examples_are_read(path: Path) -> None:
    for found in plan.load(path):
        assert found.commands
        assert network.script(found, ["zrtt"], {c.name: "/x" for c in found.commands}, "")


def test_absent_program_is_named(read: Load) -> None:
    wanted = read(GOOD.replace("sleep 1", "no-such-program 1"))
    with pytest.raises(ScenarioError, match=r":9: first: there is no program no-such-program"):
        Needs(wanted).host_files()


def test_programs_come_with_what_they_need(read: Load, tmp_path: Path) -> None:
    """A script beside the file, with its interpreter; binaries with their libraries."""
    script = tmp_path / "own.sh"
    script.write_text("#!/usr/bin/env bash\n")
    script.chmod(0o755)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "inside").write_text("")
    wanted = read(GOOD.replace("sleep 1", "./own.sh") + f'files = ["{tmp_path}/data", "own.sh"]\n')
    found = Needs(wanted)
    files = found.host_files()
    bash = Path(shutil.which("bash", path=needs.PATH) or "")
    assert {script, bash, *libraries(bash), tmp_path / "data" / "inside"} <= set(files)
    assert libraries(bash)
    assert found.lab_files(sees_host=False) == {"data/first/own.sh": script}


def test_static_program_needs_nothing(read: Load) -> None:
    busybox = Path(shutil.which("busybox", path=needs.PATH) or "")
    assert Needs(read(GOOD.replace("sleep 1", "busybox sleep 1"))).host_files() == [busybox]


def test_guest_without_this_machines_files_has_pythons_library(read: Load) -> None:
    found = Needs(read(GOOD.replace("sleep 1", "python3 -c 1")))
    assert "PYTHONHOME" in found.environment(sees_host=False)
    assert any(name.endswith("/socket.pyc") for name in found.lab_files(sees_host=False))
    assert found.lab_files(sees_host=True) == {}


@pytest.mark.parametrize(
    ("said", "paths"),
    [
        ("cat: can't open '/etc/passwd': No such file or directory", ["/etc/passwd"]),
        ("open /etc/passwd: No such file or directory", ["/etc/passwd"]),
        ("open /no/such: No such file or directory", []),
        ("connect: refused", []),
    ],
)
def test_file_that_a_guest_lacks_is_named(said: str, paths: list[str]) -> None:
    assert runner.absent(said) == paths


def test_percentiles_are_upper_edges() -> None:
    """32 buckets of 1 us, then 32 in each octave."""
    assert [upper_edge_us(bucket) for bucket in (0, 31, 32, 63, 64, 95)] == [1, 32, 33, 64, 66, 128]
    counts = Counts(packets_out=100, max_us=127, buckets={10: 50, 64: 45, 95: 5})
    assert counts.percentile_ms(0.5) == 0.011
    assert counts.percentile_ms(0.95) == 0.066
    assert counts.percentile_ms(0.99) == 0.127
    twice = Counts.total([counts, counts])
    assert (twice.packets_out, twice.max_us, twice.buckets[64]) == (200, 127, 90)


def test_classes_are_told_apart(read: Load) -> None:
    wanted = read(
        TOP + HOSTS + COMMAND + 'listen = "tcp 80"\n[classes]\nown = { host = "b", port = 9 }\n'
    )
    names = figures._Names(wanted)

    def of(sport: int, dport: int, protocol: str = "tcp") -> str:
        ends = Tuple(protocol, "10.0.0.2", sport, "10.1.0.2", dport, 0, 0, Counts())
        return names.class_of(ends)

    assert of(80, 40000) == "first"
    assert of(80, 9) == "own"
    assert of(80, 40000, "udp") == "a"
    assert of(40000, 80) == "a"
    assert names.end("10.1.0.2", 9) == "b:9"


def test_rtts_that_the_qdisc_sees_are_beside_those_of_the_path(read: Load) -> None:
    wanted = read(TOP + HOSTS + COMMAND)
    classes = """\
class zrtt 3:1 parent 3: rtt 23.1ms source quic rate 4Mbit prob 0.01 udp 10.0.0.2:443 > 10.1.0.2:40
class zrtt 3:2 parent 3: rtt 934us source handshake rate 1Kbit prob 0 tcp 10.1.0.2:40 > 10.9.0.9:80
class zrtt 3:3 parent 3: rtt 0us source none rate 1Kbit prob 0
class fq_codel 3:4 parent 3: tcp 10.0.0.2:443 > 10.1.0.2:40
"""
    near_ms, _ = (host.rtt_ms for host in wanted.hosts)
    assert rtts.read(wanted, classes) == {
        ("udp", "10.0.0.2", 443, "10.1.0.2", 40): Rtt(23.1, "quic", near_ms),
        ("tcp", "10.1.0.2", 40, "10.9.0.9", 80): Rtt(0.934, "handshake", 0),
    }


def _sockets(*rows: str) -> str:
    head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n"
    return head + "".join(f"   0: {row}:00000000 00:00000000\n" for row in rows)


def test_sockets_with_something_to_send_are_known(read: Load) -> None:
    """At both times, and over the queue; IPv6 sockets, and a SYN-ACK that nobody answered."""
    wanted = read(GOOD.replace("duration = 3", "warmup = 1\nduration = 20"))
    assert sockets.times_s(wanted) == pytest.approx((5, 21))
    mapped = "0000000000000000FFFF0000"
    one = f"{mapped}0200000A:0050 {mapped}0200010A:9C40 01 00000010"
    answered = "0200000A:0051 0200010A:9C40 03 00000000"
    idle = "0200000A:0052 0200010A:9C40 01 00000000"
    inside = "0200000A:0053 0200000A:9C40 01 00000010"
    early = "0200000A:0054 0200010A:9C40 01 00000010"
    first, last = _sockets(one, answered, idle, inside, early), _sockets(answered, inside, one)
    ends = ("10.0.0.2", 80, "10.1.0.2", 40000)
    assert sockets.waiting(wanted, first, last) == {
        ("tcp", *ends), ("tcp", "10.0.0.2", 81, "10.1.0.2", 40000),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("payload_in", "last_s", "waits", "counted"),
    [
        (2000, 3, False, False), (4000, 3, False, True), (4000, 1, False, False),
        (0, 0, True, True), (2000, 1, True, True),
    ],
)  # fmt: skip
def test_who_would_send_more_counts(
    read: Load, payload_in: int, last_s: float, waits: bool, counted: bool
) -> None:
    """10 kbit/s are 3750 bytes in 3 s; none of them leaves."""
    wanted = read(GOOD)
    of = Tuple("tcp", "10.0.0.2", 1, "10.1.0.2", 2, 0, last_s, Counts(payload_in=payload_in))
    waiting = {of.ends} if waits else set()
    flow = figures._flow(of, figures._Names(wanted), 3.0, wanted, {}, waiting)
    assert (flow.goodput_mbps, flow.counted) == (0, counted)


@pytest.fixture(scope="module")
def flood(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict, Path]:
    """Twice the rate into a queue of ten packets: its JSON, and what the programs left."""
    folder = tmp_path_factory.mktemp("flood")
    path = folder / "flood.toml"
    path.write_text(FLOOD)
    for name in ("sends.py", "counts.py"):
        shutil.copy(GUEST / name, folder)
    words = ("--qdisc", f"pfifo limit {LIMIT_PACKETS}", "--out", folder, "--json", folder / "json")
    done = lab(path, *words)
    assert done.returncode == 0, done.stderr
    assert "Jain" in done.stdout and f"Files: {folder}" in done.stdout
    return json.loads((folder / "json").read_text()), folder


@pytest.mark.guest
def test_meter_and_programs_agree(flood: tuple[dict, Path]) -> None:
    result, folder = flood
    (direction,) = result["directions"]
    (flow,) = direction["flows"]
    assert (folder / "sends" / "stdout").read_text() == f"sent {PACKETS}\n"
    received = int((folder / "counts" / "received").read_text())
    assert 0.4 * PACKETS < received < 0.7 * PACKETS
    assert (flow["packets"], flow["lost"]) == (PACKETS, PACKETS - received)
    mbps = received * PAYLOAD_BYTES * 8 / direction["seconds"] / 1e6
    assert flow["goodput_mbps"] == pytest.approx(mbps)
    assert direction["seconds"] == pytest.approx(8, abs=0.05)


@pytest.mark.guest
def test_sojourn_is_that_of_a_full_queue(flood: tuple[dict, Path]) -> None:
    """Ten packets, each of which takes 8 ms."""
    result, _ = flood
    (of,) = result["directions"][0]["classes"]
    assert (of["name"], of["flows"]) == ("counts", 1)
    full_ms = LIMIT_PACKETS * 8.0
    assert of["sojourn_ms"]["p50"] == pytest.approx(full_ms, rel=0.08)
    assert of["sojourn_ms"]["max"] <= full_ms * 1.02
    assert of["sojourn_ms"]["p50"] <= of["sojourn_ms"]["p95"] <= of["sojourn_ms"]["max"]


@pytest.mark.guest
def test_who_is_starved_counts(tmp_path: Path) -> None:
    """UDP of which less than min_rate gets through, and TCP that would send more if it could."""
    path = tmp_path / "own.toml"
    path.write_text(STARVED)
    for name in ("sends.py", "counts.py"):
        shutil.copy(GUEST / name, tmp_path)
    done = lab(path, "--qdisc", f"pfifo limit {LIMIT_PACKETS}", "--json", tmp_path / "json",
               "--out", tmp_path / "out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (direction,) = json.loads((tmp_path / "json").read_text())["directions"]
    udp, tcp = (flow for flow in direction["flows"] if flow["counted"])
    assert (udp["protocol"], tcp["protocol"]) == ("udp", "tcp")
    assert tcp["goodput_mbps"] < 0.02 < 0.8 < udp["goodput_mbps"] < 1
    assert direction["jain"] == pytest.approx(0.5, abs=0.02)
    assert "> b:7001  *" in done.stdout


@pytest.mark.guest
def test_spoofed_senders_are_one(tmp_path: Path) -> None:
    """There are more than the meter has room for, and nobody answers them."""
    path = tmp_path / "own.toml"
    path.write_text(SPOOFED)
    shutil.copy(ROOT / "lab/scenarios/flood.py", tmp_path)
    done = lab(path, "--qdisc", "pfifo", "--json", tmp_path / "json", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    right, left = json.loads((tmp_path / "json").read_text())["directions"]
    assert [flow["source"] for flow in right["flows"]] == ["172.16.0.0"] * 2
    packets = {flow["flow_class"]: flow["packets"] for flow in right["flows"]}
    assert packets == {"udp": pytest.approx(10000, rel=0.05), "syn": pytest.approx(5000, rel=0.05)}
    assert not left["flows"]


@pytest.mark.guest
def test_files_come_back(flood: tuple[dict, Path]) -> None:
    """But not those that a command was given."""
    result, folder = flood
    assert {path.name for path in (folder / "counts").iterdir()} == {"received", "stdout", "stderr"}
    assert result["ended"] == {"counts": None, "sends": 0}


def _fails(tmp_path: Path, run: str, *words: str, more: str = "") -> str:
    """What the command says of a program that fails."""
    path = tmp_path / "own.toml"
    path.write_text(TOP + HOSTS + COMMAND.replace('"sleep 1"', json.dumps(run)) + more)
    done = lab(path, "--qdisc", "pfifo", "--out", tmp_path / "out", *words)
    assert done.returncode == 1, done.stdout
    return done.stderr.replace(f"{path}", "FILE")


@pytest.mark.guest
def test_program_that_spins_is_ended_with_its_guest(tmp_path: Path) -> None:
    """In virtual time, its clock stands still."""
    said = _fails(tmp_path, "sh -c 'echo here I spin; while :; do :; done'", "--timeout", "8")
    assert "first: here I spin\n" in said
    assert "lab: FILE: guest exceeded 8 s" in said


@pytest.mark.guest
@pytest.mark.parametrize(
    ("run", "more", "complaint"),
    [
        ("sh -c 'echo oh >&2; exit 3'", "", "lab: FILE:9: first failed with status 3"),
        ("sh -c 'echo oh; sleep 99'", "ends = true", "lab: FILE:9: first had not ended by the end"),
        ("sh -c 'echo oh; sleep 99'", 'listen = "tcp 80"', "lab: FILE:9: first does not listen"),
        ("sh -c 'echo oh'", 'listen = "tcp 80"', "lab: FILE:9: first ended before it listened"),
    ],
)
def test_program_that_fails_has_the_last_word(
    tmp_path: Path, run: str, more: str, complaint: str
) -> None:
    said = _fails(tmp_path, run, more=more + "\n")
    assert "first: oh\n" in said
    assert complaint in said


@pytest.mark.guest
def test_emulated_guest_has_programs_files_and_names(tmp_path: Path) -> None:
    """Nothing but what was copied: a script, git with its libraries, a file of this machine, data."""
    (tmp_path / "data").write_text("mine\n")
    path = tmp_path / "own.toml"
    script = tmp_path / "own.sh"
    script.write_text(
        "#!/bin/sh\ngit --version && cat data /etc/debian_version && ping -c 1 b && mkdir sub"
        " && cat /proc/sys/net/ipv4/tcp_congestion_control && echo left >sub/file\n"
    )
    script.chmod(0o755)
    path.write_text(
        TOP + HOSTS.replace('"20ms"', '"20ms", cc = "bbr"') + COMMAND.replace("sleep 1", "./own.sh")
        + 'programs = ["git"]\nfiles = ["data", "/etc/debian_version"]\nends = true\n'
    )  # fmt: skip
    out = tmp_path / "out"
    done = lab(path, "--qdisc", "fq_codel", "--kernel", "6.12", "--out", out)
    assert done.returncode == 0, done.stderr
    said = (out / "first" / "stdout").read_text()
    assert said.startswith("git version ")
    assert f"mine\n{Path('/etc/debian_version').read_text()}PING b (10.1.0.2)" in said
    assert said.endswith("\nbbr\n")
    assert (out / "first" / "sub" / "file").read_text() == "left\n"
    assert "1 slower flows: in the JSON" in done.stdout
