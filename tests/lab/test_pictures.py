# SPDX-License-Identifier: GPL-2.0
"""Whichever Python starts the laboratory: pictures are drawn, or one line says why they are not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pytest
from PIL import Image
from swept import result_of

from lab import cli, interpreter
from lab.flent import plots, tools
from lab.flent.plots import DataFile, Painter
from lab.host import files
from lab.model.scenario import Scenario
from lab.output import pictures
from lab.results import report, table

ROOT = Path(__file__).resolve().parents[2]
SCENARIO = Scenario(rtts_ms=(20.0, 40.0), hint="none")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two runs as lab demo keeps them."""
    path = tmp_path / "demo.json"
    report.save([report.Run(name, result_of(SCENARIO, "", 0.9)) for name in ("zrtt", "pie")], path)
    return path


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python without matplotlib."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python3"
    done = subprocess.run([python, "-c", "import matplotlib"], capture_output=True, check=False)
    assert done.returncode
    return python


def lab(python: Path | str, *words: Path | str, **environment: str) -> tuple[int, str]:
    """Exit status and standard error."""
    done = subprocess.run(
        [python, "-m", "lab", *words], cwd=ROOT, env=os.environ | environment, text=True,
        capture_output=True, check=False, timeout=600,
    )  # fmt: skip
    return done.returncode, done.stderr


# Which Python


def test_other_python_draws_too(bare: Path, runs: Path, tmp_path: Path) -> None:
    picture = tmp_path / "with a space.png"
    assert lab(bare, "report", runs, "--png", picture) == (0, "")
    pictures.check(picture)


def test_python_is_passed_on_once(bare: Path, runs: Path, tmp_path: Path) -> None:
    """As if the system's Python had no matplotlib, either."""
    picture = tmp_path / "x.png"
    environment = {interpreter.PASSED_ON: "1"}
    status, said = lab(bare, "report", runs, "--png", picture, **environment)
    assert status == 1
    assert said.startswith(f"lab: no matplotlib in {bare}") and said.count("\n") == 1
    assert not picture.exists()
    assert lab(bare, "report", runs, **environment) == (0, "")


@pytest.mark.parametrize("name", ["p.xyz", "p", ".png"])
@pytest.mark.parametrize("words", [["report", "x.json", "--png"], ["bench", "--plot"]])
def test_name_of_a_picture_says_how_it_is_drawn(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str], name: str
) -> None:
    """Not after what is to be drawn was measured."""
    monkeypatch.setattr(sys, "argv", ["lab", *words, name])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert f"{words[-1]}: {name}: the name of a picture ends in .png or .svg" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("suits", "passed_on", "system", "goes_on"),
    [
        (False, False, sys.executable, True),
        (True, False, sys.executable, False),
        (False, True, sys.executable, False),
        (False, False, "/none/python3", False),
    ],
)
def test_when_python_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, suits: bool, passed_on: bool, system: str, goes_on: bool
) -> None:
    started: list[tuple[str, list[str], str]] = []
    monkeypatch.setattr(sys, "argv", ["lab", "report", "a b", "--png=x"])
    monkeypatch.setattr(interpreter, "SYSTEM", system)
    monkeypatch.setattr(interpreter, "suits", lambda: suits)
    monkeypatch.setattr(
        interpreter.os, "execve",
        lambda path, words, env: started.append((path, words, env[interpreter.PASSED_ON])),
    )  # fmt: skip
    monkeypatch.delenv(interpreter.PASSED_ON, raising=False)
    if passed_on:
        monkeypatch.setenv(interpreter.PASSED_ON, "1")
    interpreter.choose()
    command = [system, "-m", "lab", "report", "a b", "--png=x"]
    assert started == ([(system, command, "1")] if goes_on else [])
    assert interpreter.PASSED_ON not in os.environ


# What flent draws


def painter(monkeypatch: pytest.MonkeyPatch, folder: Path, does: str) -> Painter:
    """With a flent that does this; the last word of its command is the file to draw to."""
    package = folder / "package" / "flent"
    (package / "tests").mkdir(parents=True)
    (package / "__init__.py").touch()
    program = "import sys, os, pathlib\npath = pathlib.Path(sys.argv[sys.argv.index('-o') + 1])\n"
    (package / "__main__.py").write_text(program + does)
    monkeypatch.setattr(tools, "flent", lambda: package.parent)
    return Painter()


DRAWS = "from PIL import Image; Image.new('RGB', (2, 2)).save(path)\n"
COMPLAINS = "print('ERROR: Unable to plot', file=sys.stderr)\n"


@pytest.mark.parametrize(
    ("does", "why"),
    [
        ("path.touch()\n", "no picture"),
        ("path.write_bytes(b'PNG')\n", "no picture"),
        (DRAWS + "path.write_bytes(path.read_bytes()[:-20])\n", "no picture"),
        ("pass\n", "No such file"),
        (DRAWS + COMPLAINS, "ERROR: Unable to plot"),
        (DRAWS + "sys.exit('crashed')\n", "crashed"),
        (DRAWS + "sys.exit(3)\n", "status 3"),
    ],
)
def test_no_picture_of_flent_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, does: str, why: str
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    file = DataFile(out / "a.flent.gz", "some_test", ())
    monkeypatch.setattr(plots.DataFile, "read", lambda path: file)
    (out / "a.png").write_text("of an earlier run")
    with pytest.raises((tools.FlentError, pictures.PictureError), match=why) as failure:
        painter(monkeypatch, tmp_path, does).draw_all([file.path])
    assert "\n" not in str(failure.value)
    assert list(out.iterdir()) == []


def test_picture_of_flent_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = DataFile(tmp_path / "a.flent.gz", "some_test", ())
    monkeypatch.setattr(plots.DataFile, "read", lambda path: file)
    (picture,) = painter(monkeypatch, tmp_path, DRAWS).draw_all([file.path])
    assert picture == tmp_path / "a.png"
    with Image.open(picture) as image:
        assert image.size == (2, 2)


# Files


def crash(*_: object, **__: object) -> NoReturn:
    raise OSError(28, "No space left on device")


def test_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.txt"
    with pytest.raises(RuntimeError), files.whole(path) as part:
        part.write_text("half")
        raise RuntimeError
    assert list(path.parent.iterdir()) == []
    files.write(path, "before")
    with pytest.raises(files.FileError, match=f"{path}: No space left"), files.whole(path) as part:
        part.write_text("half")
        crash()
    with pytest.raises(files.FileError, match="nothing was written"):
        files.write(path, "")
    assert path.read_text() == "before"
    assert [path] == list(path.parent.iterdir())


@pytest.mark.parametrize("option", ["--png", "--html"])
def test_full_disk_is_told(
    option: str, runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(files.os, "replace", crash)
    path = tmp_path / "out" / "x.file"
    monkeypatch.setattr(sys, "argv", ["lab", "report", str(runs), option, str(path)])
    if option == "--png":
        path = path.with_suffix(".png")
        sys.argv[-1] = str(path)
    assert cli.main() == 1
    assert capsys.readouterr().err == f"lab: {path}: No space left on device\n"
    assert list(path.parent.iterdir()) == []


def test_no_table_without_runs(tmp_path: Path) -> None:
    with table.opened(tmp_path / "t.csv"):
        assert (tmp_path / "t.csv").exists()
    assert list(tmp_path.iterdir()) == []
