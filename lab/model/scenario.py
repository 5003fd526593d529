# SPDX-License-Identifier: GPL-2.0
"""A scenario: the options of `lab run`, checked before anything boots."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

from lab.kernels.kernel import KERNELS, OTHER_TICKS
from lab.model.autorate import Autorate
from lab.model.churn import MAX_FLOWS as MAX_SHORT_FLOWS
from lab.model.churn import Arrival, Background, Churn
from lab.model.ect1 import SCALABLE, Ect1
from lab.model.hosts import MAX_RECEIVERS, SUBSCRIBER_SHIFT, Idle
from lab.model.line import Line, Slow
from lab.model.options import ScenarioError
from lab.model.ports import CROSS_PORT, FIRST_PORT, MAX_CROSS, MAX_FLOWS, MAX_UDP, REVERSE_PORT
from lab.model.spoof import MAX_SPOOF, Spoof
from lab.model.step import Phase, Step
from lab.model.thin import DRAIN_S, Thin
from lab.model.udp import Udp
from lab.model.units import UnitError, parse_time

CCS = {
    "reno": "tcp_cong", "cubic": "tcp_cubic", "bbr": "tcp_bbr", "bic": "tcp_bic",
    "htcp": "tcp_htcp", "hybla": "tcp_hybla", "highspeed": "tcp_highspeed",
    "scalable": "tcp_scalable", "vegas": "tcp_vegas", "westwood": "tcp_westwood",
    "libra": "tcp_libra", "nrhstcp": "tcp_nrhstcp", "exp": "tcp_exp",
    "prague": "tcp_prague",
}  # fmt: skip
"""Congestion controls, and their modules: the kernel's, or in endpoints/."""
MAX_RTTS = 250
MIN_RATE_BPS = 10_000
MAX_RTT_MS = 4000.0
MAX_HOPS = 4
START_SPREAD_S = 3
"""Flows start within that time."""
MIN_WARMUP_S = 0.5
"""With times of starts, which say that what happens in them is of interest."""
IDLE_SAMPLE_MS = 1000
"""How often goodput is read where hosts are idle at times."""
MAX_GSO_SEGS = 44
"""What 64 kB hold."""


@dataclass(frozen=True)
class Flow:
    """One TCP connection of a scenario."""

    index: int
    """Among its kind: long, crossing, reverse."""
    host: int
    """Index of its RTT in Scenario.rtts_ms: one host per RTT; if crossing, its own."""
    port: int
    rtt_ms: float
    cc: str
    ecn: bool
    hint: str
    """packet, sampled or none."""
    hint_factor: float
    """What the sender multiplies its RTT with; 1 is honest."""
    lies: bool = False
    """It sends as ECT(1), and is not entitled to it."""
    hop: int = 0
    """The only router it crosses, from 1 on; 0: it crosses all."""
    receiver: int | None = None
    """Index in Scenario.receivers; None: the address that all have."""
    reverse: bool = False
    """It runs from the receivers' side to the host."""

    @property
    def ect1(self) -> bool:
        """Whether its data are ECT(1)."""
        return self.lies or self.cc in SCALABLE


class Link(StrEnum):
    """How the rate of the bottleneck is limited."""

    SHAPER = "shaper"
    """htb, with a small burst."""
    WIRE = "wire"
    """htb without one: as a device of that rate."""
    OWN = "own"
    """The qdisc's own shaper."""


SHAPERS = ("zrtt", "cake")
"""Qdiscs that know the word bandwidth."""


