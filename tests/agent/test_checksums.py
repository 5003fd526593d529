# SPDX-License-Identifier: GPL-2.0
"""Each packet with a hint is right to the last bit, says tshark.

The sender leaves work to its network card, or not; the router does it then, as
a card would. What reaches b is written down, and read by tshark here.
"""

from __future__ import annotations

import subprocess
from collections import Counter
from functools import cache
from itertools import product

import pytest
from agents import OUT, Agent
from flows import connection
from hosts import FAMILIES, OFFLOADS, Network
from packets import TCP

BYTES = 300_000
RIGHT = "1"
CASES = list(product(("ip", "tcp"), FAMILIES, OFFLOADS))
each_case = pytest.mark.parametrize(("encoding", "family", "offload"), CASES)
TSHARK = (
    "tshark", "-n", "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE",
    "-Y", "eth.dst == 02:00:00:00:00:04", "-T", "fields",
    "-e", "ip.version", "-e", "ip.checksum.status", "-e", "tcp.checksum.status",
    "-e", "_ws.malformed",
)  # fmt: skip


def name(encoding: str, family: int, offload: str) -> str:
    """Of the file with what was seen."""
    return f"{encoding}-{family}-{offload.replace(' ', '-')}.pcap"


@each_case
def test_hints_arrive(net: Network, agent: Agent, encoding: str, family: int, offload: str) -> None:
    net.features("a0", *OFFLOADS[offload])
    agent.attach("--every-packet", encoding=encoding)
    with net.seen("b", "b0") as seen, connection(net, family) as flow:
        flow.push(BYTES)
        for size in range(1, 40):
            flow.push(size)
        packets = [p for p in seen.packets() if p.proto == TCP and not p.outgoing]
        OUT.mkdir(parents=True, exist_ok=True)
        seen.save(OUT / name(encoding, family, offload))
    assert len([p for p in packets if p.hints]) > len(packets) / 2


@cache
def verdicts(file: str) -> Counter[tuple[str, ...]]:
    """What tshark says of the packets that b got."""
    done = subprocess.run(
        [*TSHARK, "-r", OUT / file], capture_output=True, text=True, check=True
    )  # fmt: skip
    return Counter(tuple(line.split("\t")) for line in done.stdout.splitlines())


@each_case
def test_checksums_are_right(encoding: str, family: int, offload: str) -> None:
    """Reads what test_hints_arrive has left."""
    found = verdicts(name(encoding, family, offload))
    right = ("4", RIGHT, RIGHT, "") if family == 4 else ("6", "", RIGHT, "")
    assert set(found) == {right}
    assert found[right] > BYTES / 1500
