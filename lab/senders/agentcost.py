# SPDX-License-Identifier: GPL-2.0
"""The cost of zrtt-agent for a sender: throughput of iperf3 with and without it.

    sender s0 ---- r0 receiver       veth, on the running kernel

The variants take turns in each round, and a variant's ratio is taken within a
round, so that what else the machine does hits all of them. The kernel's clock of
BPF programs runs all the time: some ns for a super-packet, which takes 10,000.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from lab.host import cgroups, files, netns
from lab.host.netns import Namespace
from lab.host.process import said
from lab.senders import agent

WITHOUT = "without"
VARIANTS: Mapping[str, Sequence[str]] = {
    WITHOUT: (),
    "ip, sampled": ("--encoding", "ip"),
    "ip, every packet": ("--encoding", "ip", "--every-packet"),
    "tcp, sampled": ("--encoding", "tcp"),
    "tcp, every packet": ("--encoding", "tcp", "--every-packet"),
}
"""Options of zrtt-agent attach."""
PROGRAMS = ("iperf3", "ethtool", "bpftool")
SENDER, RECEIVER = "10.1.0.1", "10.1.0.2"
BPF_CLOCK = Path("/proc/sys/kernel/bpf_stats_enabled")
PATIENCE_S = 30
MIN_ROUNDS = 3


class AgentCostError(RuntimeError):
    """The cost cannot be measured here."""


@dataclass(frozen=True)
class Network:
    """Both hosts."""

    sender: Namespace
    receiver: Namespace
    cgroup: Path


@dataclass(frozen=True)
class Bpf:
    """What the agent's programs did in a transfer."""

    packets: int
    """Super-packets count once, as they pass the device in one piece."""
    stamped: int
    runs: int
    run_ns: int

    @property
    def ns_per_packet(self) -> float:
        """Of all programs together."""
        return self.run_ns / self.packets


@dataclass(frozen=True)
class Transfer:
    """The results of iperf3 for one transfer, and the kernel's of the agent."""

    mbps: float
    sender_cpu_s_per_gb: float
    bpf: Bpf | None


@dataclass(frozen=True)
class Cost:
    """All that was measured."""

    kernel: str
    segments: bool
    seconds: int
    transfers: Mapping[str, Sequence[Transfer]]
    """By variant; one per round."""
    command: str

    @property
    def with_agent(self) -> list[str]:
        """The variants that have one."""
        return [variant for variant in self.transfers if variant != WITHOUT]

    def bpf(self, variant: str, of: Callable[[Bpf], float]) -> float:
        """The median of what the agent's programs did."""
        return median(of(transfer.bpf) for transfer in self.transfers[variant] if transfer.bpf)

    def ratios(self, variant: str, of: Callable[[Transfer], float]) -> list[float]:
        """To the transfer without the agent, round by round."""
        pairs = zip(self.transfers[variant], self.transfers[WITHOUT], strict=True)
        return [of(one) / of(base) for one, base in pairs]

    def speed(self, variant: str) -> float:
        """The median ratio of throughput."""
        return median(self.ratios(variant, lambda transfer: transfer.mbps))

    def save(self, path: Path) -> None:
        """Writes it as JSON, with the medians that the table shows."""
        content = asdict(self)
        content["medians"] = {
            variant: {
                "mbps": median(transfer.mbps for transfer in self.transfers[variant]),
                "ratio": self.speed(variant),
            }
            for variant in self.transfers
        }
        files.write(path, json.dumps(content, indent=1) + "\n")


def spread(values: Sequence[float]) -> tuple[float, float, float]:
    """First quartile, median, third quartile."""
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return low, middle, high


@contextmanager
def _network(segments: bool) -> Iterator[Network]:
    with cgroups.own() as cgroup, netns.made("sender", "receiver") as (sender, receiver):
        sender.ip("link", "add", "s0", "type", "veth", "peer", "name", "r0",
                  "netns", receiver.name)  # fmt: skip
        for space, device, address in ((sender, "s0", SENDER), (receiver, "r0", RECEIVER)):
            space.ip("addr", "add", f"{address}/24", "dev", device)
            space.ip("link", "set", device, "up")
        if segments:
            sender.run("ethtool", "-K", "s0", "tso", "off")
            receiver.run("ethtool", "-K", "r0", "gro", "on")
        yield Network(sender, receiver, cgroup)