@dataclass(frozen=True)
class Scenario:
    """All options of a run. Build it with parse_*, then call check()."""

    kernel: str = "6.12"
    qdisc: str = "fq_codel"
    rate_bps: int = 20_000_000
    link: Link = Link.SHAPER
    rtts_ms: tuple[float, ...] = (20.0, 40.0)
    sessions: int = 1
    """Flows of each host; 0 if they differ."""
    sessions_of: tuple[int, ...] = ()
    """Then, those of each."""
    weights: tuple[int, ...] = ()
    """Of each host, in the lowest byte of its packets' marks; empty: 1."""
    subscribers: tuple[int, ...] = ()
    """Whose each host is, from 1 on, in the next byte; empty: each another's."""
    dscps: tuple[int, ...] = ()
    """Of each host's packets; empty: 0."""
    receivers: tuple[int, ...] = ()
    """Flows to each address of the receivers' side, the first flows to the first; empty: one."""
    idle: Idle | None = None
    """Hosts that have nothing to send at times."""
    cc: tuple[str, ...] = ("cubic",)
    """Given to the flows in turn."""
    ecn: bool = True
    ecn_share: float = 1.0
    """Share of the flows that negotiate it if ECN is on, spread evenly."""
    gso_segs: int = 1
    """Segments of a super-packet at most; 0: as many as the kernel makes."""
    hint: str = "packet"
    """packet, sampled or none, of the flows that hint."""
    hint_share: float = 1.0
    """Share of the flows that hint, spread evenly."""
    liars: dict[int, float] = field(default_factory=dict)
    """Flow index -> factor of its lie."""
    ect1: Ect1 = Ect1()
    timestamps_share: float = 1.0
    """Share of the hosts whose TCP has timestamps, spread evenly."""
    warmup_s: float = 20.0
    duration_s: float = 60.0
    seed: int = 1
    steps: tuple[Step, ...] = ()
    udp: tuple[Udp, ...] = ()
    spoof: tuple[Spoof, ...] = ()
    thin: tuple[Thin, ...] = ()
    churn: Churn | None = None
    reverse: int = 0
    """Flows the other way, through a bottleneck of their own."""
    hops: int = 1
    """Routers in series; the flows of rtts_ms cross all of them."""
    cross_rtts_ms: tuple[float, ...] = ()
    """Of flows that cross one router only, at each."""
    back: str = ""
    """A qdisc of the router for what goes back to each host, behind its delay."""
    starts_s: tuple[float, ...] = ()
    """When the flows of each RTT start, and some of 3 s later; empty: at once."""
    stops_s: tuple[float | None, ...] = ()
    """When the flows of each RTT are reset, None: never; empty: none is."""
    background: Background = Background()
    sample_ms: int = 0
    line: Line | None = None
    """Behind the router; rate_bps then means nothing."""
    slow: Slow | None = None
    """Behind all others, for one host."""

    def check(self) -> Scenario:
        """Returns itself, or raises ScenarioError."""
        kernels = (*KERNELS, *OTHER_TICKS)
        self._require(self.kernel in kernels, f"--kernel: one of {', '.join(kernels)}")
        self._require(bool(self.qdisc_words), "--qdisc: empty")
        self._require(
            not self.autorate or self.line is not None, f"--qdisc {Autorate.NAME}: without --line"
        )
        self._require(
            self.link != Link.OWN or self.qdisc_words[0] in SHAPERS,
            f"--link own: of {' and '.join(SHAPERS)} only",
        )
        self._require(
            self.link != Link.OWN or not {"bandwidth", "unlimited"} & set(self.qdisc_words),
            "--link own: the bandwidth is that of --rate, not of --qdisc",
        )
        self._require(self.rate_bps >= MIN_RATE_BPS, "--rate: at least 10kbit")
        self._require(0 < len(self.rtts_ms) <= MAX_RTTS, f"--rtts: 1 to {MAX_RTTS} of them")
        self._require(all(0 <= rtt <= MAX_RTT_MS for rtt in self.rtts_ms), "--rtts: each 0 to 4 s")
        self._check_hosts()
        flows = self.n_flows
        self._require(1 <= flows <= MAX_FLOWS, f"--sessions: 1 to {MAX_FLOWS} flows in all")
        self._require(
            bool(self.cc) and all(cc in CCS for cc in (*self.cc, *self.ccs)),
            f"--cc, --background: one of {', '.join(CCS)}; or mix:A,B",
        )
        self._require(0 <= self.gso_segs <= MAX_GSO_SEGS, f"--gso: at most {MAX_GSO_SEGS} segments")
        self._require(
            len(self.starts_s) in (0, len(self.rtts_ms)), "--start: as many as there are RTTs"
        )
        self._require(
            all(0 <= start < self.total_s for start in self.starts_s), "--start: outside the run"
        )
        self._check_stops()
        slowest = self.background.rate_bps
        self._require(slowest is None or slowest >= MIN_RATE_BPS, "--background: at least 10kbit")
        self._require(
            0 <= self.reverse <= MAX_FLOWS - flows, f"--reverse: up to {MAX_FLOWS} flows in all"
        )
        self._require(1 <= self.hops <= MAX_HOPS, f"--hops: 1 to {MAX_HOPS} routers")
        self._require(
            len(self.cross_rtts_ms) * self.hops <= MAX_CROSS,
            f"--hops: at most {MAX_CROSS} flows that cross one router",
        )
        self._require(
            all(0 <= rtt <= MAX_RTT_MS for rtt in self.cross_rtts_ms), "--hops: RTTs of 0 to 4 s"
        )
        self._require(
            self.warmup_s >= (MIN_WARMUP_S if self.starts_s else START_SPREAD_S + 2),
            f"--warmup: at least 5 s, flows start in the first 3; {MIN_WARMUP_S} s with --start",
        )
        self._require(self.duration_s > 0, "--duration: more than 0 s")
        self._require(math.isfinite(self.total_s), "--warmup, --duration: seconds")
        self._require(
            not self.thin or self.duration_s >= 2 * DRAIN_S,
            f"--duration: at least {2 * DRAIN_S:g} s with --thin",
        )
        for step in self.steps:
            self._require(0 <= step.at_s <= self.total_s, f"--step t={step.at_s}: outside the run")
        if self.jitter_ms:
            self._require(
                self.jitter_ms <= min(self.rtts_ms) / 2, "--step jitter: at most half of each RTT"
            )
            self._require(not self.cross_rtts_ms, "--step jitter: not with RTTs of --hops")
            self._require(not self.slow, "--step jitter: not with --slow")
        self._require(len(self.udp) <= MAX_UDP, f"--udp: at most {MAX_UDP} streams")
        for stream in self.udp:
            until = self.total_s if stream.to_s is None else stream.to_s
            self._require(stream.rate_bps >= MIN_RATE_BPS, "--udp: at least 10kbit")
            self._require(
                0 <= stream.from_s < until <= self.total_s,
                f"--udp @{stream.from_s:g}-{until:g}: not a part of the run",
            )
        self._check_spoof(flows)
        if self.churn:
            planned = self.planned_short_flows
            self._require(
                planned <= MAX_SHORT_FLOWS,
                f"--churn: {planned:.0f} flows, at most {MAX_SHORT_FLOWS}",
            )
        for index, factor in self.liars.items():
            self._require(index < flows, f"--liar {index}: flows are 0..{flows - 1}")
            self._require(0.001 <= factor <= 1000, f"--liar {index}: factor 0.001 to 1000")
        self._check_ect1(flows)
        self._check_line()
        return self

    def _check_line(self) -> None:
        if self.slow:
            hosts = len(self.rtts_ms)
            self._require(self.slow.host < hosts, f"--slow: hosts are 0..{hosts - 1}")
            self._require(not self.gso, "--slow: not with --gso")
            self._require(not self.ect1_tcp, "--slow: not with ECT(1)")
        if not self.line:
            return
        for option, wrong in (
            ("--hops", self.hops > 1 or bool(self.cross_rtts_ms)), ("--reverse", self.reverse > 0),
            ("--link", self.link != Link.SHAPER), ("--gso", self.gso),
            ("--step rate", any(step.rate_bps is not None for step in self.steps)),
        ):  # fmt: skip
            self._require(not wrong, f"--line: not with {option}")
        late = [f"{at_s:g}" for at_s, _ in self.line.rates if at_s >= self.total_s]
        self._require(not late, f"--line rate@{', '.join(late)}: not before the end of the run")

    def _check_hosts(self) -> None:
        hosts = len(self.rtts_ms)
        for option, values in (
            ("sessions", self.sessions_of), ("weights", self.weights), ("dscp", self.dscps),
            ("subscribers", self.subscribers),
        ):  # fmt: skip
            self._require(len(values) in (0, hosts), f"--{option}: as many as there are RTTs")
        self._require(
            all(count >= 1 for count in self.host_sessions), "--sessions: at least one flow each"
        )
        self._require(
            len(self.receivers) <= MAX_RECEIVERS, f"--receivers: at most {MAX_RECEIVERS}"
        )
        self._require(
            sum(self.receivers) in (0, self.n_flows) if self.receivers else True,
            f"--receivers: {sum(self.receivers)} flows of {self.n_flows}",
        )
        of_subscriber = dict(zip(self.groups, self.host_weights, strict=True))
        self._require(
            all(of_subscriber[g] == w for g, w in zip(self.groups, self.host_weights, strict=True)),
            "--subscribers: hosts of one have one weight",
        )
        # a packet's mark does not leave the router
        self._require(
            self.hops == 1 or not (self.weights or self.subscribers),
            "--weights, --subscribers: with one router only",
        )
        self._require(
            self.idle is None or self.idle.hosts < hosts, "--idle: one host sends all the time"
        )
        self._require(
            self.idle is None or not (self.starts_s or self.stops_s),
            "--idle: not with --start or --stop",
        )
        for stream in self.udp:
            self._require(stream.host is None or stream.host < hosts,
                          f"--udp host={stream.host}: hosts are 0..{hosts - 1}")  # fmt: skip
        churn = self.churn.host if self.churn else None
        self._require(churn is None or churn < hosts,
                      f"--churn host={churn}: hosts are 0..{hosts - 1}")  # fmt: skip

    def _check_ect1(self, flows: int) -> None:
        for name in sorted(self.ect1.ccs):
            self._require(name in self.ccs, f"--ect1 {name}: no flow has it")
        for index in sorted(self.ect1.flows):
            self._require(index < flows, f"--ect1 {index}: flows are 0..{flows - 1}")
        self._require(bool(self.udp) or not self.ect1.udp, "--ect1 udp: there is no --udp")
        if not self.ect1.flows and not self.ect1.ccs:
            return
        silent = [flow.index for flow in self.all_flows if flow.lies and not flow.ecn]
        self._require(not silent, f"--ect1: flows without ECN: {', '.join(map(str, silent))}")

    def _check_stops(self) -> None:
        hosts = len(self.rtts_ms)
        self._require(len(self.stops_s) in (0, hosts), "--stop: as many as there are RTTs")
        for start, stop in self.lives_s if self.stops_s else ():
            self._require(
                stop is None or start + START_SPREAD_S <= stop <= self.total_s,
                f"--stop: from {START_SPREAD_S} s after the start to the end of the run",
            )

    def _check_spoof(self, flows: int) -> None:
        self._require(len(self.spoof) <= MAX_SPOOF, f"--spoof: at most {MAX_SPOOF} attackers")
        for spoof in self.spoof:
            until = self.total_s if spoof.to_s is None else spoof.to_s
            self._require(
                0 <= spoof.flow < flows, f"--spoof flow={spoof.flow}: flows are 0..{flows - 1}"
            )
            self._require(
                spoof.rate_bps is None or spoof.rate_bps >= MIN_RATE_BPS,
                "--spoof: at least 10kbit",
            )
            # by then the victim has its ports
            start, stop = self.lives_s[self.host_of[spoof.flow]]
            self._require(
                start + START_SPREAD_S <= spoof.from_s < until <= (stop or self.total_s),
                f"--spoof from={spoof.from_s:g} to={until:g}: not a part of the run in which"
                f" flow {spoof.flow} is there",
            )

    @staticmethod
    def _require(condition: bool, message: str) -> None:
        if not condition:
            raise ScenarioError(message)

    @property
    def total_s(self) -> float:
        """Virtual seconds of traffic."""
        return self.warmup_s + self.duration_s

    @property
    def lives_s(self) -> list[tuple[float, float | None]]:
        """Of the flows of each RTT: from when on they start, when they are reset (None: never)."""
        hosts = len(self.rtts_ms)
        starts, stops = self.starts_s or (0.0,) * hosts, self.stops_s or (None,) * hosts
        return list(zip(starts, stops, strict=True))

    @property
    def steady(self) -> list[int]:
        """Indices of the flows that are there for the whole of the measured interval."""
        hosts = {
            host
            for host, (start, stop) in enumerate(self.lives_s)
            if start + START_SPREAD_S <= self.warmup_s and stop in (None, self.total_s)
        }
        return [flow.index for flow in self.flows if flow.host in hosts]

    @property
    def gso(self) -> bool:
        """Whether senders use super-packets."""
        return self.gso_segs != 1

    @property
    def autorate(self) -> Autorate | None:
        """What sets the qdisc's rate while traffic runs, if the qdisc is that comparator."""
        words = _words(self.qdisc)
        return Autorate.parse(words) if words[:1] == (Autorate.NAME,) else None

    @property
    def qdisc_words(self) -> list[str]:
        """The qdisc under test, as tc's words."""
        autorate = self.autorate
        return autorate.tc_words if autorate else list(_words(self.qdisc))

    @property
    def back_words(self) -> list[str]:
        """The qdisc of the way back, likewise."""
        return list(_words(self.back))

    @property
    def qdisc_kinds(self) -> list[str]:
        """Their first words."""
        return list(dict.fromkeys([self.qdisc_words[0], *self.back_words[:1]]))

    @property
    def n_flows(self) -> int:
        """Flows that cross all routers."""
        return sum(self.host_sessions)

    @property
    def host_sessions(self) -> tuple[int, ...]:
        """Flows of each host."""
        return self.sessions_of or (self.sessions,) * len(self.rtts_ms)

    @property
    def host_of(self) -> list[int]:
        """The host of each flow."""
        return [host for host, count in enumerate(self.host_sessions) for _ in range(count)]

    @property
    def host_weights(self) -> tuple[int, ...]:
        """The weight of each host."""
        return self.weights or (1,) * len(self.rtts_ms)

    @property
    def groups(self) -> tuple[int, ...]:
        """Among whom the link is divided: the subscriber of each host, or the host itself."""
        return self.subscribers or tuple(range(1, len(self.rtts_ms) + 1))

    @property
    def marks(self) -> tuple[int, ...]:
        """The mark of each host's packets; empty: none is set."""
        if not self.weights and not self.subscribers:
            return ()
        pairs = zip(self.groups, self.host_weights, strict=True)
        return tuple(group << SUBSCRIBER_SHIFT | weight for group, weight in pairs)

    @property
    def even(self) -> bool:
        """Whether a flow's share is the same by flows and by hosts."""
        alike = self.sessions and not self.weights and not self.subscribers
        return bool(alike) and len(set(self.receivers)) < 2

    @property
    def receiver_of(self) -> list[int | None]:
        """The receiver of each flow: an index in receivers, or None."""
        found = [r for r, count in enumerate(self.receivers) for _ in range(count)]
        return [*found] or [None] * self.n_flows

    def idles(self, host: int) -> bool:
        """Whether a host has nothing to send at times."""
        return self.idle is not None and host >= len(self.rtts_ms) - self.idle.hosts

    @property
    def samples_ms(self) -> int:
        """How often goodput is read, 0: never."""
        return self.sample_ms or (IDLE_SAMPLE_MS if self.idle else 0)

    @property
    def flows(self) -> list[Flow]:
        """All flows: the sessions of the first RTT, then those of the next."""
        return [
            self._flow(
                index, host, self.rtts_ms[host], FIRST_PORT,
                hint_factor=self.liars.get(index, 1.0),
                lies=self.ect1.lies(self.cc_of(index), index),
                receiver=receiver,
            )
            for index, (host, receiver) in enumerate(
                zip(self.host_of, self.receiver_of, strict=True)
            )
        ]  # fmt: skip

    @property
    def cross_flows(self) -> list[Flow]:
        """Those that cross one router only: all of the first, then those of the next."""
        per_hop = len(self.cross_rtts_ms)
        return [
            self._flow(
                index, index, self.cross_rtts_ms[index % per_hop], CROSS_PORT,
                hop=index // per_hop + 1, cc=self.background_cc_of(index),
            )
            for index in range(self.hops * per_hop)
        ]  # fmt: skip

    @property
    def reverse_flows(self) -> list[Flow]:
        """Those the other way, spread over the RTTs."""
        hosts = len(self.rtts_ms)
        spread = [(2 * index + 1) * hosts // (2 * self.reverse) for index in range(self.reverse)]
        return [
            self._flow(
                index, host, self.rtts_ms[host], REVERSE_PORT,
                reverse=True, cc=self.background_cc_of(index),
            )
            for index, host in enumerate(spread)
        ]  # fmt: skip

    @property
    def all_flows(self) -> list[Flow]:
        """All bulk flows."""
        return [*self.flows, *self.cross_flows, *self.reverse_flows]

    def _flow(self, index: int, host: int, rtt_ms: float, first_port: int, cc: str = "",
              **others: Any) -> Flow:  # fmt: skip
        cc = cc or self.cc_of(index)
        return Flow(
            index=index,
            host=host,
            port=first_port + index,
            rtt_ms=rtt_ms,
            cc=cc,
            ecn=cc in SCALABLE or self.ecn_of(index),
            hint=self.hint_of(index),
            **{"hint_factor": 1.0, "lies": self.ect1.lies(cc), **others},
        )

    @property
    def planned_short_flows(self) -> float:
        """How many there are on average."""
        return self.churn.flows_per_s(self.capacity_bps) * self.total_s if self.churn else 0

    @property
    def short_flows(self) -> list[Arrival]:
        """All short flows; the share that hints is that of the long ones."""
        if not self.churn:
            return []
        hosts = len(self.rtts_ms)
        return list(self.churn.arrivals(self.capacity_bps, self.total_s, hosts, self.seed))

    def cc_of(self, index: int) -> str:
        """The congestion control of a flow; they are assigned in turn."""
        return self.cc[index % len(self.cc)]

    def background_cc_of(self, index: int) -> str:
        """That of a flow of the background."""
        return self.background.cc or self.cc_of(index)

    @property
    def ccs(self) -> list[str]:
        """All that are in use, each once."""
        return [cc for cc in dict.fromkeys([*self.cc, self.background.cc]) if cc]

    def hint_of(self, index: int) -> str:
        """Its mode, of a flow that hints."""
        return self.hint if _chosen(index, self.hint_share) else "none"

    def ecn_of(self, index: int) -> bool:
        """Whether a flow negotiates ECN."""
        return self.ecn and _chosen(index, self.ecn_share)

    def timestamps_of(self, host: int) -> bool:
        """Whether the TCP of the host of an RTT has timestamps."""
        return _chosen(host, self.timestamps_share)

    def short_ect1(self, index: int) -> bool:
        """Whether a short flow's data are ECT(1)."""
        cc = self.background_cc_of(index)
        return cc in SCALABLE or self.ect1.lies(cc)

    @property
    def ect1_tcp(self) -> bool:
        """Whether the data of any TCP flow are ECT(1)."""
        return any(cc in SCALABLE for cc in self.ccs) or bool(self.ect1.flows or self.ect1.ccs)

    @property
    def ecn_mixed(self) -> bool:
        """Whether some flows negotiate ECN, but not all."""
        return self.ecn and self.ecn_share < 1

    @property
    def capacity_bps(self) -> float:
        """The bottleneck's rate as it was given, or the mean of a line's."""
        return self.line.mean_bps(0, self.total_s) if self.line else self.rate_bps

    @property
    def jitter_ms(self) -> float:
        """What a delay ever varies by, either way."""
        return max((step.jitter_ms or 0 for step in self.steps), default=0)

    @property
    def phases(self) -> list[Phase]:
        """The measured interval, cut where the bottleneck's rate changes; that of a line is not."""
        if self.line:
            mean_bps = self.line.mean_bps(self.warmup_s, self.total_s)
            return [Phase(self.warmup_s, self.total_s, round(mean_bps))]
        found = [Phase(self.warmup_s, self.total_s, self.rate_bps)]
        for step in sorted(self.steps, key=lambda step: step.at_s):
            if step.rate_bps is None or step.at_s >= self.total_s:
                continue
            last = found.pop()
            if step.at_s > last.from_s:
                found.append(Phase(last.from_s, step.at_s, last.rate_bps))
            found.append(Phase(max(step.at_s, last.from_s), self.total_s, step.rate_bps))
        return found

    def mean_rate_bps(self) -> float:
        """The bottleneck's rate averaged over the measured interval."""
        bits = sum(phase.rate_bps * (phase.to_s - phase.from_s) for phase in self.phases)
        return bits / self.duration_s


@cache
def _words(text: str) -> tuple[str, ...]:
    """As a shell splits it; a sweep has the same few qdiscs in thousands of scenarios."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise ScenarioError(f"{error} in the qdisc {text}") from error


def _chosen(index: int, share: float) -> bool:
    """Spreads a share evenly: of 0.5, every second flow."""
    return int((index + 1) * share) > int(index * share)


def parse_rtts(text: str, option: str = "--rtts") -> tuple[float, ...]:
    """Reads "20ms,40ms" or, for many, "20ms..400ms/20" (that many, evenly spread)."""
    match = re.fullmatch(r"([\d.]+[a-z]+)\.\.([\d.]+[a-z]+)/(\d+)", text)
    try:
        if not match:
            return tuple(parse_time(word) for word in text.split(","))
        first, last, count = parse_time(match[1]), parse_time(match[2]), int(match[3])
    except UnitError as error:
        raise ScenarioError(f"{option}: {error}") from error
    if count < 2:
        raise ScenarioError(f"{option}: a range has at least two RTTs")
    return tuple(first + (last - first) * i / (count - 1) for i in range(count))


def parse_link(text: str) -> Link:
    """Reads the name of one."""
    try:
        return Link(text)
    except ValueError as error:
        raise ScenarioError(f"--link {text!r}: one of {', '.join(Link)}") from error


def parse_gso(text: str) -> int:
    """Reads on, off, or how many segments a super-packet may have."""
    if text in ("on", "off"):
        return int(text == "off")
    if not text.isdecimal() or int(text) < 2:
        raise ScenarioError(f"--gso {text!r}: want on, off or a number of segments from 2 on")
    return int(text)


def parse_starts(text: str) -> tuple[float, ...]:
    """Reads "0,100,200", in seconds."""
    try:
        return tuple(map(float, text.split(",")))
    except ValueError as error:
        raise ScenarioError(f"--start {text!r}: want seconds, as 0,100") from error


def parse_stops(text: str) -> tuple[float | None, ...]:
    """Reads "end,100,200": seconds, or to the end of the run."""
    try:
        return tuple(None if word == "end" else float(word) for word in text.split(","))
    except ValueError as error:
        raise ScenarioError(f"--stop {text!r}: want seconds or end, as end,100") from error


def parse_cc(text: str) -> tuple[str, ...]:
    """Reads "cubic" or "mix:reno,cubic"."""
    return tuple(text.removeprefix("mix:").split(","))


def parse_hint(text: str) -> tuple[str, float]:
    """Reads packet, sampled, none or a fraction of flows that hint in every packet."""
    if text in ("packet", "sampled", "none"):
        return text, 1.0
    return "packet", _fraction(text, "--hint: packet, sampled, none")


def parse_ecn(text: str) -> tuple[bool, float]:
    """Reads on, off or a fraction of flows that negotiate ECN."""
    if text in ("on", "off"):
        return text == "on", 1.0
    return True, _fraction(text, "--ecn: on, off")


def parse_timestamps(text: str) -> float:
    """Reads on, off or a fraction of the hosts whose TCP has timestamps."""
    if text in ("on", "off"):
        return float(text == "on")
    return _fraction(text, "--timestamps: on, off")


def parse_hops(text: str) -> tuple[int, tuple[float, ...]]:
    """Reads "2", or "2:30ms,30ms": the RTTs of flows that cross one router."""
    count, colon, rtts = text.partition(":")
    if not count.isdecimal():
        raise ScenarioError(f"--hops {text!r}: want N or N:RTTS")
    return int(count), parse_rtts(rtts, "--hops") if colon else ()


def _fraction(text: str, words_instead: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise ScenarioError(f"{words_instead} or a fraction from 0 to 1")
    return share


def parse_liar(text: str) -> tuple[int, float]:
    """Reads "N:FACTOR": flow N states its RTT times FACTOR."""
    match = re.fullmatch(r"(\d+):(\d+(?:\.\d+)?)", text)
    if not match:
        raise ScenarioError(f"--liar {text!r}: want N:FACTOR")
    return int(match[1]), float(match[2])


def parse_liars(texts: Iterable[str]) -> dict[int, float]:
    """Reads several of them, each of another flow."""
    found: dict[int, float] = {}
    for index, factor in map(parse_liar, texts):
        if index in found:
            raise ScenarioError(f"--liar: flow {index} twice")
        found[index] = factor
    return found
