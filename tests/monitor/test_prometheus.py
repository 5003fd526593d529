# SPDX-License-Identifier: GPL-2.0
"""Metrics, as Prometheus's own parser reads them, and the dashboard that shows them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from canned import MONITOR, Canned
from messages import ALPHA_ONE, HOSTS, P_ONE, flow, host, lanes, numbered, zrtt
from plugin import uapi_contract
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

PLACE = {"device": "lo", "handle": "2:", "parent": "root"}
UNITS = ("bytes", "packets", "seconds", "ratio", "flows", "hosts", "hints", "events")
PANELS = ("delay", "lanes", "P_b", "marks", "throughput", "RTTs come from", "RTTs of flows",
          "Rates of subscribers", "of due shares")
DASHBOARD = json.loads((MONITOR / "grafana-zrtt.json").read_text())
NAME = re.compile(r"\bzrtt_\w+")


def families(text: str) -> dict[str, Metric]:
    """Metrics by name; that of a counter is without its ending."""
    found = list(text_string_to_metric_families(text))
    assert len({family.name for family in found}) == len(found), "a family in two parts"
    return {family.name: family for family in found}


def metrics(kernel: Canned) -> dict[str, Metric]:
    """Those that it prints now."""
    said = kernel.run("--prometheus", "-H1")
    assert said.status == 0, said.err
    return families(said.out)


def value(found: dict[str, Metric], name: str, **labels: str) -> float:
    """Of the series that has all labels, and no others."""
    samples = [sample for family in found.values() for sample in family.samples]
    (only,) = [s for s in samples if s.name == name and s.labels == PLACE | labels]
    return only.value


@pytest.fixture
def shown(kernel: Canned) -> dict[str, Metric]:
    """Of one instance, of which all is known."""
    subscriber = flow(0, 1000, names=host(1, 1, 1, mark=1))
    kernel.say([zrtt((3000, 2**33), backlog=99, bandwidth=2500)], [subscriber])
    return metrics(kernel)


@pytest.mark.parametrize(("name", "labels", "field"), [
    ("offered_packets_total", {}, "packets_in"),
    ("marked_packets_total", {}, "ecn_mark"),
    ("dropped_packets_total", {"reason": "aqm"}, "drop_mark"),
    ("dropped_packets_total", {"reason": "late"}, "drop_late"),
    ("dropped_packets_total", {"reason": "limit"}, "drop_limit"),
    ("dropped_packets_total", {"reason": "reset"}, "purged"),
    ("backlog_packets", {}, "backlog_packets"),
    ("backlog_packets_max", {}, "maxq"),
    ("limit_packets", {}, "limit_now"),
    ("memory_bytes", {}, "memory_used"),
    ("flows", {"source": "hint"}, "flows_hinted"),
    ("flows", {"source": "mark"}, "flows_marked"),
    ("flows", {"source": "timestamps"}, "flows_timestamps"),
    ("flows", {"source": "handshake"}, "flows_handshake"),
    ("evicted_flows_total", {}, "evicted"),
    ("hint_packets_total", {"hint": "valid"}, "hint_ok"),
    ("hint_packets_total", {"hint": "malformed"}, "hint_bad"),
    ("clamped_hints_total", {}, "hint_clamped"),
    ("stripped_hints_total", {}, "hint_stripped"),
    ("idle_events_total", {}, "idle_events"),
    ("overflow_events_total", {}, "overflow_events"),
])  # fmt: skip
def test_metric_is_the_statistic(
    shown: dict[str, Metric], name: str, labels: dict[str, str], field: str
) -> None:
    assert value(shown, f"zrtt_{name}", **labels) == numbered()[field]


@pytest.mark.parametrize(("name", "field"), [
    ("hosts", "hosts"), ("hosts_held", "hosts_held"),
    ("host_due_bytes_per_second", "host_due"), ("evicted_hosts_total", "hosts_evicted"),
])  # fmt: skip
def test_metric_of_hosts(kernel: Canned, name: str, field: str) -> None:
    """Absent of an older kernel, beside a queue that has them."""
    kernel.say([zrtt(lane=lanes()), zrtt(handle=0x30000, parent=0x10003, **HOSTS)])
    (sample,) = metrics(kernel)[f"zrtt_{name}".removesuffix("_total")].samples
    assert (sample.labels["handle"], sample.value) == ("3:", HOSTS[field])


@pytest.mark.parametrize(("name", "expected"), [
    ("sent_bytes_total", 3000), ("sent_packets_total", 2**33), ("backlog_bytes", 99),
    ("capacity_bytes_per_second", 2500), ("target_seconds", 0.015),
    ("sojourn_seconds", numbered()["delay_us"] / 1e6),
    ("rtt_average_seconds", numbered()["rtt_avg_us"] / 1e6),
    ("probability_ratio", numbered()["prob"] / P_ONE), ("alpha", numbered()["alpha"] / ALPHA_ONE),
])  # fmt: skip
def test_metric_is_in_base_units(shown: dict[str, Metric], name: str, expected: float) -> None:
    assert value(shown, f"zrtt_{name}") == pytest.approx(expected)


@pytest.mark.parametrize(("name", "field", "scale"), [
    ("sent_bytes_total", "bytes", 1), ("sent_packets_total", "packets", 1),
    ("dropped_packets_total", "drops", 1), ("backlog_packets", "backlog_packets", 1),
    ("sojourn_seconds", "delay_us", 1e-6),
])  # fmt: skip
def test_metric_of_each_lane(
    shown: dict[str, Metric], name: str, field: str, scale: float
) -> None:
    for lane, values in zip(uapi_contract.LANES, lanes(), strict=True):
        found = value(shown, f"zrtt_lane_{name}", lane=lane)
        assert found == pytest.approx(values[field] * scale)


def test_lanes_of_an_older_kernel_are_absent(kernel: Canned) -> None:
    """Beside a queue that has them."""
    kernel.say([zrtt(lane=[]), zrtt(handle=0x30000, parent=0x10003)])
    found = metrics(kernel)
    lane = [family for name, family in found.items() if name.startswith("zrtt_lane_")]
    assert len(lane) == len(uapi_contract.LANE_STATS)
    assert {s.labels["handle"] for family in lane for s in family.samples} == {"3:"}
    assert value(found, "zrtt_limit_packets") == numbered()["limit_now"]
    assert value(found, "zrtt_target_seconds") == pytest.approx(0.015)


@pytest.mark.parametrize(("name", "labels", "expected"), [
    ("rate_bytes_per_second", {}, 2_500_000), ("measured_bytes_per_second", {}, 2**33),
    ("queue_seconds", {}, 0.0015), ("rate_events_total", {"to": "less"}, 2**40),
    ("rate_events_total", {"to": "more"}, 7), ("lost_bytes_total", {}, 2**41),
    ("ceiling_bytes_per_second", {}, 2_700_000),
])  # fmt: skip
def test_metric_of_a_line(
    kernel: Canned, name: str, labels: dict[str, str], expected: float
) -> None:
    """Whose rate is found, beside a queue that is told it."""
    fields = {"line_rate": 2_500_000, "line_measured": 2**33, "line_queue_us": 1500,
              "line_lowered": 2**40, "line_raised": 7, "line_lost": 2**41, "line_ceiling": 2_700_000}  # fmt: skip
    kernel.say([zrtt(), zrtt(handle=0x30000, parent=0x10003, **fields)])
    found = metrics(kernel)
    place = {"handle": "3:", "parent": "1:3"}
    assert value(found, f"zrtt_line_{name}", **place, **labels) == pytest.approx(expected)
    handles = {s.labels["handle"] for n, f in found.items() if "zrtt_line" in n for s in f.samples}
    assert handles == {"3:"}


def test_flows_of_quic(kernel: Canned) -> None:
    kernel.say([zrtt(flows_quic=7)])
    assert value(metrics(kernel), "zrtt_flows", source="quic") == 7


def test_flows_without_rtt_are_counted(kernel: Canned) -> None:
    known = {"flows_hinted": 2, "flows_marked": 3, "flows_timestamps": 4, "flows_handshake": 5,
             "flows_quic": 5}  # fmt: skip
    kernel.say([zrtt(flows=20, **known)])
    assert value(metrics(kernel), "zrtt_flows", source="none") == 1


def test_unknown_capacity_is_absent(kernel: Canned) -> None:
    kernel.say([zrtt()])
    assert not metrics(kernel)["zrtt_capacity_bytes_per_second"].samples


def test_histogram_is_cumulative(kernel: Canned) -> None:
    rtts = [0, 250, 251, 1000, 2_048_000, 2_048_001, 60_000_000]
    kernel.say([zrtt()], [flow(slot, rtt) for slot, rtt in enumerate(rtts)])
    found = metrics(kernel)
    family = found["zrtt_flow_rtt_seconds"]
    buckets = [(s.labels["le"], s.value) for s in family.samples if "le" in s.labels]
    assert family.type == "histogram"
    assert buckets[:4] == [("0.00025", 1), ("0.0005", 2), ("0.001", 3), ("0.002", 3)]
    assert buckets[-2:] == [("2.048", 4), ("+Inf", 6)]
    assert value(found, "zrtt_flow_rtt_seconds_count") == 6
    assert value(found, "zrtt_flow_rtt_seconds_sum") == pytest.approx(sum(rtts) / 1e6)


def test_each_instance_has_its_series(kernel: Canned) -> None:
    kernel.say([zrtt(), zrtt(handle=0x30000, parent=0x10003, ecn_mark=77)])
    found = metrics(kernel)
    assert [s.value for s in found["zrtt_instances"].samples] == [2]
    series = found["zrtt_marked_packets"].samples
    assert [(s.labels["handle"], s.labels["parent"]) for s in series] == [
        ("2:", "root"), ("3:", "1:3"),
    ]  # fmt: skip
    assert series[1].value == 77


def test_names_follow_conventions(shown: dict[str, Metric]) -> None:
    for name, family in shown.items():
        assert family.documentation.endswith((".", "1.")), name
        assert name.startswith("zrtt_")
        assert family.type in ("counter", "gauge", "histogram"), name
        if family.type == "counter":
            assert name.split("_")[-1] in UNITS, name
            assert all(s.name == f"{name}_total" for s in family.samples), name


def test_metrics_of_no_zrtt(kernel: Canned) -> None:
    said = kernel.run("--prometheus")
    assert said.status == 1
    assert families(said.out)["zrtt_instances"].samples[0].value == 0


# A file


def test_file_is_replaced(kernel: Canned, tmp_path: Path) -> None:
    path = tmp_path / "collector" / "zrtt.prom"
    path.parent.mkdir()
    path.write_text("old")
    old = path.stat().st_ino
    kernel.say([zrtt()])
    said = kernel.run(f"--prometheus={path}")
    assert (said.status, said.out) == (0, "")
    assert path.stat().st_ino != old
    assert path.stat().st_mode & 0o777 == 0o644
    assert families(path.read_text())["zrtt_instances"].samples[0].value == 1
    assert list(path.parent.iterdir()) == [path]


def test_file_is_written_without_zrtt(kernel: Canned, tmp_path: Path) -> None:
    path = tmp_path / "zrtt.prom"
    assert kernel.run(f"--prometheus={path}").status == 1
    assert families(path.read_text())["zrtt_instances"].samples[0].value == 0


@pytest.mark.parametrize("name", ["pipe", "link", "folder", "nowhere/zrtt.prom"])
def test_file_that_cannot_be_written(kernel: Canned, tmp_path: Path, name: str) -> None:
    """What is there and is no file stays."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    (tmp_path / "folder").mkdir()
    kernel.say([zrtt()])
    before = sorted(tmp_path.iterdir())
    said = kernel.run(f"--prometheus={tmp_path / name}")
    assert said.status == 2
    assert said.err.startswith(f"zrtt-mon: {tmp_path / name}: ")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "link").is_symlink()


