# SPDX-License-Identifier: GPL-2.0
"""Damaged replies: whatever the kernel says, nothing is read outside, and output is well-formed.

The program has sanitizers; Canned.run() looks for what they say.
"""

from __future__ import annotations

import random
import struct

import pytest
from canned import Canned
from messages import (
    FLOW_ATTRS,
    TCA_HTB_PARMS,
    addresses,
    flow,
    host,
    message,
    qdisc,
    tclass,
    zrtt,
)
from plugin.qdisc_netlink import RTM_NEWQDISC, TCA_KIND, TCA_OPTIONS, TCA_STATS2, attr
from prometheus_client.parser import text_string_to_metric_families

HEADER = 16
ROUNDS = 2000
NAMES = addresses(6, "fd00::1", "fd00::2", (1, 2))
GOOD = (
    zrtt(bandwidth=1000),
    zrtt(handle=0x30000, parent=0x10010),
    qdisc("htb", handle=0x10000),
    tclass("htb", {TCA_HTB_PARMS: bytes(44)}, handle=0x10010, parent=0x10000),
    flow(1, 1000, names=NAMES | host(1, 2, 3)),
    flow(2, 1000, names=host(2, 2, 3, mark=1)),
)
FORMS = (("-jn1", "-f", "-H"), ("--prometheus", "-H9"), ("-i0.1",))


def damaged(random_: random.Random, good: bytes) -> bytes:
    """A message some bytes of which are others, its own length and type aside."""
    body = bytearray(good[HEADER:])
    for _ in range(random_.choice((1, 1, 2, 4, 16))):
        at = random_.randrange(len(body))
        body[at] = random_.choice((0, 1, 3, 4, 0x7F, 0x80, 0xFF, random_.randrange(256)))
    return good[:HEADER] + bytes(body)


def assert_well_formed(kernel: Canned) -> None:
    for args in FORMS:
        said = kernel.run(*args)
        assert said.status in (0, 1)
        if args[0] == "-jn1":
            assert all(one["kind"] == "zrtt" for one in said.objects)
        if args[0] == "--prometheus":
            assert list(text_string_to_metric_families(said.out))


@pytest.mark.parametrize("seed", range(4))
def test_replaced_bytes(kernel: Canned, seed: int) -> None:
    random_ = random.Random(seed)
    qdiscs = [damaged(random_, random_.choice(GOOD)) for _ in range(ROUNDS // 100)]
    classes = [damaged(random_, random_.choice(GOOD)) for _ in range(ROUNDS)]
    kernel.say([*qdiscs, *GOOD], [*classes, *GOOD])
    assert_well_formed(kernel)


@pytest.mark.parametrize("good", GOOD, ids=["bandwidth", "parent", "htb", "class", "flow", "mark"])
def test_truncated_messages(kernel: Canned, good: bytes) -> None:
    """Each with the right length."""
    kind = struct.unpack_from("=IH", good)[1]
    cut = [message(kind, good[HEADER:end]) for end in range(HEADER, len(good), 4)]
    kernel.say([*cut, *GOOD], [*cut, *GOOD])
    assert_well_formed(kernel)


@pytest.mark.parametrize("end", [1, 15, 16, 20, 36, 60, len(GOOD[4]) - 1])
def test_truncated_reply(kernel: Canned, end: int) -> None:
    kernel.say(GOOD, [*GOOD, GOOD[4][:end]])
    shown = kernel.run("-jn1", "-f").objects
    assert [len(one["classes"]) for one in shown] == [2, 0]


@pytest.mark.parametrize("size", [0, 4, 12, 16])
def test_message_too_short_for_its_kind(kernel: Canned, size: int) -> None:
    """As the last one, with nothing behind it to be read by mistake."""
    short = message(RTM_NEWQDISC, GOOD[0][HEADER : HEADER + size])
    kernel.say([GOOD[1], short], [GOOD[4], short])
    assert len(kernel.run("-jn1", "-f").objects) == 1


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 35, 2**16, 2**31, 2**32 - 1])
def test_lengths_of_messages(kernel: Canned, length: int) -> None:
    odd = struct.pack("=I", length) + GOOD[0][4:]
    kernel.say([GOOD[0], odd], [GOOD[4], odd])
    assert_well_formed(kernel)


