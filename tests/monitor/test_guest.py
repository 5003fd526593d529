# SPDX-License-Identifier: GPL-2.0
"""zrtt-mon on a real kernel with real traffic."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from watched import CROWD, RATE_BPS, RTT_US, RTTS_MS, crowded, observed

FLOW = re.compile(
    r"\s+([\d.]+ m?s|-)  (\w+)\s+([\d.]+)%\s+([\d.]+) (|k|M)bit/s  (\S+) (\S+) > (\S+)"
)
SCALES = {"": 1, "k": 1e3, "M": 1e6}
PREFIXES = {"m": 1e-3, "": 1.0}
SCREENS = ("by_rate", "by_rtt", "by_prob", "resumed", "large")
GAUGES = ("prob", "alpha", "delay_us", "dq_rate", "rtt_avg_us", "flows", "backlog", "qlen",
          "memory_used")  # fmt: skip


def screen(name: str) -> list[str]:
    """What was to be seen."""
    lines: list[str] = observed()["view"][name]
    return lines


def flows(name: str) -> list[tuple[str, ...]]:
    """RTT, source, P_i, rate, its prefix, protocol, and both ends, of the TCP flows on a screen."""
    found = [match.groups() for line in screen(name) if (match := FLOW.fullmatch(line))]
    return [flow for flow in found if flow[5] == "tcp"]


def samples(text: str) -> dict[tuple[str, str, str], float]:
    """Values by name, device and the label that only some have."""
    found = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = dict(sample.labels)
            device = labels.pop("device", "")
            rest = [labels[key] for key in labels if key not in ("handle", "parent", "version")]
            found[sample.name, device, "".join(rest)] = sample.value
    return found


# The live view


@pytest.mark.parametrize("name", SCREENS)
def test_view_shows_a_full_link(name: str) -> None:
    title, heading, throughput, *rest = screen(name)
    assert title.startswith("zrtt-mon 00:00:") and "paused" not in title
    assert heading == "bot: zrtt 3: parent 2:1"
    rate, share = map(
        float, re.findall(r"([\d.]+) Mbit/s of 20.0 Mbit/s, ([\d.]+)%", throughput)[0]
    )
    assert rate == pytest.approx(RATE_BPS / 1e6, rel=0.02)
    assert share == pytest.approx(100, rel=0.02)
    assert any(re.search(r"P_b [\d.]+%, alpha [\d.]+", line) for line in rest)
    assert any(line.startswith("  RTTs from   hint 5, ") for line in rest)


@pytest.mark.parametrize("name", SCREENS)
def test_view_shows_the_lanes(name: str) -> None:
    lanes = [line.split()[0] for line in screen(name) if re.match(r"  \w+ +sojourn \S+ \w+; ", line)]
    assert lanes == ["sparse", "bulk"]


@pytest.mark.parametrize("name", SCREENS)
def test_view_shows_all_flows(name: str) -> None:
    """By name, each with an RTT that is its own, and together as fast as the link."""
    found = flows(name)
    assert len(found) == len(RTTS_MS)
    rtts = sorted(float(flow[0].split()[0]) for flow in found)
    assert rtts == pytest.approx(RTTS_MS, rel=0.25)
    assert {flow[1] for flow in found} == {"hint", "handshake"}
    rate = sum(float(flow[3]) * SCALES[flow[4]] for flow in found)
    assert rate == pytest.approx(RATE_BPS, rel=0.2)
    assert all(flow[7].startswith("10.255.0.2:50") for flow in found)


@pytest.mark.parametrize(("name", "column"), [("by_rate", 3), ("by_rtt", 0), ("by_prob", 2)])
def test_view_is_sorted(name: str, column: int) -> None:
    values = [float(flow[column].split()[0]) for flow in flows(name)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 5


def test_histogram_counts_the_flows() -> None:
    bars = [re.fullmatch(r"\s+[\d.]+ ms\s+(\d+)(  #+)?", line) for line in screen("large")]
    assert sum(int(bar[1]) for bar in bars if bar) == len(RTTS_MS)


def test_view_does_not_change_while_paused() -> None:
    first, later = observed()["view"]["paused"]
    assert "paused" in first[0]
    assert first == later
    assert screen("resumed")[0] != screen("by_prob")[0]


def test_view_fits_the_terminal() -> None:
    """A small one is full, and can be scrolled."""
    small, scrolled = screen("small"), screen("scrolled")
    assert len(small) == len(scrolled) == 13
    assert small[1].startswith("bot: ")
    assert scrolled[1] != small[1]
    assert scrolled[-1] and small[-1]
    assert len(screen("large")) == 60


def test_view_ends_on_quit() -> None:
    assert observed()["view"]["status"] == 0


def test_text_is_the_view() -> None:
    text = observed()["text"].splitlines()
    assert text[0] == screen("large")[1]
    assert len([line for line in text if FLOW.fullmatch(line)]) == len(RTTS_MS)


# JSON


def test_json_agrees_with_tc() -> None:
    """Counters lie between tc's readings before and after; the rest is there, too."""
    seen = observed()["tc"]
    (before,) = [one for one in seen["before"] if one["kind"] == "zrtt"]
    (after,) = [one for one in seen["after"] if one["kind"] == "zrtt"]
    line: dict[str, Any] = seen["line"]
    known = set(before) - {"options", "refcnt"}
    assert set(line) - known == {"time", "classes", "capacity", "dev"}
    assert known <= set(line)
    lanes = [one["lanes"] for one in (before, line, after)]
    for was, is_, will in zip(*lanes, strict=True):
        assert was.keys() == is_.keys()
        assert was["name"] == is_["name"]
        assert all(was[n] <= is_[n] <= will[n] for n in ("packets", "bytes", "drops"))
    for name in known - {"lanes"}:
        if name in GAUGES or name.startswith(("flows_", "backlog")):
            assert line[name] == pytest.approx(before[name], rel=0.5, abs=2) or before == after
        elif isinstance(before[name], int):
            assert before[name] <= line[name] <= after[name], name
        else:
            assert line[name] == before[name]
    assert line["capacity"] == RATE_BPS // 8
    assert line["packets"] > 1000


