# SPDX-License-Identifier: GPL-2.0
"""Thin traffic: what is asked for, what is sent, and what the queue does to it."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from measured import flow_bytes, reading, result_of, row_of, traffic_of
from swept import PLAIN_CELLS, FakeGuests, do

from lab import cli
from lab.model import grid
from lab.model.grid import Sweep, Target
from lab.model.scenario import Scenario, ScenarioError
from lab.model.thin import DRAIN_S, SHAPES, Kind, Thin, ThinResult, parse_thin
from lab.net import topology, traffic_spec
from lab.results import report, summary, table
from lab.results.result import Result, ResultError
from lab.runs import runner, sweep
from lab.toolchain import build

ALL = parse_thin("voip*2,game,dns,ping")
FLOWS = Scenario(rtts_ms=(20.0, 40.0), warmup_s=10.0, duration_s=20.0)
METER = (build.REPO / "lab" / "kmod" / "meter.h").read_text()
IN_GUEST = Scenario(
    kernel="uml", qdisc="fq_codel", rate_bps=5_000_000, rtts_ms=(20.0, 60.0), hint="none",
    warmup_s=5.0, duration_s=11.0, thin=ALL,
).check()  # fmt: skip


def test_classes_are_read() -> None:
    assert parse_thin("ping") == (Thin(Kind.PING),)
    assert ALL == (Thin(Kind.VOIP, 2), Thin(Kind.GAME), Thin(Kind.DNS), Thin(Kind.PING))
    assert [thin.packets_per_s for thin in ALL] == pytest.approx([100, 128, 10, 5])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "want NAME"),
        ("fax", "voip, game, dns, ping"),
        ("voip,", "want NAME"),
        ("VOIP", "want NAME"),
        ("voip*", "want NAME"),
        ("voip*-1", "want NAME"),
        ("voip*0", "1 to 50 streams"),
        ("voip*51", "1 to 50 streams"),
        ("voip,game,voip", r"voip twice; write voip\*2"),
    ],
)
def test_nonsense_is_refused(text: str, said: str) -> None:
    with pytest.raises(ScenarioError, match=f"--thin .*{said}"):
        parse_thin(text)


def test_refusal_reaches_the_user(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab", "run", "--thin", "voip,fax"])
    assert cli.main() == 1
    assert "--thin 'fax': want NAME" in capsys.readouterr().err


def test_too_short_a_run_is_refused() -> None:
    replace(FLOWS, duration_s=1.5).check()
    with pytest.raises(ScenarioError, match="--duration: at least 2 s with --thin"):
        replace(FLOWS, duration_s=1.5, thin=ALL).check()


def test_streams_of_a_class_share_a_host() -> None:
    script = topology.script(replace(FLOWS, thin=ALL))
    added = re.findall(r"ip netns add (t\d)", script)
    assert added == ["t0", "t1", "t2", "t3"]
    assert "addr add 10.4.3.2/24 dev eth0" in script
    only_ping = topology.script(replace(FLOWS, thin=parse_thin("ping")))
    assert re.findall(r"ip netns add (t\d)", only_ping) == ["t3"]
    assert "addr add 10.4.3.2/24 dev eth0" in only_ping


def _lines(scenario: Scenario) -> list[list[str]]:
    lines = traffic_spec.spec(scenario).splitlines()
    return [line.split() for line in lines if line.startswith("thin ")]


def test_streams_are_specified() -> None:
    lines = _lines(replace(FLOWS, thin=ALL))
    assert [(w[1], w[4], w[5], w[6]) for w in lines] == [
        ("t0", "steady", "200", "20000000"), ("t0", "steady", "200", "20000000"),
        ("t1", "steady", "100", "7812500"), ("t2", "query", "32", "100000000"),
        ("t3", "ping", "56", "200000000"),
    ]  # fmt: skip
    assert len({words[3] for words in lines}) == 5, "ports"
    assert lines[0][7] != lines[1][7], "calls would send together"
    assert {words[8] for words in lines} == {"29000"}
    assert _lines(replace(FLOWS, thin=ALL, seed=2)) != lines == _lines(replace(FLOWS, thin=ALL))
    hops = replace(FLOWS, thin=ALL, hops=2)
    assert {words[2] for words in _lines(hops)} == {"10.255.1.2"}


def test_meter_and_hosts_agree() -> None:
    """The meter has a class for each kind, by the address that its host has."""
    assert int(re.findall(r"METER_THIN_CLASSES\s+(\d+)", METER)[0]) == len(Kind)
    assert int(re.findall(r"METER_THIN_NET\s+(0x\w+)U", METER)[0], 16) == 10 << 24 | 4 << 16
    assert set(SHAPES) == set(Kind)


# Results


def _class(sent: int, left: int, p99_us: int, octets: int = 0) -> dict[str, int]:
    return {"packets_in": sent, "packets_out": left, "bytes_out": octets, "mean_ns": 100 * p99_us,
            "p95_us": p99_us // 2, "p99_us": p99_us, "max_us": 2 * p99_us}  # fmt: skip


def _beside(thin: str, *of_queues: Sequence[Mapping[str, int]]) -> Result:
    """Two flows of 4 Mbit/s beside it, over as many hops."""
    scenario = replace(FLOWS, thin=parse_thin(thin), hops=len(of_queues))
    ends = [flow_bytes(4, 20)] * 2
    traffic = traffic_of(scenario, [reading(10, [0, 0]), reading(30, ends)])
    return result_of(scenario, traffic, *[9.5] * len(of_queues), thin=of_queues)


NOTHING = _class(0, 0, 0)


def test_class_is_reported() -> None:
    result = _beside("game*3,voip", [_class(950, 949, 700, 250_000), _class(7000, 6990, 1500)])
    game, voip = result.thin
    assert (game.name, game.streams, game.sent, game.lost) == ("game", 3, 7000, 10)
    assert (voip.name, voip.streams, voip.sent, voip.lost) == ("voip", 1, 950, 1)
    assert voip.loss == pytest.approx(1 / 950)
    assert voip.mbps == pytest.approx(0.1)
    assert (voip.mean_ms, voip.p95_ms, voip.p99_ms, voip.max_ms) == (0.07, 0.35, 0.7, 1.4)
    assert Result.from_dict(result.to_dict()) == result
    assert result.utilisation == pytest.approx(result.tcp_share + 0.1 / 20)


def test_worst_of_several_queues_counts() -> None:
    """Sojourn of the one, and what was lost in both."""
    (voip,) = _beside("voip", [_class(950, 940, 1500)], [_class(940, 900, 700)]).thin
    assert (voip.sent, voip.lost) == (950, 50)
    assert (voip.mean_ms, voip.p99_ms) == (0.15, 1.5)


@pytest.mark.parametrize(
    "of_queues",
    [[_class(950, 0, 0)], [_class(950, 0, 0), NOTHING], [_class(950, 900, 700), _class(900, 0, 0)]],
)
def test_to_lose_all_is_no_short_wait(of_queues: list[Mapping[str, int]], tmp_path: Path) -> None:
    """Also beside a class that arrives, and read from a table again."""
    result = _beside("voip,dns", *([one, NOTHING, _class(190, 190, 900)] for one in of_queues))
    (voip, _) = result.thin
    assert (voip.loss, voip.mbps) == (1.0, 0.0)
    assert (voip.mean_ms, voip.p95_ms, voip.p99_ms, voip.max_ms) == (math.inf,) * 4
    path = tmp_path / "run.json"
    report.save([report.Run("zrtt", result)], path)
    assert '"p99_ms": null' in path.read_text()
    assert report.load(path)[0].result == result
    with table.opened(tmp_path / "t.csv") as rows:
        rows.append(row_of({"thin": "voip,dns"}, result))
    (row,) = table.load(tmp_path / "t.csv")
    assert (row.voip_p99_ms, row.thin_p99_ms, row.thin_mean_ms) == (math.inf,) * 3
    target = Target("q", ("c",), "thin_p99_ms", None, 1e9)
    plan = Sweep("s", tmp_path, ("uml",), (1,), {}, (), (target,))
    (miss,) = summary.misses(plan, [row])
    assert miss.endswith("thin_p99_ms inf, want at most 1e+09")
    assert re.search(r"voip +950 +950 +inf ms", summary.render([row], markdown=False))


def test_nothing_sent_does_not_add_up() -> None:
    with pytest.raises(ResultError, match="no packet of voip was sent"):
        _beside("voip", [NOTHING])


def test_table_has_each_class(tmp_path: Path) -> None:
    result = _beside("voip,dns", [_class(950, 949, 700), NOTHING, _class(190, 190, 900)])
    options = {"cc": "cubic", "rtts": "20ms,40ms", "rate": "20mbit", "ecn": "on", "gso": "off",
               "hint": "packet", "thin": "voip,dns"}  # fmt: skip
    fields = {k: v for name in options for k, v in grid.FIELDS[name](options[name]).items()}
    row = sweep._row(grid.Point("s", "c", "q", options, Scenario(**fields)), result, "")
    with table.opened(tmp_path / "t.csv") as rows:
        rows.append(row)
    (again,) = table.load(tmp_path / "t.csv")
    assert again.extra == "thin voip,dns"
    assert again.thin_classes == result.thin
    assert (again.voip_p99_ms, again.dns_p99_ms) == (0.7, 0.9)
    assert (again.thin_p95_ms, again.thin_p99_ms, again.thin_max_ms) == (0.45, 0.9, 1.8)
    assert again.thin_mean_ms == 0.09
    assert again.thin_loss == pytest.approx(1 / 950)
    assert again.game_p99_ms != again.game_p99_ms, "nan"
    text = summary.render([again], markdown=False)
    assert re.search(r"c +q +voip +950 +1 +0\.07 ms +0\.35 ms +0\.70 ms +1\.40 ms", text)


def test_table_without_thin_traffic(tmp_path: Path, load: Callable[[str], Sweep]) -> None:
    do(load(PLAIN_CELLS), tmp_path / "t.csv", FakeGuests())
    rows = table.load(tmp_path / "t.csv")
    assert rows[0].thin_p99_ms != rows[0].thin_p99_ms, "nan"
    assert "p99 worst" not in summary.render(rows, markdown=False)


def test_word_of_a_table() -> None:
    thin = ThinResult("voip", 2, 1900, 3, 0.19, 0.25, 0.5, 0.75, 1.0)
    assert ThinResult.unpacked(thin.packed()) == thin
    with pytest.raises(ValueError, match="invalid literal"):
        ThinResult.unpacked("voip:many:1:2")


# In a guest


@pytest.mark.guest
def test_each_class_is_sent_and_measured() -> None:
    """Of queues of their own: nothing is lost, and the wait is of a few packets."""
    result = runner.run(IN_GUEST)
    seconds = IN_GUEST.duration_s - DRAIN_S
    sizes = {"voip": 242, "game": 142, "dns": 84, "ping": 98}
    assert [thin.name for thin in result.thin] == list(sizes)
    for asked, thin in zip(ALL, result.thin, strict=True):
        slack = 40 if thin.name == "dns" else asked.streams
        assert thin.sent == pytest.approx(asked.packets_per_s * seconds, abs=slack)
        assert thin.lost == 0
        assert 0 < thin.mean_ms <= thin.p95_ms <= thin.p99_ms <= thin.max_ms < 60
        octets = thin.mbps * 1e6 / 8 * result.measured_s / thin.sent
        assert octets == pytest.approx(sizes[thin.name], rel=0.05)


@pytest.mark.guest
def test_thin_traffic_waits_as_long_as_others_in_a_fifo() -> None:
    """The histograms of the classes, against that of all packets."""
    result = runner.run(replace(IN_GUEST, qdisc="pfifo limit 50"))
    for thin in result.thin:
        assert thin.mean_ms == pytest.approx(result.sojourn_ms.mean, rel=0.15)
        assert thin.max_ms <= result.sojourn_ms.max + 0.001


@pytest.mark.guest
def test_percentiles_are_those_of_others_in_a_fifo() -> None:
    """Many streams, so that p99 is more than 10 % above p95."""
    many = parse_thin("voip*30,game*10")
    result = runner.run(replace(IN_GUEST, qdisc="pfifo limit 50", thin=many))
    assert result.sojourn_ms.p99 > 1.1 * result.sojourn_ms.p95
    for thin in result.thin:
        assert thin.p95_ms == pytest.approx(result.sojourn_ms.p95, rel=0.06)
        assert thin.p99_ms == pytest.approx(result.sojourn_ms.p99, rel=0.06)


@pytest.mark.guest
def test_loss_is_that_of_a_full_queue() -> None:
    """Of a flood of twice the rate, about half is lost, also of what is beside it."""
    (flood,) = grid.FIELDS["udp"](["10mbit@10-15"])["udp"]
    flooded = replace(IN_GUEST, qdisc="pfifo limit 20", thin=ALL[:2], udp=(flood,))
    result = runner.run(flooded.check())
    for thin in result.thin:  # there from second 5 to 15
        assert 0.2 < thin.loss < 0.5
