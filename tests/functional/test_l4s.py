# SPDX-License-Identifier: GPL-2.0
"""The low-latency lane: what is marked when it leaves, and what a change or a reset does."""

from __future__ import annotations

from typing import Any

import pytest
from cases import (
    L4S_CASES,
    L4S_FILL,
    L4S_GSO_SIZE,
    L4S_MIXED,
    L4S_NUMBERED,
    L4S_PAGED,
    L4S_SUPER,
    L4sCase,
)
from frames import CE, ECT1, QINQ, VLAN, Frame, checksum
from guests import Report, unaccounted

FILLS = 50
SENT = FILLS + len(L4S_CASES)
EXPERIMENTS = ("on", "noecn", "off", "mixed", "paged", "split", "whole")
LANE = 2
TCP_BYTES = 20


def lane(qdisc: dict[str, Any]) -> dict[str, Any]:
    """What tc shows of the low-latency lane."""
    shown: dict[str, Any] = qdisc["lanes"][LANE]
    assert shown["name"] == "l4s"
    return shown


def arrived(report: Report, part: str) -> list[bytes]:
    """All frames of a part but those that only filled the lane."""
    frames = [bytes.fromhex(line) for line in report.lines(f"l4s.{part}")]
    fill = bytes.fromhex(L4S_FILL)
    return [f for f in frames if (len(f), f[26:38]) != (len(fill), fill[26:38])]


def wire(case: L4sCase, frame: Frame) -> str:
    """A frame as it arrives: the device of a VLAN puts its tag in."""
    sent = frame.bytes()
    if case.device == "a0":
        return sent.hex()
    vid = int(case.device.partition(".")[2])
    return (sent[:12] + VLAN.to_bytes(2, "big") + vid.to_bytes(2, "big") + sent[12:]).hex()


def marked(frame: Frame) -> Frame:
    """The frame, CE if the lane may mark it."""
    return frame.with_(ecn=CE) if frame.ecn == ECT1 else frame


def test_frames_waited_in_the_lane(report: Report) -> None:
    """ECT(1) and CE; else the tests below show nothing."""
    waiting, qdisc = report.qdisc("l4s.on.waiting"), report.qdisc("l4s.on.stats")
    low_latency = FILLS + sum(case.frame.ecn in (ECT1, CE) for case in L4S_CASES)
    assert lane(waiting)["packets"] + lane(waiting)["backlog_packets"] == low_latency
    assert lane(waiting)["packets"] < FILLS / 2
    assert lane(qdisc)["packets"] == low_latency
    assert low_latency - FILLS <= lane(qdisc)["marks"] == qdisc["ecn_mark"]


@pytest.mark.parametrize("case", L4S_CASES, ids=str)
def test_only_ect1_becomes_ce(report: Report, case: L4sCase) -> None:
    """And nothing else of the frame changes but the checksum of the IPv4 header."""
    got = [frame.hex() for frame in arrived(report, "on")]
    assert got.count(wire(case, marked(case.frame))) == 1


@pytest.mark.parametrize("part", ["off", "noecn"])
@pytest.mark.parametrize("case", L4S_CASES, ids=str)
def test_nothing_is_marked(report: Report, part: str, case: L4sCase) -> None:
    """Without the lane, and as long as P_b is 0, ECT(1) may wait as long; or without ECN."""
    got = [frame.hex() for frame in arrived(report, part)]
    assert got.count(wire(case, case.frame)) == 1


def test_no_frame_is_counted_in_a_lane_that_is_off(report: Report) -> None:
    qdisc = report.qdisc("l4s.off.stats")
    assert (lane(qdisc)["packets"], qdisc["ecn_mark"], qdisc["packets"]) == (0, 0, SENT)
    assert report.qdisc("l4s.noecn.stats")["ecn_mark"] == 0


@pytest.mark.parametrize("part", EXPERIMENTS)
def test_each_packet_is_accounted_for(report: Report, part: str) -> None:
    for name in ("waiting", "stats"):
        assert unaccounted(report.qdisc(f"l4s.{part}.{name}")) == 0
    qdisc = report.qdisc(f"l4s.{part}.stats")
    ends = ("qlen", "backlog", "backlog_packets", "memory_used", "drops")
    assert [qdisc[end] for end in ends] == [0] * 5


