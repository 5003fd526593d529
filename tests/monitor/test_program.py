# SPDX-License-Identifier: GPL-2.0
"""Command line, man page, installation and units."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from canned import MONITOR, ROOT, Canned, interrupted_program, make_monitor, program
from messages import zrtt

PAGE = MONITOR / "zrtt-mon.8"
UNITS = sorted(MONITOR.glob("*.service")) + sorted(MONITOR.glob("*.timer"))
COLUMNS = 80


@pytest.mark.parametrize(("args", "why"), [
    (["-i0"], "-i must be 0.1 .. 86400 seconds, not 0"),
    (["-i", "nan"], "-i must be 0.1 .. 86400 seconds, not nan"),
    (["-i", "1x"], "-i must be 0.1 .. 86400 seconds, not 1x"),
    (["-n0"], "-n must be 1 .. 2147483647, not 0"),
    (["-n", "99999999999"], "-n must be 1 .. 2147483647, not 99999999999"),
    (["-n", "99999999999999999999"], "-n must be 1 .. 2147483647, not 99999999999999999999"),
    (["-f-1"], "-f must be 0 .. 2147483647, not -1"),
    (["-H-1"], "-H must be 0 .. 2147483647, not -1"),
    (["--prometheus", "-H"], "-H needs a number with --prometheus and --listen"),
    (["--listen", "9788", "--hosts"], "-H needs a number with --prometheus and --listen"),
    (["-s", "name"], "-s must be rate, rtt or prob, not name"),
    (["-j", "--prometheus"], "only one of -j, --prometheus and --listen"),
    (["--listen", "9788", "-j"], "only one of -j, --prometheus and --listen"),
    (["--prometheus", "-i2"], "-i, -n, -f and -s are for the view and for -j"),
    (["--listen", "9788", "-f"], "-i, -n, -f and -s are for the view and for -j"),
    *[(["--listen", bad], f"--listen must be [ADDRESS:]PORT, not {bad}")
      for bad in ("", "x", "0", "65536", "-1", "80x", ":80", "host:80", "1.2.3:80", "::1:80",
                  "[::1:80", "[]:80", "[127.0.0.1]:80", "[" + "f" * 99 + "]:80")],
    (["--frobnicate"], "unrecognized option '--frobnicate'"),
])  # fmt: skip
def test_wrong_command_line(kernel: Canned, args: list[str], why: str) -> None:
    said = kernel.run(*args)
    first, usage, *_ = said.err.splitlines()
    assert (said.status, said.out, first) == (2, "", f"zrtt-mon: {why}")
    assert usage.startswith("Usage: zrtt-mon ")


def test_help_and_version(kernel: Canned) -> None:
    assert kernel.run("--help").out.startswith("Usage: zrtt-mon ")
    version = re.search(r'PACKAGE_VERSION="(.*)"', (ROOT / "dkms.conf").read_text())
    assert version and kernel.run("--version").out == f"zrtt-mon {version[1]}\n"


def test_help_explains_each_option(kernel: Canned) -> None:
    """Each that the program takes, with its short form, in lines that fit a terminal."""
    text = kernel.run("--help").out
    code = (MONITOR / "options.c").read_text()
    options = re.findall(r'\{ "(\w+)",\s*(\w+)_argument,\s*NULL,\s*(\w+|\'\w\') \}', code)
    assert len(options) == 10
    for name, argument, short in options:
        letter = rf"-{short[1]}, " if "'" in short else " {4}"
        takes = {"no": "", "required": r" \S+", "optional": r"\[=\S+\]\S*.*?"}[argument]
        assert re.search(rf"(?m)^  {letter}--{name}{takes}(?:\n {{20,}}| {{2,}})\w", text), name
    assert "--frobnicate" not in text
    assert max(map(len, text.partition("\n\n")[2].splitlines())) < COLUMNS


@pytest.mark.parametrize("args", [["-i0.1"], ["-jn1"], ["-jn2", "-i0.1"], ["--prometheus"]])
def test_no_zrtt(kernel: Canned, args: list[str]) -> None:
    said = kernel.run(*args)
    assert (said.status, said.err) == (1, "zrtt-mon: no zrtt on any device\n")


def test_no_zrtt_on_that_device(kernel: Canned) -> None:
    said = kernel.run("-jn1", "lo")
    assert (said.status, said.err) == (1, "zrtt-mon: no zrtt on these devices\n")


def test_unknown_device(kernel: Canned) -> None:
    kernel.say([zrtt()])
    said = kernel.run("-jn1", "lo", "eth-none")
    assert (said.status, said.err) == (2, "zrtt-mon: eth-none: no such device\n")


def test_only_given_devices_are_shown(kernel: Canned) -> None:
    kernel.say([zrtt()])
    assert kernel.run("-jn1", "lo").status == 0


def test_full_disk_is_reported(kernel: Canned) -> None:
    kernel.say([zrtt()])
    for form in ("-jn1 lo", "--prometheus", "-i0.1"):
        done = subprocess.run(
            f"{program()} {form} >/dev/full", shell=True, env=kernel.environment,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (
            2, "zrtt-mon: standard output: No space left on device\n",
        )  # fmt: skip


@pytest.mark.parametrize(("interrupted", "status", "why"), [
    (0, 1, "no zrtt on any device"), (9, 1, "no zrtt on any device"),
    (10, 2, "Dump inconsistency detected, interrupted"),
])  # fmt: skip
def test_interrupted_dumps_are_repeated(interrupted: int, status: int, why: str) -> None:
    """Here, where there is no zrtt."""
    done = subprocess.run(
        [interrupted_program(), "-jn1"], env=os.environ | {"INTERRUPTED": str(interrupted)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (status, f"zrtt-mon: {why}\n")


# Man page


@pytest.mark.parametrize("command", [["man", "--warnings", "-l"], ["mandoc", "-Tlint"]])
def test_man_page_formats_silently(command: list[str]) -> None:
    done = subprocess.run(
        [*command, PAGE], check=True, capture_output=True, text=True,
        env=os.environ | {"LC_ALL": "C.UTF-8", "MANWIDTH": str(COLUMNS)},
    )  # fmt: skip
    assert done.stderr + (done.stdout if command[0] == "mandoc" else "") == ""


def test_man_page_has_all_options() -> None:
    page = PAGE.read_text().replace("\\-", "-")
    section = page.split(".SH OPTIONS")[1].split(".SH ")[0]
    options = re.findall(r'\{ "(\w+)",', (MONITOR / "options.c").read_text())
    assert len(options) >= 10
    for option in options:
        assert f"--{option}" in section, option


def test_man_page_has_all_metrics(kernel: Canned) -> None:
    kernel.say([zrtt()])
    page = PAGE.read_text()
    for name in re.findall(r"^# TYPE (\w+)", kernel.run("--prometheus", "-H1").out, re.MULTILINE):
        assert name in page, name


def test_man_page_fits() -> None:
    assert max(map(len, PAGE.read_text().splitlines())) <= COLUMNS


# Installation


def test_install_and_uninstall(tmp_path: Path) -> None:
    places = {
        "DESTDIR": f"{tmp_path}/root",
        "PREFIX": "/usr/local",
        "MANDIR": "/usr/local/share/man",
        "OUT": f"{ROOT}/out/monitor",
    }

    def installed() -> list[str]:
        root = tmp_path / "root"
        return sorted(str(p.relative_to(root)) for p in root.rglob("*") if p.is_file())

    make_monitor("install", **places)
    assert installed() == [
        "usr/local/lib/systemd/system/zrtt-mon-textfile.service",
        "usr/local/lib/systemd/system/zrtt-mon-textfile.timer",
        "usr/local/lib/systemd/system/zrtt-mon.service",
        "usr/local/sbin/zrtt-mon",
        "usr/local/share/bash-completion/completions/zrtt-mon",
        "usr/local/share/man/man8/zrtt-mon.8",
        "usr/local/share/zrtt/grafana-zrtt.json",
    ]
    unit = tmp_path / "root/usr/local/lib/systemd/system/zrtt-mon.service"
    assert "ExecStart=/usr/local/sbin/zrtt-mon " in unit.read_text()
    make_monitor("uninstall", **places)
    assert installed() == []


@pytest.fixture(scope="module")
def units(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """As installed, but for a program that is there and a page that is not."""
    folder = tmp_path_factory.mktemp("units")
    for unit in UNITS:
        text = unit.read_text().replace("@SBINDIR@/zrtt-mon", "/bin/true")
        (folder / unit.name).write_text(text.replace("Documentation=man:zrtt-mon(8)\n", ""))
    return sorted(folder.iterdir())


def test_systemd_accepts_the_units(units: list[Path]) -> None:
    done = subprocess.run(
        ["systemd-analyze", "verify", *units], capture_output=True, text=True, check=False
    )
    ours = [line for line in done.stderr.splitlines() if "zrtt" in line]
    assert (done.returncode, ours) == (0, [])


def test_service_is_sandboxed(units: list[Path]) -> None:
    service = next(unit for unit in units if unit.name == "zrtt-mon.service")
    command = ["systemd-analyze", "security", "--offline=yes", "--threshold=15", service]
    subprocess.run(command, check=True, capture_output=True)
