# SPDX-License-Identifier: GPL-2.0
"""Writes the script that builds a testbed in a guest and runs flent there.

Network namespaces of one guest, each with a name that resolves::

    client eth0 --- lan router wan --- access core p0 --- eth0 h20ms
                     ^         ^                   p1 --- eth0 h40ms
              htb DOWN         htb UP              ...           netem: the whole
            below each the qdisc under test                      RTT of that host

flent runs on the client, netserver and an irtt server on each host. The router is
a bottleneck in both directions. Or the line between router and core is, which has a FIFO
at each end: then the router has no htb, and qdiscs are attached to the root of its devices.
Whatever a host sends is delayed by its RTT: constant delay reorders nothing. `ssh NAME
COMMAND` runs the command in that namespace, so a batch reaches the router the way it does on
a testbed of real machines.
"""

from __future__ import annotations

from dataclasses import dataclass

from lab.model.scenario import MAX_RTTS, MIN_RATE_BPS, ScenarioError
from lab.model.units import format_ms
from lab.model.wire import FRAME_BYTES
from lab.net.network import NETEM_LIMIT_PACKETS, htb, memory_line

MODULES = ("veth", "sch_htb", "sch_netem", "sch_cake", "sch_codel", "sch_pie", "sch_fq_pie",
           "sch_sfb", "tcp_cubic", "tcp_bbr")  # fmt: skip
"""Of every kernel. dualpi2 is part of kernel uml; Debian 12's have none."""
PROGRAMS = ("python3", "bash", "which", "basename", "readlink")
"""Of flent and its scripts, beside ip, tc and the small tools of a guest."""
CLIENT, ROUTER, CORE = "client", "router", "core"
MIN_LINE_MS, MAX_LINE_MS = 5, 5000
CLIENT_ADDRESS, LAN_ADDRESS = "10.1.0.2", "10.1.0.1"
WAN_ADDRESS, CORE_ADDRESS = "10.2.0.1", "10.2.0.2"

SSH = """#!/bin/sh
host=$1
shift
exec ip netns exec "$host" sh -c "$*"
"""

# flent's multiprocessing wants /dev/shm. What comes back is a tar in base64, as
# the way out of a guest takes text.
RUN = """
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mkdir /tmp/data
cd /tmp/data
export PATH=$LAB/bin:/usr/sbin:/usr/bin:/sbin:/bin
export PYTHONPATH=$LAB PYTHONHOME=$LAB/python LD_LIBRARY_PATH=$LAB/python/lib
ip netns exec client python3 -m flent -B $LAB/batch "$@"
python3 -m tarfile -c /tmp/data.tar .
python3 -m base64 -e /tmp/data.tar >$RESULT
"""