# The dashboard


def expressions(node: Any) -> list[str]:
    """All queries within, those of variables among them."""
    if isinstance(node, list):
        return [each for item in node for each in expressions(item)]
    if not isinstance(node, dict):
        return []
    here = [text for key in ("expr", "query") if isinstance(text := node.get(key), str)]
    return here + [each for item in node.values() for each in expressions(item)]


def test_dashboard_uses_existing_metrics(shown: dict[str, Metric]) -> None:
    emitted = {s.name for family in shown.values() for s in family.samples}
    wanted = {name for text in expressions(DASHBOARD) for name in NAME.findall(text)}
    assert len(wanted) >= 12
    assert wanted <= emitted


@pytest.mark.parametrize("subject", PANELS)
def test_dashboard_has_a_panel(subject: str) -> None:
    titles = [panel["title"].lower() for panel in DASHBOARD["panels"] if panel["type"] != "row"]
    assert any(subject.lower() in title for title in titles), titles


def test_dashboard_works_with_any_datasource() -> None:
    """It names its variable; and each panel but rows has a place of its own."""
    panels = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]
    assert all(panel["datasource"]["uid"] == "${datasource}" for panel in panels)
    variables = [each["name"] for each in DASHBOARD["templating"]["list"]]
    assert variables == ["datasource", "router", "device"]
    for panel in panels:
        for target in panel["targets"]:
            assert "$router" in target["expr"], panel["title"]
    ids = [panel["id"] for panel in DASHBOARD["panels"]]
    assert len(set(ids)) == len(ids)


def test_dashboards_panels_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
