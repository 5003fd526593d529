# SPDX-License-Identifier: GPL-2.0
"""The modules in guests: who may use them, their parameters, transfers, unloading."""

from __future__ import annotations

import re
import subprocess
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import pytest
from arithmetic import HERE, OUT, ROOT

from lab.engines.script import run_script
from lab.kernels.kernel import KERNELS

NAMES = ("libra", "nrhstcp", "exp", "prague")
MODULES = ("tcp_libra", "tcp_nrhstcp", "tcp_exp", "tcp_prague")
KERNEL_MODULES = ("veth", "sch_netem", "tcp_diag")
LIMIT_S = 3600.0
"""Of a guest: hosts may be busy."""
Parts = dict[str, str]

# name: default, and what it refuses of 0, 1, 999, 60000, 60001, -1, x
PARAMETERS = {
    **dict.fromkeys(("t0_ms", "t1_ms"), (1000, ["0", "60001", "-1", "x"])),
    **dict.fromkeys(("k1_milli", "k2_milli"), (2000, ["0", "60001", "-1", "x"])),
    "gamma_milli": (50, ["0", "60000", "60001", "-1", "x"]),
    "beta_milli": (125, ["0", "60000", "60001", "-1", "x"]),
    "gain_shift": (4, ["999", "60000", "60001", "-1", "x"]),
    "rtt_virt_ms": (0, ["60000", "60001", "-1", "x"]),
}


def _run(kernel: str) -> Parts:
    rc, console = run_script(
        kernel,
        HERE / "guest" / "modules.sh",
        files=[ROOT / "tests/functional/guest/lib.sh", OUT / "congestion"],
        modules=KERNEL_MODULES,
        kmods=MODULES,
        programs=("ss",),
        timeout_s=LIMIT_S,
    )
    assert rc == 0, console
    pieces = re.split(r"^@@ (.+)\n", console.replace("\r", ""), flags=re.MULTILINE)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


@cache
def _guests() -> dict[str, Future[Parts]]:
    """All kernels side by side."""
    OUT.mkdir(parents=True, exist_ok=True)
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-static"]
    source = HERE / "guest" / "congestion.c"
    subprocess.run(["gcc", *flags, "-o", OUT / "congestion", source], check=True)
    pool = ThreadPoolExecutor(max_workers=len(KERNELS))
    return {kernel: pool.submit(_run, kernel) for kernel in KERNELS}


@pytest.fixture(params=KERNELS)
def parts(request: pytest.FixtureRequest) -> Parts:
    """What a guest printed, by heading."""
    return _guests()[request.param].result()


def test_names_are_registered(parts: Parts) -> None:
    assert set(NAMES) <= set(parts["available"].split())


def test_user_nobody_is_refused_by_default(parts: Parts) -> None:
    assert parts["refused"].splitlines() == [f"{n}: Operation not permitted" for n in NAMES]


def test_user_nobody_is_accepted_when_allowed(parts: Parts) -> None:
    assert parts["allowed"].splitlines() == [f"{n}: has {n}" for n in NAMES]


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameter_has_its_default_and_range(parts: Parts, name: str) -> None:
    default, refused = PARAMETERS[name]
    lines = parts["parameters"].splitlines()
    assert [line for line in lines if line.startswith(f"{name} ")] == [
        *(f"{name} refuses {value}" for value in refused),
        f"{name} {default}",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_transfer_completes(parts: Parts, name: str) -> None:
    """All of it, or the script would not have ended well; by that control, and not slowly."""
    (line,) = (line for line in parts[f"transfer {name}"].splitlines() if f" {name} " in line)
    acked = re.search(r"bytes_acked:(\d+)", line)
    assert acked and int(acked[1]) > 100_000


def test_module_in_use_cannot_be_unloaded(parts: Parts) -> None:
    lines = parts["busy"].splitlines()
    assert [line for line in lines if " has " in line] == [f"{n}: has {n}" for n in NAMES]
    assert lines.count("held") == len(NAMES)


def test_modules_unload(parts: Parts) -> None:
    left = parts["unloaded"].splitlines()
    assert "reno" in left[-1].split()
    assert not set(NAMES) & set(left[-1].split())
