# SPDX-License-Identifier: GPL-2.0
"""zrtt below a parent that peeks and then dequeues directly, as some kernels' red, sfb and multiq."""

from __future__ import annotations

from guests import HERE, Report, unaccounted

from lab.engines.script import run_script
from lab.engines.select import get_engine
from lab.toolchain import build

KERNEL = "uml"


def test_packet_peeked_at_is_not_in_the_queue() -> None:
    kernel = get_engine(KERNEL).kernel
    module = build.kernel_module("qpeek", kernel)
    files = {module.name: module, **build.tc_plugin("sch_zrtt")}
    rc, console = run_script(
        KERNEL, HERE / "guest" / "direct.sh", files=files, kmods=["sch_zrtt"],
    )  # fmt: skip
    assert rc == 0, console
    report = Report(console)
    assert not report.trouble()
    qdisc = report.qdisc("stats")
    assert qdisc["drop_late"] > 0
    assert unaccounted(qdisc) == 0
