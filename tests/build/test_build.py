# SPDX-License-Identifier: GPL-2.0
"""The module builds without a word on all kernels, and refuses others politely."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from kbuild import ROOT, make

from lab.kernels.debian import SERIES, YOUNGER, debian_kernel
from lab.toolchain import matrix


@pytest.mark.parametrize("series", SERIES)
def test_compiler_and_sparse_have_nothing_to_say(series: str, tmp_path: Path) -> None:
    for name in matrix.MODULES["sch_zrtt"]:
        source = ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copyfile
        copy(source, tmp_path / name)
    kernel = debian_kernel(series)
    command = ["-C", str(kernel.build_dir), f"M={tmp_path}", "W=1", "C=2", "modules"]
    done = make(*command, cwd=tmp_path)
    output = (done.stdout + done.stderr).splitlines()
    assert done.returncode == 0, "\n".join(output)
    assert (tmp_path / "sch_zrtt.ko").exists()
    assert any(line.split() == ["CHECK", f"{tmp_path}/sch_zrtt.c"] for line in output)
    said = [line for line in output if re.search("warning|error", line, re.IGNORECASE)]
    assert not [line for line in said if not matrix.HARMLESS.search(line)]


@pytest.mark.parametrize("compiler", matrix.COMPILERS)
def test_compilers_have_nothing_to_say_on_the_newest_kernel(compiler: str) -> None:
    assert matrix.modules("sch_zrtt", YOUNGER, compiler).fault == ""


def fake_headers(folder: Path, release: str) -> Path:
    """What a kernel of another release looks like to make."""
    (folder / "Makefile").write_text(f"kernelrelease:\n\t@echo {release}\n")
    return folder


def test_missing_headers_are_named(tmp_path: Path) -> None:
    done = make("modules", f"KDIR={tmp_path}/none")
    assert done.returncode != 0
    assert f"no kernel headers in {tmp_path}/none" in done.stderr


def test_folder_without_headers_is_named(tmp_path: Path) -> None:
    done = make("modules", f"KDIR={tmp_path}")
    assert done.returncode != 0
    assert f"no kernel headers in {tmp_path}" in done.stderr


@pytest.mark.parametrize("release", ["2.6.32", "4.19.0-27-amd64", "5.10.0", "6.0.19"])
def test_old_kernel_is_refused(tmp_path: Path, release: str) -> None:
    done = make("modules", f"KDIR={fake_headers(tmp_path, release)}")
    assert done.returncode != 0
    assert f"Linux {release} is too old" in done.stderr
    assert "6.1 or newer" in done.stderr


@pytest.mark.parametrize("release", ["6.1.0-56-amd64", "6.12.117+deb12-amd64", "7.1.2", "10.0.0"])
def test_supported_kernel_is_accepted(tmp_path: Path, release: str) -> None:
    assert make("check-kernel", f"KDIR={fake_headers(tmp_path, release)}").returncode == 0
