# SPDX-License-Identifier: GPL-2.0
"""Hosts and subscribers, found from their flows: as text, as JSON and as metrics."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from canned import Canned, program
from messages import PENALTY_ONE, addresses, flow, host, zrtt
from prometheus_client.parser import text_string_to_metric_families

TCP = 6
MBIT = 125_000
MANY_FLOWS, MANY_HOSTS = 50_000, 10_000
SUBSCRIBERS = (
    flow(0, 1000, rate=MBIT, names=host(7, 2 * MBIT, 4 * MBIT, 2, mark=0x2A)),
    flow(1, 1000, rate=5 * MBIT, names=host(3, 5 * MBIT, 4 * MBIT, 1, 3 * PENALTY_ONE, mark=0)),
    flow(2, 1000, rate=MBIT, names=host(7, 2 * MBIT, 4 * MBIT, 2, mark=0x2A)),
    flow(3, 1000, rate=MBIT, names=host(5, MBIT, 0, 1, PENALTY_ONE // 4, mark=0xFFFFFF)),
)
"""Three, the second of the highest rate, the last without a due share."""


def named(src: str, dst: str) -> dict[int, bytes]:
    """Addresses of a flow."""
    return addresses(TCP, src, dst, (1, 2))


def host_list(kernel: Canned, *args: str) -> list[dict[str, Any]]:
    """Hosts of the only queue."""
    (shown,) = kernel.run("-jn1", "-H", *args).objects
    hosts: list[dict[str, Any]] = shown["host_list"]
    return hosts


def listed(kernel: Canned, *args: str) -> list[str]:
    """Lines below the heading of hosts, up to that of flows."""
    lines = kernel.run("-i0.1", *args).lines
    heads = [i for i, line in enumerate(lines) if line.startswith("flows penalty of due rate host, ")]
    if not heads:
        return []
    ends = [i for i, line in enumerate(lines) if line.startswith("RTT from P_i rate flow, ")]
    return lines[heads[0] : ends[0] if ends else None]


def series(kernel: Canned, *args: str) -> dict[tuple[str, str], float]:
    """Metrics of single subscribers, by name and mark."""
    families = text_string_to_metric_families(kernel.run("--prometheus", *args).out)
    samples = [sample for family in families for sample in family.samples]
    return {(s.name, s.labels["mark"]): s.value for s in samples if "mark" in s.labels}


def test_subscribers_are_listed_by_rate(kernel: Canned) -> None:
    kernel.say([zrtt()], SUBSCRIBERS)
    assert listed(kernel) == [
        "flows penalty of due rate host, 3 by rate",
        "1 3 125% 5.00 Mbit/s mark 0x0",
        "2 1 50% 2.00 Mbit/s mark 0x2a",
        "1 0.25 - 1.00 Mbit/s mark 0xffffff",
    ]


@pytest.mark.parametrize(("live", "head"), [(3, "3 by rate"), (2, "3 by rate"), (4, "3 of 4 by rate")])
def test_hosts_that_are_not_listed_are_counted(kernel: Canned, live: int, head: str) -> None:
    """Those whose flows are in slots that are no classes."""
    kernel.say([zrtt(hosts=live)], SUBSCRIBERS)
    assert listed(kernel)[0] == f"flows penalty of due rate host, {head}"


def test_json_lists_hosts_with_option(kernel: Canned) -> None:
    kernel.say([zrtt(hosts=3)], SUBSCRIBERS)
    assert host_list(kernel) == [
        {"host": 3, "mark": "0x0", "flows": 1, "rate": 5 * MBIT, "due": 4 * MBIT, "penalty": 3},
        {"host": 7, "mark": "0x2a", "flows": 2, "rate": 2 * MBIT, "due": 4 * MBIT, "penalty": 1},
        {"host": 5, "mark": "0xffffff", "flows": 1, "rate": MBIT, "due": 0, "penalty": 0.25},
    ]
    assert "classes" not in kernel.run("-jn1", "-H").objects[0]
    (without,) = kernel.run("-jn1", "-f").objects
    assert "host_list" not in without
    assert without["hosts"] == 3
    found = {one["handle"]: (one["host"], one["host_mark"]) for one in without["classes"]}
    assert found["2:1"] == found["2:3"] == (7, "0x2a")


@pytest.mark.parametrize(("args", "count"), [((), 10), (("-H3",), 3), (("-H",), 50), (("-H0",), 0)])
def test_first_hosts_are_listed(kernel: Canned, args: tuple[str, ...], count: int) -> None:
    kernel.say([zrtt()], [flow(n, 1000, names=host(n + 1, n)) for n in range(50)])
    assert len(listed(kernel, *args)[1:]) == count
    if args:
        (shown,) = kernel.run("-jn1", *args).objects
        assert [one["rate"] for one in shown["host_list"]] == list(range(49, 49 - count, -1))


@pytest.mark.parametrize(("names", "options", "text", "address"), [
    (named("10.0.0.1", "10.0.0.2") | host(4), {}, "from 10.0.0.1", {"src": "10.0.0.1"}),
    (named("10.0.0.1", "10.0.0.2") | host(4, end="dst"), {}, "to 10.0.0.2", {"dst": "10.0.0.2"}),
    (named("fd00:1:2:3ff::1", "fd00::2") | host(4), {}, "from fd00:1:2:3ff::/64",
     {"src": "fd00:1:2:3ff::/64"}),
    (named("fd00:1:2:3ff::1", "fd00::2") | host(4), {"prefix6": 58}, "from fd00:1:2:3c0::/58",
     {"src": "fd00:1:2:3c0::/58"}),
    (named("ffff:1::1", "fd00::2") | host(4), {"prefix6": 1}, "from 8000::/1",
     {"src": "8000::/1"}),
    (named("fd00::1", "fd00::2") | host(4), {"prefix6": 128}, "from fd00::1", {"src": "fd00::1"}),
    (named("10.0.0.1", "10.0.0.2") | host(4), {"nat": True}, "host 4", {}),
    (named("10.0.0.1", "10.0.0.2") | host(4, mark=0x2A), {}, "mark 0x2a", {"mark": "0x2a"}),
    (host(4), {}, "host 4", {}),
])  # fmt: skip
def test_identity(
    kernel: Canned,
    names: dict[int, bytes],
    options: dict[str, Any],
    text: str,
    address: dict[str, str],
) -> None:
    kernel.say([zrtt(**options)], [flow(11, 1000, names=names)])
    assert listed(kernel)[1] == f"1 1 - 0 bit/s {text}"
    (shown,) = host_list(kernel)
    known = {"host": 4, "flows": 1, "rate": 0, "due": 0, "penalty": 1}
    assert shown == known | address


def test_address_is_that_of_any_flow(kernel: Canned) -> None:
    """The first one may be of before there were names."""
    names = named("10.0.0.1", "10.0.0.2")
    kernel.say([zrtt()], [flow(0, 1, names=host(4)), flow(1, 1, names=host(4) | names)])
    assert listed(kernel)[1:] == ["1 1 - 0 bit/s from 10.0.0.1"]


def test_subscriber_that_changes_its_slot_is_one(kernel: Canned) -> None:
    """In the middle of a dump; and who takes the slot is another."""
    whose = [host(4, mark=1), host(5, mark=1), host(4, mark=2)]
    kernel.say([zrtt()], [flow(slot, 1000, names=of) for slot, of in enumerate(whose)])
    assert [one["mark"] for one in host_list(kernel)] == ["0x1", "0x2"]


def test_no_list_without_hosts(kernel: Canned) -> None:
    """Nor one of a queue by another."""
    kernel.say([zrtt(), zrtt(handle=0x30000, parent=0x10003)], [flow(0, 1000)])
    assert listed(kernel) == []
    assert [one["host_list"] for one in kernel.run("-jn1", "-H").objects] == [[], []]
    assert series(kernel, "-H9") == {}


def test_hosts_are_those_of_their_qdisc(kernel: Canned) -> None:
    flows = [flow(0, 1000, names=host(4)), flow(0, 1000, names=host(5), qdisc=0x30000)]
    kernel.say([zrtt(), zrtt(handle=0x30000, parent=0x10003)], flows)
    found = [[one["host"] for one in each["host_list"]] for each in kernel.run("-jn1", "-H").objects]
    assert found == [[4], [5]]


# Metrics


def test_no_metric_is_of_a_subscriber_by_default(kernel: Canned) -> None:
    kernel.say([zrtt()], SUBSCRIBERS)
    assert series(kernel) == {}
    assert "zrtt_host_rate" not in kernel.run("--prometheus").out


def test_metrics_of_the_first_subscribers(kernel: Canned) -> None:
    kernel.say([zrtt()], SUBSCRIBERS)
    assert series(kernel, "-H2") == {
        ("zrtt_host_rate_bytes_per_second", "0x0"): 5 * MBIT,
        ("zrtt_host_rate_bytes_per_second", "0x2a"): 2 * MBIT,
        ("zrtt_host_due_ratio", "0x0"): 1.25,
        ("zrtt_host_due_ratio", "0x2a"): 0.5,
        ("zrtt_host_penalty_ratio", "0x0"): 3,
        ("zrtt_host_penalty_ratio", "0x2a"): 1,
        ("zrtt_host_flows", "0x0"): 1,
        ("zrtt_host_flows", "0x2a"): 2,
    }
    found = series(kernel, "-H3")
    assert len(found) == 3 * 4 - 1
    assert ("zrtt_host_due_ratio", "0xffffff") not in found


def test_file_has_the_first_subscribers(kernel: Canned, tmp_path: Path) -> None:
    kernel.say([zrtt()], SUBSCRIBERS)
    path = tmp_path / "zrtt.prom"
    assert kernel.run(f"--prometheus={path}", "-H1").status == 0
    assert path.read_text() == kernel.run("--prometheus", "-H1").out
    assert path.read_text().count('mark="0x0"') == 4
    assert path.read_text().count("mark=") == 4


def test_metrics_never_have_addresses(kernel: Canned) -> None:
    names = named("10.99.0.1", "10.99.0.2")
    kernel.say([zrtt()], [flow(0, 1000, names=names | host(4)), flow(1, 1, names=names)])
    said = kernel.run("--prometheus", "-H9")
    assert said.status == 0
    assert "10.99.0" not in said.out
    assert series(kernel, "-H9") == {}


# Many


def cpu_s(kernel: Canned, *args: str) -> float:
    """Processor time of the best of three runs: the machine may be busy."""
    times = []
    for _ in range(3):
        child = subprocess.Popen(
            [program(), *args], env=kernel.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        times.append(used.ru_utime)
    return min(times)


@pytest.mark.parametrize("args", [("-jn1", "-H20"), ("--prometheus", "-H20")])
def test_cost_does_not_grow_with_hosts(kernel: Canned, args: tuple[str, ...]) -> None:
    """Flows cost the same, be they of ten subscribers or of thousands."""
    cost = {}
    for hosts in (10, MANY_HOSTS):
        # in an order that is none
        whose = [1 + n * 7919 % hosts for n in range(MANY_FLOWS)]
        kernel.say(
            [zrtt()], [flow(n, 1000, names=host(w, w, mark=w)) for n, w in enumerate(whose)]
        )
        cost[hosts] = cpu_s(kernel, *args)
    assert cost[MANY_HOSTS] < 3 * cost[10]


def test_all_of_many_hosts_are_found(kernel: Canned) -> None:
    whose = [1 + n * 7919 % MANY_HOSTS for n in range(MANY_FLOWS)]
    kernel.say([zrtt()], [flow(n, 1000, names=host(w, w, mark=w)) for n, w in enumerate(whose)])
    assert [one["rate"] for one in host_list(kernel)] == list(range(MANY_HOSTS, 0, -1))
