# SPDX-License-Identifier: GPL-2.0
"""Short flows: when they arrive, how large they are, and how long they take."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

import pytest
from measured import flow_bytes, reading, result_of, traffic_of

from lab.model.churn import Arrival, Churn, Completion, by_size
from lab.model.scenario import Scenario, ScenarioError
from lab.model.wire import expansion
from lab.net import topology, traffic_spec
from lab.results.result import Result

WEB = Churn.parse("load=25% size=web")
RATE_BPS = 20_000_000


def test_churn_is_read() -> None:
    assert WEB == Churn(0.25, 4000, 1_000_000, 1.2)
    assert Churn.parse("size=60kB load=12.5%") == Churn(0.125, 60_000, 60_000)
    assert Churn.parse("load=1% size=pareto:1:500B:2MB") == Churn(0.01, 500, 2_000_000, 1.0)


@pytest.mark.parametrize(
    "text",
    ["", "load=25%", "size=web", "load=25 size=web", "load=0% size=web", "load=201% size=web",
     "load=25% size=60", "load=25% size=0kB", "load=25% size=100MB", "load=25% size=pareto:1:4kB",
     "load=25% size=pareto:0:4kB:1MB", "load=25% size=pareto:1.2:1MB:4kB",
     "load=25% size=web rate=3", "load=25% size=mail"],
)  # fmt: skip
def test_nonsense_is_refused(text: str) -> None:
    with pytest.raises(ScenarioError, match="--churn"):
        Churn.parse(text)


def test_too_many_flows_are_refused() -> None:
    with pytest.raises(ScenarioError, match="--churn: 4768824 flows"):
        Scenario(rate_bps=10**9, churn=Churn.parse("load=50% size=1kB")).check()


@pytest.mark.parametrize("size", ["web", "pareto:1:4kB:1MB", "60kB"])
def test_arrivals_make_the_load(size: str) -> None:
    churn = Churn.parse(f"load=25% size={size}")
    arrivals = list(churn.arrivals(RATE_BPS, 3000.0, 20, seed=1))
    sizes = [arrival.size_bytes for arrival in arrivals]
    assert min(sizes) >= churn.min_bytes
    assert max(sizes) <= churn.max_bytes
    assert fmean(sizes) == pytest.approx(churn.mean_bytes, rel=0.05)
    load = sum(sizes) * expansion(hinted=True) * 8 / 3000 / RATE_BPS
    assert load == pytest.approx(0.25, rel=0.05)


def test_arrivals_are_random_and_of_all_hosts() -> None:
    """Poisson: of intervals of the mean length, a share of 1/e sees none."""
    arrivals = list(WEB.arrivals(RATE_BPS, 1000.0, 4, seed=1))
    interval_ms = 1000 / WEB.flows_per_s(RATE_BPS)
    slots = {int(arrival.at_ms / interval_ms) for arrival in arrivals}
    assert 1 - len(slots) * interval_ms / 1e6 == pytest.approx(0.368, abs=0.02)
    assert arrivals == sorted(arrivals, key=lambda arrival: arrival.at_ms)
    hosts = Counter(arrival.host for arrival in arrivals)
    assert set(hosts) == {0, 1, 2, 3}
    assert min(hosts.values()) > 0.9 * max(hosts.values())


def test_seed_decides() -> None:
    def first(seed: int) -> Arrival:
        return next(WEB.arrivals(RATE_BPS, 100.0, 4, seed))

    assert first(1) == first(1) != first(2)


def test_short_flows_are_like_the_long_ones() -> None:
    scenario = Scenario(
        rtts_ms=(20.0, 40.0), cc=("reno", "cubic"), hint_share=0.5, churn=WEB
    ).check()
    lines = [line.split() for line in traffic_spec.spec(scenario).splitlines()]
    shorts = [line for line in lines if line[0] == "short"]
    assert ["server", "9016"] in lines
    assert len(shorts) == len(scenario.short_flows) > 1000
    assert [line[3] for line in shorts[:4]] == ["reno", "cubic", "reno", "cubic"]
    assert [line[6] for line in shorts[:4]] == ["none", "packet", "none", "packet"]
    assert {line[1] for line in shorts} == {"h0", "h1"}
    assert "h1 sysctl -qw net.ipv4.tcp_no_metrics_save=1" in topology.script(scenario)


def test_completion_times() -> None:
    done = [(4000, 0.1 * i) for i in range(1, 21)] + [(100_000, 9.0)]
    assert Completion.of(done, 0, 10_000) == Completion(
        0, 10_000, 20, pytest.approx(1.05), 1.0, pytest.approx(1.9), 2.0
    )
    assert Completion.of(done, 10_000, 100_000) is None
    assert [(part.from_bytes, part.count) for part in by_size(done)] == [(0, 20), (100_000, 1)]


def test_result() -> None:
    """Counted are flows that arrive in the measured time, one of them never done."""
    scenario = Scenario(
        rtts_ms=(20.0,), warmup_s=10.0, duration_s=20.0, churn=Churn.parse("load=25% size=1MB")
    )
    late = [flow.at_ms >= 10_000 for flow in scenario.short_flows]
    end = reading(30, [flow_bytes(10, 20)], short=[5 + flow_bytes(4, 20)])
    traffic = traffic_of(scenario, [reading(10, [0], short=[5]), end])
    shorts = [[flow.at_ms, flow.at_ms + 700] for flow in scenario.short_flows]
    shorts[late.index(True)][1] = -1
    traffic["shorts"] = shorts
    result = result_of(scenario, traffic, 15.0)
    short = result.short_flows
    assert short
    assert 0 < sum(late) < len(late)
    assert (short.count, short.finished, short.unfinished) == (sum(late), sum(late) - 1, 1)
    assert short.goodput_mbps == pytest.approx(4.0)
    assert short.completion_s
    until_the_end = 30.0 - scenario.short_flows[late.index(True)].at_ms / 1000
    assert short.completion_s.max == pytest.approx(until_the_end)
    assert short.completion_s.mean == pytest.approx(0.7 + (until_the_end - 0.7) / sum(late))
    assert result.utilisation == pytest.approx(14 * expansion(hinted=True) / 20, rel=1e-3)
    assert result.tcp_share == pytest.approx(result.utilisation)
    assert result.min_phase_utilisation == pytest.approx(result.utilisation)
    assert result.jain == 1.0
    assert Result.from_dict(result.to_dict()) == result
