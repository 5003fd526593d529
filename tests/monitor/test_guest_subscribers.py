# SPDX-License-Identifier: GPL-2.0
"""zrtt-mon on a real kernel whose link is divided among subscribers and hosts."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from watched import CROWD_HOSTS, HOST_CROWD, RATE_BPS, crowded, subscribed

DUE = {"0x2a": 0.25, "0x7": 0.25, "0x9": 0.5}
"""Share of the link by weight."""
FLOWS = {"0x2a": 1, "0x7": 5, "0x9": 6}
HOST = re.compile(r"\s+(\d+)\s+([\d.]+)\s+(\d+)%\s+([\d.]+) Mbit/s  mark (0x\w+)")
FLOW = re.compile(r".* [kM]bit/s  tcp \S+ > \S+")


def of_json() -> dict[str, dict[str, Any]]:
    """Subscribers by mark."""
    return {one["mark"]: one for one in subscribed()["line"]["host_list"]}


def rows(name: str) -> list[tuple[str, ...]]:
    """Flows, penalty, part of the due share, rate and mark of the subscribers on a screen."""
    return [found.groups() for line in subscribed()["view"][name] if (found := HOST.fullmatch(line))]


def flows(name: str) -> int:
    """How many are on a screen."""
    return len([line for line in subscribed()["view"][name] if FLOW.fullmatch(line)])


def test_subscribers_are_those_of_the_marks() -> None:
    assert {mark: one["flows"] for mark, one in of_json().items()} == FLOWS
    classes = subscribed()["line"]["classes"]
    assert Counter(one["host_mark"] for one in classes) == FLOWS
    numbers = {one["host"]: mark for mark, one in of_json().items()}
    assert len(numbers) == len(FLOWS)
    assert all(numbers[one["host"]] == one["host_mark"] for one in classes)


def test_subscribers_have_what_tc_says() -> None:
    """tc looks before, so rates are others by then; who it is stays."""
    said = re.findall(r" host_flows (\d+) host (\d+) host_mark (0x\w+) ", subscribed()["tc"])
    assert len(said) == sum(FLOWS.values())
    expected = {(str(one["flows"]), str(one["host"]), mark) for mark, one in of_json().items()}
    assert set(said) == expected


def test_due_shares_are_by_weight() -> None:
    link = RATE_BPS / 8
    for mark, one in of_json().items():
        assert one["due"] == pytest.approx(DUE[mark] * link, rel=0.3), mark
        assert one["rate"] == pytest.approx(one["due"], rel=0.4), mark
    assert of_json()["0x9"]["due"] == pytest.approx(2 * of_json()["0x7"]["due"], abs=2)
    assert of_json()["0x7"]["due"] == of_json()["0x2a"]["due"]
    assert sum(one["rate"] for one in of_json().values()) == pytest.approx(link, rel=0.2)


def test_penalties_are_those_of_hosts() -> None:
    """Each has its own, which is in the range that the law has."""
    penalties = [one["penalty"] for one in of_json().values()]
    assert len({1, *penalties}) == 1 + len(FLOWS)
    assert all(2**-14 <= penalty <= 2**14 for penalty in penalties)


def test_view_has_hosts_and_flows() -> None:
    shown = {row[4]: row for row in rows("both")}
    assert {mark: int(row[0]) for mark, row in shown.items()} == FLOWS
    rates = [float(row[3]) for row in rows("both")]
    assert rates == sorted(rates, reverse=True)
    assert sum(rates) == pytest.approx(RATE_BPS / 1e6, rel=0.2)
    assert all(50 < int(row[2]) < 150 for row in rows("both"))
    assert flows("both") == sum(FLOWS.values())


def test_key_turns_the_view() -> None:
    assert (len(rows("hosts")), flows("hosts")) == (len(FLOWS), 0)
    assert (len(rows("flows")), flows("flows")) == (0, sum(FLOWS.values()))
    assert subscribed()["view"]["status"] == 0


def test_text_has_the_first_hosts() -> None:
    marks = [found[5] for line in subscribed()["text"].splitlines() if (found := HOST.fullmatch(line))]
    assert len(marks) == 2
    assert marks[0] == "0x9"


def test_metrics_have_marks_and_no_addresses() -> None:
    text = subscribed()["prometheus"]
    families = {family.name: family for family in text_string_to_metric_families(text)}
    rates = {s.labels["mark"]: s.value for s in families["zrtt_host_rate_bytes_per_second"].samples}
    assert len(rates) == 2
    assert rates["0x9"] == pytest.approx(RATE_BPS / 8 / 2, rel=0.3)
    counts = {s.labels["mark"]: s.value for s in families["zrtt_host_flows"].samples}
    assert counts == {mark: FLOWS[mark] for mark in rates}
    assert "10.0." in subscribed()["tc"]
    assert "10.0." not in text and "10.255." not in text


def test_server_has_the_number_asked_for() -> None:
    head, _, body = subscribed()["http"].partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 ")
    samples = [s for family in text_string_to_metric_families(body) for s in family.samples]
    assert [s.labels["mark"] for s in samples if "mark" in s.labels] == ["0x9"] * 4


# Many hosts


def test_many_hosts_are_listed() -> None:
    """All but a few: a table of hosts that is not full may have a bucket that is."""
    (line,) = [json.loads(text) for text in crowded().lines("hosts")]
    hosts, classes = line["host_list"], line["classes"]
    assert 0.98 * CROWD_HOSTS <= len(hosts) <= CROWD_HOSTS
    assert len(hosts) == pytest.approx(line["hosts"], rel=0.01)
    found = Counter(one["host"] for one in classes if "host" in one)
    assert {one["host"]: one["flows"] for one in hosts} == found
    assert sum(found.values()) >= 0.98 * len(classes) >= 0.96 * len(HOST_CROWD)
    addresses = {one["src"] for one in hosts}
    assert len(addresses) == len(hosts)
    assert addresses <= {f"10.1.{n >> 8}.{n & 255}" for n in range(CROWD_HOSTS)}
    source_of = {one["host"]: one["src"] for one in hosts}
    assert all(source_of[one["host"]] == one["src"] for one in classes if "host" in one)
