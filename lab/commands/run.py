# SPDX-License-Identifier: GPL-2.0
"""lab run: one scenario in one guest."""

from __future__ import annotations

import argparse
import json
import math
import shlex
import sys
from pathlib import Path
from typing import Any

from lab.commands.parsing import Commands, Help, limit_s
from lab.host import files
from lab.host.progress import Board
from lab.kernels.kernel import KERNELS, OTHER_TICKS
from lab.model import grid
from lab.model.churn import ShortFlows
from lab.model.scenario import CCS, Scenario, ScenarioError
from lab.results import report
from lab.results.line import LineResult
from lab.results.readings import QueueResult
from lab.results.result import FlowResult, PhaseResult, Result
from lab.runs import runner


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "run",
        help="one scenario in one guest",
        description="Runs TCP flows of different RTTs through a qdisc on a real kernel in a "
        "guest, and prints the results. Exit status 0 only if the run finished and its numbers add "
        "up.",
        formatter_class=Help,
    )
    p.add_argument("--kernel", choices=(*KERNELS, *OTHER_TICKS), default="6.12",
                   help="kernel of the guest: Debian's, or user-mode Linux")  # fmt: skip
    p.add_argument("--qdisc", default="zrtt", metavar="WORDS",
                   help='the qdisc: words after "tc qdisc add dev X parent Y"')  # fmt: skip
    p.add_argument("--rate", default="20mbit", help="rate of the bottleneck")
    p.add_argument("--rtts", default="20ms..400ms/20", metavar="LIST",
                   help="RTTs, one host for each: 20ms,40ms,... or FIRST..LAST/COUNT")  # fmt: skip
    p.add_argument("--sessions", default="1", metavar="K|K,K,...",
                   help="flows of each host, or of the first RTT's, the second's, ...")  # fmt: skip
    p.add_argument("--weights", metavar="W,W,...",
                   help="weight of each host, 1 to 255: the lowest byte of its packets' marks, as "
                   "for zrtt weight mark 0xff; results are divided by it")  # fmt: skip
    p.add_argument("--subscribers", metavar="N,N,...",
                   help="whose each host is, 1 to 255: the next byte of the marks, as for zrtt "
                   "fair mark 0xff00; default: each another's. Results are by "
                   "subscriber")  # fmt: skip
    p.add_argument("--dscp", metavar="D,D,...", help="DSCP of each host's packets, 0 to 63")
    p.add_argument("--receivers", metavar="K,K,...",
                   help="flows to each of several addresses on the receivers' side: the first K "
                   "to the first of them; short flows go to them in turn")  # fmt: skip
    p.add_argument("--idle", metavar="'hosts=K on=S off=S'",
                   help="the last K hosts have nothing to send for some seconds (off), after "
                   "some (on) in which they had, again and again. Shares of hosts are then those "
                   "of the worst time, by long flows, from 10 s after a change on")  # fmt: skip
    p.add_argument("--cc", default="cubic", metavar="NAME",
                   help=f"congestion control: {', '.join(CCS)}, or mix:A,B "
                   "for the flows in turn")  # fmt: skip
    p.add_argument("--ecn", default="on", metavar="on|off|FRACTION",
                   help="ECN: negotiated by all flows, none, or this fraction of them")  # fmt: skip
    p.add_argument("--gso", default="off", metavar="on|off|N",
                   help="GSO packets through the qdisc, with at most N segments")  # fmt: skip
    p.add_argument("--hint", default="packet", metavar="MODE",
                   help="RTT hints: packet (in each packet), sampled (50 ms of each 500), none, or "
                   "the fraction of flows that hint in each packet")  # fmt: skip
    p.add_argument("--liar", action="append", default=[], metavar="N:FACTOR",
                   help="flow N (from 0) states FACTOR times its RTT; repeatable")  # fmt: skip
    p.add_argument("--ect1", metavar="WHO,...",
                   help="data of these are sent as ECT(1) though they are not scalable: names of "
                   "congestion controls, numbers of flows (from 0), udp. Data of prague always "
                   "are")  # fmt: skip
    p.add_argument("--timestamps", metavar="on|off|FRACTION",
                   help="TCP timestamps: of all hosts, none, or this fraction of them; default: "
                   "on")  # fmt: skip
    p.add_argument("--warmup", type=float, default=20.0, metavar="S",
                   help="seconds before the measurement")  # fmt: skip
    p.add_argument("--duration", type=float, default=60.0, metavar="S", help="seconds measured")
    p.add_argument("--seed", type=int, default=1,
                   help="seed of start times and all other random choices")  # fmt: skip
    p.add_argument("--step", action="append", default=[], metavar="'t=S rate=R delay=D jitter=J'",
                   help="S seconds after the start, set the rate, add D to all RTTs, or let each "
                   "packet's delay differ by up to J either way, there and back, and none overtake "
                   "another; repeatable")  # fmt: skip
    p.add_argument("--udp", action="append", default=[],
                   metavar="'RATE[@FROM-TO] [host=N] [size=BYTES]'",
                   help="unresponsive UDP at that rate on the wire, from a host of its own or "
                   "that of the RTT N (from 0), FROM and TO seconds after the start, in frames of "
                   "that size (default: 1514); repeatable")  # fmt: skip
    p.add_argument("--spoof", action="append", default=[],
                   metavar="'flow=N send=KIND [rate=R] [every=S] [ect=on] [from=S] [to=S]'",
                   help="a third host sends packets with the addresses and ports of flow N (from "
                   "0), and random sequence numbers: KIND is syn (54 bytes, once or every S "
                   "seconds), data (full segments at rate R) or nothing (a control run). They "
                   "cross the queue, and the receiver's TCP discards them; "
                   "repeatable")  # fmt: skip
    p.add_argument("--thin", metavar="NAME[*K],...",
                   help="thin traffic, each class from a host of its own: voip (200 bytes of UDP "
                   "each 20 ms), game (100 bytes at 128 Hz), dns (single queries, 10 per second), "
                   "ping (5 per second); K streams of it. Reported: sojourn and loss of each "
                   "class")  # fmt: skip
    p.add_argument("--churn", metavar="'load=P% size=S [host=N]'",
                   help="short flows that come and go, with this share of the rate, from the same "
                   "hosts or from host N (from 0): S is web (a bounded Pareto distribution, "
                   "pareto:1.2:4kB:1MB), pareto:SHAPE:MIN:MAX or one size such as 60kB. They "
                   "arrive at random, hint after the handshake, and are complete once all is "
                   "acknowledged")  # fmt: skip
    p.add_argument("--reverse", type=int, metavar="K",
                   help="number of flows in the other direction, spread over the RTTs, through "
                   "the same qdisc at the same rate; ACKs of the others share that "
                   "queue")  # fmt: skip
    p.add_argument("--hops", metavar="N[:RTTS]",
                   help="N routers in series, each with the qdisc and the rate; RTTS of further "
                   "flows at each router, which cross that one only. The sojourn reported is "
                   "that of the worst router, the utilisation that of the least used")  # fmt: skip
    p.add_argument("--back", metavar="WORDS",
                   help="a qdisc on the router's link to each host, behind the delay, which ACKs "
                   "cross: with zrtt there, it sees both directions")  # fmt: skip
    p.add_argument("--line",
                   metavar="'rate=R[@S],R@S,...|trace=FILE|model=NAME:SEED buffer=B [place=before]'",
                   help="a second bottleneck behind the router, hidden from the qdisc, which sees "
                   "a link of 1 Gbit/s: its rate, and from second S on another; or a trace in "
                   "mahimahi's format, or one of lte, starlink or stalls (lab trace); B is the "
                   "room of its FIFO, in time at its first or mean rate, or bytes as 1250kB; with "
                   "place=before it comes first, and the qdisc gets what it carries. "
                   "--rate is then not used")  # fmt: skip
    p.add_argument("--slow", metavar="'host=N rate=R buffer=B [loss=P%]'",
                   help="a bottleneck with a FIFO behind all others, that data from the host of "
                   "the RTT N (from 0) cross, and those of no other; loss is that of packets before it, "
                   "each by chance")  # fmt: skip
    p.add_argument("--link", metavar="shaper|wire|own",
                   help="shaper: packets leave the bottleneck in small bursts, below htb; "
                   "wire: one "
                   "after the other, for senders that measure the rate by packet pairs; own: "
                   "by the bandwidth parameter of zrtt or cake; default: shaper")  # fmt: skip
    p.add_argument("--start", metavar="S,S,...",
                   help="start times of the flows of each RTT, in seconds; flows start up to 3 s "
                   "later")  # fmt: skip
    p.add_argument("--stop", metavar="S,S,...",
                   help="times when the flows of each RTT are reset, in seconds; or end: "
                   "never")  # fmt: skip
    p.add_argument("--background", metavar="'cc=NAME rate=R'",
                   help="congestion control of the other flows (those that cross one router, "
                   "reverse and short ones), and link rate of the hosts of those that cross "
                   "one router")  # fmt: skip
    p.add_argument("--sample", type=float, default=0.0, metavar="S",
                   help="record the goodput of each flow every S seconds; 0: do not")  # fmt: skip
    p.add_argument("--timeout", type=limit_s, default=3600.0, metavar="S",
                   help="give up after so many seconds of real time")  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE", help="write all results to FILE")
    p.set_defaults(handler=_run)


