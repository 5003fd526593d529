# SPDX-License-Identifier: GPL-2.0
"""Draws scenarios at random: each from a seed and a number alone, as options of lab run.

Rate, RTTs and the number of flows are uniform in their logarithms. What is drawn is
drawn again if it makes no sense (less than some packets per flow), if flows could not
converge in any time that one would wait (few flows on a long and fast path), or if a
run would take too long.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from lab.arena import cost
from lab.model.ect1 import SCALABLE, UDP
from lab.model.grid import FIELDS, Options
from lab.model.scenario import MIN_RATE_BPS, Scenario, parse_cc
from lab.model.thin import Kind, parse_thin
from lab.net import traffic_spec

RATES_BPS = (500_000, 2_000_000_000)
RTTS_MS = (1.0, 600.0)
MAX_FLOWS = 200
LONE_FLOW = 1.3
"""Where the range of flows begins: one alone is rare, as it is fair to itself."""
MAX_HOSTS = 16
"""RTTs of a scenario: if there are more flows, some have the same."""

FLOW_BPS = 40_000
"""Least share of a flow, but in CROWDED of the scenarios: a packet each 0.3 s."""
CROWDED = 0.15
CONVERGENCE_S = 80.0
"""The longest that Reno may take to get half a window of its due share."""

CCS = {
    "cubic": 6, "reno": 4, "bbr": 4, "htcp": 2, "bic": 2, "westwood": 2, "highspeed": 1,
    "scalable": 1, "hybla": 1, "vegas": 1,
}  # fmt: skip
"""The kernel's congestion controls, and how often each is drawn."""
ONE_RTT = 0.15
"""Of the scenarios have one RTT,"""
ANY_RTT = 0.5
"""and so many RTTs from the whole range; the others from a part of it."""

THIN = 0.4
"""Of the scenarios have thin traffic, drawn apart so that it changes nothing else,"""
THIN_SHARE = 0.1
"""and it has at most that share of the link."""

SCALABLE_SHARES = {1.0: 2, 0.5: 3, 0.25: 1}
"""With --l4s: of the flows that are scalable, and how often. Drawn apart, too."""
LIARS = 0.25
"""With --l4s: of the scenarios have senders of ECT(1) that are not entitled to it."""

STREAMS = (1, 12)
"""With --streams: UDP streams of a constant rate, drawn apart,"""
STREAM_SHARES = (0.1, 0.95)
"""each with so much of an equal share,"""
ALIKE = 0.4
"""and of the scenarios have streams of one rate."""

HOST_FLOWS = (1, 20)
"""With --hosts: flows of each host, drawn apart,"""
TRIES = 20
"""so often, until they suit the link; else all hosts keep as many."""

BUDGET_S = 20.0
"""Of processor time for a run, by lab.arena.cost."""
TOTAL_S = 80
"""How long a scenario lasts, a quarter of it warm-up, if the budget allows it,"""
LONG_TOTAL_S = 100
"""if it is slow or an RTT long;"""
SLOW_BPS, LONG_RTT_MS = 2_000_000, 300
SHORTEST_S = 24
"""but at least so long: fast links,"""
SHORTEST_SLOW_S, FAST_BPS = 60, 20_000_000
"""and links below that."""
MIN_WARMUP_S = 8
BUFFERS_BYTES = 1 << 30
"""Of all senders: a guest has three times that."""


class Chance(random.Random):
    """Random numbers with the distributions that are used here."""

    def log_uniform(self, low: float, high: float) -> float:
        """Uniform in its logarithm."""
        return math.exp(self.uniform(math.log(low), math.log(high)))

    def log_integer(self, low: int, high: int) -> int:
        """Likewise, a whole number; both ends are as likely as they should be."""
        return min(high, max(low, round(self.log_uniform(low - 0.5, high + 0.5))))

    def happens(self, share: float) -> bool:
        """True with that probability."""
        return self.random() < share


