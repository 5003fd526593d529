# SPDX-License-Identifier: GPL-2.0
"""lab multiqueue: what becomes of fairness and cost where a device has two queues."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from statistics import median

from lab import multiqueue, multiqueue_cost, textable
from lab.commands.parsing import Commands, Help
from lab.multiqueue_cost import ALONE, LOADS, Readings
from lab.progress import Board
from lab.scenario import ScenarioError


def add(commands: Commands) -> None:
    p = commands.add_parser(
        "multiqueue",
        help="fairness and cost where a device has two queues",
        description="Runs 20 flows on user-mode Linux through two queues that one link serves "
        "in turn, and shows how alike flows are within a queue and in all. With --cost, has two "
        "processors in QEMU send through a queue each, and through one, and shows by how much "
        "they slow each other down; meaningful on a machine with nothing else to do.",
        formatter_class=Help,
    )
    p.add_argument("--cost", action="store_true", help="compare times instead")
    p.add_argument("--qdisc", default="zrtt", metavar="WORDS", help="of both queues")
    p.add_argument("--packets", type=int, default=20_000, metavar="N",
                   help="of each processor and measurement, with --cost")  # fmt: skip
    p.add_argument("--rounds", type=int, default=9, metavar="N",
                   help="in which measurements take turns, with --cost")  # fmt: skip
    p.add_argument("--seed", type=int, default=1, help="of the hash and all else random")
    p.add_argument("--markdown", action="store_true", help="print a table for documents")
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


def _fairness(qdisc: str, seed: int) -> Sequence[tuple[str, ...]]:
    board = Board()
    return multiqueue.lines(
        [
            multiqueue.run(qdisc, layout, seed, board.track(layout.name))
            for layout in multiqueue.layouts(seed)
        ]
    )


def _multiqueue(args: argparse.Namespace) -> None:
    if args.packets < 1 or args.rounds < 1:
        raise ScenarioError("--packets, --rounds: at least 1")
    if args.cost:
        lines = cost_lines(multiqueue_cost.measure(args.packets, args.rounds))
    else:
        lines = _fairness(args.qdisc, args.seed)
    lay_out = textable.markdown if args.markdown else textable.aligned
    print("\n".join(lay_out(lines)))
