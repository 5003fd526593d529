# SPDX-License-Identifier: GPL-2.0
"""Who may include what, and what a source may hold."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from sources import ROOT, all_sources, code_of, includes_of, name_of

SOURCES = list(all_sources())
C_FILES = [path for path in SOURCES if path.suffix == ".c"]
C_AND_H = [path for path in SOURCES if path.suffix in (".c", ".h")]

# In this order: each may include those before it.
ALGORITHM = [
    "fixed.h",
    "hint.h",
    "packet.h",
    "names.h",
    "hash.h",
    "flow.h",
    "rtt.h",
    "seq.h",
    "handshake.h",
    "host.h",
    "table.h",
    "update.h",
    "answers.h",
    "resent.h",
    "loss.h",
    "delay.h",
    "sent.h",
    "line.h",
    "halves.h",
    "acks.h",
    "oneway.h",
    "quic.h",
    "spin.h",
    "shaper.h",
    "controller.h",
    "padhye.h",
    "law.h",
    "verdict.h",
    "control.h",
    "ceil.h",
    "joint.h",
    "fair.h",
    "lane.h",
    "police.h",
    "l4s.h",
    "peers.h",
    "params.h",
    "state.h",
    "tick.h",
    "weigh.h",
    "arrive.h",
    "judge.h",
    "zrtt.h",
]
# The module's own, in this order, too.
PARTS = ["sched.h", "timing.h", "tables.h", "dissect.h", "hosts.h", "edit.h", "queue.h", "leave.h", "line.h", "peers.h", "arrive.h", "shape.h", "config.h", "stats.h"]
WALK_LINES = 500
TYPES, MATH = "<linux/types.h>", "<linux/math64.h>"
UAPI = ROOT / "include/uapi/linux/pkt_sched_zrtt.h"
HINT = ROOT / "include/zrtt/hint.h"

# Headers of this project that programs beside the module may include.
NETLINK = "<linux/pkt_sched_zrtt.h>"
OUR_HEADERS = {
    "tc-plugin": {NETLINK},
    "monitor": {NETLINK},
    "agent": {NETLINK, "<zrtt/hint.h>", '"zrtt_agent.h"', '"zrtt_agent.skel.h"'},
    "endpoints": set[str](),
}

# What the algorithm is given as arguments, and must not fetch itself.
PLUMBING = ("sk_buff", "Qdisc", "ktime_", "get_random", "prandom", "jiffies", "spin_lock")

BPF_PROBE = """
#include "{hint}"

/* what an agent does with it: noinline, so that all of it is compiled */
int probe_find(const __u8 *area, __u32 len, struct zrtt_hint *hint)
{{
	return zrtt_hint_ipv4(area, len, ZRTT_HINT_IPV4_TYPE, hint) +
	       zrtt_hint_ipv6(area, len, len, hint) + zrtt_hint_tcp(area, len, hint);
}}

