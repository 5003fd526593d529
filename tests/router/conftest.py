# SPDX-License-Identifier: GPL-2.0
"""The reports of the guests, as fixtures."""

from __future__ import annotations

import os
from functools import cache, partial
from pathlib import Path

import pytest
import yaml
from functional.guests import Report
from routers import HERE, OUT, ROUTER, WITH_FILES, WITH_NAT, Guest

from lab.host.cache import cache_dir, filled
from lab.host.process import said
from lab.senders import agent
from lab.toolchain.build import REPO, BuildError

_run = partial(said, BuildError)


def agent_files() -> dict[str, Path]:
    """zrtt-agent and the libraries that it needs, for a guest that has neither."""
    return {"zrtt-agent": agent.program()} | agent.libraries()


def _unpack_ifupdown(folder: Path) -> None:
    _run("apt-get", "download", "ifupdown", cwd=folder)
    (package,) = folder.glob("*.deb")
    _run("dpkg-deb", "-x", package, folder)


def ifupdown_files() -> dict[str, Path]:
    """Debian's, which to install would change this machine's own network."""
    home = filled(cache_dir().resolve() / "ifupdown", _unpack_ifupdown)
    return {"ifup": home / "sbin" / "ifup"}


def sqm_files() -> dict[str, Path]:
    """sqm-scripts of a checkout that $SQM_SCRIPTS names, else what stands in for them."""
    checkout = os.environ.get("SQM_SCRIPTS")
    if checkout:
        found = [*Path(checkout, "src").iterdir(), Path(checkout, "platform", "linux", "sqm-bin")]
    else:
        found = list((HERE / "sqm").iterdir())
    names = {"sqm-bin": "sqm.sh"}
    return {f"sqm/{names.get(p.name, p.name)}": p for p in [*found, *(ROUTER / "sqm").iterdir()]}


def pod_files() -> dict[str, Path]:
    """What the pod of the manifest runs, and its environment, as a script."""
    (manifest,) = yaml.safe_load_all((ROUTER / "kubernetes" / "zrtt.yaml").read_text())
    (container,) = manifest["spec"]["template"]["spec"]["containers"]
    (script,) = container["args"]
    environment = "".join(f"export {v['name']}='{v['value']}'\n" for v in container["env"])
    OUT.mkdir(parents=True, exist_ok=True)
    path = OUT / "pod"
    path.write_text(environment + script)
    return {"pod": path}


def xdp_files() -> dict[str, Path]:
    """An XDP program that lets all pass."""
    OUT.mkdir(parents=True, exist_ok=True)
    source, program = HERE / "guest" / "pass.bpf.c", OUT / "pass.o"
    headers = f"-I/usr/include/{_run('gcc', '-print-multiarch').strip()}"
    _run("clang", "-target", "bpf", "-O2", headers, "-c", source, "-o", program)
    return {"pass.o": program}


@cache
def _with_nat() -> Report:
    return Guest("6.1", WITH_NAT, ("nft",), agent_files()).run()


@cache
def _with_files() -> Report:
    files = ifupdown_files() | sqm_files() | pod_files() | xdp_files()
    files["agent.service"] = REPO / "agent" / "zrtt-agent@.service"
    return Guest("uml", WITH_FILES, (), files).run()


@pytest.fixture
def with_nat() -> Report:
    """Routers and hosts that translate addresses: a stock kernel."""
    return _with_nat()


@pytest.fixture
def with_files() -> Report:
    """Machines with all of this one's files: user-mode Linux."""
    return _with_files()