@dataclass(frozen=True)
class Drawn:
    """A scenario without its qdisc."""

    arena: int
    """The arena's seed."""
    number: int
    """From 1 on."""
    options: Options
    """Of lab run."""
    seed: int
    """Of its runs."""

    @property
    def cell(self) -> str:
        """The name of its cell in a table."""
        return f"{self.arena}-{self.number}"


def _rate(bps: float) -> str:
    """A rate of three digits, as tc reads it."""
    digits = 3 - len(str(round(bps)))
    rounded = round(bps, digits)
    return f"{rounded / 1e6:g}mbit" if rounded >= 1e6 else f"{rounded / 1e3:g}kbit"


def scenario_of(options: Options, **others: Any) -> Scenario:
    """The scenario of some options of lab run, not checked. Raises what their parsers raise."""
    fields: dict[str, Any] = dict(others)
    for name, value in options.items():
        fields |= FIELDS[name](value)
    return Scenario(**fields)


# -- flows ----------------------------------------------------------------------


def _flows(chance: Chance, rate_bps: float) -> int:
    fitting = MAX_FLOWS if chance.happens(CROWDED) else rate_bps / FLOW_BPS
    return round(chance.log_uniform(LONE_FLOW, max(2, min(MAX_FLOWS, fitting))))


def _longest_rtt_ms(rate_bps: float, flows: int) -> float:
    """Reno gains a packet per RTT, so half a window W takes W/2 RTTs, W = rate RTT / flows."""
    packets_per_s = rate_bps / (8 * cost.FRAME_BYTES) / flows
    longest = 1000 * math.sqrt(2 * CONVERGENCE_S / packets_per_s)
    return min(RTTS_MS[1], max(2 * RTTS_MS[0], longest))


def _rtts(chance: Chance, hosts: int, longest_ms: float) -> str:
    ends = (RTTS_MS[0], longest_ms)
    if not chance.happens(ANY_RTT):
        ends = tuple(sorted(chance.log_uniform(*ends) for _ in range(2)))
    one = chance.happens(ONE_RTT)
    drawn = [chance.log_uniform(*ends) for _ in range(hosts)]
    return ",".join(f"{drawn[0] if one else rtt:.3g}ms" for rtt in drawn)


def _cc(chance: Chance, flows: int) -> str:
    """One congestion control, or a mix of two or three."""
    count = min(flows, chance.choices((1, 2, 3), (5, 3, 2))[0])
    names: dict[str, None] = {}
    while len(names) < count:
        names[chance.choices(list(CCS), list(CCS.values()))[0]] = None
    return ("mix:" if count > 1 else "") + ",".join(names)


def _gso(chance: Chance, rate_bps: float) -> str:
    """Super-packets are rare on slow links, and the rule on fast ones."""
    share = 0.15 if rate_bps < 50e6 else 0.5 if rate_bps < 300e6 else 0.9
    return chance.choice(("4", "8", "16", "on")) if chance.happens(share) else "off"


def _steady(chance: Chance, rate_bps: float) -> dict[str, Any]:
    """The options that each scenario has."""
    flows = _flows(chance, rate_bps)
    sessions = math.ceil(flows / MAX_HOSTS)
    hosts = round(flows / sessions)
    return {
        "rate": _rate(rate_bps),
        "rtts": _rtts(chance, hosts, _longest_rtt_ms(rate_bps, flows)),
        "sessions": str(sessions),
        "cc": _cc(chance, hosts * sessions),
        "ecn": chance.choices(("on", "off", "0.5"), (4, 4, 2))[0],
        "gso": _gso(chance, rate_bps),
        "hint": chance.choices(("none", "sampled", "0.3", "0.7", "packet"), (14, 2, 2, 1, 1))[0],
    }


# -- what some have besides -------------------------------------------------------


@dataclass(frozen=True)
class _Frame:
    """What the parts of a scenario are drawn for: its link, flows and times."""

    rate_bps: float
    hosts: int
    sessions: int
    longest_rtt_ms: float
    warmup_s: int = 0
    """0: not known yet."""
    total_s: int = 0


Part = Callable[[Chance, _Frame], dict[str, Any]]
"""Draws options."""


