# SPDX-License-Identifier: GPL-2.0
"""Bugs, each planted into a copy of sch_zrtt, and the round that must find it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab import variant
from lab.kernels import Kernel
from lab.stress import Round
from lab.variant import Edit

SOURCE = "sch_zrtt.c"


@dataclass(frozen=True)
class Bug:
    """A piece of the source that stands there once, and what it is changed to."""

    name: str
    round: Round
    """That finds it."""
    report: str
    """What it says, as a regular expression."""
    right: str
    wrong: str


BUGS = (
    Bug(
        name="use-after-free",
        round=Round("fuzz", 1, 500),
        report="KASAN: (slab-)?(use-after-free|vmalloc-out-of-bounds)",
        right="\t\tslots = q->vars.table.slots;\n\t\tq->vars.table = table;\n",
        wrong="\t\tslots = q->vars.table.slots;\n",
    ),
    Bug(
        name="lock-inversion",
        round=Round("storm", 1, 8),
        report="possible circular locking dependency",
        right="\tzrtt_net_put(net);\n\tkvfree(slots);\n",
        wrong="\tif (q->net) {\n\t\tspin_lock_bh(&q->net->locks[0]);\n\t\tsch_tree_lock(sch);\n"
        "\t\tsch_tree_unlock(sch);\n\t\tspin_unlock_bh(&q->net->locks[0]);\n\t}\n"
        "\tzrtt_net_put(net);\n\tkvfree(slots);\n",
    ),
    Bug(
        name="leak",
        round=Round("fuzz", 1, 500),
        report="unreferenced object",
        right="\tzrtt_net_put(net);\n\tkvfree(slots);\n",
        wrong="\tzrtt_net_put(net);\n",
    ),
    Bug(
        name="leak-on-failure",
        round=Round("faults", 1, 1),
        report="unreferenced object",
        right="\t\tif (!slots)\n\t\t\tgoto out;\n",
        wrong="\t\tif (!slots)\n\t\t\treturn -ENOMEM;\n",
    ),
    Bug(
        name="sleep-under-lock",
        round=Round("fuzz", 1, 500),
        report="sleeping function called from invalid context",
        right="\t\tnet = zrtt_net_get(sch);\n",
        wrong="\t\tsch_tree_lock(sch);\n\t\tnet = zrtt_net_get(sch);\n\t\tsch_tree_unlock(sch);\n",
    ),
    Bug(
        name="out-of-bounds",
        round=Round("fuzz", 1, 100),
        report="KASAN: stack-out-of-bounds|UBSAN: array-index-out-of-bounds",
        right="for (i = 0; i < ARRAY_SIZE(words); i++)",
        wrong="for (i = 0; i <= ARRAY_SIZE(words); i++)",
    ),
    Bug(
        name="accepts-too-much",
        round=Round("fuzz", 1, 2000),
        report="FindingError: answered 0, must refuse it",
        right="if (!is_power_of_2(params->flows))",
        wrong="if (params->flows < TC_ZRTT_FLOWS_MIN)",
    ),
)


def module(bug: Bug, kernel: Kernel) -> Path:
    """The module with the bug."""
    return variant.module("sch_zrtt", kernel, [Edit(SOURCE, bug.right, bug.wrong)])
