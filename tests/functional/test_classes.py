# SPDX-License-Identifier: GPL-2.0
"""Live flows, listed as classes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from cases import ESP, HINT, MANY_FRAMES, NAMED_FRAMES, TUNNELED_FRAMES
from frames import TCP, UDP
from guests import Report

UNIT_US = 32
CLASS = re.compile(
    r"class zrtt 2:(?P<minor>\w+) parent 2: rtt (?P<rtt>\w+) source (?P<source>\w+)"
    r" rate (?P<rate>\d+)bit prob (?P<prob>[\d.]+) ?(?P<name>.*)"
)
HINTED = f"{HINT * UNIT_US // 1000}ms"


@dataclass(frozen=True)
class Flow:
    """What tc says of a class."""

    minor: int
    rtt: str
    source: str
    name: str


def flows(report: Report, part: str) -> list[Flow]:
    """All classes of a part, each with a rate and a probability."""
    found = []
    for line in report.lines(part):
        if not line.strip():
            continue
        match = CLASS.fullmatch(line.strip())
        assert match, line
        assert int(match["rate"]) > 0
        assert 0 <= float(match["prob"]) <= 1
        minor = int(match["minor"], 16)
        found.append(Flow(minor, match["rtt"], match["source"], numbered(match["name"])))
    return found


def numbered(name: str) -> str:
    """As tc shows it without a list of protocols, which not all kernels' guests have."""
    proto, ends, rest = name.partition(" ")
    number = {"esp": ESP, "tcp": TCP, "udp": UDP}.get(proto)
    return name if number is None else f"ipproto-{number}{ends}{rest}"


def names(version: int, proto: int, port: int | None) -> str:
    """As tc shows the flow of a frame."""
    ends = ("10.0.0.1", "10.0.0.2") if version == 4 else ("[fd00::1]", "[fd00::2]")
    ports = ("", "") if port is None else (f":{port}", ":9")
    return f"ipproto-{proto} {ends[0]}{ports[0]} > {ends[1]}{ports[1]}"


hinted_tcp, hinted_v6, esp, fragment, tagged = NAMED_FRAMES
SHOWN = {
    (HINTED, "hint", names(4, TCP, hinted_tcp.port)),
    (HINTED, "hint", names(6, UDP, hinted_v6.port)),
    ("0us", "none", names(4, ESP, None)),
    ("0us", "none", names(4, UDP, None)),
    ("0us", "none", names(4, UDP, tagged.port)),
} | {
    ("0us", "none", f"ipproto-{UDP} 192.168.1.2:{frame.port} > 198.51.100.3:9")
    for frame in TUNNELED_FRAMES
}


def test_there_are_none_before_there_are_flows(report: Report) -> None:
    assert flows(report, "classes.none") == []


def test_each_flow_is_one(report: Report) -> None:
    found = flows(report, "classes.shown")
    assert {(flow.rtt, flow.source, flow.name) for flow in found} == SHOWN
    assert len(found) == len({flow.minor for flow in found}) == len(SHOWN)
    assert all(1 <= flow.minor <= 64 for flow in found)


def test_nothing_can_be_done_to_them(report: Report) -> None:
    assert report.lines("classes.refused") == []


def test_names_are_forgotten_when_they_are_turned_off(report: Report) -> None:
    found = flows(report, "classes.unnamed")
    assert {(flow.rtt, flow.source) for flow in found} == {shown[:2] for shown in SHOWN}
    assert {flow.name for flow in found} == {""}


def test_names_return_with_the_flows_packets(report: Report) -> None:
    assert {(f.rtt, f.source, f.name) for f in flows(report, "classes.renamed")} == SHOWN


def test_silent_flows_are_gone(report: Report) -> None:
    assert flows(report, "classes.gone") == []


def test_thousands_are_listed_while_packets_come(report: Report) -> None:
    live = report.qdisc("classes.stats")["flows"]
    assert live > 0.99 * len(MANY_FRAMES)  # a set of slots may be full
    assert report.lines("classes.many") == [str(live)] * 3
