# SPDX-License-Identifier: GPL-2.0
"""The steps of mode zrtt (docs/algorithm/): how each is disabled, and which runs show its effect.

Some parameter of tc takes a step away, or else an edit of the sources does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.model.grid import Options
from lab.toolchain.variant import Edit

LAW, VERDICT, FLOW, UPDATE, CONTROLLER, CONTROL, PARAMS = (
    f"include/zrtt/{name}.h"
    for name in ("law", "verdict", "flow", "update", "controller", "control", "params")
)
ZRTT = "zrtt"
"""All steps."""


@dataclass(frozen=True)
class Change:
    """Parameters of tc, or edits of the sources, that change the algorithm of mode zrtt."""

    words: str = ""
    """Of tc, behind the others."""
    edits: tuple[Edit, ...] = ()

    def __add__(self, other: Change) -> Change:
        return Change(f"{self.words} {other.words}".strip(), self.edits + other.edits)


@dataclass(frozen=True)
class Step:
    """A step of the algorithm, and the cells and figures in which it should matter."""

    title: str
    """What takes its place."""
    without: Change
    shows: Mapping[str, tuple[str, ...]]


def _edit(path: str, old: str, new: str) -> Change:
    return Change(edits=(Edit(path, old, new),))


CELLS: Mapping[str, Options] = {
    "reno": {"cc": "reno"},
    "cubic": {"cc": "cubic"},
    "start": {"cc": "cubic", "warmup": "5", "duration": "20"},
    "begin": {
        "cc": "reno", "rate": "300mbit", "rtts": "20ms..50ms/4", "hint": "none",
        "start": "0,0,0,0", "warmup": "0.5", "duration": "9.5",
    },
    "many": {"cc": "reno", "sessions": "10"},
    "crowd": {"cc": "reno", "sessions": "20"},
    "pair": {"cc": "cubic", "rtts": "160ms,10ms", "rate": "50mbit"},
    "fast": {"cc": "cubic", "rtts": "10ms,40ms,160ms", "rate": "100mbit"},
    "unhinted": {"cc": "reno", "hint": "none"},
    "bbr": {"cc": "mix:bbr,cubic"},
    "liar": {"cc": "reno", "liar": ["19:10"]},
    "udp": {"cc": "cubic", "udp": ["24mbit"]},
    "reverse": {"cc": "reno", "reverse": "4"},
    "slower": {"cc": "cubic", "step": ["t=30 rate=5mbit"]},
    "churn": {"cc": "cubic", "churn": "load=25% size=web"},
    "busy": {"cc": "cubic", "churn": "load=50% size=web"},
    "slow": {"cc": "reno", "rtts": "1ms,200ms", "rate": "1mbit", "ecn": "off", "duration": "100"},
}
"""Options of lab run, beside those that all have; start is while penalties are found, begin while the queue is."""
COMMON: Options = {"rtts": "20ms..400ms/20", "duration": "40"}

BEGUN = {
    "begin": ("utilisation", "jain", "sojourn_p95_ms"),
    "cubic": ("utilisation", "sojourn_p95_ms"),
}
SLOWED = ("sojourn_max_ms", "min_phase_utilisation")
CHURNED = ("jain", "goodput_mean_mbps", "fct_mean_s", "sojourn_p95_ms")
BUSY = ("utilisation", *CHURNED)
CROWDED = {"many": ("jain", "sojourn_p95_ms"), "udp": ("tcp_share", "sojourn_p95_ms")}
CONTROLLED = {"reno": ("jain", "utilisation", "sojourn_p95_ms"), "slower": SLOWED}


def _jain(*cells: str) -> Mapping[str, tuple[str, ...]]:
    return dict.fromkeys(cells, ("jain",))


RATIOED = {"fast": ("max_min_ratio",), **_jain("reno", "cubic", "many", "pair", "start")}
"""Where the exponent of the RTTs matters."""

FED_BACK = {"bbr": ("max_class_ratio",), **_jain("reno", "many")}

LADDER_CELLS: Mapping[str, tuple[str, ...]] = {
    "reno": ("jain", "utilisation", "sojourn_p95_ms"),
    "many": ("jain", "utilisation", "sojourn_p95_ms"),
    **_jain("cubic", "pair"),
}

STEPS: Mapping[str, Step] = {
    "mean-weight": Step(
        "mean weight as it comes",
        _edit(LAW, "log_weight += law->log_norm + f->", "log_weight += f->"),
        {
            "reno": ("jain", "utilisation"),
            "reverse": ("utilisation", "reverse_mean_mbps"),
            **_jain("many", "start"),
        },
    ),
    "marked-mean": Step(
        "mean weight over dropped packets, too",
        _edit(VERDICT, "\tif (!marks)\n\t\treturn;\n\tlaw->sum_p_q30", "\tlaw->sum_p_q30"),
        {"udp": ("tcp_share", "sojourn_p95_ms")},
    ),
    "pi2": Step("BLUE", Change("controller blue"), CONTROLLED),
    "pi2-pblue": Step("proportional BLUE", Change("controller pblue"), CONTROLLED),
    "standing": Step(
        "the sojourn, held at the target",
        _edit(CONTROLLER, "ZRTT_STANDING_TICKS\t5", "ZRTT_STANDING_TICKS\t1")
        + _edit(CONTROLLER, "aim_us = params->target_us / 2;", "aim_us = params->target_us;"),
        {"busy": BUSY, "reno": ("jain", "utilisation", "sojourn_p95_ms")},
    ),
    "bursts": Step(
        "bursts at full weight",
        _edit(
            CONTROLLER,
            "return error < ctl->aim_us ? error : ctl->aim_us;",
            "return error;",
        ),
        {"busy": BUSY, "slower": SLOWED},
    ),
    "falls": Step(
        "marks while the queue falls, too",
        _edit(CONTROLLER, "ctl->falls = fall_us >", "ctl->falls = false && fall_us >"),
        BEGUN,
    ),
    "wait": Step(
        "the age of the head alone",
        _edit(CONTROL, "rate >= ZRTT_WAIT_BYTES ?", "rate == ~0ULL ?"),
        BEGUN,
    ),
    "leaving": Step(
        "marks in packets that come",
        _edit(PARAMS, "if (!params->law.tuned || params->ceil.rate)", "if (1)"),
        BEGUN,
    ),
    "gains": Step(
        "gains whoever sends",
        _edit(CONTROLLER, "(s32)(ZRTT_Q16_ONE - ctl->young_q16)", "(s32)ZRTT_Q16_ONE"),
        {"busy": BUSY, "churn": BUSY},
    ),
    "follow": Step(
        "target whatever the number of flows",
        _edit(CONTROLLER, "ZRTT_FOLLOW_TARGETS\t24", "ZRTT_FOLLOW_TARGETS\t0"),
        {"many": ("jain", "drop_rate"), "crowd": ("jain", "drop_rate", "sojourn_p95_ms")},
    ),
    "target": Step(
        "target 5ms",
        Change("target 5ms"),
        {"reno": ("jain", "utilisation", "sojourn_p95_ms"), "many": ("jain", "sojourn_p95_ms")},
    ),
    "few-packets": Step(
        "target of less than 3 packets",
        _edit(CONTROLLER, "return sojourn_us < most_us ?", "return most_us + 1 ?"),
        {"slow": ("jain", "utilisation", "sojourn_p95_ms")},
    ),
    "spaced": Step(
        "random marks",
        _edit(VERDICT, "chance_q30, params->tuned, rnd", "chance_q30, false, rnd"),
        {
            "reno": ("jain", "sojourn_p95_ms"),
            "fast": ("max_min_ratio",),
            **_jain("cubic", "pair", "start"),
        },
    ),
    "rtt": Step("alpha 0", Change("alpha 0"), RATIOED),
    "alpha-2": Step("alpha 2", Change("alpha 2"), RATIOED),
    "cap": Step("min(2, 5 % / P_b_avg)", Change("alpha_max 2 pth 5%"), RATIOED),
    "bound": Step(
        "alpha 1.25 at any P_b",
        Change("pth 100%"),
        {"many": ("jain", "sojourn_p95_ms"), **_jain("start")},
    ),
    "feedback": Step(
        "feedback 0",
        Change("feedback 0"),
        {**FED_BACK, "fast": ("max_min_ratio",), **_jain("pair", "start", "churn")},
    ),
    "feedback-1": Step("feedback 1", Change("feedback 1"), FED_BACK),
    "feedback-3": Step("feedback 3", Change("feedback 3"), FED_BACK),
    "drops": Step("marks at any P_i", Change("mark_max 100%"), CROWDED),
    "drops-10": Step("drops from 10 % on", Change("mark_max 10%"), CROWDED),
    "odds": Step(
        "P_i above 25 % as probability",
        _edit(
            VERDICT,
            "\treturn ZRTT_P_ONE - (pass_q16 << (ZRTT_P_SHIFT - ZRTT_Q16));",
            "\tpass_q16 = p_q30 < ZRTT_P_ONE ? ZRTT_P_ONE - (u32)p_q30 : 0;\n"
            "\treturn ZRTT_P_ONE - pass_q16;",
        ),
        CROWDED,
    ),
    "penalty": Step(
        "no penalty",
        _edit(
            LAW,
            "\tf->penalty_q16 = zrtt_clamp_between(f->penalty_q16 + (s32)step_q16, "
            "ZRTT_PENALTY_MIN,\n\t\t\t\t\t    ZRTT_PENALTY_MAX);",
            "\tf->penalty_q16 = 0;",
        ),
        {
            "bbr": ("max_class_ratio",),
            "fast": ("max_min_ratio",),
            "liar": ("liar_share",),
            "udp": ("tcp_share",),
            **_jain("reno", "unhinted", "start"),
        },
    ),
    "below": Step(
        "no penalty below 1",
        _edit(
            LAW,
            "ZRTT_PENALTY_MIN\t(-14 * (s32)ZRTT_Q16_ONE)",
            "ZRTT_PENALTY_MIN\t0",
        ),
        {"fast": ("max_min_ratio",), **_jain("reno", "unhinted", "start")},
    ),
    "gain": Step(
        "penalty by the largest gain at any P_b",
        _edit(LAW, "gain_q16 < most_q16 ?", "gain_q16 == ~0ULL ?"),
        {"fast": ("max_min_ratio",), **_jain("reno", "pair", "start")},
    ),
    "held-back": Step(
        "all flows in the due share",
        _edit(UPDATE, " &&\n\t       (zrtt_flow_held(f) || f->rate >= zrtt_flow_counts_from(t, f));", ";"),
        {"reverse": ("utilisation", "reverse_mean_mbps"), "churn": CHURNED},
    ),
    "young": Step(
        "young flows in the due share",
        _edit(FLOW, "ZRTT_MATURE_EPOCHS\t8", "ZRTT_MATURE_EPOCHS\t1"),
        {"churn": CHURNED, **_jain("start")},
    ),
    "late": Step(
        "no late drops",
        _edit(CONTROLLER, "return params->kind != ZRTT_CTL_BLUE &&", "return false &&"),
        {"slower": SLOWED},
    ),
    "hints": Step("handshakes only", Change("hint ignore"), _jain("reno", "many", "start")),
    "handshake": Step("no RTT known", Change("hint ignore nohandshake"), RATIOED),
    "clamp": Step("hints believed", Change("hint trust"), {"liar": ("liar_share",)}),
}

# In the order of docs/algorithm/ablation.md; each rung is zrtt without all that come behind it.
_ADDED: Mapping[str, Change] = {
    "mean-weight": STEPS["mean-weight"].without,
    "pi2": STEPS["pi2"].without,
    "spaced": STEPS["spaced"].without,
    "cap": STEPS["cap"].without,
    "feedback": STEPS["feedback"].without,
    "drops": STEPS["drops"].without,
    "penalty": STEPS["penalty"].without,
}


def _ladder() -> dict[str, Change]:
    """The variants from the paper's law to zrtt, which is the last."""
    names = list(_ADDED)
    rungs = {
        f"{place}-{name}": sum((_ADDED[later] for later in names[place:]), Change())
        for place, name in enumerate(names[:-1], 1)
    }
    return {"0-paper": Change("mode paper"), **rungs}


LADDER: Mapping[str, Change] = _ladder()
"""From the paper's law up."""
CHANGES: Mapping[str, Change] = {
    ZRTT: Change(),
    **{name: step.without for name, step in STEPS.items()},
    **LADDER,
}
"""All that is run, by the name that it has in the table."""