def test_lanes_sum_up_to_the_queue() -> None:
    seen = observed()["tc"]["before"]
    (queue,) = [one for one in seen if one["kind"] == "zrtt"]
    for name in ("packets", "bytes"):
        assert sum(lane[name] for lane in queue["lanes"]) == queue[name] > 0
    dropped = queue["drop_mark"] + queue["drop_limit"] + queue["drop_late"]
    assert sum(lane["drops"] for lane in queue["lanes"]) == dropped
    assert sum(lane["backlog_packets"] for lane in queue["lanes"]) == queue["backlog_packets"]


def test_json_lists_the_flows() -> None:
    line = observed()["tc"]["line"]
    assert len(line["classes"]) == line["flows"]
    tcp = [flow for flow in line["classes"] if flow["protocol"] == "tcp"]
    assert {flow["dport"] for flow in tcp} == set(range(5001, 5001 + len(RTTS_MS)))
    assert all(flow["prob"] > 0 and flow["rtt_us"] > 0 for flow in tcp)


def test_json_repeats() -> None:
    lines = [json.loads(line) for line in observed()["lines"].splitlines()]
    steps = [b["time"] - a["time"] for a, b in zip(lines, lines[1:], strict=False)]
    assert steps == pytest.approx([1, 1], abs=0.05)
    sent = [b["bytes"] - a["bytes"] for a, b in zip(lines, lines[1:], strict=False)]
    assert sent == pytest.approx([RATE_BPS / 8] * 2, rel=0.05)


# Prometheus


def test_metrics_of_a_full_link() -> None:
    found = samples(observed()["prometheus"])
    assert found["zrtt_instances", "", ""] == 1
    assert found["zrtt_capacity_bytes_per_second", "bot", ""] == RATE_BPS / 8
    assert found["zrtt_flows", "bot", "hint"] == 5
    assert 0.005 < found["zrtt_sojourn_seconds", "bot", ""] < 0.05
    assert 0 < found["zrtt_probability_ratio", "bot", ""] < 0.1
    assert found["zrtt_flow_rtt_seconds_count", "bot", ""] == len(RTTS_MS)
    assert found["zrtt_marked_packets_total", "bot", ""] > 0