@pytest.mark.parametrize("nest", [TCA_OPTIONS, TCA_STATS2])
@pytest.mark.parametrize("garbage", [
    pytest.param(b"", id="nothing"),
    pytest.param(b"\1", id="a byte"),
    pytest.param(bytes(400), id="zeros"),
    pytest.param(b"\xff" * 400, id="ones"),
    pytest.param(attr(1, attr(1, attr(1, attr(1, b"")))) * 8, id="nests"),
    pytest.param(b"".join(attr(kind, b"") for kind in range(64)), id="empty attributes"),
    pytest.param(b"".join(attr(kind, b"\xff" * 3) for kind in range(64)), id="short attributes"),
])  # fmt: skip
def test_garbage_in_nests(kernel: Canned, nest: int, garbage: bytes) -> None:
    odd = qdisc("zrtt", attr(nest, garbage), handle=0x40000)
    kernel.say([odd, *GOOD], [tclass("zrtt", {nest: garbage}, handle=0x20001, parent=0x20000)])
    assert len(kernel.run("-jn1", "-f").objects) == 3
    assert_well_formed(kernel)


@pytest.mark.parametrize("kind", [b"", b"zrtt", b"zrt\0", b"\0zrtt\0", b"zrtt\0\0", b"z" * 300])
def test_other_qdisc_kinds(kernel: Canned, kind: bytes) -> None:
    body = GOOD[0][HEADER : HEADER + 20] + attr(TCA_KIND, kind)
    kernel.say([message(RTM_NEWQDISC, body)])
    said = kernel.run("-jn1")
    assert (said.status, said.out) == (1, "")


@pytest.mark.parametrize("size", [0, 3, 5, 15, 17])
def test_addresses_of_unusual_sizes(kernel: Canned, size: int) -> None:
    odd = {number: (value + bytes(size))[:size] for number, value in NAMES.items()}
    kernel.say([GOOD[0]], [flow(1, 1000, names=odd)])
    (shown,) = kernel.run("-jn1", "-f").objects
    assert "src" not in shown["classes"][0]


def test_short_attributes_are_ignored(kernel: Canned) -> None:
    """Rather than completed by what is behind them."""
    words = ("RTT", "PROB", "HOST_MARK", "HOST_FLOWS", "HOST_PENALTY")
    short = {FLOW_ATTRS[name]: b"\xff" * 3 for name in words}
    rate = {FLOW_ATTRS[name]: b"\xff" * 7 for name in ("RATE", "HOST_RATE", "HOST_DUE")}
    whose = {FLOW_ATTRS["HOST"]: struct.pack("=I", 1), FLOW_ATTRS["HOST_END"]: b""}
    parms = {TCA_HTB_PARMS: b"\xff" * 23}
    htb = tclass("htb", parms, handle=0x10010, parent=0x10000)
    kernel.say(
        [qdisc("htb", handle=0x10000), zrtt(parent=0x10010)],
        [flow(1, 1000, names=NAMES | short | rate | whose), htb],
    )
    (shown,) = kernel.run("-jn1", "-f", "-H").objects
    (only,) = shown["classes"]
    nothing = {"flows": 0, "rate": 0, "due": 0, "penalty": 0}
    assert shown["host_list"] == [{"host": 1} | nothing]
    assert (only["rtt_us"], only["prob"], only["rate"]) == (0, 0, 0)
    assert "capacity" not in shown


def test_refused_dumps_are_reported(kernel: Canned) -> None:
    (kernel.folder / "classes.0").unlink()
    kernel.say([GOOD[0]])
    (kernel.folder / "classes.0").unlink()
    said = kernel.run("-jn1", "-f")
    assert (said.status, said.err) == (2, "zrtt-mon: no such dump\n")
    assert kernel.run("-jn1").status == 0
