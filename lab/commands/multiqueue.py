# SPDX-License-Identifier: GPL-2.0
"""lab multiqueue: what becomes of fairness and cost where a device has several queues."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median
from typing import Any

from lab.commands.parsing import Commands, Help
from lab.host.progress import Board
from lab.model.grid import FIELDS
from lab.model.hosts import numbers
from lab.model.ports import MAX_FLOWS
from lab.model.scenario import ScenarioError
from lab.output import text_table
from lab.trials import multiqueue, multiqueue_cost
from lab.trials.multiqueue_cost import ALONE, LOADS, Readings

parse_hosts = numbers("--hosts", 1, MAX_FLOWS)

OF_SCENARIO = ("rate", "rtts", "warmup", "duration", "start", "stop")
"""Options of `lab run` that mean the same here."""


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "multiqueue",
        help="fairness and cost where a device has several queues",
        description="Runs 20 flows on user-mode Linux through queues that one link serves "
        "in turn, and shows how alike flows are within a queue and in all. With --shape, the "
        "queues shape to the rate of the link, instead. With --hosts, the flows are of hosts, and "
        "it shows how alike these are; the qdisc is to know them. With --cost, has two "
        "processors in QEMU send through a queue each, and through one, and shows by how much "
        "they slow each other down; meaningful on a machine with nothing else to do.",
        formatter_class=Help,
    )
    p.add_argument("--cost", action="store_true",
                   help="compare times per packet instead of fairness")  # fmt: skip
    p.add_argument("--qdisc", default="zrtt", metavar="WORDS",
                   help="qdisc of each queue, or cake_mq")  # fmt: skip
    p.add_argument("--shape", action="store_true",
                   help="the qdisc knows the word bandwidth, and is told the rate")  # fmt: skip
    p.add_argument("--hosts", default="", metavar="K,K,...",
                   help="hosts that have so many flows, instead of 20 flows")  # fmt: skip
    p.add_argument("--rate", metavar="RATE", help="rate of all queues; default: 20mbit")
    p.add_argument("--rtts", metavar="LIST",
                   help="RTTs of the 20 flows, or of the hosts: 20ms,40ms,... or "
                   "FIRST..LAST/COUNT; default: 20ms..400ms")  # fmt: skip
    p.add_argument("--warmup", type=float, metavar="S",
                   help="seconds before the measurement; default: 20")  # fmt: skip
    p.add_argument("--duration", type=float, metavar="S", help="seconds measured; default: 60")
    p.add_argument("--start", metavar="S,S,...",
                   help="start times of the flows of each RTT, in seconds")  # fmt: skip
    p.add_argument("--stop", metavar="S,S,...",
                   help="times when the flows of each RTT are reset, in seconds; or end: "
                   "never")  # fmt: skip
    p.add_argument("--only", action="append", metavar="TEXT",
                   help="only layouts that have this in their name, such as four; "
                   "repeatable")  # fmt: skip
    p.add_argument("--packets", type=int, default=20_000, metavar="N",
                   help="with --cost: packets of each processor and measurement")  # fmt: skip
    p.add_argument("--rounds", type=int, default=9, metavar="N",
                   help="with --cost: rounds of all measurements")  # fmt: skip
    p.add_argument("--seed", type=int, default=1,
                   help="seed of the hash and all other random choices")  # fmt: skip
    p.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    p.set_defaults(handler=_multiqueue)


def cost_lines(readings: Readings) -> list[tuple[str, ...]]:
    """Microseconds when alone, then how many times that."""
    qdiscs = dict.fromkeys(words for words, _ in readings)
    lines = [("", str(ALONE), *(str(load) for load in LOADS if load != ALONE))]
    for words in qdiscs:
        alone = median(one.us_per_packet for one in readings[words, ALONE])
        ratios = [multiqueue_cost.slowdown(readings, words, load) for load in LOADS]
        lines.append((words, f"{alone:.1f} us", *(f"x {ratio:.2f}" for ratio in ratios[1:])))
    return lines


def changes(args: argparse.Namespace) -> dict[str, Any]:
    """What the options change of the scenario. Raises ScenarioError."""
    found: dict[str, Any] = {}
    for name in OF_SCENARIO:
        if getattr(args, name) is not None:
            found |= FIELDS[name](getattr(args, name))
    return found


def _fairness(args: argparse.Namespace) -> Sequence[tuple[str, ...]]:
    board = Board()
    sessions = parse_hosts(args.hosts) if args.hosts else ()
    layouts = (
        multiqueue.of_hosts(sessions, args.seed) if sessions else multiqueue.layouts(args.seed)
    )
    if args.only:
        layouts = [one for one in layouts if any(text in one.name for text in args.only)]
    if not layouts:
        raise ScenarioError("--only: no layout has this in its name")
    shared = [
        multiqueue.run(
            args.qdisc, layout, args.seed, shape=args.shape, changes=changes(args),
            progress=board.track(layout.name),
        )  # fmt: skip
        for layout in layouts
    ]
    return multiqueue.lines_of_hosts(shared) if sessions else multiqueue.lines(shared)


def _multiqueue(args: argparse.Namespace) -> None:
    if args.packets < 1 or args.rounds < 1:
        raise ScenarioError("--packets, --rounds: at least 1")
    if args.cost:
        lines = cost_lines(multiqueue_cost.measure(args.packets, args.rounds))
    else:
        lines = _fairness(args)
    lay_out = text_table.markdown if args.markdown else text_table.aligned
    print("\n".join(lay_out(lines)))
