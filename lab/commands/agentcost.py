# SPDX-License-Identifier: GPL-2.0
"""lab agentcost: what zrtt-agent costs a sender."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from lab.commands.parsing import Commands, Help
from lab.output import text_table
from lab.senders import agentcost
from lab.senders.agentcost import Cost, spread

HEAD = ("", "Mbit/s", "ratio", "quartiles", "CPU ratio", "quartiles", "BPF ns/packet", "stamped")
SAMPLED = "sampled"


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "agentcost",
        help="what zrtt-agent costs a sender",
        description="Runs iperf3 between two network namespaces of this machine, without the "
        "agent and with it in turns, and shows the ratio of throughput, that of the sender's "
        "CPU time per byte, and the time that the agent's BPF programs take per packet. "
        "Needs root, iperf3, ethtool and bpftool.",
        formatter_class=Help,
    )
    p.add_argument("--rounds", type=int, default=9, metavar="N",
                   help="rounds, each with all variants")  # fmt: skip
    p.add_argument("--seconds", type=int, default=2, metavar="N",
                   help="length of each transfer, seconds")  # fmt: skip
    p.add_argument("--segments", action="store_true",
                   help="the sender cuts segments and the receiver merges them, as is done on "
                   "either side of a wire, instead of handing on super-packets")  # fmt: skip
    p.add_argument("--check", type=float, default=0.0, metavar="RATIO",
                   help="exit status 1 if the median ratio of a sampled variant is "
                   "less")  # fmt: skip
    p.add_argument("--json", type=Path, metavar="FILE", help="write all results to FILE")
    p.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    p.set_defaults(handler=_agentcost)


def _line(cost: Cost, variant: str) -> tuple[str, ...]:
    _, mbps, _ = spread([transfer.mbps for transfer in cost.transfers[variant]])
    if variant == agentcost.WITHOUT:
        return (variant, f"{mbps:.0f}", *[""] * (len(HEAD) - 2))
    low, ratio, high = spread(cost.ratios(variant, lambda t: t.mbps))
    cpu_low, cpu, cpu_high = spread(cost.ratios(variant, lambda t: t.sender_cpu_s_per_gb))
    ns = cost.bpf(variant, lambda bpf: bpf.ns_per_packet)
    stamped = cost.bpf(variant, lambda bpf: bpf.stamped / bpf.packets)
    return (
        variant, f"{mbps:.0f}",
        f"{ratio:.3f}", f"{low:.3f} .. {high:.3f}",
        f"{cpu:.3f}", f"{cpu_low:.3f} .. {cpu_high:.3f}",
        f"{ns:.0f}", f"{stamped:.1%}",
    )  # fmt: skip


def table(cost: Cost, *, markdown: bool = False) -> str:
    """A line per variant."""
    lines = [HEAD, *(_line(cost, variant) for variant in cost.transfers)]
    return "\n".join((text_table.markdown if markdown else text_table.aligned)(lines))


def missed(cost: Cost, least: float) -> list[str]:
    """Sampled variants whose ratio is less."""
    speeds = {variant: cost.speed(variant) for variant in cost.with_agent if SAMPLED in variant}
    return [f"{variant}: {speed:.3f}" for variant, speed in speeds.items() if speed < least]


def _agentcost(args: argparse.Namespace) -> int:
    cost = agentcost.measure(
        rounds=args.rounds, seconds=args.seconds, segments=args.segments,
        command="python3 -m lab " + shlex.join(sys.argv[1:]),
        progress=lambda words: print(words, file=sys.stderr),
    )  # fmt: skip
    print(table(cost, markdown=args.markdown))
    print(f"\nLinux {cost.kernel}, {args.rounds} rounds of {args.seconds} s")
    misses = missed(cost, args.check)
    for miss in misses:
        print(f"missed: {miss}", file=sys.stderr)
    if args.json:
        cost.save(args.json)
    return 1 if misses else 0