def scenario_of(args: argparse.Namespace) -> Scenario:
    """What the options of `lab run` mean."""
    if not 0 <= args.sample < math.inf:
        raise ScenarioError("--sample: 0 s or more")
    fields: dict[str, Any] = {}
    for name, parse in grid.FIELDS.items():
        if (value := getattr(args, name)) is not None:
            fields |= parse(value)
    return Scenario(
        kernel=args.kernel,
        qdisc=args.qdisc,
        seed=args.seed,
        sample_ms=round(args.sample * 1000),
        **fields,
    ).check()


def _run(args: argparse.Namespace) -> None:
    scenario = scenario_of(args)
    command = "python3 -m lab " + shlex.join(sys.argv[1:])
    board = Board()
    done = runner.run(
        scenario,
        command=command,
        progress=board.track(scenario.qdisc),
        timeout_s=args.timeout,
    )
    board.done(scenario.qdisc, f"{done.wall_s:.0f} s, {done.cpu_s:.0f} s of CPU")
    _print_result(done)
    if args.json:
        files.write(args.json, json.dumps(done.to_dict(), indent=1, allow_nan=False) + "\n")


def _print_result(done: Result) -> None:
    _print_flows(done.flows)
    _print_flows(done.cross)
    _print_flows(done.reverse, "  the other way")
    for stream in done.udp:
        print(
            f"   UDP  {stream.rate_mbps:8.3f} Mbit/s  {stream.delivered_mbps:8.3f} delivered"
            f"  {stream.loss:.1%} lost"
        )
    for spoof in done.spoof:
        print(
            f" spoof  flow {spoof.flow}: {spoof.packets} packets of {spoof.kind} in its name,"
            f" {spoof.victim_mbps:.3f} Mbit/s left to it"
        )
    for thin in done.thin:
        print(
            f"{thin.name:>6}  sojourn {thin.mean_ms:.2f} ms, p95 {thin.p95_ms:.2f} ms, p99"
            f" {thin.p99_ms:.2f} ms, max {thin.max_ms:.2f} ms; {thin.lost} of {thin.sent} lost"
        )
    for ecn in done.ecn_classes:
        print(
            f"{ecn.name:>7}  {ecn.mbps:.3f} Mbit/s, sojourn {ecn.mean_ms:.2f} ms, p95"
            f" {ecn.p95_ms:.2f} ms, p99 {ecn.p99_ms:.2f} ms, max {ecn.max_ms:.2f} ms"
        )
    if done.hosts_differ:
        _print_hosts(done)
    if done.short_flows:
        _print_short_flows(done.short_flows)
    if len(done.queues) > 1:
        _print_queues(done.queues)
    if done.line:
        _print_line(done.line)
    if len(done.phases) > 1:
        _print_phases(done.phases)
    print()
    print(report.table([report.Run(done.label, done)]))
    print(f"\nLinux {done.kernel}, {done.clock}, seed {done.seed}, {done.reruns} reruns")


