# SPDX-License-Identifier: GPL-2.0
"""Bugs, each planted into a copy of sch_zrtt, and the round that must find it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lab.kernels.kernel import Kernel
from lab.toolchain import variant
from lab.toolchain.variant import Edit
from lab.trials.stress import Round

@dataclass(frozen=True)
class Bug:
    """A piece of a source that stands there once, and what it is changed to."""

    name: str
    round: Round
    """That finds it."""
    report: str
    """What it says, as a regular expression."""
    source: str
    right: str
    wrong: str


BUGS = (
    Bug(
        name="use-after-free",
        round=Round("fuzz", 1, 500),
        # the table in use is freed: read again, or freed again
        report="KASAN: (slab-)?(use-after-free|(vmalloc-)?out-of-bounds)|WARNING: mm/vmalloc.c",
        source="qdisc/tables.h",
        right="\t\ttables->slots = tables->from.slots;\n",
        wrong="",
    ),
    Bug(
        name="lock-inversion",
        round=Round("storm", 1, 8),
        report="possible circular locking dependency",
        source="sch_zrtt.c",
        right="out:\n",
        wrong="out:\n\tif (q->net) {\n\t\tspin_lock_bh(&q->net->locks[0]);\n\t\tsch_tree_lock(sch);\n"
        "\t\tsch_tree_unlock(sch);\n\t\tspin_unlock_bh(&q->net->locks[0]);\n\t}\n",
    ),
    Bug(
        name="leak",
        round=Round("fuzz", 1, 500),
        report="unreferenced object",
        source="qdisc/tables.h",
        right="\tkvfree(tables->slots);\n",
        wrong="",
    ),
    Bug(
        name="leak-on-failure",
        round=Round("faults", 1, 1),
        report="unreferenced object",
        source="sch_zrtt.c",
        right="\t\tgoto out;\n",
        wrong="\t\treturn err;\n",
    ),
    Bug(
        name="sleep-under-lock",
        round=Round("fuzz", 1, 500),
        report="sleeping function called from invalid context",
        source="qdisc/tables.h",
        right="\t\ttables->net = zrtt_net_get(sch);\n",
        wrong="\t\tsch_tree_lock(sch);\n\t\ttables->net = zrtt_net_get(sch);\n\t\tsch_tree_unlock(sch);\n",
    ),
    Bug(
        name="out-of-bounds",
        round=Round("fuzz", 1, 100),
        report="KASAN: stack-out-of-bounds|UBSAN: array-index-out-of-bounds",
        source="qdisc/config.h",
        right="for (i = 0; i < ARRAY_SIZE(words); i++)",
        wrong="for (i = 0; i <= ARRAY_SIZE(words); i++)",
    ),
    Bug(
        name="accepts-too-much",
        round=Round("fuzz", 3, 3000),
        report="FindingError: answered 0, must refuse it",
        source="qdisc/config.h",
        right="if (!is_power_of_2(params->flows))",
        wrong="if (params->flows < TC_ZRTT_FLOWS_MIN)",
    ),
)


def module(bug: Bug, kernel: Kernel) -> Path:
    """The module with the bug."""
    return variant.module("sch_zrtt", kernel, [Edit(bug.source, bug.right, bug.wrong)])
