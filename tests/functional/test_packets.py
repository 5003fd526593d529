# SPDX-License-Identifier: GPL-2.0
"""What the qdisc reads in packets, and what it does to them."""

from __future__ import annotations

from typing import Any

import pytest
from cases import (
    BAD,
    ECN_FRAMES,
    HINT_CASES,
    HINTED_FLOWS,
    NONE,
    OK,
    PLAIN_FLOWS,
    STRIP_CASES,
    HintCase,
    StripCase,
)
from frames import CE, ECT0, ETH, NOT_ECT, Frame, checksums_hold, ecn_of
from guests import Report

HINT_US = 40_000
STRIP_UNTAGGED = [case for case in STRIP_CASES if case.device == "a0" and not case.sent.tags]


def received(report: Report, part: str) -> list[bytes]:
    """The frames of a part."""
    return [bytes.fromhex(line) for line in report.lines(part)]


# Hints


def _hint_counters(report: Report, index: int) -> tuple[int, int, int]:
    """(ok, bad, packets sent) of one case."""

    def read(qdisc: dict[str, Any]) -> tuple[int, int, int]:
        return qdisc["hint_ok"], qdisc["hint_bad"], qdisc["packets"]

    now = read(report.qdisc(f"hints.{index}"))
    before = read(report.qdisc(f"hints.{index - 1}")) if index else (0, 0, 0)
    return now[0] - before[0], now[1] - before[1], now[2] - before[2]


@pytest.mark.parametrize("case", HINT_CASES, ids=lambda case: case.name)
def test_hint_is_read(report: Report, case: HintCase) -> None:
    ok, bad, sent = _hint_counters(report, HINT_CASES.index(case))
    assert (ok, bad) == {OK: (1, 0), BAD: (0, 1), NONE: (0, 0)}[case.want]
    assert sent == 1


def test_every_frame_arrives_untouched(report: Report) -> None:
    """A frame cut inside its VLAN tag is dropped by the receiving kernel."""
    got = received(report, "hints.received")
    arriving = [case for case in HINT_CASES if case.name != "vlan cut inside the tag"]
    want = [_as_received(case.frame, case.device) for case in arriving]
    assert got == want


def _as_received(frame: Frame, device: str) -> bytes:
    """The device of a VLAN puts its tag in."""
    sent = frame.bytes()
    if "." in device:
        vid = int(device.partition(".")[2])
        return sent[:12] + bytes.fromhex("8100") + vid.to_bytes(2, "big") + sent[12:]
    return sent


def test_hinted_flows_are_counted(report: Report) -> None:
    qdisc = report.qdisc("hints.flows")
    assert qdisc["hint_ok"] == 2 * len(HINTED_FLOWS)
    assert qdisc["flows"] == qdisc["flows_hinted"] == len(HINTED_FLOWS)
    assert qdisc["rtt_avg_us"] == pytest.approx(HINT_US, rel=1e-3)


def test_hints_can_be_ignored(report: Report) -> None:
    qdisc = report.qdisc("hints.ignored")
    assert qdisc["packets"] == 3 * len(HINTED_FLOWS)
    assert qdisc["hint_ok"] == 2 * len(HINTED_FLOWS)


# Marks


@pytest.mark.parametrize("part", ["high", "low"])
def test_mark_tells_the_rtt(report: Report, part: str) -> None:
    qdisc = report.qdisc(f"mark.{part}")
    assert qdisc["flows"] == qdisc["flows_marked"] == len(PLAIN_FLOWS)
    assert qdisc["rtt_avg_us"] == pytest.approx(HINT_US, rel=1e-3)


@pytest.mark.parametrize("part", ["zero", "reserved", "other_bits", "off"])
def test_mark_tells_nothing(report: Report, part: str) -> None:
    qdisc = report.qdisc(f"mark.{part}")
    assert (qdisc["flows"], qdisc["flows_marked"]) == (len(PLAIN_FLOWS), 0)
    assert qdisc["rtt_avg_us"] == 0


def test_narrow_mark_has_the_unit_of_a_hint(report: Report) -> None:
    assert report.qdisc("mark.narrow")["rtt_avg_us"] == 255 * 32


def test_hint_is_preferred_to_a_mark(report: Report) -> None:
    qdisc = report.qdisc("mark.hinted")
    assert (qdisc["flows_hinted"], qdisc["flows_marked"]) == (len(HINTED_FLOWS), 0)
    assert qdisc["rtt_avg_us"] == pytest.approx(HINT_US, rel=1e-3)


def test_mark_is_preferred_to_an_ignored_hint_and_to_the_handshake(report: Report) -> None:
    ignored, bulk = report.qdisc("mark.ignored"), report.qdisc("mark.bulk")
    assert (ignored["flows_hinted"], ignored["flows_marked"]) == (0, len(HINTED_FLOWS))
    assert (bulk["flows_handshake"], bulk["flows_marked"]) == (0, 1)
    for qdisc in (ignored, bulk):
        assert qdisc["rtt_avg_us"] == pytest.approx(2 * HINT_US, rel=1e-3)


# Stripping


