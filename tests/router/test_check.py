# SPDX-License-Identifier: GPL-2.0
"""zrtt-check on simulated routers: faults are reported, and nothing else."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fake_router import HTB, Router, zrtt

ROOT = Path(__file__).resolve().parents[2]
UNUSED = {"ecn_mark": 0, "dropped": 0}
"""By a queue that never forms."""
LIMIT = "sys/class/net/eth0/queues/tx-0/byte_queue_limits/limit"
MODULE = "lib/modules/6.1.0-49-amd64"
WITHOUT_MODULE = {"sys/module/sch_zrtt/refcnt": None}
INSTALLED = {**WITHOUT_MODULE, f"{MODULE}/updates/dkms/sch_zrtt.ko.xz": ""}
KNOWN = {**INSTALLED, f"{MODULE}/modules.dep": "updates/dkms/sch_zrtt.ko.xz:"}

# what is different, and what is then said
CASES: list[tuple[str, dict[str, Any], str]] = [
    ("old kernel", {"release": "5.10.0-30-amd64"}, "FAIL Linux 5.10.0-30-amd64 is too old"),
    ("kernel 6.0", {"release": "6.0.19"}, "FAIL Linux 6.0.19 is too old"),
    ("kernel 6.1", {"release": "6.1"}, "ok Linux 6.1"),
    ("kernel 7.0", {"release": "7.0-rc1+"}, "ok Linux 7.0-rc1+"),
    ("no module", {"files": WITHOUT_MODULE}, "FAIL no module sch_zrtt for this kernel"),
    ("no depmod", {"files": {**INSTALLED, f"{MODULE}/modules.dep": ""}},
     "FAIL module sch_zrtt is installed, but modprobe does not find it"),
    ("installed", {"files": KNOWN}, "ok module sch_zrtt is installed, and loaded at first use"),
    ("loads nothing", {"files": {**KNOWN, "proc/sys/kernel/modules_disabled": "1"}},
     "FAIL module loading is disabled"),
    ("locked down",
     {"files": {**KNOWN, "sys/kernel/security/lockdown": "none [integrity] confidentiality"}},
     "warn module sch_zrtt is installed, but the kernel is locked down"),
    ("no plugin", {"usage": 'Unknown qdisc "zrtt", hence option "help" is unparsable'},
     "warn tc has no plugin for zrtt: no parameters, no statistics"),
    ("busybox", {"version": "BusyBox v1.36"}, "FAIL no tc of iproute2"),
    ("no ECN", {"files": {"proc/sys/net/ipv4/tcp_ecn": "0"}},
     "note this host's own TCP refuses ECN"),
    ("ECN if asked", {"files": {"proc/sys/net/ipv4/tcp_ecn": "2"}},
     "note this host's own TCP does not request ECN"),
    ("Accurate ECN if asked", {"files": {"proc/sys/net/ipv4/tcp_ecn": "5"}},
     "note this host's own TCP does not request ECN"),
    ("Accurate ECN", {"files": {"proc/sys/net/ipv4/tcp_ecn": "3"}},
     "ok this host's own TCP requests ECN"),
    ("no timestamps", {"files": {"proc/sys/net/ipv4/tcp_timestamps": "0"}},
     "note this host's own TCP sends no timestamps"),
    ("no router", {"files": {"proc/sys/net/ipv4/ip_forward": "0",
                             "proc/sys/net/ipv6/conf/all/forwarding": "0"}},
     "note this host does not forward: zrtt sees only its own packets"),
    ("no router, no IPv6", {"files": {"proc/sys/net/ipv4/ip_forward": "0"}},
     "note this host does not forward: zrtt sees only its own packets"),
    ("flowtable", {"flowtables": "flowtable f { devices = { eth0 }; flags offload; }"},
     "warn nftables offloads flows to hardware, which bypasses every qdisc"),
    ("hw-tc", {"features": "hw-tc-offload: on"},
     "warn eth0: filters can forward in hardware, which bypasses the qdisc"),
    ("macvlan", {"features": "l2-fwd-offload: on"},
     "warn eth0: frames of macvlan devices bypass the qdisc"),
    ("LRO", {"features": "large-receive-offload: on"},
     "warn eth0: LRO merges packets, which cannot be forwarded unchanged then"),
    ("TSO", {"features": "tcp-segmentation-offload: on\ngeneric-receive-offload: on",
             "qdiscs": HTB + zrtt("parent 1:1", "split_gso")},
     "ok eth0: zrtt splits GSO packets (offloads TSO GRO)"),
    (
        "TSO, not split",
        {"features": "tcp-segmentation-offload: on", "qdiscs": zrtt("root", "no_split_gso")},
        "note eth0: GSO packets are queued whole (offloads TSO)",
    ),
    ("XDP", {"link": "2: eth0: <UP> mtu 1500 xdpgeneric qdisc htb\n    prog/xdp id 7"},
     "warn eth0: an XDP program is attached: packets that it forwards bypass the qdisc"),
    ("switch", {"files": {"sys/class/net/eth0/phys_switch_id": "00"}},
     "note eth0: a switch port: the switch forwards between its ports without the qdisc"),
    ("no BQL", {"qdiscs": zrtt("root"), "files": {LIMIT: "0"}},
     "warn eth0: the driver queues packets of its own, where zrtt cannot see them (no BQL)"),
    ("nothing there", {"qdiscs": "qdisc fq_codel 0: root\n"}, "note eth0: no zrtt here"),
    ("root", {"qdiscs": zrtt("root refcnt 2")}, "ok eth0: zrtt is the root"),
    ("own shaper", {"qdiscs": zrtt("root refcnt 2", "bandwidth 20Mbit")},
     "ok eth0: zrtt is the root, shaped by bandwidth"),
    ("no shaper of its own", {"qdiscs": zrtt("root refcnt 2", "bandwidth unlimited")},
     "ok eth0: zrtt is the root"),
    ("below htb", {}, "ok eth0: zrtt is below htb, shaped by htb"),
    ("below mq",
     {"qdiscs": "qdisc mq 1: root\n" + zrtt("parent 1:1") + zrtt("parent 1:2").replace("8001", "8")},
     "ok eth0: zrtt is below mq, 2 times"),
    ("below the mq of the kernel",
     {"qdiscs": "qdisc mq 0: root \n" + zrtt("parent :1") + zrtt("parent :2").replace("8001", "8")},
     "ok eth0: zrtt is below mq, 2 times"),
    ("below the mq of the kernel, as its default",
     {"qdiscs": "qdisc mq 0: root \n" + 3 * zrtt("parent :1", "bandwidth 9Mbit").replace("8001", "0")},
     "ok eth0: zrtt is below mq, 3 times, shaped by bandwidth"),
    ("below prio below htb",
     {"qdiscs": HTB + "qdisc prio 2: parent 1:1 bands 3\n" + zrtt("parent 2:1")},
     "ok eth0: zrtt is below prio, shaped by htb"),
    ("ifb", {"filters": "action order 1: mirred (Egress Redirect to device ifb0) stolen"},
     "ok eth0: arriving packets are redirected to ifb0"),
    ("no ifb", {"filters": "action order 1: mirred (Egress Redirect to device *) stolen"},
     "FAIL eth0: all arriving packets are dropped: their ifb device is gone"),
    ("device that went", {"vanished": True},
     "note eth0: tc cannot show its queues: the device is gone"),
    ("queue", {"qdiscs": zrtt("root")}, "ok eth0: a queue forms here, without a shaper"),
    ("no queue", {"qdiscs": zrtt("root", **UNUSED)},
     "warn eth0: no shaper, and no queue in 20000 packets: the bottleneck is elsewhere"),
    ("no traffic", {"qdiscs": zrtt("root", packets=10, **UNUSED)},
     "note eth0: too few packets to say whether a queue forms here"),
    ("no queue in another's", {"qdiscs": "qdisc fq_codel 0: root\n Sent 9 bytes 20000 pkt "
     "(dropped 0, overlimits 0 requeues 0)\n"},
     "warn eth0: no shaper, and no queue in 20000 packets: the bottleneck is elsewhere"),
    ("queue in another's", {"qdiscs": "qdisc fq_codel 0: root\n Sent 9 bytes 20000 pkt "
     "(dropped 7, overlimits 0 requeues 0)\n"}, "ok eth0: a queue forms here, without a shaper"),
    ("malformed hints", {"qdiscs": zrtt("root", hint_bad=9)},
     "warn eth0: 9 of 59 hints are malformed"),
    ("hints", {}, "ok eth0: 50 packets had a hint"),
    ("no hints", {"qdiscs": zrtt("root", hint_ok=0)}, "note eth0: no packet had a hint"),
    ("RTTs", {}, "ok eth0: RTT known of 12 out of 13 flows, 12 by handshakes"),
    ("no RTTs", {"qdiscs": zrtt("root", flows_handshake=0)},
     "note eth0: RTT known of 0 out of 13 flows"),
    ("line that is followed", {"qdiscs": zrtt("root", "bandwidth auto egress min 1Mbit max 50Mbit")
     + "  line 19Mbit grow measured 20Mbit queue 1ms hosts 3 lowered 1 raised 7 lost 0 ceiling 0bit\n"},
     "ok eth0: bandwidth auto follows the line by what TCP answers"),
    ("line that loses", {"qdiscs": zrtt("root", "bandwidth auto egress min 1Mbit max 50Mbit")
     + "  line 19Mbit loss measured 0bit queue 0us hosts 1 lowered 3 raised 7 lost 99 ceiling 20Mbit\n"},
     "ok eth0: bandwidth auto keeps below the rate at which the line loses"),
    ("line without a queue yet", {"qdiscs": zrtt("root") + "  line 50Mbit start measured 0bit\n"},
     "note eth0: bandwidth auto has not seen the line full yet"),
    ("line without timestamps", {"qdiscs": zrtt("root") + "  line 19Mbit blind measured 20Mbit\n"},
     "warn eth0: bandwidth auto sees no TCP that is answered"),
    ("shaped by what is found", {"qdiscs": zrtt("root refcnt 2", "bandwidth auto egress min 1Mbit")},
     "ok eth0: zrtt is the root, shaped by bandwidth"),
    ("small table", {"qdiscs": zrtt("root", evicted=4)},
     "warn eth0: 4 live flows lost their slot in the flow table"),
    ("drops only", {"qdiscs": zrtt("root", ecn_mark=0)},
     "note eth0: 3 packets dropped, none marked: no sender uses ECN"),
]  # fmt: skip


def router(folder: Path, **different: Any) -> Router:
    """One that differs in this; files are put beside others, None takes one away."""
    files = different.pop("files", {})
    made = Router(folder, **different)
    made.files |= {name: text for name, text in files.items() if text is not None}
    for name in files:
        if files[name] is None:
            del made.files[name]
    return made


def said(finding: dict[str, str]) -> str:
    device = f"{finding['device']}: " if finding["device"] else ""
    return f"{finding['level']} {device}{finding['text']}"


@pytest.mark.parametrize(("different", "want"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_finding_is_reported(tmp_path: Path, different: dict[str, Any], want: str) -> None:
    done = router(tmp_path, **different).run("-j")
    answer = json.loads(done.stdout)
    assert [finding for finding in answer["findings"] if said(finding) == want], done.stdout
    failed = any(finding["level"] == "FAIL" for finding in answer["findings"])
    assert (done.returncode, answer["usable"]) == (int(failed), not failed)
    assert failed == want.startswith("FAIL")


def test_good_router_has_no_warning(tmp_path: Path) -> None:
    assert [said(finding) for finding in router(tmp_path).findings()] == [
        "ok Linux 6.1.0-49-amd64",
        "ok module sch_zrtt is loaded",
        "ok tc knows zrtt",
        "ok this host's own TCP requests ECN",
        "ok eth0: zrtt is below htb, shaped by htb",
        "ok eth0: 50 packets had a hint",
        "ok eth0: RTT known of 12 out of 13 flows, 12 by handshakes",
    ]


def test_offloads_are_nothing_to_who_has_no_zrtt(tmp_path: Path) -> None:
    """Nor is it known what zrtt does to GSO packets where tc has no plugin."""
    for qdiscs in ("qdisc fq_codel 0: root\n", "qdisc zrtt 8001: root [Unknown qdisc, optlen=9]\n"):
        made = router(tmp_path, qdiscs=qdiscs, features="tcp-segmentation-offload: on")
        assert not [f for f in made.findings("eth0") if "GSO" in f["text"]]


def test_text_and_json_agree(tmp_path: Path) -> None:
    made = router(tmp_path, features="hw-tc-offload: on")
    lines = made.run().stdout.splitlines()
    for line, finding in zip(lines, made.findings(), strict=True):
        advice = f"  ({finding['advice']})" if finding["advice"] else ""
        level, _, rest = said(finding).partition(" ")
        assert line == f"{level:4}  {rest}{advice}"


def test_warnings_have_advice(tmp_path: Path) -> None:
    made = router(tmp_path, release="5.10", features="hw-tc-offload: on", files=WITHOUT_MODULE)
    wrong = [finding for finding in made.findings() if finding["level"] in ("FAIL", "warn")]
    assert len(wrong) == 3
    assert all(finding["advice"] for finding in wrong)


def test_quotes_do_not_break_json(tmp_path: Path) -> None:
    made = router(tmp_path, release='6.1"\\x')
    assert made.findings()[0]["text"] == 'Linux 6.1"\\x'


def test_names_are_printed_as_plain_text(tmp_path: Path) -> None:
    """A device may be called anything, and JSON has no control characters."""
    made = router(tmp_path, release="6.1\x1b[2J\x7f\u00e9")
    want = "Linux 6.1?[2J???"
    assert made.findings()[0]["text"] == want
    assert made.run().stdout.splitlines()[0] == f"ok    {want}"


def test_runs_in_busybox_ash(tmp_path: Path) -> None:
    """Debian's takes a tc of its own first, with which there is little to look at."""
    done = router(tmp_path).run("-j", shell=("busybox", "ash"))
    wrong = [f["text"] for f in json.loads(done.stdout)["findings"] if f["level"] == "FAIL"]
    assert (wrong, done.returncode, done.stderr) == (["no tc of iproute2"], 1, "")