def test_what_cannot_be_marked_waits_with_its_flow(report: Report) -> None:
    """In order, and unchanged."""
    assert lane(report.qdisc("l4s.mixed.stats"))["packets"] == FILLS + len(L4S_MIXED)
    want = [marked(frame).bytes().hex() for frame in L4S_MIXED]
    assert [frame.hex() for frame in arrived(report, "mixed")] == want


@pytest.mark.parametrize("frame", L4S_PAGED, ids=lambda f: str(L4sCase(f)))
def test_headers_outside_of_the_linear_part(report: Report, frame: Frame) -> None:
    got = [each.hex() for each in arrived(report, "paged")]
    assert got.count(marked(frame).bytes().hex()) == 1


@pytest.mark.parametrize("frame", L4S_SUPER, ids=lambda f: str(L4sCase(f)))
@pytest.mark.parametrize("way", ["split", "whole"])
def test_gso_packets_are_marked(report: Report, way: str, frame: Frame) -> None:
    """Each segment, or the packet as one: its lengths and checksums as they should be."""
    sent, at = frame.bytes(), 34 if frame.version == 4 else 54
    port = sent[at : at + 2]
    got = [f for f in arrived(report, way) if f[12:14] == sent[12:14] and f[at : at + 2] == port]
    data = len(frame.payload)
    assert len(got) == (-(-data // L4S_GSO_SIZE) if way == "split" else 1)
    assert b"".join(each[at + TCP_BYTES :] for each in got) == frame.payload
    want = marked(frame).bytes()
    for each in got:
        assert each[14:16] == want[14:16], "DSCP and ECN"
        if frame.version == 4:
            assert checksum(each[14:at]) == 0
            assert int.from_bytes(each[16:18], "big") == len(each) - 14


def test_gso_packets_waited_in_the_lane(report: Report) -> None:
    segments = sum(-(-len(f.payload) // L4S_GSO_SIZE) for f in L4S_SUPER if f.ecn == ECT1)
    for way in ("split", "whole"):
        assert lane(report.qdisc(f"l4s.{way}.stats"))["packets"] == FILLS + segments


def numbers(report: Report, part: str) -> list[int]:
    """Which of the numbered frames arrived."""
    got = [bytes.fromhex(line) for line in report.lines(part)]
    return [int.from_bytes(frame[42:44], "big") for frame in got]


def test_lane_is_switched_off_and_on_while_packets_wait(report: Report) -> None:
    """None is lost, and none of the flow overtakes another."""
    before, off, on, after = (
        report.qdisc(f"l4s.change.{name}") for name in ("before", "nol4s", "l4s", "after")
    )
    assert (before["options"]["l4s"], off["options"]["l4s"], on["options"]["l4s"]) == (
        True,
        False,
        True,
    )
    assert lane(before)["backlog_packets"] >= lane(off)["backlog_packets"] > 10
    assert off["backlog_packets"] - lane(off)["backlog_packets"] >= 20
    assert [unaccounted(qdisc) for qdisc in (before, off, on, after)] == [0] * 4
    assert (after["backlog_packets"], lane(after)["backlog_packets"]) == (0, 0)
    assert numbers(report, "l4s.change") == list(range(len(L4S_NUMBERED)))


def test_reset_empties_the_lane(report: Report) -> None:
    before, down, after = (
        report.qdisc(f"l4s.reset.{name}") for name in ("before", "down", "after")
    )
    waiting = lane(before)["backlog_packets"]
    assert waiting == before["backlog_packets"]
    assert 10 < down["purged"] - before["purged"] <= waiting
    assert (down["backlog_packets"], down["memory_used"], down["qlen"]) == (0, 0, 0)
    assert lane(down)["backlog_packets"] == lane(after)["backlog_packets"] == 0
    assert [unaccounted(qdisc) for qdisc in (down, after)] == [0, 0]
    assert numbers(report, "l4s.reset") == list(range(60, 80))
    assert after["packets"] - down["packets"] == 20
