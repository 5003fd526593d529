# SPDX-License-Identifier: GPL-2.0
"""Background traffic: how it differs from the flows; churn, short flows that come and go."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean
from typing import Any

from lab.model.options import ScenarioError, words
from lab.model.units import UnitError, parse_rate
from lab.model.wire import expansion

MAX_FLOWS = 200_000
_UNITS = {"B": 1, "kB": 1000, "MB": 1_000_000}
_SIZES = {"web": "pareto:1.2:4kB:1MB"}
MAX_BYTES = 100_000_000
SIZE_CLASSES_BYTES = (10_000, 100_000)
"""Where completion times are told apart."""

Times = Sequence[tuple[int, float]]
"""Flows: the size in bytes, and the time it took, or has taken at the end, in seconds."""


@dataclass(frozen=True)
class Background:
    """How background traffic differs from the flows."""

    cc: str = ""
    """Its congestion control; empty: as the flows have it."""
    rate_bps: int | None = None
    """Of the link of each host whose flow crosses one router; None: as fast as it goes."""

    @classmethod
    def parse(cls, text: str) -> Background:
        """Reads "cc=reno rate=100mbit"."""
        option = f"--background {text!r}"
        given = words(text, option, needed=(), others=("cc", "rate"))
        try:
            rate = parse_rate(given["rate"]) if "rate" in given else None
        except UnitError as error:
            raise ScenarioError(f"{option}: {error}") from error
        return cls(given.get("cc", ""), rate)


@dataclass(frozen=True)
class Arrival:
    """A short flow yet to come."""

    at_ms: int
    host: int
    size_bytes: int


@dataclass(frozen=True)
class Churn:
    """Poisson arrivals of flows whose sizes follow a bounded Pareto distribution."""

    load: float
    """Share of the link's rate at the start, headers counted."""
    min_bytes: int
    max_bytes: int
    shape: float = 1.0
    host: int | None = None
    """Where all come from; None: any of the hosts."""

    @classmethod
    def parse(cls, text: str) -> Churn:
        """Reads "load=25% size=web", size=60kB or size=pareto:SHAPE:MIN:MAX, and host=N."""
        option = f"--churn {text!r}"
        given = words(text, option, needed=("load", "size"), others=("host",))
        share = re.fullmatch(r"(\d+(?:\.\d+)?)%", given["load"])
        if not share or not 0 < float(share[1]) <= 200:
            raise ScenarioError(f"{option}: load from 0% to 200%")
        if not given.get("host", "0").isdecimal():
            raise ScenarioError(f"{option}: host is a number, from 0 on")
        host = int(given["host"]) if "host" in given else None
        size = _SIZES.get(given["size"], given["size"])
        name, *parts = size.split(":")
        try:
            if not parts:
                return cls(float(share[1]) / 100, _bytes(name), _bytes(name), host=host)
            if name != "pareto" or len(parts) != 3:
                raise ValueError
            made = cls(
                float(share[1]) / 100, _bytes(parts[1]), _bytes(parts[2]), float(parts[0]), host
            )
            if made.min_bytes > made.max_bytes or not 0 < made.shape <= 10:
                raise ValueError
        except ValueError as error:
            raise ScenarioError(
                f"{option}: size is web, a SIZE such as 60kB, or pareto:SHAPE:MIN:MAX"
            ) from error
        return made

    @property
    def mean_bytes(self) -> float:
        """Mean of the distribution of sizes."""
        low, high, shape = self.min_bytes, self.max_bytes, self.shape
        if low == high:
            return float(low)
        if shape == 1:
            return low * math.log(high / low) / (1 - low / high)
        share = 1 - (low / high) ** shape
        return low * shape / (shape - 1) * (1 - (low / high) ** (shape - 1)) / share

    def flows_per_s(self, rate_bps: int) -> float:
        """Mean arrival rate of flows."""
        return self.load * rate_bps / 8 / (self.mean_bytes * expansion(hinted=True))

    def arrivals(self, rate_bps: int, total_s: float, hosts: int, seed: int) -> Iterator[Arrival]:
        """All flows of a run, in order: each from any of the hosts, or all from one."""
        chance = random.Random(f"churn {seed}")
        per_s = self.flows_per_s(rate_bps)
        at_s = chance.expovariate(per_s)
        while at_s < total_s:
            drawn = chance.randrange(hosts)
            host = drawn if self.host is None else self.host
            yield Arrival(int(at_s * 1000), host, self._size(chance.random()))
            at_s += chance.expovariate(per_s)

    def _size(self, quantile: float) -> int:
        share = 1 - (self.min_bytes / self.max_bytes) ** self.shape
        return round(self.min_bytes / (1 - quantile * share) ** (1 / self.shape))


def _bytes(text: str) -> int:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(B|kB|MB)", text)
    size = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if not 1 <= size < MAX_BYTES:
        raise ValueError(text)
    return size


@dataclass(frozen=True)
class Completion:
    """Times from connect() until all was received and acknowledged, or the end, seconds."""

    from_bytes: int
    to_bytes: int
    """Of sizes; this one not included."""
    count: int
    mean: float
    p50: float
    p95: float
    max: float

    @classmethod
    def of(cls, done: Times, from_bytes: int = 0, to_bytes: int = MAX_BYTES) -> Completion | None:
        """Completion times of the flows of some sizes; None if there are none."""
        times = sorted(seconds for size, seconds in done if from_bytes <= size < to_bytes)
        if not times:
            return None

        def percentile(share: float) -> float:
            return times[math.ceil(share * len(times)) - 1]

        return cls(
            from_bytes=from_bytes,
            to_bytes=to_bytes,
            count=len(times),
            mean=fmean(times),
            p50=percentile(0.5),
            p95=percentile(0.95),
            max=times[-1],
        )


@dataclass(frozen=True)
class ShortFlows:
    """The flows that arrived within the measured interval."""

    count: int
    finished: int
    unfinished: int
    """When the run ended."""
    marks: int
    """Of all short flows, whenever they arrived."""
    goodput_mbps: float
    wire_mbps: float
    completion_s: Completion | None
    """None if there were none."""
    by_size: list[Completion] = field(default_factory=list)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> ShortFlows:
        """Reads what asdict() wrote."""
        own = dict(content)
        own["completion_s"] = Completion(**own["completion_s"]) if own["completion_s"] else None
        own["by_size"] = [Completion(**part) for part in own["by_size"]]
        return cls(**own)


def by_size(done: Times) -> list[Completion]:
    """Of each class of sizes that has any."""
    classes = pairwise((0, *SIZE_CLASSES_BYTES, MAX_BYTES))
    return [made for low, high in classes if (made := Completion.of(done, low, high))]
