# SPDX-License-Identifier: GPL-2.0
"""Statistics of one set of replies, as text and as JSON."""

from __future__ import annotations

import json
import signal
import struct
import subprocess
import time
from itertools import pairwise

import pytest
from canned import Canned, program
from messages import (
    HOSTS,
    ALPHA_ONE,
    P_ONE,
    TCA_HTB_CEIL64,
    TCA_HTB_PARMS,
    TCA_TBF_PARMS,
    TCA_TBF_RATE64,
    addresses,
    flow,
    lanes,
    nest,
    numbered,
    qdisc,
    stats,
    tclass,
    xstats,
    xstats_with_lanes,
    zrtt,
)
from plugin import uapi_contract
from plugin.qdisc_netlink import TC_H_ROOT, TCA_OPTIONS

TCP, GRE = 6, 47
RATESPEC = "=BBHhHI"
MBIT = 125_000
INTERVAL_S = 0.5


def ratespec(rate: int) -> bytes:
    """struct tc_ratespec."""
    return struct.pack(RATESPEC, 0, 1, 0, 0, 0, rate)


def htb_class(ceil: int, ceil64: int | None = None) -> bytes:
    """Class 1:10, which may send so many bytes per second."""
    options = {TCA_HTB_PARMS: ratespec(1) + ratespec(ceil) + bytes(20)}
    if ceil64:
        options[TCA_HTB_CEIL64] = struct.pack("=Q", ceil64)
    return tclass("htb", options, handle=0x10010, parent=0x10001)


def tbf(rate: int, rate64: int | None = None, **place: int) -> bytes:
    """A tbf of so many bytes per second."""
    options = {TCA_TBF_PARMS: ratespec(rate) + ratespec(0) + bytes(12)}
    if rate64:
        options[TCA_TBF_RATE64] = struct.pack("=Q", rate64)
    return qdisc("tbf", nest(TCA_OPTIONS, options), **place)


def test_json_has_every_statistic(kernel: Canned) -> None:
    kernel.say([zrtt((3000, 2**33), backlog=99, flows_quic=77, **HOSTS)])
    (shown,) = kernel.run("-jn1").objects
    expected = uapi_contract.shown_xstats(numbered())
    expected |= {"bytes": 3000, "packets": 2**33, "qlen": 3, "backlog": 99}
    expected |= {"drops": 4, "requeues": 5, "overlimits": 6}
    expected["prob"] /= P_ONE
    expected["alpha"] /= ALPHA_ONE
    expected |= HOSTS | {"flows_quic": 77}
    for name, value in expected.items():
        assert shown.pop(name) == pytest.approx(value), name
    names = [{"name": name} for name in uapi_contract.LANES]
    assert shown.pop("lanes") == [a | b for a, b in zip(names, lanes(), strict=True)]
    assert shown.pop("time") > 1.7e9
    assert shown == {"kind": "zrtt", "handle": "2:", "dev": "lo", "root": True}


LINE = {"line_rate": 2_500_000, "line_measured": 2**33, "line_lowered": 2**40, "line_raised": 7,
        "line_queue_us": 1500, "line_hosts": 3, "line_lost": 2**41, "line_ceiling": 2_700_000}  # fmt: skip


@pytest.mark.parametrize(("state", "name"), [(3, "grow"), (4, "queue"), (5, "blind"), (6, "loss"), (99, "unknown")])
def test_json_of_a_line(kernel: Canned, state: int, name: str) -> None:
    """Whose rate is found; what others have is no line."""
    kernel.say([zrtt(line_state=state, **LINE), zrtt(handle=0x30000, parent=0x10003)])
    first, second = kernel.run("-jn1").objects
    assert first["line"] == {"state": name} | {
        field.removeprefix("line_"): value for field, value in LINE.items()
    }
    assert "line" not in second


def test_json_without_hosts(kernel: Canned) -> None:
    """Of an older kernel."""
    kernel.say([qdisc("zrtt", stats(xstats_with_lanes(lanes())))])
    (shown,) = kernel.run("-jn1").objects
    assert not set(HOSTS) & set(shown)
    assert "lanes" in shown


def test_json_without_lanes(kernel: Canned) -> None:
    """Of an older kernel, whose statistics end before them; half of them are none."""
    whole, older = xstats_with_lanes(lanes()), xstats()
    for given, there in ((older, False), (whole[:-1], False), (whole, True)):
        kernel.say([qdisc("zrtt", stats(given))])
        (shown,) = kernel.run("-jn1").objects
        assert ("lanes" in shown) == there
        assert shown["limit_now"] == numbered()["limit_now"]


