# SPDX-License-Identifier: GPL-2.0
"""The steps of mode zrtt (docs/algorithm.md), each as what takes it away, and what shows it.

Some parameter of tc takes a step away, or else an edit of the sources does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from lab.grid import Options
from lab.variant import Edit

LAW, FLOW, TABLE, CONTROLLER = (
    f"include/zrtt/{name}.h" for name in ("law", "flow", "table", "controller")
)
ZRTT = "zrtt"
"""All steps."""


@dataclass(frozen=True)
class Change:
    """What makes another algorithm of mode zrtt."""

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
    "many": {"cc": "reno", "sessions": "10"},
    "pair": {"cc": "cubic", "rtts": "160ms,10ms", "rate": "50mbit"},
    "fast": {"cc": "cubic", "rtts": "10ms,40ms,160ms", "rate": "100mbit"},
    "unhinted": {"cc": "reno", "hint": "none"},
    "bbr": {"cc": "mix:bbr,cubic"},
    "liar": {"cc": "reno", "liar": ["19:10"]},
    "udp": {"cc": "cubic", "udp": ["24mbit"]},
    "reverse": {"cc": "reno", "reverse": "4"},
    "slower": {"cc": "cubic", "step": ["t=30 rate=5mbit"]},
    "churn": {"cc": "cubic", "churn": "load=25% size=web"},
    "slow": {"cc": "reno", "rtts": "1ms,200ms", "rate": "1mbit", "ecn": "off", "duration": "100"},
}
"""Options of lab run, beside those that all have; start is while prices are found."""
COMMON: Options = {"rtts": "20ms..400ms/20", "duration": "40"}

SLOWED = ("sojourn_max_ms", "min_phase_utilisation")
CHURNED = ("jain", "goodput_mean_mbps", "fct_mean_s", "sojourn_p95_ms")
CROWDED = {"many": ("jain", "sojourn_p95_ms"), "udp": ("tcp_share", "sojourn_p95_ms")}
CONTROLLED = {"reno": ("jain", "utilisation", "sojourn_p95_ms"), "slower": SLOWED}


def _jain(*cells: str) -> Mapping[str, tuple[str, ...]]:
    return dict.fromkeys(cells, ("jain",))


RATIOED = {"fast": ("max_min_ratio",), **_jain("reno", "cubic", "many", "pair", "start")}
"""Where the exponent of the RTTs matters."""

LADDER_CELLS: Mapping[str, tuple[str, ...]] = {
    "reno": ("jain", "utilisation", "sojourn_p95_ms"),
    "many": ("jain", "utilisation", "sojourn_p95_ms"),
    **_jain("cubic", "pair"),
}

STEPS: Mapping[str, Step] = {
    "mean-weight": Step(
        "mean weight as it comes",
        _edit(LAW, "log_weight += law->log_norm +\n\t\t\t      ", "log_weight += "),
        {
            "reno": ("jain", "utilisation"),
            "reverse": ("utilisation", "reverse_mean_mbps"),
            **_jain("many", "start"),
        },
    ),
    "marked-mean": Step(
        "mean weight over dropped packets, too",
        _edit(LAW, "\tif (!marks)\n\t\treturn;\n\tlaw->weights", "\tlaw->weights"),
        {"udp": ("tcp_share", "sojourn_p95_ms")},
    ),
    "pi2": Step("BLUE", Change("controller blue"), CONTROLLED),
    "pi2-pblue": Step("proportional BLUE", Change("controller pblue"), CONTROLLED),
    "few-packets": Step(
        "target of less than 3 packets",
        _edit(CONTROLLER, "(u64)params->target_us * backlog_pkts", "~0ULL"),
        {"slow": ("jain", "utilisation", "sojourn_p95_ms")},
    ),
    "spaced": Step(
        "random marks",
        _edit(LAW, "if (params->tuned && chance_q30", "if (false && chance_q30"),
        {
            "reno": ("jain", "sojourn_p95_ms"),
            "fast": ("max_min_ratio",),
            **_jain("cubic", "pair", "start"),
        },
    ),
    "rtt": Step("alpha 0", Change("alpha 0"), RATIOED),
    "alpha-2": Step("alpha 2", Change("alpha 2"), RATIOED),
    "regression": Step("min(1.25, 4 % / P_b_avg)", Change("alpha capped alpha_max 1.25"), RATIOED),
    "bound": Step(
        "regression without bound",
        Change("pth 100%"),
        {"many": ("jain", "sojourn_p95_ms"), **_jain("start")},
    ),
    "feedback": Step(
        "feedback 0",
        Change("feedback 0"),
        {
            "bbr": ("max_class_ratio",),
            "fast": ("max_min_ratio",),
            **_jain("reno", "many", "pair", "start", "churn"),
        },
    ),
    "drops": Step(
        "marks at any P_i",
        Change("mark_max 100%"),
        CROWDED,
    ),
    "odds": Step(
        "P_i above 10 % as probability",
        _edit(
            LAW,
            "\treturn zrtt_exp2((ZRTT_P_SHIFT << ZRTT_Q16) - zrtt_log2(p_q30 + ZRTT_P_ONE));",
            "\tif (p_q30 >= ZRTT_P_ONE)\n\t\treturn 0;\n"
            "\treturn (u32)((ZRTT_P_ONE - p_q30) >> (ZRTT_P_SHIFT - ZRTT_Q16));",
        ),
        CROWDED,
    ),
    "price": Step(
        "price 1",
        _edit(LAW, "ZRTT_PRICE_MAX\t\t(6 << ZRTT_PRICE_FRAC)", "ZRTT_PRICE_MAX\t\t0"),
        {
            "bbr": ("max_class_ratio",),
            "fast": ("max_min_ratio",),
            "liar": ("liar_share",),
            "udp": ("tcp_share",),
            **_jain("reno", "unhinted", "start"),
        },
    ),
    "usual-price": Step(
        "young flows at price 1",
        _edit(LAW, "f->price_q13 = law->usual_q13;", "f->price_q13 = 0;"),
        {"churn": CHURNED, **_jain("start")},
    ),
    "thin": Step(
        "thin flows in r_avg",
        _edit(TABLE, "if (zrtt_is_thin(t, f->passed))", "if (false)"),
        {"reverse": ("utilisation", "reverse_mean_mbps")},
    ),
    "young": Step(
        "young flows in r_avg and regression",
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

# In the order of docs/algorithm.md; each rung is zrtt without all that come behind it.
_ADDED: Mapping[str, Change] = {
    "mean-weight": STEPS["mean-weight"].without,
    "pi2": STEPS["pi2"].without,
    "spaced": STEPS["spaced"].without,
    "regression": Change("alpha capped alpha_max 2 pth 5%"),
    "feedback": STEPS["feedback"].without,
    "drops": STEPS["drops"].without,
    "price": STEPS["price"].without,
}


def _ladder() -> dict[str, Change]:
    """The last rung is zrtt itself."""
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
