# SPDX-License-Identifier: GPL-2.0
"""Writes the script that builds the network in a guest and runs the traffic.

One host per RTT, all in network namespaces of one guest::

    h0 eth0 ---- r0 \\                                  / htb RATE
    h1 eth0 ---- r1  > router: forwards   bot ------- rx \\- meter
    ...             /             |                         \\- qdisc under test
    hN eth0 ---- rN              netem on r0..rN
    u0 eth0 ---- ru0             (the whole RTT, towards the hosts)
    ...

Data run h -> router -> rx, through the bottleneck on `bot`. ACKs run back and
are delayed by netem: delaying ACKs can never reorder data, and netem need not
hold a window of them. MAC addresses are fixed and neighbours permanent, so no
packet waits for ARP; nor has a device an IPv6 address to solicit routers from.
uN send UDP. Sizes: MTU 1500, so 1514 bytes a frame.

With more hops, `router2` and so on follow the router, each with such a bottleneck
and with hosts cN of flows that cross it alone. With reverse flows, a last router
has a bottleneck on its way back::

    router bot --- eth0 router2 bot --- eth0 router3 bot --- eth0 rx
           htb                  htb     htb
"""

from __future__ import annotations

from lab.model.scenario import CCS, Scenario
from lab.net import network

MODULES = ("veth", "sch_htb", "sch_netem")
MARK_MODULES = ("sch_ingress", "cls_matchall", "act_skbedit", "act_pedit", "act_csum")
SLOW_MODULES = ("ifb", "sch_ingress", "cls_flower", "act_mirred")
ARRIVE_MODULES = ("ifb", "sch_ingress", "cls_matchall", "act_mirred")
ECT1_MODULES = ("sch_ingress", "cls_fw", "cls_flower", "act_gact", "act_pedit", "act_csum")

# Kernel modules of qdiscs that are not called sch_KIND or are built in.
_QDISC_MODULES = {"fq_codel": "", "pfifo": "", "bfifo": "", "zrtt": "", "meter": ""}


def modules(scenario: Scenario) -> list[str]:
    """The guest kernel's modules a scenario needs."""
    qdiscs = [_QDISC_MODULES.get(kind, f"sch_{kind}") for kind in scenario.qdisc_kinds]
    congestion = [CCS[cc] for cc in scenario.ccs if cc != "reno"]
    ect1 = ECT1_MODULES if scenario.ect1_tcp else ()
    marks = MARK_MODULES if scenario.marks or scenario.dscps else ()
    slow = SLOW_MODULES if scenario.slow else ()
    arrive = ARRIVE_MODULES if network.is_line_first(scenario) or scenario.jitter_ms else ()
    more = dict.fromkeys([*ect1, *marks, *slow, *arrive])
    return [*MODULES, *more, *filter(None, qdiscs), *congestion]


def script(scenario: Scenario) -> str:
    """The script a guest runs: builds the network, runs the traffic, collects."""
    hops, queues = range(1, network.n_hops(scenario) + 1), network.queues(scenario)
    parts = ["traffic"]
    for queue in queues:
        parts += [f"{name}-{queue.netns}" for name in ("begin", "end", "classes")]
    if scenario.line:
        phases = scenario.line.phases(scenario.warmup_s, scenario.total_s)
        parts += [f"line-{i}-{end}" for i in range(len(phases)) for end in ("begin", "end")]
    before, after = network.autorate_lines(scenario)
    lines = [
        "#!/bin/sh",
        "set -eu",
        network.memory_line(),
        *network.router_lines(1),
        *[line for hop in hops for line in network.hop_lines(scenario, hop)],
        *[line for host in network.hosts(scenario) for line in network.host_lines(scenario, host)],
        *[line for host in network.hosts(scenario) for line in network.mark_lines(scenario, host)],
        *[line for host in network.hosts(scenario) for line in network.late_lines(scenario, host)],
        *(network.ect1_lines(scenario) if scenario.ect1_tcp else []),
        *network.slow_lines(scenario),
        *network.vary_lines(scenario),
        *[line for queue in queues for line in network.queue_lines(scenario, queue)],
        *before,
        '"$LAB/traffic" "$LAB/spec" /tmp/traffic',
        *after,
        f"for part in {' '.join(parts)}; do",
        '	echo "@$part"; cat /tmp/$part',
        'done >"$RESULT"',
    ]
    return "\n".join(lines) + "\n"
