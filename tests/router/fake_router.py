# SPDX-License-Identifier: GPL-2.0
"""A simulated router for zrtt-check: the output of its programs, and its files."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from routers import ROUTER

CHECK = ROUTER / "sbin" / "zrtt-check"
STATISTICS = """ Sent {bytes} bytes {packets} pkt (dropped {dropped}, overlimits 0 requeues 0)
 backlog 0b 0p requeues 0
  prob 0.020030 delay 15.763ms avg_dq_rate 2492919
  pkts_in {packets} overlimit 0 dropped {dropped} maxq 156 ecn_mark {ecn_mark}
  alpha 0.948 rtt_avg 70ms flows {flows} flows_hinted 0 flows_marked 0 flows_timestamps 0 \
flows_handshake {flows_handshake} evicted {evicted}
  hint_ok {hint_ok} hint_bad {hint_bad} hint_clamped 0 hint_stripped 0
  idle_events 799 overflow_events 1388 drop_late 0 purged 0 backlog_packets 0
  memory_used 0 limit_now 1000
"""
SEEN = {
    "bytes": 30_000_000, "packets": 20_000, "dropped": 3, "ecn_mark": 400, "flows": 13,
    "flows_handshake": 12, "evicted": 0, "hint_ok": 50, "hint_bad": 0,
}  # fmt: skip
HTB = "qdisc htb 1: root refcnt 2 r2q 10 default 0x1 direct_packets_stat 0\n"
USAGE = "Usage: ... zrtt [ mode { zrtt | paper } ]"


def zrtt(place: str, words: str = "", **seen: int) -> str:
    """One as tc shows it."""
    return f"qdisc zrtt 8001: {place} mode zrtt flows 16384 {words}\n" + STATISTICS.format(
        **{**SEEN, **seen}
    )


@dataclass
class Router:
    """One that is as it should be, unless told otherwise."""

    folder: Path
    release: str = "6.1.0-49-amd64"
    qdiscs: str = HTB + zrtt("parent 1:1")
    usage: str = USAGE
    filters: str = ""
    routes: str = "default via 10.0.0.1 dev eth0\n"
    link: str = "2: eth0: <UP> mtu 1500 qdisc htb state UP"
    features: str = "tcp-segmentation-offload: off\nhw-tc-offload: off [fixed]\n"
    flowtables: str = ""
    vanished: bool = False
    """The device, once tc has listed it."""
    version: str = "tc utility, iproute2-6.1.0"
    files: dict[str, str] = field(
        default_factory=lambda: {
            "proc/sys/net/ipv4/tcp_ecn": "1",
            "proc/sys/net/ipv4/tcp_timestamps": "1",
            "proc/sys/net/ipv4/ip_forward": "1",
            "sys/module/sch_zrtt/refcnt": "1",
            "sys/class/net/eth0/ifindex": "2",
            "sys/class/net/eth0/device/vendor": "0x8086",
            "sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit": "3028",
        }
    )

    def _program(self, name: str, cases: str) -> None:
        path = self.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ncase $* in\n{cases}\nesac\n")
        path.chmod(0o755)

    def _say(self, pattern: str, text: str) -> str:
        """A case in which a program prints a text."""
        path = self.folder / f"said-{len(list(self.folder.iterdir()))}"
        path.write_text(text)
        return f"{pattern}) cat {path} ;;"

    def _make(self) -> None:
        everywhere = self.qdiscs.replace(": root", ": dev eth0 root")
        everywhere = everywhere.replace(": parent", ": dev eth0 parent")
        tc = [
            self._say("-V", self.version), self._say("*help", self.usage),
            *["*'qdisc show dev eth0') echo 'Cannot find device \"eth0\"' >&2; exit 1 ;;"] * self.vanished,
            self._say("*'qdisc show dev eth0'", self.qdiscs), self._say("'qdisc show'", everywhere),
            self._say("filter*", self.filters),
        ]  # fmt: skip
        ip = [self._say("-?' route'*", self.routes), self._say("*link*", self.link)]
        self._program("tc", "\n".join(tc))
        self._program("ip", "\n".join(ip))
        self._program("uname", self._say("-r", self.release))
        self._program("ethtool", self._say("'-k eth0'", self.features))
        self._program("nft", self._say("'list flowtables'", self.flowtables))
        for name, text in self.files.items():
            path = self.folder / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    def run(self, *words: str, shell: Sequence[str] = ("sh",)) -> subprocess.CompletedProcess[str]:
        """zrtt-check, there."""
        self._make()
        surroundings = {
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "ZRTT_CHECK_ROOT": str(self.folder / "root"),
        }
        return subprocess.run(
            [*shell, CHECK, *words], env=surroundings, capture_output=True, text=True, check=False
        )

    def findings(self, *words: str) -> list[dict[str, str]]:
        """What it says in JSON."""
        return list(json.loads(self.run("-j", *words).stdout)["findings"])