void probe_build(__u8 *p, __u32 rtt_us)
{{
	zrtt_hint_build_ipv4(p, ZRTT_HINT_IPV4_TYPE, zrtt_hint_from_us(rtt_us));
	zrtt_hint_build_ipv6(p, 6, zrtt_hint_from_us(rtt_us));
	zrtt_hint_build_tcp(p, zrtt_hint_from_us(rtt_us));
}}
"""


def test_sources_are_found() -> None:
    """The rules below hold of nothing, too."""
    names = {name_of(path) for path in SOURCES}
    assert {"sch_zrtt.c", "Kbuild", "tc-plugin/q_zrtt.c", "lab/cli.py"} <= names


def named(paths: Iterable[Path]) -> list[str]:
    return [name_of(path) for path in paths]


def first_line(path: Path) -> str:
    """Behind the one that names the interpreter."""
    lines = path.read_text().splitlines()[:2]
    if lines and lines[0].startswith("#!"):
        lines.pop(0)
    return lines[0] if lines else ""


def test_license_comes_first() -> None:
    licence = "SPDX-License-Identifier: GPL-2.0"
    assert named(path for path in SOURCES if licence not in first_line(path)) == []


def test_uapi_header_has_the_syscall_note() -> None:
    assert "GPL-2.0 WITH Linux-syscall-note" in UAPI.read_text().splitlines()[0]


def test_uapi_header_includes_types_only() -> None:
    assert includes_of(UAPI) == [TYPES]


def test_algorithm_is_all_there() -> None:
    found = {path.name for path in (ROOT / "include/zrtt").iterdir()}
    assert found == set(ALGORITHM)


@pytest.mark.parametrize("name", ALGORITHM)
def test_algorithm_includes_what_it_may(name: str) -> None:
    earlier = {f'"{before}"' for before in ALGORITHM[: ALGORITHM.index(name)]}
    allowed = {TYPES} if name == HINT.name else {TYPES, MATH} | earlier
    assert set(includes_of(ROOT / "include/zrtt" / name)) <= allowed


@pytest.mark.parametrize("name", ALGORITHM)
def test_algorithm_knows_no_plumbing(name: str) -> None:
    code = code_of(ROOT / "include/zrtt" / name)
    assert not [word for word in PLUMBING if word in code]
    assert "__KERNEL__" not in code


def test_qdisc_includes_its_parts_in_order() -> None:
    ours = [i.strip('"') for i in includes_of(ROOT / "sch_zrtt.c") if i.startswith('"')]
    assert ours == [f"qdisc/{name}" for name in PARTS]
    assert {path.name for path in (ROOT / "qdisc").iterdir()} == set(PARTS)
    for name in PARTS:
        earlier = PARTS[: PARTS.index(name)]
        found = [i.strip('"') for i in includes_of(ROOT / "qdisc" / name) if i.startswith('"')]
        assert set(found) <= set(earlier), name


def test_walk_of_a_packet_is_short() -> None:
    assert len((ROOT / "sch_zrtt.c").read_text().splitlines()) <= WALK_LINES


@pytest.mark.parametrize("folder", OUR_HEADERS)
def test_folder_knows_the_headers_it_may(folder: str) -> None:
    files = [path for path in C_FILES if path.relative_to(ROOT).parts[0] == folder]
    assert files
    for path in files:
        ours = {i for i in includes_of(path) if "zrtt" in i}
        assert ours <= OUR_HEADERS[folder], name_of(path)


def test_nothing_names_the_overlays() -> None:
    assert named(p for p in C_AND_H if any("compat-include" in i for i in includes_of(p))) == []


def test_versions_are_the_overlays_business() -> None:
    assert named(path for path in C_FILES if "LINUX_VERSION_CODE" in code_of(path)) == []
    assert named(path for path in C_FILES if "<linux/version.h>" in includes_of(path)) == []


def test_overlays_include_what_they_overlay() -> None:
    overlays = sorted((ROOT / "compat-include").rglob("*.h"))
    assert overlays
    for path in overlays:
        real = path.relative_to(ROOT / "compat-include").as_posix()
        assert f"#include_next <{real}>" in path.read_text(), name_of(path)


@pytest.mark.parametrize(
    "compiler",
    [
        ["gcc", "-std=gnu11", "-ffreestanding"],
        ["bpf-gcc", "-std=gnu11", "-mcpu=v3", "-I/usr/include", "-I/usr/include/x86_64-linux-gnu"],
    ],
    ids=["user space", "BPF"],
)
def test_hint_needs_uapi_types_only(compiler: list[str], tmp_path: Path) -> None:
    probe = tmp_path / "probe.c"
    probe.write_text(BPF_PROBE.format(hint=HINT))
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-c", "-o", str(tmp_path / "probe.o")]
    command = [*compiler, *flags, str(probe)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_modules_of_tests_have_names_of_their_own() -> None:
    """pytest imports them by their names alone."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert sorted(names) == sorted(set(names))
