# SPDX-License-Identifier: GPL-2.0
"""lab mininet: the networks of the papers, by hand or in a guest."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Sequence

from lab.commands.parsing import Commands, Help, limit_s
from lab.kernels.kernel import KERNELS
from lab.mininet import guest, network, topologies
from lab.mininet import traffic as mininet_traffic
from lab.mininet.network import MininetError
from lab.mininet.topologies import TOPOLOGIES, Flow, Topology
from lab.model.scenario import CCS, MIN_RATE_BPS, ScenarioError, parse_rtts
from lab.model.units import parse_rate
from lab.results.result import jain


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "mininet",
        help="the networks of the papers, by Mininet",
        description="Builds one of the papers' networks of namespaces, says how its hosts are "
        "called, lets TCP flows share it, and prints what each got. Needs root and Mininet "
        f"({network.PACKAGE} of Debian); with --kernel, it runs in a guest. docs/mininet.md "
        "tells more.",
        formatter_class=Help,
    )
    p.add_argument("topology", choices=TOPOLOGIES, metavar="TOPOLOGY",
                   help=f"the network: {', '.join(TOPOLOGIES)}")  # fmt: skip
    p.add_argument("--kernel", choices=KERNELS,
                   help="run in a guest with this kernel; default: on this machine")  # fmt: skip
    p.add_argument("--qdisc", metavar="WORDS",
                   help='qdisc of the bottlenecks: words after "tc qdisc add dev X parent Y"; '
                   "default the paper's")  # fmt: skip
    p.add_argument("--rate", metavar="RATE", help="rate of the bottlenecks; default: the paper's")
    p.add_argument("--hosts", type=int, metavar="N", help="host pairs of the dumbbell; default: 10")
    p.add_argument("--rtts", metavar="LIST",
                   help="RTTs of the first flows: 20ms,40ms,... or FIRST..LAST/COUNT")  # fmt: skip
    p.add_argument("--cc", choices=CCS, default="cubic", help="congestion control of all flows")
    p.add_argument("--ecn", choices=("on", "off"), default="on", help="whether flows negotiate ECN")
    p.add_argument("--warmup", type=float, default=5.0, metavar="S",
                   help="seconds before the measurement")  # fmt: skip
    p.add_argument("--duration", type=float, default=15.0, metavar="S", help="seconds measured")
    p.add_argument("--seed", type=int, default=1, help="seed of start times")
    what = p.add_mutually_exclusive_group()
    what.add_argument("--cli", action="store_true", help="Mininet's command line instead of flows")
    what.add_argument("--ping", action="store_true", help="measure RTTs instead of goodput")
    p.add_argument("--timeout", type=limit_s, default=1800.0, metavar="S",
                   help="give up a guest after so many seconds of real time")  # fmt: skip
    p.set_defaults(handler=_mininet)


def topology_of(args: argparse.Namespace) -> Topology:
    """The network that the options ask for."""
    if args.hosts is not None and args.topology != "dumbbell":
        raise ScenarioError("--hosts: of the dumbbell only")
    options = {} if args.hosts is None else {"hosts": args.hosts}
    topology = TOPOLOGIES[args.topology](**options)
    if args.rate:
        rate_bps = parse_rate(args.rate)
        if rate_bps < MIN_RATE_BPS:
            raise ScenarioError("--rate: at least 10kbit")
        topology = topology.with_rate(rate_bps)
    if args.rtts:
        topology = topology.with_rtts(parse_rtts(args.rtts))
    return topology


def _mininet(args: argparse.Namespace) -> None:
    topology = topology_of(args)
    spread_s = mininet_traffic.START_SPREAD_S
    if not (spread_s < args.warmup < math.inf and 0 < args.duration < math.inf):
        spread = f"{spread_s:g} s"
        raise ScenarioError(f"--warmup: more than {spread}, flows start in these; --duration: > 0")
    qdisc = args.qdisc or topology.qdisc
    if args.kernel:
        _run_in_guest(args, qdisc)
    else:
        _run_here(args, topology, qdisc)


def _run_in_guest(args: argparse.Namespace, qdisc: str) -> None:
    if args.cli:
        raise ScenarioError("--cli: not in a guest, which has no terminal")
    words = [args.topology, "--qdisc", qdisc]
    for name in ("rate", "hosts", "rtts", "cc", "ecn", "warmup", "duration", "seed"):
        value = getattr(args, name)
        if value is not None:
            words += [f"--{name}", str(value)]
    if args.ping:
        words.append("--ping")
    said = guest.run(
        args.kernel, words, qdisc, args.cc, seed=args.seed, timeout_s=args.timeout
    )
    print(said, end="")


def _run_here(args: argparse.Namespace, topology: Topology, qdisc: str) -> None:
    if os.geteuid():
        raise MininetError("making namespaces needs root")
    print(f"{topologies.describe(topology)}\nqdisc: {qdisc}\n", flush=True)
    with network.built(topology, qdisc, ecn=args.ecn == "on") as net:
        if args.cli:
            network.command_line(net)
        elif args.ping:
            for flow in topology.flows:
                ms = mininet_traffic.ping_ms(net, topology, flow)
                print(f"{_name(flow)}  {ms:8.3f} ms")
        else:
            traffic = mininet_traffic.Traffic(net, topology, args.cc, args.seed)
            try:
                goodputs = traffic.goodputs(args.warmup, args.duration)
            finally:
                traffic.close()
            print("\n".join(_report(topology, goodputs)))


def _name(flow: Flow) -> str:
    return f"{flow.sender:4} -> {flow.receiver:4}"


def _report(topology: Topology, goodputs: Sequence[float]) -> list[str]:
    """What each flow got, and Jain's index of each group and of all."""
    lines = [
        f"{_name(flow)}  {flow.rtt_ms:6g} ms  {got:9.3f} Mbit/s"
        for flow, got in zip(topology.flows, goodputs, strict=True)
    ]
    groups = topologies.groups(topology.flows)
    if len(groups) > 1:
        groups["all"] = list(range(len(goodputs)))
    lines.append("")
    for name, numbers in groups.items():
        own = [goodputs[number] for number in numbers]
        lines.append(f"{name:10}  {len(own):3} flows  Jain {jain(own):.3f}  {sum(own):9.3f} Mbit/s")
    return lines