def _print_flows(flows: list[FlowResult], where: str = "") -> None:
    for flow in flows:
        hop = f"  hop {flow.hop} only" if flow.hop else where
        print(
            f"{flow.rtt_ms:6.0f} ms  {flow.cc:5}  {flow.goodput_mbps:8.3f} Mbit/s"
            f"  {flow.retransmits:5} retransmitted  {flow.marks:6} marks{hop}"
        )


def _print_hosts(done: Result) -> None:
    for host in done.hosts:
        print(
            f"  host {host.number:<3}  {host.goodput_mbps:8.3f} Mbit/s  {host.of_due:6.1%} of its due"
            f"  {host.flows:5} flows  Jain {host.jain:.4f}  weight {host.weight}"
        )
    if done.receiver_jain is not None:
        print(f"  receivers: Jain {done.receiver_jain:.4f}")


def _print_queues(queues: list[QueueResult]) -> None:
    for queue in queues:
        sojourn = queue.sojourn_ms
        print(
            f"{queue.name:>9}  {queue.utilisation:.1%} used, sojourn {sojourn.mean:.1f} ms,"
            f" p95 {sojourn.p95:.1f} ms, max {sojourn.max:.0f} ms,"
            f" {queue.marks} marks, {queue.drops} drops"
        )


def _print_line(line: LineResult) -> None:
    for name, delay in (("line", line.sojourn_ms), ("whole", line.whole_ms)):
        print(
            f"{name:>9}  sojourn {delay.mean:.1f} ms, p95 {delay.p95:.1f} ms,"
            f" max {delay.max:.0f} ms"
        )
    print(
        f"           {line.utilisation:.1%} of {line.rate_mbps:.3f} Mbit/s used, {line.drops} drops"
    )
    for phase in line.phases if len(line.phases) > 1 else []:
        print(
            f"           {phase.from_s:g}..{phase.to_s:g} s: {phase.utilisation:.1%} of"
            f" {phase.rate_mbps:.3f} Mbit/s, whole sojourn {phase.whole_mean_ms:.1f} ms"
        )


def _print_phases(phases: list[PhaseResult]) -> None:
    for phase in phases:
        print(
            f"{phase.from_s:g}..{phase.to_s:g} s: {phase.utilisation:.1%} of"
            f" {phase.rate_mbps:g} Mbit/s"
        )


def _print_short_flows(short: ShortFlows) -> None:
    counts = f"{short.count} flows, {short.unfinished} unfinished"
    print(f" short  {short.goodput_mbps:8.3f} Mbit/s  {counts}")
    for part in ([short.completion_s] if short.completion_s else []) + short.by_size:
        sizes = f"{part.from_bytes / 1000:g}..{part.to_bytes / 1000:g} kB"
        print(
            f"        {part.count} of {sizes} took {part.mean:.3f} s,"
            f" p50 {part.p50:.3f}, p95 {part.p95:.3f}, max {part.max:.3f}"
        )