def test_departure_rate_above_32_bits(kernel: Canned) -> None:
    """An older kernel has but the 32 bits."""
    rate, most = 12_500_000_000, 2**32 - 1
    whole = xstats(dq_rate=most, dq_rate64=rate)
    older = whole[: whole.rindex(struct.pack("=Q", rate))]
    for given, shown in ((whole, rate), (older, most)):
        kernel.say([qdisc("zrtt", stats(given))])
        assert kernel.run("-jn1").objects[0]["dq_rate"] == shown


def test_json_names_the_parent(kernel: Canned) -> None:
    kernel.say([zrtt(handle=0x80010000, parent=0x10010), zrtt(handle=0, parent=0x3)])
    first, second = kernel.run("-jn1").objects
    assert (first["handle"], first["parent"]) == ("8001:", "1:10")
    assert (second["handle"], second["parent"]) == ("0:", ":3")
    assert "root" not in first


def test_json_lists_flows_with_option(kernel: Canned) -> None:
    flows = [
        flow(0, 20_000, "hint", 1000, P_ONE // 4, addresses(TCP, "10.0.0.1", "10.0.0.2", (5, 80))),
        flow(25, 0, "none", 2000, 0, addresses(GRE, "fd00::1", "fd00::2", None)),
        flow(7, 30_000, "timestamps", 500, 0),
    ]
    kernel.say([zrtt()], flows)
    assert "classes" not in kernel.run("-jn1").objects[0]
    (shown,) = kernel.run("-jn1", "-f").objects
    gre, tcp, unnamed = shown["classes"]
    assert tcp == {
        "class": "zrtt", "handle": "2:1", "rtt_us": 20_000, "source": "hint", "rate": 1000,
        "prob": 0.25, "protocol": "tcp", "src": "10.0.0.1", "dst": "10.0.0.2", "sport": 5,
        "dport": 80,
    }  # fmt: skip
    assert (gre["handle"], gre["source"], gre["src"]) == ("2:1a", "none", "fd00::1")
    assert "sport" not in gre
    assert "src" not in unnamed
    assert unnamed["source"] == "timestamps"


@pytest.mark.parametrize(("order", "handles"), [
    ("rate", ["2:3", "2:1", "2:2"]), ("rtt", ["2:2", "2:3", "2:1"]), ("prob", ["2:1", "2:2", "2:3"])
])  # fmt: skip
def test_flows_are_sorted(kernel: Canned, order: str, handles: list[str]) -> None:
    kernel.say(
        [zrtt()], [flow(0, 10, "hint", 5, 9), flow(1, 30, "hint", 4, 8), flow(2, 20, "hint", 6)]
    )
    (shown,) = kernel.run("-jn1", "-f", "-s", order).objects
    assert [each["handle"] for each in shown["classes"]] == handles
    (shown,) = kernel.run("-jn1", "-f2", "-s", order).objects
    assert [each["handle"] for each in shown["classes"]] == handles[:2]


def test_flows_are_those_of_their_qdisc(kernel: Canned) -> None:
    other = tclass("htb", {}, handle=0x20005, parent=0x20000)
    kernel.say(
        [zrtt(), zrtt(handle=0x30000, parent=0x10003)],
        [flow(0, 1000), other, flow(1, 1000, qdisc=0x30000), flow(2, 1000)],
    )
    found = [
        [each["handle"] for each in one["classes"]] for one in kernel.run("-jn1", "-f").objects
    ]
    assert found == [["2:1", "2:3"], ["3:2"]]


def test_flows_of_queues_without_a_handle(kernel: Canned) -> None:
    """The root's are told by that; which of mq's default queues has them is not."""
    flows = [flow(0, 1000, qdisc=0)]
    for parent, count in ((TC_H_ROOT, 1), (3, 0)):
        kernel.say([zrtt(handle=0, parent=parent)], flows)
        (shown,) = kernel.run("-jn1", "-f").objects
        assert len(shown["classes"]) == count


def test_other_qdiscs_are_skipped(kernel: Canned) -> None:
    kernel.say([qdisc("fq_codel"), zrtt(), qdisc("zrttx", handle=0x40000)])
    assert [one["handle"] for one in kernel.run("-jn1").objects] == ["2:"]


def test_vanished_device_is_skipped(kernel: Canned) -> None:
    kernel.say([zrtt(ifindex=2**31 - 1), zrtt(handle=0x50000)])
    assert [one["handle"] for one in kernel.run("-jn1").objects] == ["5:"]


# What it may send


@pytest.mark.parametrize(("qdiscs", "classes", "capacity"), [
    pytest.param([zrtt(bandwidth=5 * MBIT)], [], 5 * MBIT, id="its own"),
    pytest.param([zrtt(bandwidth=5 * MBIT, parent=0x10010), qdisc("htb", handle=0x10000)],
                 [htb_class(9 * MBIT)], 5 * MBIT, id="its own below htb"),
    pytest.param([zrtt(parent=0x10010), qdisc("htb", handle=0x10000)],
                 [htb_class(9 * MBIT)], 9 * MBIT, id="htb"),
    pytest.param([qdisc("htb", handle=0x10000), zrtt(parent=0x10010)],
                 [htb_class(2**32 - 1, 2**33)], 2**33, id="htb beyond 32 bits"),
    pytest.param([tbf(4 * MBIT, handle=0x10000), zrtt(parent=0x10001)], [], 4 * MBIT, id="tbf"),
    pytest.param([tbf(2**32 - 1, 2**34, handle=0x10000), zrtt(parent=0x10001)], [], 2**34,
                 id="tbf beyond 32 bits"),
    pytest.param([qdisc("htb", handle=0x10000), qdisc("prio", handle=0x30000, parent=0x10010),
                  zrtt(parent=0x30001)], [htb_class(9 * MBIT)], 9 * MBIT, id="prio below htb"),
    pytest.param([tbf(7 * MBIT, handle=0x30000, parent=0x10010), qdisc("htb", handle=0x10000),
                  zrtt(parent=0x30001)], [htb_class(9 * MBIT)], 7 * MBIT, id="the nearest"),
    pytest.param([zrtt(parent=0x10010), qdisc("htb", handle=0x10000)], [], None, id="no class"),
    pytest.param([zrtt(parent=0x10010)], [], None, id="no parent"),
    pytest.param([zrtt(parent=0x30001), qdisc("prio", handle=0x30000, parent=0x30001)], [], None,
                 id="a circle"),
])  # fmt: skip
def test_capacity(
    kernel: Canned, qdiscs: list[bytes], classes: list[bytes], capacity: int | None
) -> None:
    kernel.say(qdiscs, classes)
    (shown,) = kernel.run("-jn1").objects
    assert shown.get("capacity") == capacity


def test_classes_are_read_once(kernel: Canned) -> None:
    """And not for each zrtt among them: there may be thousands."""
    kernel.say(
        [qdisc("htb", handle=0x10000), zrtt(parent=0x10010), zrtt(handle=0x30000, parent=0x10010)],
        [htb_class(9 * MBIT)],
    )
    kernel.reply("classes", 1)
    shown = kernel.run("-jn1").objects
    assert [one["capacity"] for one in shown] == [9 * MBIT] * 2


# In time


def test_queue_that_a_dump_has_twice(kernel: Canned) -> None:
    """As it may if another one came or went meanwhile; the same handle elsewhere is another queue."""
    kernel.say([zrtt(), zrtt(handle=0x30000), zrtt(ecn_mark=77), zrtt(parent=0x10003)])
    shown = kernel.run("-jn1").objects
    assert [one["handle"] for one in shown] == ["2:", "3:", "2:"]
    assert [one.get("parent") for one in shown] == [None, None, "1:3"]


def test_readings_that_were_missed_are_not_made_up_for(kernel: Canned) -> None:
    kernel.say([zrtt()])
    command = [program(), "-j", "-n10", f"-i{INTERVAL_S}"]
    with subprocess.Popen(command, env=kernel.environment, stdout=subprocess.PIPE, text=True) as mon:
        assert mon.stdout
        lines = [mon.stdout.readline()]
        mon.send_signal(signal.SIGSTOP)
        time.sleep(6 * INTERVAL_S)
        mon.send_signal(signal.SIGCONT)
        lines += mon.stdout.readlines()
    times = [json.loads(line)["time"] for line in lines]
    gaps = [later - earlier for earlier, later in pairwise(times)]
    # the one that was due meanwhile, and the first of the new row
    assert len([gap for gap in gaps if gap < INTERVAL_S / 2]) <= 1
