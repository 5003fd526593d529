# SPDX-License-Identifier: GPL-2.0
"""Each recipe of docs/recipes.md works, verbatim."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from documented import BLOCKS
from functional.guests import Report, unaccounted
from routers import HERE, WITH_FILES, WITH_NAT

MBIT = 125_000
"""Bytes per second."""
RTT_US = 40_000
UPLINK, DOWNLINK = 20 * MBIT, 50 * MBIT
LEARNT = (
    "rtt_avg_us",
    "flows",
    "flows_handshake",
    "drop_mark",
    "drop_limit",
    "drop_late",
    "purged",
)
"""That a change of the rate leaves as it is."""


def on(report: Report, part: str, dev: str) -> list[dict[str, Any]]:
    """Qdiscs of a device, of a part that has those of all."""
    return [qdisc for qdisc in report.qdiscs(part) if qdisc["dev"] == dev]


def bandwidths(report: Report, part: str) -> dict[str, int]:
    """Of all zrtt of a part, by device."""
    return {qdisc["dev"]: qdisc["options"]["bandwidth"] for qdisc in report.qdiscs(part)}


def seconds(report: Report, part: str) -> float:
    """How long something took."""
    began, ended = map(float, report.lines(part))
    return ended - began


def test_each_block_is_run() -> None:
    scripts = "".join(path.read_text() for path in (HERE / "guest").iterdir())
    for name in BLOCKS:
        asked = (f"recipe {name}\n", f"recipe-{name}", f"settings {name}\n", f"loaded {name}\n")
        assert any(words in scripts for words in asked), name


@pytest.mark.parametrize("experiment", WITH_NAT)
def test_experiment_with_nat_finished(with_nat: Report, experiment: str) -> None:
    assert with_nat.lines(f"{experiment}.rc") == ["0"], with_nat.text
    assert not with_nat.trouble()


@pytest.mark.parametrize("experiment", WITH_FILES)
def test_experiment_with_files_finished(with_files: Report, experiment: str) -> None:
    assert with_files.lines(f"{experiment}.rc") == ["0"], with_files.text
    assert not with_files.trouble()


# Home router


@pytest.mark.parametrize(
    ("way", "sent", "rate"), [("up", 1_000_000, UPLINK), ("down", 2_000_000, DOWNLINK)]
)
def test_router_shapes_both_directions(with_nat: Report, way: str, sent: int, rate: int) -> None:
    qdisc = with_nat.qdisc(f"router.{way}link")
    assert qdisc["bytes"] > sent
    # packets waited here and not elsewhere; so short a transfer gets one mark or none
    assert qdisc["maxq"] > 1
    assert 0.5 * rate < qdisc["bytes"] / seconds(with_nat, f"router.{way}load") < rate


@pytest.mark.parametrize("way", ["up", "down"])
def test_router_sees_handshakes_in_both_directions(with_nat: Report, way: str) -> None:
    qdisc = with_nat.qdisc(f"router.{way}link")
    # the download's server speaks first, as one with TCP Fast Open does: it is not timed
    speak_first = way == "down"
    assert qdisc["flows_handshake"] == qdisc["flows"] - speak_first > 0
    assert RTT_US <= qdisc["rtt_avg_us"] < 1.05 * RTT_US


def test_router_translates_addresses(with_nat: Report) -> None:
    assert "counter packets 2 " in with_nat.part("router.nat")


@pytest.mark.parametrize("other", ["ifb", "eth1"])
def test_timestamps_pass_nat(with_nat: Report, other: str) -> None:
    """The queue of the other direction is before NAT, or behind it."""
    qdisc = with_nat.qdisc(f"router.{other}")
    assert qdisc["flows_timestamps"] > 0


def test_check_of_a_real_router(with_nat: Report) -> None:
    answer = json.loads(with_nat.part("router.check"))
    assert answer["usable"] is True
    texts = {finding["text"] for finding in answer["findings"]}
    assert {
        "module sch_zrtt is loaded",
        "zrtt is below htb, shaped by htb",
        "arriving packets are redirected to ifb-eth0",
    } <= texts
    assert not [finding for finding in answer["findings"] if finding["level"] in ("warn", "FAIL")]


# Hosts


@pytest.mark.parametrize("way", ["uplink", "downlink", "uploaded"])
def test_hosts_are_told_apart_behind_nat(with_nat: Report, way: str) -> None:
    assert with_nat.qdisc(f"equal.{way}")["hosts"] == 2


def test_subscribers_are_told_apart_by_marks(with_nat: Report) -> None:
    assert with_nat.qdisc("equal.subscribers")["hosts"] == 2
    marks = re.findall(r" host_mark (\S+)", with_nat.part("equal.classes"))
    assert set(marks) == {"0x1", "0x2"}


# zrtt-link


@pytest.mark.parametrize("part", ["link.up", "link.again"])
def test_one_command_sets_up_both_directions(with_files: Report, part: str) -> None:
    for name, rate in ((part, UPLINK), (f"{part}.ifb", DOWNLINK)):
        qdisc = with_files.qdisc(name)
        assert qdisc["options"]["bandwidth"] == rate
        assert (qdisc["options"]["overhead"], qdisc["options"]["atm"]) == (26, "ptm")
        assert qdisc["packets"] >= 3


def test_one_command_can_be_repeated(with_files: Report) -> None:
    assert with_files.part("link.up") == with_files.part("link.again")
    assert with_files.part("link.filters").count("Egress Redirect to device ifb-eth0") == 1


def test_check_parses_output_of_tc(with_files: Report) -> None:
    *lines, answer = with_files.lines("link.check")
    assert "ok    eth0: zrtt is the root, shaped by bandwidth" in lines
    assert "ok    ifb-eth0: zrtt is the root, shaped by bandwidth" in lines
    assert json.loads(answer)["usable"] is True


def failures(text: str) -> list[str]:
    """Findings of level FAIL."""
    findings = json.loads(text)["findings"]
    return [finding["text"] for finding in findings if finding["level"] == "FAIL"]


def test_check_reports_a_missing_plugin(with_files: Report) -> None:
    """A warning, as zrtt works without it."""
    (answer,) = with_files.lines("without.plugin")
    assert "tc has no plugin for zrtt: no parameters, no statistics" in answer
    assert failures(answer) == []


def test_check_reports_a_missing_module(with_files: Report) -> None:
    answer, status = with_files.lines("without.module")
    assert failures(answer) == ["no module sch_zrtt for this kernel"]
    assert status == "rc=1"


def test_check_reports_an_xdp_program(with_files: Report) -> None:
    assert "an XDP program is attached" not in with_files.part("link.check")
    assert "warn  eth0: an XDP program is attached" in with_files.part("link.xdp")


def ifb_of(report: Report, part: str) -> str:
    """The device that the ingress filter redirects to."""
    (ifb,) = re.findall(r"Egress Redirect to device ([^)]+)\)", report.part(part))
    return str(ifb)


def ifbs(report: Report, part: str) -> list[str]:
    """The ifb devices that there are."""
    return [line.split()[0] for line in report.lines(part)]


def test_rate_of_the_line_is_found(with_nat: Report) -> None:
    """Through NAT; of the way that has a queue, and of no other."""
    up, down = with_nat.qdisc("auto.uplink"), with_nat.qdisc("auto.downlink")
    assert (up["options"]["auto"], down["options"]["auto"]) == ("egress", "ingress")
    assert up["line"]["measured"] == pytest.approx(8 * MBIT, rel=0.15)
    assert up["options"]["bandwidth"] == pytest.approx(8 * MBIT, rel=0.3)
    assert down["options"]["bandwidth"] == 200 * MBIT
    assert "ok    eth0: bandwidth auto follows the line by what TCP answers" in with_nat.lines(
        "auto.check"
    )


def test_rate_of_one_direction_alone_is_found(with_nat: Report) -> None:
    up, down = with_nat.qdisc("auto.alone"), with_nat.qdisc("auto.other")
    assert up["line"]["measured"] == pytest.approx(8 * MBIT, rel=0.15)
    assert down["options"]["bandwidth"] == 0
    assert down["options"]["timestamps"] is True


def test_long_names_with_equal_ends_have_separate_ifbs(with_files: Report) -> None:
    first, second = (ifb_of(with_files, f"names.up.{dev}") for dev in ("first", "second"))
    assert first != second
    assert sorted(ifbs(with_files, "names.up.links")) == sorted([first, second])
    assert all(len(name) <= 15 for name in (first, second))


def test_ifb_of_a_long_name_is_the_same_each_time(with_files: Report) -> None:
    for part in ("first", "second", "links"):
        assert with_files.part(f"names.again.{part}") == with_files.part(f"names.up.{part}")


def test_rate_of_a_long_name_is_separate(with_files: Report) -> None:
    first, second = (ifb_of(with_files, f"names.up.{dev}") for dev in ("first", "second"))
    rates = bandwidths(with_files, "names.rates")
    assert (rates[first], rates[second]) == (10 * MBIT, 11 * MBIT)


def test_removing_one_long_name_keeps_the_other(with_files: Report) -> None:
    second = ifb_of(with_files, "names.up.second")
    assert ifbs(with_files, "names.down.links") == [second]
    assert ifb_of(with_files, "names.down.second") == second
    assert "8111" not in with_files.part("names.down.first")


def test_ifb_of_an_older_version_is_replaced_and_removed(with_files: Report) -> None:
    first, second = (ifb_of(with_files, f"names.up.{dev}") for dev in ("first", "second"))
    assert ifb_of(with_files, "names.upgraded.first") == first
    assert sorted(ifbs(with_files, "names.upgraded.links")) == sorted([first, second])
    assert ifbs(with_files, "names.ended.links") == []


def test_without_a_rate_there_is_no_shaper(with_files: Report) -> None:
    assert with_files.qdisc("link.unlimited")["options"]["bandwidth"] == 0


def test_down_restores_the_link(with_files: Report) -> None:
    assert with_files.lines("link.down")[-1].startswith("3 packets transmitted, 3 packets received")
    assert "zrtt" not in with_files.part("link.down")
    assert "pfifo" in with_files.part("link.down")
    assert "ifb" not in with_files.part("link.down")


def test_down_keeps_the_ifb_of_a_router_set_up_by_hand(with_files: Report) -> None:
    told, ifb, pings = with_files.lines("link.by_hand")
    assert told.startswith("zrtt-link: ifb-eth0 stays: ")
    assert ifb.startswith("ifb-eth0 ")
    assert pings.startswith("3 packets transmitted, 3 packets received")


def test_bad_command_lines_of_link_are_refused(with_files: Report) -> None:
    refused = with_files.lines("link.refused")
    assert [line for line in refused if line.startswith("rc=")] == ["rc=2", "rc=2", "rc=1"]
    assert refused[0] == "Usage: zrtt-link up DEV"


# zrtt-link, called again


def options(report: Report, part: str, dev: str = "eth0") -> dict[str, Any]:
    """Of the zrtt of a device."""
    (qdisc,) = (qdisc for qdisc in report.qdiscs(f"settings.{part}") if qdisc["dev"] == dev)
    return dict(qdisc["options"])


def test_settings_that_are_gone_apply_no_more(with_files: Report) -> None:
    odd, new = options(with_files, "odd"), options(with_files, "new.none")
    same = {name for name in new if odd[name] == new[name]}
    assert same == {"mode", "l4s", "limit"}, "each parameter is tried"
    assert options(with_files, "auto") == options(with_files, "new.auto")
    found, began = (options(with_files, part, "ifb-eth0") for part in ("auto", "new.auto"))
    # the present rate is where it was
    assert found | {"bandwidth": 0} == began | {"bandwidth": 0}
    assert options(with_files, "rate") == new | {"bandwidth": 5 * MBIT}
    assert options(with_files, "none") == new


def test_settings_that_are_gone_cost_no_queue(with_files: Report) -> None:
    parts = ("odd", "auto", "rate", "none")
    handles = {on(with_files, f"settings.{part}", "eth0")[0]["handle"] for part in parts}
    assert len(handles) == 1


@pytest.mark.parametrize(
    ("part", "ifb"), [("odd", True), ("auto", True), ("rate", False), ("none", False)]
)
def test_downlink_that_is_gone_has_no_ifb(with_files: Report, part: str, ifb: bool) -> None:
    assert ifbs(with_files, f"settings.{part}.links") == ["ifb-eth0"] * ifb
    assert ("ifb-eth0" in with_files.part(f"settings.{part}.filter")) == ifb


@pytest.mark.parametrize("limit", [300, 1000])
def test_limit_that_is_gone_applies_no_more(with_files: Report, limit: int) -> None:
    assert options(with_files, f"limit{limit}")["limit"] == limit
    assert options(with_files, f"limit{limit}.gone") == options(with_files, "new.none")


@pytest.mark.parametrize("limit", [300, 1000])
def test_limit_that_is_gone_costs_no_queue(with_files: Report, limit: int) -> None:
    before, after = (on(with_files, f"settings.limit{limit}{end}", "eth0") for end in ("", ".gone"))
    assert before[0]["handle"] == after[0]["handle"]


def test_mode_keeps_its_queue(with_files: Report) -> None:
    (first,), (second,) = (with_files.qdiscs(f"settings.paper{end}") for end in ("", ".again"))
    assert (first["options"], first["handle"]) == (second["options"], second["handle"])
    assert (first["options"]["controller"], first["options"]["limit"]) == ("blue", 1000)


def test_ifb_of_others_stays(with_files: Report) -> None:
    assert ifbs(with_files, "settings.others.links") == ["ifb-eth0"]
    assert "ifb-eth0" in with_files.part("settings.others.filter")


@pytest.mark.parametrize("wrong", ["ZRTT_DOWNLINK=much", "ZRTT_OPTIONS=many", "ZRTT_UPLINK=more"])
def test_wrong_settings_leave_no_ifb(with_files: Report, wrong: str) -> None:
    assert with_files.lines(f"settings.{wrong}") == ["rc=1"]


def test_rate_without_a_queue_says_so(with_files: Report) -> None:
    first, code, second, *rest = with_files.lines("settings.absent")
    assert first == "zrtt-link: no zrtt on eth0: run zrtt-link up eth0 first"
    assert second == "zrtt-link: no zrtt on ifb-eth0: run zrtt-link up eth0 first"
    assert [code, *rest] == ["rc=1", "rc=1", "1"]


def test_default_of_the_kernel_is_replaced(with_files: Report) -> None:
    assert options(with_files, "default", "ifb-eth0")["bandwidth"] == 9 * MBIT


# At boot


@pytest.mark.parametrize(
    ("state", "uplink"),
    [("enabled", UPLINK), ("networkd", UPLINK), ("reloaded", 5 * MBIT), ("plugged", 5 * MBIT)],
)
def test_systemd_keeps_zrtt_on_the_device(with_files: Report, state: str, uplink: int) -> None:
    assert with_files.lines(f"systemd.{state}") == ["active"]
    found = bandwidths(with_files, f"systemd.{state}.queues")
    assert found == {"eth0": uplink, "ifb-eth0": DOWNLINK}


@pytest.mark.parametrize(
    ("state", "want"),
    [("enabled", "active"), ("unplugged", "inactive"), ("plugged", "active"), ("disabled", "inactive")],
)
def test_agent_comes_and_goes_with_the_device(with_files: Report, state: str, want: str) -> None:
    """Neither has it failed when the device is gone before it is asked to detach."""
    assert with_files.lines(f"systemd.{state}.agent") == [want]


def test_networkd_configured_the_device(with_files: Report) -> None:
    assert "10.9.0.1/24" in with_files.part("systemd.address")


def test_reload_keeps_the_queues(with_files: Report) -> None:
    handles = {
        state: [qdisc["handle"] for qdisc in with_files.qdiscs(f"systemd.{state}.queues")]
        for state in ("enabled", "networkd", "reloaded", "plugged")
    }
    assert handles["enabled"] == handles["networkd"] == handles["reloaded"] != handles["plugged"]


@pytest.mark.parametrize("state", ["unplugged", "disabled"])
def test_systemd_leaves_nothing(with_files: Report, state: str) -> None:
    assert with_files.lines(f"systemd.{state}") == ["inactive"]
    assert with_files.qdiscs(f"systemd.{state}.queues") == []


def test_ifupdown_puts_zrtt_on_its_device_only(with_files: Report) -> None:
    assert "10.9.0.1/24" in with_files.part("ifupdown.up_address")
    assert bandwidths(with_files, "ifupdown.up") == {"eth0": UPLINK, "ifb-eth0": DOWNLINK}
    assert {q["options"]["target"] for q in with_files.qdiscs("ifupdown.up")} == {10_000}
    assert "ifb-eth0" in with_files.part("ifupdown.up_filter")


def test_ifupdown_removes_zrtt(with_files: Report) -> None:
    assert with_files.qdiscs("ifupdown.down") == []
    assert "ifb-eth0" not in with_files.part("ifupdown.down_links")


# sqm-scripts


def test_sqm_shapes_both_directions(with_files: Report) -> None:
    for dev, rate in (("eth0", UPLINK), ("ifb4eth0", DOWNLINK)):
        options = with_files.qdisc(f"sqm.plain.{dev}")["options"]
        assert (options["bandwidth"], options["overhead"], options["atm"]) == (rate, 26, "noatm")
    assert "Egress Redirect to device ifb4eth0" in with_files.part("sqm.plain.filter")


@pytest.mark.parametrize(
    ("dev", "want"),
    [
        ("eth0", {"limit": 300, "target": 15_000, "ecn": True, "hint": "ignore"}),
        ("ifb4eth0", {"limit": 1_000_000, "target": 20_000, "ecn": False, "hint": "clamp"}),
    ],
)
def test_settings_of_sqm_apply(with_files: Report, dev: str, want: dict[str, Any]) -> None:
    want = want | {"atm": "atm", "mpu": 64, "overhead": 26}
    assert want.items() <= with_files.qdisc(f"sqm.set.{dev}")["options"].items()


def test_sqm_stops(with_files: Report) -> None:
    assert with_files.qdiscs("sqm.stopped") == []


# A rate that varies


@pytest.mark.parametrize("way", ["rate-htb", "rate"])
def test_rate_changes_and_nothing_else(with_files: Report, way: str) -> None:
    before, after = (with_files.qdisc(f"rate.{way}.{when}") for when in ("before", "after"))
    assert before["prob"] > 0
    # a packet may leave at once, and the controller be due
    assert after["prob"] == pytest.approx(before["prob"], rel=0.3)
    assert before["backlog_packets"] > 10
    assert {name: before[name] for name in LEARNT} == {name: after[name] for name in LEARNT}
    for qdisc in (before, after):
        assert unaccounted(qdisc) == 0


@pytest.mark.parametrize("way", ["rate-htb", "rate"])
def test_new_rate_is_kept_and_used(with_files: Report, way: str) -> None:
    after, second, fourth, end = (
        with_files.qdisc(f"rate.{way}.{when}") for when in ("after", "second", "fourth", "end")
    )
    assert second["bytes"] - after["bytes"] == pytest.approx(5 * MBIT, rel=0.02)
    assert fourth["bytes"] - second["bytes"] == pytest.approx(2 * 5 * MBIT, rel=0.02)
    assert end["packets_in"] >= fourth["packets_in"] >= second["packets_in"] >= after["packets_in"]
    assert unaccounted(end) == end["purged"] == end["backlog_packets"] == 0


def test_loop_follows_the_modem(with_files: Report) -> None:
    before, after = with_files.qdisc("rate.rate.end"), with_files.qdisc("rate.loop")
    assert after["options"]["bandwidth"] == 3 * MBIT
    assert after["handle"] == before["handle"]


# Containers


@pytest.mark.parametrize(
    ("part", "hinted"), [("handshakes", 0), ("host_hints", 1), ("all_hints", 2)]
)
def test_host_has_rtts_of_itself_and_of_containers(
    with_nat: Report, part: str, hinted: int
) -> None:
    qdisc = with_nat.qdisc(f"containers.{part}")
    assert (qdisc["flows"], qdisc["flows_hinted"]) == (2, hinted)
    assert qdisc["flows_handshake"] == 2 - hinted
    assert RTT_US <= qdisc["rtt_avg_us"] < 1.05 * RTT_US


def test_pod_puts_zrtt_on_the_node(with_files: Report) -> None:
    assert with_files.qdisc("kubernetes.started")["root"] is True
    assert with_files.qdiscs("kubernetes.ended") == []