@contextmanager
def _bpf_clock() -> Iterator[None]:
    """The kernel measures the time that programs take."""
    before = BPF_CLOCK.read_text()
    BPF_CLOCK.write_text("1")
    try:
        yield
    finally:
        BPF_CLOCK.write_text(before)


def _programs() -> dict[int, tuple[int, int]]:
    """Agents' programs, by identifier: how often they have run, and for how many ns."""
    shown = json.loads(said(AgentCostError, "bpftool", "-j", "prog", "show"))
    return {
        one["id"]: (one.get("run_cnt", 0), one.get("run_time_ns", 0))
        for one in shown
        if one.get("name", "").startswith(agent.BPF_NAME)
    }


def _iperf(net: Network, seconds: int) -> Mapping[str, Any]:
    """The end of what iperf3 says of one connection, as fast as it goes."""
    server = ["ip", "netns", "exec", net.receiver.name, "iperf3", "--server", "--one-off"]
    with subprocess.Popen([*server, "--forceflush"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            for line in process.stdout:
                if "listening" in line:
                    break
            text = net.sender.run("iperf3", "--client", RECEIVER, "--time", str(seconds), "--json")
            process.wait(PATIENCE_S)
        finally:
            process.terminate()
    return dict(json.loads(text)["end"])


def _transfer(net: Network, seconds: int) -> Transfer:
    end = _iperf(net, seconds)
    sent = end["sum_sent"]
    cpu_s = end["cpu_utilization_percent"]["host_total"] / 100 * sent["seconds"]
    return Transfer(
        mbps=end["sum_received"]["bits_per_second"] / 1e6,
        sender_cpu_s_per_gb=cpu_s / sent["bytes"] * 1e9,
        bpf=None,
    )


def _transfer_with(net: Network, options: Sequence[str], seconds: int) -> Transfer:
    """A transfer with the agent attached."""
    where = ("s0", "--netns", net.sender.name)
    cgroup = ("--cgroup", str(net.cgroup)) if "tcp" in options else ()
    others = _programs()
    agent.done("attach", *where, *options, *cgroup)
    try:
        plain = _transfer(net, seconds)
        own = [counts for number, counts in _programs().items() if number not in others]
        (status,) = agent.statuses(*where)
    finally:
        agent.done("detach", *where)
    runs, run_ns = (sum(counts) for counts in zip(*own, strict=True))
    return replace(plain, bpf=Bpf(status.packets, status.stamped, runs, run_ns))


def _check(rounds: int, seconds: int) -> None:
    for program in PROGRAMS:
        if not shutil.which(program):
            raise AgentCostError(f"{program} is not installed; apt-get install {program}")
    if rounds < MIN_ROUNDS:
        raise AgentCostError(f"--rounds: at least {MIN_ROUNDS}, as fewer have no quartiles")
    if seconds < 1:
        raise AgentCostError("--seconds: at least 1, as 0 has no end for iperf3")


def measure(*, rounds: int, seconds: int, segments: bool, command: str,
            progress: Callable[[str], None]) -> Cost:  # fmt: skip
    """Measures it. Raises AgentCostError and what the agent and the namespaces raise."""
    _check(rounds, seconds)
    transfers: dict[str, list[Transfer]] = {variant: [] for variant in VARIANTS}
    names = list(VARIANTS)
    with _network(segments) as net, _bpf_clock():
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds}")
            first = number % len(names)
            for variant in names[first:] + names[:first]:
                options = VARIANTS[variant]
                transfers[variant].append(
                    _transfer_with(net, options, seconds) if options else _transfer(net, seconds)
                )
    return Cost(platform.release(), segments, seconds, transfers, command)
