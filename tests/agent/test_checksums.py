# SPDX-License-Identifier: GPL-2.0
"""Each packet with a hint is correct according to tshark.

The sender leaves work to its network card, or not; the router does it then, as
a card would. What reaches b is written down, and read by tshark here.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from functools import cache
from itertools import islice, product

import pytest
from agents import Agent
from capture import merged
from flows import connection
from hosts import FAMILIES, OFFLOADS, Network
from packets import TCP

BYTES = 300_000
RECEIVER = "02:00:00:00:00:04"
CASES = list(product(("ip", "tcp"), FAMILIES, OFFLOADS))
each_case = pytest.mark.parametrize(("encoding", "family", "offload"), CASES)
TSHARK = (
    "tshark", "-n", "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE",
    "-T", "fields", "-e", "eth.dst", "-e", "arp.opcode", "-e", "icmpv6.type",
    "-e", "ip.version", "-e", "ip.checksum.status", "-e", "tcp.checksum.status",
    "-e", "_ws.malformed", "-e", "tcp.checksum", "-e", "tcp.checksum_calculated",
)  # fmt: skip
BAD, GOOD = "0", "1"


def name(encoding: str, family: int, offload: str) -> str:
    """Of the file with what was seen."""
    return f"{encoding}-{family}-{offload.replace(' ', '-')}.pcap"


@each_case
def test_hints_arrive(net: Network, agent: Agent, encoding: str, family: int, offload: str) -> None:
    net.features("a0", OFFLOADS[offload])
    agent.attach("--every-packet", encoding=encoding)
    with net.seen("b", "b0") as seen, connection(net, family) as flow:
        flow.push(BYTES)
        for size in range(1, 40):
            flow.push(size)
        packets = [p for p in seen.arrived() if p.proto == TCP]
        seen.save(name(encoding, family, offload))
    assert len([p for p in packets if p.hints]) > len(packets) / 2


def _said(line: str) -> str:
    """Of one packet: IP version, status of both checksums, whether it is malformed.

    skb_checksum_help() writes a sum of 0 as 0xffff, whatever the protocol. To a receiver both are
    the same number, to tshark they are not.
    """
    version, ip, tcp, malformed, written, calculated = line.split("\t")
    if (written, calculated, tcp) == ("0xffff", "0x0000", BAD):
        tcp = GOOD
    return "\t".join((version, ip, tcp, malformed))


@cache
def verdicts() -> dict[tuple[str, int, str], Counter[str]]:
    """What tshark says of the packets that b got in each case.

    Its neighbour may ask at any time whether it is still there, by ARP or ICMPv6.
    """
    pcap, counts = merged(name(*case) for case in CASES)
    done = subprocess.run([*TSHARK, "-r", "-"], input=pcap, capture_output=True, check=True)
    lines = iter(done.stdout.decode().splitlines())
    found = {}
    for case, count in zip(CASES, counts, strict=True):
        frames = (line.split("\t", 3) for line in islice(lines, count))
        found[case] = Counter(
            _said(line) for to, *neighbours, line in frames if to == RECEIVER and not any(neighbours)
        )
    return found


@each_case
def test_checksums_are_right(encoding: str, family: int, offload: str) -> None:
    """Reads what test_hints_arrive has left."""
    found = verdicts()[encoding, family, offload]
    right = "4\t1\t1\t" if family == 4 else "6\t\t1\t"
    assert set(found) == {right}
    assert found[right] > BYTES / 1500
