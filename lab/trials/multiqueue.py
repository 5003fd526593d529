# SPDX-License-Identifier: GPL-2.0
"""Measures fairness on a device with several queues, each with a qdisc of its own.

One link serves the queues in turn, packet by packet, as the transmit queues of a NIC are
(lab/kmod/mqlink.c). Or the qdiscs shape to its rate. All packets of a flow take the same queue.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.host.progress import Progress
from lab.model.ports import FIRST_PORT
from lab.model.scenario import Scenario, ScenarioError, parse_rtts
from lab.results.result import Result, jain
from lab.runs import runner
from lab.toolchain import build

SCRIPT = build.REPO / "lab" / "guest" / "queues.sh"
RATE_BPS = 20_000_000
RTTS = "20ms..400ms/20"
FLOWS = 20
FOUR = (2, 4, 5, 9)
"""What a hash may make of the flows: how many are in each of four queues."""
HOSTS = (1, 5, 20)
"""Flows of hosts."""
WITH_CHILDREN = ("cake_mq",)
"""Qdiscs that take the place of mq."""
MODULES = {"zrtt": "sch_zrtt", "cake_mq": "sch_cake_mq"}
"""Of qdiscs, those that runner.Around is to be told."""


@dataclass(frozen=True)
class Layout:
    """Which queue each flow takes, from 1 on."""

    name: str
    queue_of: tuple[int, ...]
    sessions: tuple[int, ...] = ()
    """Flows of each host; none: each flow is of a host of its own."""

    @property
    def groups(self) -> list[list[int]]:
        """The flows of each queue that has some."""
        return [
            [flow for flow, its in enumerate(self.queue_of) if its == queue]
            for queue in sorted(set(self.queue_of))
        ]

    @property
    def queues(self) -> int:
        """Of the device: two or more."""
        return max(2, *self.queue_of)


@dataclass(frozen=True)
class Shared:
    """How a layout shares the link."""

    layout: Layout
    result: Result

    @property
    def goodputs(self) -> list[list[float]]:
        """Mbit/s of the flows of each queue."""
        flows = self.result.flows
        return [[flows[n].goodput_mbps for n in group] for group in self.layout.groups]

    @property
    def jains(self) -> list[float]:
        """Within each queue."""
        return [jain(group) for group in self.goodputs]

    @property
    def shares(self) -> list[float]:
        """Of each queue."""
        return [sum(group) / self.result.goodput_mbps for group in self.goodputs]

    @property
    def host_shares(self) -> list[float]:
        """Of each host."""
        left = iter(self.result.flows)
        return [
            sum(next(left).goodput_mbps for _ in range(flows)) / self.result.goodput_mbps
            for flows in self.layout.sessions
        ]


def four(seed: int) -> Layout:
    """Four queues, with flows of all RTTs in each."""
    queue_of = [queue for queue, flows in enumerate(FOUR, 1) for _ in range(flows)]
    random.Random(seed).shuffle(queue_of)
    return Layout(f"four queues, seed {seed}", tuple(queue_of))


def layouts(seed: int) -> list[Layout]:
    """One queue, both kinds of halves, and what a hash may make of the flows."""
    chance = random.Random(seed)
    hashed = tuple(1 if chance.random() >= 0.5 else 2 for _ in range(FLOWS))
    return [
        Layout("one queue", (1,) * FLOWS),
        Layout("RTTs in turn", (1, 2) * (FLOWS // 2)),
        Layout("short and long RTTs", (1,) * (FLOWS // 2) + (2,) * (FLOWS // 2)),
        Layout(f"by a hash, seed {seed}", hashed),
        four(seed),
    ]


def of_hosts(sessions: Sequence[int], seed: int) -> list[Layout]:
    """Hosts whose flows all have one queue, and what hashes may make of them in four."""
    flows = sum(sessions)
    hashes = [random.Random(seed + shift) for shift in range(3)]
    hashed = [tuple(chance.randint(1, 4) for _ in range(flows)) for chance in hashes]
    of_host = [host for host, count in enumerate(sessions) for _ in range(count)]
    layouts = [
        ("one queue", (1,) * flows),
        ("a queue per host", tuple(host % 4 + 1 for host in of_host)),
        *((f"by a hash, seed {seed + shift}", queues) for shift, queues in enumerate(hashed)),
    ]
    return [Layout(name, queue_of, tuple(sessions)) for name, queue_of in layouts]


def scenario(layout: Layout, seed: int, changes: Mapping[str, Any] = {}) -> Scenario:
    """Its traffic; `changes` are fields of it that are to be others. Raises ScenarioError."""
    hosts = len(layout.sessions)
    fields = {
        "rate_bps": RATE_BPS,
        "rtts_ms": parse_rtts(f"20ms..400ms/{hosts}" if hosts else RTTS),
        "sessions": 0 if hosts else 1,
        **changes,
    }
    made = Scenario(
        kernel="uml", qdisc="pfifo limit 100000", sessions_of=layout.sessions, seed=seed, **fields
    ).check()
    if made.n_flows != len(layout.queue_of):
        raise ScenarioError(f"--rtts: {len(layout.queue_of)}, one for each flow")
    return made


def _around(qdisc: str, rate_bps: int, layout: Layout, *, shape: bool) -> runner.Around:
    """The device, and what is to be loaded for it."""
    words = Scenario(kernel="uml", qdisc=qdisc).check().qdisc_words
    kind = words[0]
    if shape:
        words += ["bandwidth", f"{rate_bps}bit"]
    device = ["ifb" if shape else "mqlink", str(rate_bps), str(layout.queues)]
    place = "root" if kind in WITH_CHILDREN else "each"
    return runner.Around(
        SCRIPT,
        [*device, place, " ".join(words), str(FIRST_PORT), *map(str, layout.queue_of)],
        modules=["mqlink", *(MODULES[name] for name in MODULES if name == kind)],
    )


def run(qdisc: str, layout: Layout, seed: int, *, shape: bool = False,
        changes: Mapping[str, Any] = {}, progress: Progress | None = None) -> Shared:  # fmt: skip
    """Runs a layout; the qdiscs shape, or the link has a rate. Raises what runner.run() raises."""
    traffic = scenario(layout, seed, changes)
    around = _around(qdisc, traffic.rate_bps, layout, shape=shape)
    return Shared(layout, runner.run(traffic, around=around, progress=progress))


def _row(one: Shared, index: float, within: str, shares: Sequence[float]) -> tuple[str, ...]:
    """A line: Jain's index, within the queues or hosts, and the shares of these."""
    return (
        one.layout.name,
        " + ".join(str(n) for _, n in sorted(Counter(one.layout.queue_of).items())),
        f"{index:.4f}",
        within,
        " + ".join(f"{share:.1%}" for share in shares),
        f"{one.result.utilisation:.1%}",
    )


def lines(shared: Sequence[Shared]) -> list[tuple[str, ...]]:
    """A table."""
    head = ("", "flows", "Jain", "within each queue", "shares of the queues", "utilisation")
    return [
        head,
        *(
            _row(one, one.result.jain, ", ".join(f"{value:.3f}" for value in one.jains), one.shares)
            for one in shared
        ),
    ]


def lines_of_hosts(shared: Sequence[Shared]) -> list[tuple[str, ...]]:
    """A table of hosts."""
    head = (
        "", "flows of the queues", "Jain of hosts", "within", "shares of the hosts", "utilisation",
    )  # fmt: skip
    return [
        head,
        *(
            _row(one, one.result.host_jain, f"{one.result.within_jain:.3f}", one.host_shares)
            for one in shared
        ),
    ]
