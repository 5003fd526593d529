# SPDX-License-Identifier: GPL-2.0
"""Writes the script that builds the network in a guest and runs the programs.

Each host has a namespace and a name that resolves; all links but the middle one are fast::

    left hosts eth0 --- l0..lN router bot --- bot core r0..rN --- eth0 right hosts
                               htb RATE           htb RATE_BACK
                               meter              meter           the RTT of a host: netem
                               qdisc              qdisc           on its link

What goes to a left host is delayed on the router's port, as in `lab run`; what comes from a
right host on its own. Neither can reorder data. The qdisc hashes the headers of each packet,
as on a router (lab/kmod/sch_meter.c).
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lab.exec import sockets
from lab.exec.plan import LEFT, RIGHT, Command, Host, Plan
from lab.model.units import format_ms
from lab.net.network import NETEM_LIMIT_PACKETS, Queue, htb, memory_line

MODULES = ("veth", "sch_htb", "sch_netem")
ROUTER, CORE = "router", "core"
ROUTER_ADDRESS, CORE_ADDRESS = "10.255.0.1", "10.255.0.2"
BLEACH_MODULES = ("sch_ingress", "cls_matchall", "act_pedit", "act_csum")
POLLS = 100
"""Tenths of a second that a server has to listen in."""
GRACE_S = 1
"""From SIGTERM to SIGKILL, at the end."""
DRAIN_S = 2
"""What came within the measured time has left the queue by then, or counts as lost."""
PROGRESS_STEPS = 10

FUNCTIONS = """
# fail NAME WHAT: ends the run, which says so
fail() {
	printf '@failed\\n%s %s\\n' "$1" "$2" >"$RESULT"
	exit 1
}
# launch NAME HOST WORD...: runs a command in its folder
launch() {
	name=$1 host=$2
	shift 2
	(
		cd "$OUT/$name"
		rc=0
		ip netns exec "$host" "$@" </dev/null >stdout 2>stderr || rc=$?
		echo "$rc" >"/tmp/status/$name"
	) &
}
# await NAME HOST tcp|udp HEX: until it listens at that port
await() {
	tries=0
	until ip netns exec "$2" cat "/proc/net/$3" "/proc/net/${3}6" 2>/dev/null |
		grep -q ":$4 [0-9A-F]*:0000 0[A7]"; do
		[ ! -e "/tmp/status/$1" ] || fail "$1" "ended before it listened"
		tries=$((tries + 1))
		[ $tries -lt POLLS ] || fail "$1" "does not listen after SECONDS s"
		sleep 0.1
	done
}
""".replace("POLLS", str(POLLS)).replace("SECONDS", str(POLLS // 10))


def modules(plan: Plan) -> tuple[str, ...]:
    """Of the kernel, beside those of queues."""
    return () if plan.ecn else BLEACH_MODULES


def queues(plan: Plan) -> list[tuple[Queue, int]]:
    """The bottlenecks, and their rates."""
    found = [(Queue("to the right", ROUTER, "bot", 1), plan.rate_bps)]
    if plan.rate_back_bps:
        found.append((Queue("to the left", CORE, "bot", 0), plan.rate_back_bps))
    return found


def _mac(kind: int, number: int, end: int) -> str:
    return f"02:00:00:{kind:02x}:{number:02x}:{end:02x}"


def _link(kind: int, number: int, *ends: tuple[str, str, str]) -> Iterator[str]:
    """A cable between two (namespace, device, address). No packet waits for ARP."""
    (name, device, _), (peer_name, peer_device, _) = ends
    macs = [_mac(kind, number, end) for end in (1, 2)]
    yield (
        f"ip link add name {device} address {macs[0]} netns {name} type veth"
        f" peer name {peer_device} address {macs[1]} netns {peer_name}"
    )
    for end, (here, port, address) in enumerate(ends):
        peer = ends[1 - end][2]
        yield f"ip -n {here} addr add {address}/24 dev {port}"
        yield f"ip -n {here} link set {port} up gso_max_segs 1 addrgenmode none"
        yield f"ip -n {here} neigh add {peer} lladdr {macs[1 - end]} dev {port} nud permanent"


def _namespace(name: str) -> Iterator[str]:
    yield f"ip netns add {name}"
    yield f"ip -n {name} link set lo up"


def _host(plan: Plan, host: Host) -> Iterator[str]:
    left = host.side == LEFT
    near, port = (ROUTER, f"l{host.number}") if left else (CORE, f"r{host.number}")
    yield from _namespace(host.name)
    ends = (near, port, host.gateway), (host.name, "eth0", host.address)
    yield from _link(int(not left), host.number, *ends)
    yield f"ip -n {host.name} route add default via {host.gateway}"
    ecn = int(plan.ecn)
    yield (
        f"ip netns exec {host.name} sysctl -qw net.ipv4.tcp_ecn={ecn}"
        f" net.ipv4.tcp_congestion_control={host.cc}"
    )
    if not plan.ecn:  # QUIC libraries have no switch, but fall back if ECN does not get through
        yield f"tc -n {host.name} qdisc add dev eth0 clsact"
        yield (
            f"tc -n {host.name} filter add dev eth0 egress protocol ip matchall"
            " action pedit ex munge ip tos set 0 retain 0x03 pipe csum ip4h"
        )
    if host.rtt_ms:
        device = (
            f"-n {ROUTER} qdisc add dev {port}" if left else f"-n {host.name} qdisc add dev eth0"
        )
        delay = format_ms(host.rtt_ms)
        yield f"tc {device} root netem delay {delay} limit {NETEM_LIMIT_PACKETS}"


def _queue(queue: Queue, rate_bps: int, words: list[str]) -> Iterator[str]:
    device = f"{queue.tc} qdisc add dev {queue.device}"
    yield f"{device} root handle 1: htb default 1"
    yield f"{queue.tc} class add dev {queue.device} parent 1: classid 1:1 {htb(rate_bps)}"
    yield f"{device} parent 1:1 handle 2: meter"
    yield f"{device} parent 2:1 handle 3: {shlex.join(words)}"
    yield f"{queue.tc} qdisc change dev {queue.device} parent 1:1 handle 2: meter tuples"


def _names(plan: Plan) -> Iterator[str]:
    names = {"127.0.0.1": "localhost", **{host.address: host.name for host in plan.hosts}}
    yield "cat >/tmp/hosts <<-END"
    yield from (f"{address} {name}" for address, name in names.items())
    yield "END"
    yield "[ -e /etc/hosts ] || : >/etc/hosts"
    yield "mount --bind /tmp/hosts /etc/hosts"


def _network(plan: Plan, qdisc: list[str]) -> Iterator[str]:
    yield memory_line()
    # a namespace may use no other
    ccs = " ".join(dict.fromkeys(host.cc for host in plan.hosts))
    yield f"sysctl -qw net.ipv4.tcp_allowed_congestion_control='{ccs}'"
    yield from _names(plan)
    for name in (ROUTER, CORE):
        yield from _namespace(name)
        yield f"ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1"
    yield from _link(255, 0, (ROUTER, "bot", ROUTER_ADDRESS), (CORE, "bot", CORE_ADDRESS))
    yield f"ip -n {ROUTER} route add default via {CORE_ADDRESS}"
    yield f"ip -n {CORE} route add default via {ROUTER_ADDRESS}"
    for side in (LEFT, RIGHT):
        for host in plan.side(side):
            yield from _host(plan, host)
    for queue, rate_bps in queues(plan):
        yield from _queue(queue, rate_bps, qdisc)


def _folder(command: Command) -> Iterator[str]:
    yield f"mkdir $OUT/{command.name}"
    for file in command.files:
        if not file.is_absolute():
            name = shlex.quote(file.name)
            yield f"cp -p $LAB/data/{command.name}/{name} $OUT/{command.name}/"
    for name, size in command.zeros.items():
        yield f"/bin/busybox truncate -s {size} $OUT/{command.name}/{shlex.quote(name)}"


def _given(command: Command) -> Iterator[str]:
    """Removes what the command was given."""
    names = [file.name for file in command.files if not file.is_absolute()] + [*command.zeros]
    for name in names:
        yield f"rm -f $OUT/{command.name}/{shlex.quote(name)}"


def _launch(command: Command, program: str) -> str:
    return f"launch {command.name} {command.host} {shlex.join([program, *command.words[1:]])}"


def _readings(plan: Plan, name: str) -> Iterator[str]:
    for queue, _ in queues(plan):
        show = f"{queue.tc} -s -j qdisc show dev {queue.device}"
        if name == "begin":
            yield f"{queue.tc} qdisc change dev {queue.device} parent 1:1 handle 2: meter reset"
        yield f"{show} >/tmp/{name}-{queue.netns}"
        if name == "end":
            classes = f"{queue.tc} class show dev {queue.device} parent 3:"
            yield f"{classes} >/tmp/classes-below-{queue.netns}"
            yield f"{queue.tc} qdisc change dev {queue.device} parent 1:1 handle 2: meter stop"


def _sockets(plan: Plan, name: str) -> Iterator[str]:
    for host in plan.hosts:
        read = f"ip netns exec {host.name} cat /proc/net/tcp /proc/net/tcp6"
        yield f"{read} >>/tmp/{name} 2>/dev/null || :"


def _timeline(plan: Plan, programs: dict[str, str]) -> Iterator[str]:
    """Starts, readings and signs of progress, with the time between them."""
    total_ms = round(plan.total_s * 1000)
    events: list[tuple[float, list[str]]] = [
        (plan.warmup_s, [*_readings(plan, "begin")]),
        *[
            (command.start_s, [_launch(command, programs[command.name])])
            for command in plan.commands
            if not command.listen
        ],
        *[
            (plan.total_s * step / PROGRESS_STEPS,
             [f"echo PROGRESS {total_ms * step // PROGRESS_STEPS} {total_ms}"])
            for step in range(PROGRESS_STEPS)
        ],
        (plan.total_s, [*_readings(plan, "end")]),
        *[
            (at_s, [*_sockets(plan, name)])
            for at_s, name in zip(sockets.times_s(plan), sockets.NAMES, strict=True)
        ],
    ]  # fmt: skip
    now_s = 0.0
    for at_s, lines in sorted(events, key=lambda event: event[0]):
        if at_s > now_s:
            yield f"sleep {at_s - now_s:.3f}"
        yield from lines
        now_s = at_s


def _end(plan: Plan) -> Iterator[str]:
    """Notes which commands have ended by themselves, then ends the others."""
    parts = [f"{part}-{queue.netns}" for queue, _ in queues(plan)
             for part in ("begin", "end", "classes", "classes-below")]  # fmt: skip
    yield "cp -R /tmp/status /tmp/ended"
    yield f"sleep {DRAIN_S}"
    for queue, _ in queues(plan):
        classes = f"{queue.tc} -s class show dev {queue.device} parent 2:"
        yield f"{classes} >/tmp/classes-{queue.netns}"
    for signal in ("TERM", "KILL"):
        for host in plan.hosts:
            yield f"for pid in $(ip netns pids {host.name}); do kill -{signal} $pid || :; done"
        yield f"sleep {GRACE_S if signal == 'TERM' else 0}"
    for command in plan.commands:
        yield from _given(command)
    parts += sockets.NAMES
    yield "{"
    yield f"for part in {' '.join(parts)}; do echo @$part; cat /tmp/$part; done"
    yield "echo @programs; echo '{'"
    for number, command in enumerate(plan.commands):
        comma = "," if number else ""
        yield (
            f"echo '{comma}\"{command.name}\":'"
            f" $(cat /tmp/ended/{command.name} 2>/dev/null || echo null)"
        )
    yield "echo '}'; } >$RESULT"


def script(plan: Plan, qdisc: list[str], programs: dict[str, str], environment: str) -> str:
    """What a guest runs.

    `programs`: of each command, the absolute path; `environment`: a line for all of them.
    """
    servers = [command for command in plan.commands if command.listen]
    lines = [
        "#!/bin/sh",
        "set -eu",
        *_network(plan, qdisc),
        FUNCTIONS,
        "mkdir /tmp/status",
        *[line for command in plan.commands for line in _folder(command)],
        environment,
        *[_launch(command, programs[command.name]) for command in servers],
        *[
            f"await {command.name} {command.host} {command.listen.protocol}"
            f" {command.listen.port:04X}"
            for command in servers
            if command.listen
        ],
        *_timeline(plan, programs),
        *_end(plan),
    ]
    return "\n".join(lines) + "\n"
