# SPDX-License-Identifier: GPL-2.0
"""How commands of the laboratory end."""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from swept import PLAIN_CELLS, FakeGuests, do, result_of

from lab import cli
from lab.commands import mininet, parsing
from lab.model.grid import Sweep
from lab.model.scenario import CCS, Scenario
from lab.runs import runner
from lab.trials import stress

ROOT = Path(__file__).resolve().parents[2]
WAITS = """
import time
from types import SimpleNamespace
from lab import cli

def wait(_):
    try:
        print("waits", flush=True)
        time.sleep(600)
    finally:
        print("cleans up", flush=True)

cli.parser = lambda: SimpleNamespace(parse_args=lambda: SimpleNamespace(handler=wait))
raise SystemExit(cli.main())
"""
"""A command that takes ten minutes."""


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    actions = list(parser._actions)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            actions += [a for child in action.choices.values() for a in _actions(child)]
    return actions


def test_help_explains_each_option() -> None:
    actions = [a for a in _actions(cli.parser()) if not isinstance(a, argparse._SubParsersAction)]
    assert len(actions) > 100
    assert [action.dest for action in actions if not action.help] == []


@pytest.mark.parametrize("limit", ["-1", "0", "nan", "inf", "soon"])
@pytest.mark.parametrize("command", ["run", "exec x.toml", "flent x.batch", "mininet", "tdc"])
def test_limit_of_time_is_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, limit: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", *command.split(), f"--timeout={limit}"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert f"--timeout: {limit}: want seconds, more than 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("figures a.csv b.csv", "one CSV table at a time, without JSON of runs"),
        ("figures a.json b.csv", "one CSV table at a time, without JSON of runs"),
        ("report a.csv b.json", "CSV tables and JSON of runs are shown together by --html only"),
    ],
)
def test_files_that_do_not_go_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: str, said: str
) -> None:
    """Rather than called no JSON."""
    monkeypatch.setattr(sys, "argv", ["lab", *words.split()])
    assert cli.main() == 1
    assert capsys.readouterr().err == f"lab: {said}\n"


def test_reader_may_leave(load: Callable[[str], Sweep], tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    do(load(PLAIN_CELLS), path, FakeGuests({}), fresh=True)
    with subprocess.Popen(
        [sys.executable, "-m", "lab", "report", path], cwd=ROOT,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as command:  # fmt: skip
        assert command.stdout
        command.stdout.close()
        assert command.wait(60) == 141
        assert command.stderr
        assert command.stderr.read() == b""


def test_kill_ends_a_command_as_ctrl_c_does() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WAITS], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as command:
        assert command.stdout
        assert command.stdout.readline() == "waits\n"
        command.terminate()
        assert command.wait(60) == 130
        assert command.stdout.read() == "cleans up\n"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        ("--sample nan", "--sample: 0 s or more"), ("--sample -1", "--sample: 0 s or more"),
        ("--warmup inf", "--warmup, --duration: seconds"),
        ("--duration inf", "--warmup, --duration: seconds"),
        ("--qdisc '", "No closing quotation in the qdisc '"),
        ("--back \"", "No closing quotation in the qdisc \""),
        ("--cc=", f"--cc, --background: one of {', '.join(CCS)}; or mix:A,B"),
        ("--cc mix:cubic,", f"--cc, --background: one of {', '.join(CCS)}; or mix:A,B"),
    ],
)  # fmt: skip
def test_nonsense_is_refused(
    words: str, complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "run", *words.split()])
    assert cli.main() == 1
    assert capsys.readouterr().err == f"lab: {complaint}\n"


@pytest.mark.parametrize("minutes", ["-1", "0", "nan"])
def test_stress_takes_some_time(
    minutes: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """nan would be for ever."""
    monkeypatch.setattr(stress, "go_on", lambda *_: pytest.fail("a guest was started"))
    monkeypatch.setattr(sys, "argv", ["lab", "stress", f"--minutes={minutes}"])
    assert cli.main() == 1
    assert capsys.readouterr().err == "lab: --minutes: more than 0\n"


def test_seed_counts_once() -> None:
    """Else it would be run twice, and be of two seeds that are strangely alike."""
    assert parsing.seeds("3,1,3") == [3, 1]


def test_result_is_shown_if_its_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may have taken hours."""
    done = result_of(Scenario(), "", 0.875)
    monkeypatch.setattr(runner, "run", lambda *_, **__: done)
    (tmp_path / "file").touch()
    monkeypatch.setattr(sys, "argv", ["lab", "run", "--json", str(tmp_path / "file" / "r.json")])
    assert cli.main() == 1
    said = capsys.readouterr()
    assert "0.875" in said.out
    assert said.err.endswith(f"lab: {tmp_path}/file/r.json: File exists\n")


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        ("--warmup=nan", "--warmup: more than 2 s"), ("--warmup=inf", "--warmup: more than 2 s"),
        ("--duration=nan", "--duration: > 0"), ("--duration=inf", "--duration: > 0"),
        ("--rate=0bit", "--rate: at least 10kbit"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_before_a_network_is_built(
    option: str, complaint: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(mininet, "_run_here", lambda *_: pytest.fail("built"))
    monkeypatch.setattr(sys, "argv", ["lab", "mininet", "dumbbell", option])
    assert cli.main() == 1
    assert complaint in capsys.readouterr().err