@pytest.mark.parametrize("case", STRIP_CASES, ids=lambda case: case.name)
def test_hint_is_removed(report: Report, case: StripCase) -> None:
    got = received(report, "strip.received")
    assert len(got) == len(STRIP_CASES)
    assert got[STRIP_CASES.index(case)].hex() == _as_received(case.want, case.device).hex()


@pytest.mark.parametrize("case", STRIP_UNTAGGED, ids=lambda case: case.name)
def test_network_header_is_where_it_was(report: Report, case: StripCase) -> None:
    """Drivers and tunnels look for the IP header there."""
    got = received(report, "strip.sent")
    assert len(got) == len(STRIP_CASES)
    assert got[STRIP_CASES.index(case)].hex() == case.want.bytes()[len(ETH) + 2 :].hex()


def test_removed_hints_are_counted_and_used(report: Report) -> None:
    qdisc, flows = report.qdisc("strip.stats"), report.qdisc("strip.flows")
    hinted = [case for case in STRIP_CASES if not case.name.startswith("nothing")]
    assert qdisc["hint_ok"] == len(hinted)
    assert flows["flows"] - flows["flows_hinted"] == len(STRIP_CASES) - len(hinted)
    assert qdisc["hint_stripped"] == sum(case.stripped for case in STRIP_CASES)


def test_hints_are_removed_even_if_ignored(report: Report) -> None:
    before, after = report.qdisc("strip.stats"), report.qdisc("strip.ignored")
    assert after["hint_stripped"] == 3 * before["hint_stripped"]


# Marking


def _arrived(report: Report, part: str, sent: Frame) -> bytes | None:
    """The frame of a flow as it arrived; ports tell flows apart."""
    port = sent.port.to_bytes(2, "big")
    at = 14 + (40 if sent.version == 6 else 20 + len(sent.ip_options))
    for frame in received(report, part):
        same_kind = frame[12:14] == sent.bytes()[12:14] and len(frame) == len(sent.bytes())
        if same_kind and frame[at : at + 2] == port:
            return frame
    return None


def _describe(frame: Frame) -> str:
    proto = "tcp" if frame.proto == 6 else "udp"
    options = "+options" if frame.ip_options else ""
    return f"ipv{frame.version}{options}-{proto}-{('NotECT', 'ECT1', 'ECT0', 'CE')[frame.ecn]}"


@pytest.mark.parametrize("frame", ECN_FRAMES, ids=_describe)
def test_certain_mark(report: Report, frame: Frame) -> None:
    got = _arrived(report, "ecn.marked", frame)
    if frame.ecn == NOT_ECT:
        assert got is None
        return
    assert got is not None
    assert ecn_of(got) == CE
    assert checksums_hold(got)
    assert got.hex() == frame.with_(ecn=CE).bytes().hex()


@pytest.mark.parametrize("part", ["ecn.above_mark_max", "ecn.noecn"])
def test_everything_drops_where_marks_are_not_wanted(report: Report, part: str) -> None:
    before = {"ecn.above_mark_max": "ecn.marked", "ecn.noecn": "ecn.above_mark_max"}[part]
    assert received(report, part) == []
    now, then = (report.qdisc(f"{name}.stats") for name in (part, before))
    assert now["ecn_mark"] == then["ecn_mark"]
    assert now["drop_mark"] - then["drop_mark"] == len(ECN_FRAMES)


def test_marks_and_drops_are_counted(report: Report) -> None:
    qdisc = report.qdisc("ecn.marked.stats")
    capable = sum(frame.ecn != NOT_ECT for frame in ECN_FRAMES)
    assert qdisc["prob"] == 1
    assert qdisc["ecn_mark"] == capable
    assert qdisc["drop_mark"] >= len(ECN_FRAMES) - capable


def test_tap_sees_packets_as_they_came(report: Report) -> None:
    """Marking and stripping write to a copy if someone else holds the data."""
    (tapped,), (got,) = received(report, "tap.tapped"), received(report, "tap.received")
    assert ecn_of(tapped) == ECT0
    assert ecn_of(got) == CE
    assert bytes([0x9E, 4]) in tapped
    assert bytes([0x9E, 4]) not in got
    assert checksums_hold(tapped)
    assert checksums_hold(got)


# Handshakes


def test_handshake_shows_the_rtt(report: Report) -> None:
    qdisc = report.qdisc("handshake.seen")
    assert qdisc["flows_handshake"] == 1
    assert qdisc["rtt_avg_us"] == pytest.approx(HINT_US, rel=0.05)


def test_handshake_does_not_count_the_own_queue(report: Report) -> None:
    qdisc = report.qdisc("handshake.queued")
    assert qdisc["delay_us"] > HINT_US
    assert qdisc["flows_handshake"] == 1
    assert qdisc["rtt_avg_us"] == pytest.approx(HINT_US, rel=0.05)


def test_handshake_can_be_ignored(report: Report) -> None:
    qdisc = report.qdisc("handshake.off")
    assert qdisc["flows_handshake"] == 0
    assert qdisc["rtt_avg_us"] == 0