def _churn(chance: Chance, frame: _Frame) -> dict[str, Any]:
    size = chance.choices(
        ("web", f"{chance.log_integer(2, 60)}kB", "pareto:1.2:20kB:10MB"), (5, 3, 2)
    )[0]
    return {"churn": f"load={chance.log_uniform(4, 50):.2g}% size={size}"}


def _reverse(chance: Chance, frame: _Frame) -> dict[str, Any]:
    return {"reverse": str(chance.log_integer(1, min(10, 2 * frame.hosts * frame.sessions)))}


def _thin_udp(chance: Chance, frame: _Frame) -> dict[str, Any]:
    most = min(200e3, frame.rate_bps / 6)
    count = chance.randint(1, 3)
    return {"udp": [_rate(chance.log_uniform(min(64e3, most), most)) for _ in range(count)]}


def _thick_udp(chance: Chance, frame: _Frame) -> dict[str, Any]:
    return {"udp": [_rate(frame.rate_bps * chance.log_uniform(0.5, 2))]}


def _floods(chance: Chance, frame: _Frame) -> dict[str, Any]:
    rates = [frame.rate_bps * chance.log_uniform(0.4, 1.2) for _ in range(chance.randint(2, 4))]
    return {"udp": list(map(_rate, rates))}


def _hops(chance: Chance, frame: _Frame) -> dict[str, Any]:
    count = chance.log_integer(1, min(4, 2 * frame.hosts))
    rtts = [chance.log_uniform(RTTS_MS[0], frame.longest_rtt_ms) for _ in range(count)]
    return {"hops": f"2:{','.join(f'{rtt:.3g}ms' for rtt in rtts)}"}


def _steps(chance: Chance, frame: _Frame) -> dict[str, Any]:
    """One to three changes of the rate, down from the given one and back up."""
    times = sorted(chance.sample(range(frame.warmup_s, frame.total_s - 4), chance.randint(1, 3)))
    rates = [frame.rate_bps * chance.log_uniform(0.15, 1) for _ in times]
    return {"step": [f"t={t} rate={_rate(bps)}" for t, bps in zip(times, rates, strict=True)]}