@dataclass(frozen=True)
class Network:
    """The options of the testbed."""

    down_bps: int
    """Towards the client."""
    up_bps: int
    rtts_ms: tuple[float, ...]
    line_ms: float | None = None
    """Room of each FIFO of the line; None: the router is the bottleneck."""

    def check(self) -> Network:
        """Returns itself, or raises ScenarioError."""
        if min(self.down_bps, self.up_bps) < MIN_RATE_BPS:
            raise ScenarioError("--rate: at least 10kbit")
        if not 2 <= len(self.rtts_ms) <= MAX_RTTS:
            raise ScenarioError(f"--rtts: 2 to {MAX_RTTS} of them")
        if len(set(self.hosts)) < len(self.hosts):
            raise ScenarioError("--rtts: hosts are named by them, no two can be the same")
        if self.line_ms is not None and not MIN_LINE_MS <= self.line_ms <= MAX_LINE_MS:
            raise ScenarioError(f"--line: {MIN_LINE_MS} ms to {MAX_LINE_MS} ms")
        return self

    @property
    def hosts(self) -> list[str]:
        """Their names, as in h20ms."""
        return [f"h{rtt:g}ms" for rtt in self.rtts_ms]

    @property
    def host_rtts_ms(self) -> dict[str, float]:
        """The RTT of each host, by its name."""
        return dict(zip(self.hosts, self.rtts_ms, strict=True))

    def script(self) -> str:
        """What a guest runs; its arguments are flent's."""
        lines = [
            "#!/bin/sh",
            "set -eu",
            memory_line(),
            *self._name_lines(),
            *_backbone_lines(),
            *[line for index in range(len(self.hosts)) for line in self._host_lines(index)],
            *(self._line_lines(self.line_ms) if self.line_ms else self._bottleneck_lines()),
        ]
        return "\n".join(lines) + RUN

    def _name_lines(self) -> list[str]:
        names = {
            "127.0.0.1": "localhost",
            CLIENT_ADDRESS: CLIENT,
            LAN_ADDRESS: ROUTER,
            CORE_ADDRESS: CORE,
            **{f"10.3.{index}.2": host for index, host in enumerate(self.hosts)},
        }
        return [
            "cat >/tmp/hosts <<-END",
            *[f"{address} {name}" for address, name in names.items()],
            "END",
            # an emulated machine has neither; fping asks for its protocols
            "[ -e /etc/protocols ] || printf 'icmp 1\\nipv6-icmp 58\\n' >/etc/protocols",
            "[ -e /etc/hosts ] || : >/etc/hosts",
            "mount --bind /tmp/hosts /etc/hosts",
        ]

    def _host_lines(self, index: int) -> list[str]:
        host, port = self.hosts[index], f"p{index}"
        here, there = f"10.3.{index}.2", f"10.3.{index}.1"
        delay = format_ms(self.rtts_ms[index])
        return [
            *_namespace_lines(host),
            *_link_lines((CORE, port, there), (host, "eth0", here)),
            *_end_lines(host, there),
            f"tc -n {host} qdisc add dev eth0 root netem delay {delay} limit {NETEM_LIMIT_PACKETS}",
            f"ip netns exec {host} $LAB/bin/netserver >/dev/null",
            f"ip netns exec {host} $LAB/bin/irtt server </dev/null >/dev/null 2>&1 &",
            # or the first packet would wait a whole RTT for ARP
            f"ip netns exec {CORE} ping -c 1 {here} >/dev/null",
        ]

    def _bottleneck_lines(self) -> list[str]:
        return [
            line
            for device, bps in (("wan", self.up_bps), ("lan", self.down_bps))
            for line in _shaper_lines(ROUTER, device, bps)
        ]

    def _line_lines(self, room_ms: float) -> list[str]:
        """The core has both FIFOs: one for what it sends to the router, one for what comes."""
        tc = f"tc -n {CORE}"
        return [
            f"ip -n {CORE} link add uplink type ifb",
            f"ip -n {CORE} link set uplink up",
            f"{tc} qdisc add dev access clsact",
            f"{tc} filter add dev access ingress matchall action mirred egress redirect dev uplink",
            *[
                line
                for device, bps in (("uplink", self.up_bps), ("access", self.down_bps))
                for line in (
                    *_shaper_lines(CORE, device, bps, wire=True),
                    f"{tc} qdisc add dev {device} parent 1:1 bfifo"
                    f" limit {max(round(bps / 8000 * room_ms), FRAME_BYTES)}",
                )
            ],
        ]


def _shaper_lines(name: str, device: str, bps: int, *, wire: bool = False) -> list[str]:
    """htb with one class, 1:1, at that rate."""
    return [
        f"tc -n {name} qdisc add dev {device} root handle 1: htb default 1",
        f"tc -n {name} class add dev {device} parent 1: classid 1:1 {htb(bps, wire=wire)}",
    ]


def _namespace_lines(name: str) -> list[str]:
    return [f"ip netns add {name}", f"ip -n {name} link set lo up"]


def _link_lines(*ends: tuple[str, str, str]) -> list[str]:
    """A cable between two (namespace, device, address)."""
    (name, device, _), (peer_name, peer_device, _) = ends
    return [
        f"ip link add name {device} netns {name} type veth"
        f" peer name {peer_device} netns {peer_name}",
        *[f"ip -n {name} addr add {address}/24 dev {device}" for name, device, address in ends],
        *[f"ip -n {name} link set {device} up" for name, device, _ in ends],
    ]


def _end_lines(name: str, gateway: str) -> list[str]:
    """An end of connections: ECN is on, super-packets are off, as in `lab run`."""
    return [
        f"ip -n {name} link set eth0 gso_max_segs 1",
        f"ip -n {name} route add default via {gateway}",
        f"ip netns exec {name} sysctl -qw net.ipv4.tcp_ecn=1",
    ]


def _backbone_lines() -> list[str]:
    return [
        *[line for name in (CLIENT, ROUTER, CORE) for line in _namespace_lines(name)],
        *_link_lines((CLIENT, "eth0", CLIENT_ADDRESS), (ROUTER, "lan", LAN_ADDRESS)),
        *_link_lines((ROUTER, "wan", WAN_ADDRESS), (CORE, "access", CORE_ADDRESS)),
        *_end_lines(CLIENT, LAN_ADDRESS),
        f"ip -n {ROUTER} route add default via {CORE_ADDRESS}",
        f"ip -n {CORE} route add default via {WAN_ADDRESS}",
        *[f"ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1" for name in (ROUTER, CORE)],
    ]