def test_device_of_the_default_route_is_checked(tmp_path: Path) -> None:
    made = router(tmp_path, qdiscs="qdisc noqueue 0: root\n")
    assert "eth0" in {finding["device"] for finding in made.findings()}


def test_missing_device_is_reported(tmp_path: Path) -> None:
    made = router(tmp_path, qdiscs="", routes="")
    assert said(made.findings()[-1]) == "note no device has zrtt, none a default route"


@pytest.mark.parametrize("shell", [(), ("busybox", "ash")])
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_explains_each_option(tmp_path: Path, option: str, shell: tuple[str, ...]) -> None:
    done = router(tmp_path).run(option, **({"shell": shell} if shell else {}))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: zrtt-check [ -j ] [ DEV ... ]\n")
    lines = done.stdout.splitlines()
    for word in ("DEV ...", "-j", "-h, --help"):
        (line,) = [line for line in lines if line.startswith(f"  {word}  ")]
        assert line.removeprefix(f"  {word}").strip()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_of_link_explains_commands_and_settings(option: str) -> None:
    command = [ROOT / "router/sbin/zrtt-link", option]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: zrtt-link up DEV\n")
    lines = done.stdout.splitlines()
    for word in ("up DEV", "rate DEV", "down DEV", "-h, --help",
                 "ZRTT_UPLINK", "ZRTT_DOWNLINK", "ZRTT_OPTIONS"):  # fmt: skip
        (line,) = [line for line in lines if line.startswith(f"  {word}  ")]
        assert line.removeprefix(f"  {word}").strip()
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    "words", [("-x",), ("nope",), ("-j", "eth0", "nope"), ("",), ("..",), ("eth0/queues",)]
)
def test_bad_command_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    done = router(tmp_path).run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(("Usage: zrtt-check", f"zrtt-check: no device {words[-1]}\n"))