def _trace(chance: Chance, frame: _Frame) -> dict[str, Any]:
    """A random walk between a tenth of the rate and all of it, from which it is thrown back."""
    every_s = chance.randint(max(2, frame.total_s // 20), max(4, frame.total_s // 8))
    octaves, steps = 0.0, []
    for at_s in range(every_s, frame.total_s - 1, every_s):
        octaves = max(LOWEST_OCTAVE, -abs(octaves + chance.gauss(0, 0.7)))
        steps.append(f"t={at_s} rate={_rate(frame.rate_bps * 2**octaves)}")
    return {"step": steps}


def _come_and_go(chance: Chance, frame: _Frame) -> dict[str, Any]:
    """Some join, some leave; at least two flows are there all the time, if there are three."""
    most = max(1, frame.hosts - (1 if frame.sessions > 1 else 2))
    moving = chance.sample(range(frame.hosts), chance.randint(1, most))
    starts, stops = ["0"] * frame.hosts, ["end"] * frame.hosts
    last_s = frame.warmup_s + (frame.total_s - frame.warmup_s) * 2 // 3
    for host in moving:
        joins, leaves = chance.choice(((True, False), (False, True), (True, True)))
        start = chance.randint(frame.warmup_s // 2, last_s) if joins else 0
        if joins:
            starts[host] = str(start)
        if leaves:
            last_stop_s = frame.total_s - 2
            first_s = min(max(start + 6, frame.warmup_s), last_stop_s)
            stops[host] = str(chance.randint(first_s, last_stop_s))
    found = {"start": ",".join(starts)} if set(starts) != {"0"} else {}
    return found | ({"stop": ",".join(stops)} if set(stops) != {"end"} else {})


LASTING: dict[str, Part] = {
    "churn": _churn, "reverse": _reverse, "thin": _thin_udp, "thick": _thick_udp,
    "floods": _floods, "hops": _hops,
}  # fmt: skip
TIMED: dict[str, Part] = {"steps": _steps, "trace": _trace, "joins": _come_and_go}
"""Those that need to know how long the scenario lasts."""
KINDS = (*LASTING, *TIMED)
HOW_MANY = {0: 6, 1: 9, 2: 5}
"""Of KINDS in a scenario, and how often."""
POOL = (*KINDS, "churn")
"""Churn is everywhere."""
APART = ({"thin", "thick", "floods"}, {"steps", "trace"})
"""Of each at most one."""
LOWEST_OCTAVE = -3.3
"""Of a random walk."""
FROM_TO = 0.3
"""Of thick UDP starts late and ends early."""


def _kinds(chance: Chance) -> list[str]:
    count = chance.choices(list(HOW_MANY), list(HOW_MANY.values()))[0]
    while True:
        chosen = chance.sample(POOL, count)
        if len(set(chosen)) == count and all(len(group & set(chosen)) < 2 for group in APART):
            return chosen


def _interval(chance: Chance, streams: Sequence[str], frame: _Frame) -> list[str]:
    """UDP streams that last for a part of the time."""
    first = chance.randint(frame.warmup_s // 2, (frame.warmup_s + frame.total_s) // 2)
    last = chance.randint(first + 5, frame.total_s - 1)
    return [f"{rate}@{first}-{last}" for rate in streams]


def _times(rate_bps: float, longest_ms: float, per_second: float) -> tuple[int, int] | None:
    """Warm-up and total duration; None if that would take too long."""
    long = rate_bps < SLOW_BPS or longest_ms > LONG_RTT_MS
    wanted = LONG_TOTAL_S if long else TOTAL_S
    total = min(wanted, int(BUDGET_S / per_second))
    if total < (SHORTEST_S if rate_bps >= FAST_BPS else SHORTEST_SLOW_S):
        return None
    return max(MIN_WARMUP_S, total // 4), total


def _attempt(chance: Chance, rate_bps: float) -> Options | None:
    """Draws once; None if the scenario has to be drawn again."""
    options = _steady(chance, rate_bps)
    scenario = scenario_of(options)
    frame = _Frame(
        rate_bps, len(scenario.rtts_ms), scenario.sessions,
        _longest_rtt_ms(rate_bps, scenario.n_flows),
    )  # fmt: skip
    kinds = _kinds(chance)
    if "joins" in kinds and (frame.hosts < 2 or frame.hosts * frame.sessions < 3):
        return None
    for kind in kinds:
        options |= LASTING[kind](chance, frame) if kind in LASTING else {}
    scenario = scenario_of(options)
    buffers = sum(traffic_spec.send_buffer_bytes(scenario, flow) for flow in scenario.all_flows)
    times = _times(rate_bps, max(scenario.rtts_ms), cost.per_second(scenario))
    if not times or buffers > BUFFERS_BYTES:
        return None
    warmup_s, total_s = times
    timed = _Frame(**{**vars(frame), "warmup_s": warmup_s, "total_s": total_s})
    for kind in kinds:
        options |= TIMED[kind](chance, timed) if kind in TIMED else {}
    if {"thick", "floods"} & set(kinds) and chance.happens(FROM_TO):
        options["udp"] = _interval(chance, options["udp"], timed)
    return options | {"warmup": str(warmup_s), "duration": str(total_s - warmup_s)}


def _thin(chance: Chance, rate_bps: float) -> dict[str, Any]:
    """Calls, games, queries and pings, each if it finds room in a share of the slowest rate."""
    left, found = rate_bps * THIN_SHARE, []
    for kind in chance.sample(list(Kind), chance.randint(1, len(Kind))):
        wanted = f"{kind}*{chance.log_integer(1, 8)}"
        (thin,) = parse_thin(wanted)
        if thin.wire_bps <= left:
            left -= thin.wire_bps
            found.append(wanted)
    return {"thin": ",".join(found)} if found else {}


def _l4s(chance: Chance, options: Options) -> dict[str, Any]:
    """Scalable flows in place of some, and liars among the others."""
    others = parse_cc(options["cc"])
    share = chance.choices(list(SCALABLE_SHARES), list(SCALABLE_SHARES.values()))[0]
    (scalable,) = SCALABLE
    if share == 1:
        return {"cc": scalable}
    turns = [name for other in others for name in [scalable] + [other] * round(1 / share - 1)]
    turns = turns[: scenario_of(options).n_flows]
    found = {"cc": ("mix:" if len(turns) > 1 else "") + ",".join(turns)}
    there = dict.fromkeys(name for name in turns if name != scalable)
    possible = [*(there if options["ecn"] == "on" else ()), *([UDP] if "udp" in options else ())]
    if possible and chance.happens(LIARS):
        found["ect1"] = chance.choice(possible)
    return found


def _suits(rate_bps: float, scenario: Scenario) -> bool:
    """Whether flows of such hosts converge, be shares by flows or by hosts, and are not too many
    for the link, the time and the memory."""
    hosts, flows = len(scenario.rtts_ms), scenario.n_flows
    converge = all(
        rtt_ms <= _longest_rtt_ms(rate_bps, min(flows, hosts * own))
        for rtt_ms, own in zip(scenario.rtts_ms, scenario.host_sessions, strict=True)
    )
    buffers = sum(traffic_spec.send_buffer_bytes(scenario, flow) for flow in scenario.all_flows)
    return (
        converge
        and flows <= min(MAX_FLOWS, max(rate_bps / FLOW_BPS, 2 * hosts))
        and buffers <= BUFFERS_BYTES
        and cost.per_second(scenario) * scenario.total_s < BUDGET_S
    )


def _hosts(chance: Chance, options: Options) -> dict[str, Any]:
    """Of each host another number of flows, where there are several hosts."""
    plain = scenario_of(options)
    tries = [[chance.log_integer(*HOST_FLOWS) for _ in plain.rtts_ms] for _ in range(TRIES)]
    different = [flows for flows in tries if len(set(flows)) > 1]
    for flows in [*different, plain.host_sessions]:
        found = {"sessions": ",".join(map(str, flows))}
        if _suits(plain.rate_bps, scenario_of({**options, **found})):
            return found
    return {}


def _streams(chance: Chance, options: Options) -> dict[str, Any]:
    """UDP streams that need less than an equal share of the slowest rate, for all of the time."""
    scenario = scenario_of(options)
    count = chance.log_integer(*STREAMS)
    share = min(phase.rate_bps for phase in scenario.phases) / (scenario.n_flows + count)
    shares = [chance.uniform(*STREAM_SHARES) for _ in range(count)]
    if chance.happens(ALIKE):
        shares = shares[:1] * count
    return {"udp": [_rate(max(MIN_RATE_BPS, share * own)) for own in shares]}


def draw(arena: int, number: int, *, l4s: bool = False, hosts: bool = False,
         streams: bool = False) -> Drawn:  # fmt: skip
    """Scenario number NUMBER, from 1 on, of the arena with that seed.

    With `hosts` it is the same one with other numbers of flows, with `l4s` with scalable flows
    in it, with `streams` with UDP streams in place of its own UDP.
    """
    chance = Chance(f"arena {arena} {number}")
    seed = chance.randrange(1, 1_000_000)
    rate_bps = chance.log_uniform(*RATES_BPS)
    while not (options := _attempt(chance, rate_bps)):
        pass
    thin = Chance(f"thin {arena} {number}")
    if thin.happens(THIN):
        slowest = min(phase.rate_bps for phase in scenario_of(options).phases)
        options |= _thin(thin, slowest)
    if hosts:
        options |= _hosts(Chance(f"hosts {arena} {number}"), options)
    if streams:
        options |= _streams(Chance(f"streams {arena} {number}"), options)
    if l4s:
        options |= _l4s(Chance(f"l4s {arena} {number}"), options)
    return Drawn(arena, number, {name: options[name] for name in FIELDS if name in options}, seed)