@pytest.mark.parametrize("when", ["metrics", "v6", "after_garbage", "after_crowd"])
def test_http_serves_metrics(when: str) -> None:
    head, _, body = observed()["http"][when].partition("\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 ")
    assert "Content-Type: text/plain; version=0.0.4; charset=utf-8" in head
    assert samples(body)["zrtt_instances", "", ""] == 1


def test_http_counters_grow() -> None:
    texts = [observed()["http"][when] for when in ("metrics", "after_crowd")]
    first, last = (samples(text.partition("\r\n\r\n")[2]) for text in texts)
    counter = ("zrtt_sent_bytes_total", "bot", "")
    assert last[counter] > first[counter] > 0


@pytest.mark.parametrize(
    ("when", "where"), [("listening", "127.0.0.1:9788"), ("v6_listening", "[::1]:9788")]
)
def test_http_listens_on_the_given_address(when: str, where: str) -> None:
    """Which is on this host, unless told otherwise."""
    (line,) = observed()["http"][when].splitlines()
    assert line.split()[3] == where


def test_http_needs_a_free_port() -> None:
    assert observed()["http"]["second"] == [2, "zrtt-mon: cannot listen: Address already in use\n"]


def test_http_refuses_other_paths_and_methods() -> None:
    assert observed()["http"]["elsewhere"].startswith("HTTP/1.1 404 ")
    assert observed()["http"]["post"].startswith("HTTP/1.1 405 ")
    assert "Allow: GET" in observed()["http"]["post"]


def test_http_survives_garbage() -> None:
    """Answers, if any, are errors, unless it asked for metrics all the same."""
    for answer in observed()["http"]["garbage"]:
        assert not answer or re.match(r"HTTP/1\.[01] (200|4\d\d|505) ", answer), answer[:200]
    assert observed()["http"]["alive"]


# Many flows


def test_many_flows_are_listed() -> None:
    (line,) = [json.loads(text) for text in crowded().lines("json")]
    assert line["flows"] == crowded().qdisc("tc")["flows"]
    assert 0.98 * len(CROWD) <= line["flows"] <= len(CROWD) + 2
    assert len(line["classes"]) == line["flows"]
    assert len({flow["handle"] for flow in line["classes"]}) == line["flows"]
    hinted = [flow for flow in line["classes"] if flow["source"] == "hint"]
    assert {flow["rtt_us"] for flow in hinted} == {RTT_US}
    assert len(hinted) == line["flows_hinted"] >= 0.98 * len(CROWD)


def test_many_flows_are_in_the_histogram() -> None:
    found = samples(crowded().part("prometheus"))
    hinted = found["zrtt_flows", "a0", "hint"]
    assert found["zrtt_flow_rtt_seconds_bucket", "a0", "0.064"] == hinted
    assert found["zrtt_flow_rtt_seconds_bucket", "a0", "0.032"] == 0


def test_text_lists_the_first_of_many_flows() -> None:
    text = crowded().part("text")
    assert len(re.findall(r"64\.0 ms  hint ", text)) == 5
    assert re.search(r"64\.0 ms   1[56]\d\d\d  #{40}\n", text)


def test_interrupted_dumps_are_discarded() -> None:
    assert len(crowded().lines("interrupted")) == 1


# Devices


def test_device_without_zrtt() -> None:
    assert crowded().lines("odd")[0] == "zrtt-mon: no zrtt on these devices"


def test_unusual_device_names() -> None:
    shown = json.loads(crowded().lines("odd")[1])
    assert shown["dev"] == r"o\"d\d\xe2\x82\xac".replace(r"\"", '"')
    assert shown["capacity"] == 1_250_000
    text = crowded().part("odd_prometheus")
    found = samples(text)
    assert found["zrtt_instances", "", ""] == 1
    assert ("zrtt_alpha", shown["dev"], "") in found


def test_device_may_vanish() -> None:
    devices = [json.loads(line)["dev"] for line in crowded().lines("gone")]
    assert devices.count("a0") == 6
    assert devices.count(devices[1] if devices[0] == "a0" else devices[0]) == 3


def test_other_namespaces_are_not_seen() -> None:
    assert crowded().lines("elsewhere") == ["zrtt-mon: no zrtt on any device"]
