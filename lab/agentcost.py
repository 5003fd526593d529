# SPDX-License-Identifier: GPL-2.0
"""What zrtt-agent costs a sender: throughput of iperf3 with it, against without.

    sender s0 ---- r0 receiver       veth, on the running kernel

The variants take turns in each round, and a variant's ratio is taken within a
round, so that what else the machine does hits all of them. The time that BPF
takes is measured afterwards, as the kernel's clock for it costs time itself.
"""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median, quantiles

from lab import agent, cgroups, netns
from lab.netns import Namespace
from lab.process import said

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
class Transfer:
    """What iperf3 said of one."""

    mbps: float
    sender_cpu_s_per_gb: float


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
class Cost:
    """All that was measured."""

    kernel: str
    segments: bool
    seconds: int
    transfers: Mapping[str, Sequence[Transfer]]
    """By variant; one per round."""
    bpf: Mapping[str, Bpf]
    command: str

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
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content, indent=1) + "\n")


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
def _attached(net: Network, options: Sequence[str]) -> Iterator[None]:
    """The agent with these options; without any, no agent."""
    if not options:
        yield
        return
    where = ("s0", "--netns", net.sender.name)
    cgroup = ("--cgroup", str(net.cgroup)) if "tcp" in options else ()
    agent.done("attach", *where, *options, *cgroup)
    try:
        yield
    finally:
        agent.done("detach", *where)


def _transfer(net: Network, seconds: int) -> Transfer:
    """One connection, as fast as it goes."""
    receiver = ["ip", "netns", "exec", net.receiver.name]
    with ExitStack() as stack:
        server = stack.enter_context(
            subprocess.Popen(
                [*receiver, "iperf3", "--server", "--one-off", "--forceflush"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )  # fmt: skip
        )
        stack.callback(server.terminate)
        assert server.stdout
        for line in server.stdout:
            if "listening" in line:
                break
        text = net.sender.run("iperf3", "--client", RECEIVER, "--time", str(seconds), "--json")
        server.wait(PATIENCE_S)
    end = json.loads(text)["end"]
    received, sent = end["sum_received"], end["sum_sent"]
    cpu_s = end["cpu_utilization_percent"]["host_total"] / 100 * sent["seconds"]
    return Transfer(
        mbps=received["bits_per_second"] / 1e6, sender_cpu_s_per_gb=cpu_s / sent["bytes"] * 1e9
    )


@contextmanager
def _bpf_clock() -> Iterator[None]:
    """The kernel measures the time that programs take."""
    before = BPF_CLOCK.read_text()
    BPF_CLOCK.write_text("1")
    try:
        yield
    finally:
        BPF_CLOCK.write_text(before)


def _bpf_time() -> tuple[int, int]:
    """How often the agent's programs have run, and for how many ns."""
    programs = json.loads(said(AgentCostError, "bpftool", "-j", "prog", "show"))
    own = [one for one in programs if one.get("name", "").startswith(agent.BPF_NAME)]
    return (
        sum(one.get("run_cnt", 0) for one in own),
        sum(one.get("run_time_ns", 0) for one in own),
    )


def _bpf(net: Network, options: Sequence[str], seconds: int) -> Bpf:
    with _attached(net, options), _bpf_clock():
        (before,) = agent.statuses("--netns", net.sender.name)
        runs_before, ns_before = _bpf_time()
        _transfer(net, seconds)
        runs, ns = _bpf_time()
        (after,) = agent.statuses("--netns", net.sender.name)
    return Bpf(
        packets=after.packets - before.packets,
        stamped=after.stamped - before.stamped,
        runs=runs - runs_before,
        run_ns=ns - ns_before,
    )


def _check(rounds: int) -> None:
    for program in PROGRAMS:
        if not shutil.which(program):
            raise AgentCostError(f"{program} is not installed; apt-get install {program}")
    if rounds < MIN_ROUNDS:
        raise AgentCostError(f"--rounds: at least {MIN_ROUNDS}, as fewer have no quartiles")


def measure(*, rounds: int, seconds: int, segments: bool, command: str,
            progress: Callable[[str], None]) -> Cost:  # fmt: skip
    """Measures it. Raises AgentCostError and what the agent and the namespaces raise."""
    _check(rounds)
    transfers: dict[str, list[Transfer]] = {variant: [] for variant in VARIANTS}
    bpf: dict[str, Bpf] = {}
    names = list(VARIANTS)
    with _network(segments) as net:
        for number in range(rounds):
            progress(f"round {number + 1} of {rounds}")
            first = number % len(names)
            for variant in names[first:] + names[:first]:
                with _attached(net, VARIANTS[variant]):
                    transfers[variant].append(_transfer(net, seconds))
        progress("BPF")
        for variant, options in VARIANTS.items():
            if options:
                bpf[variant] = _bpf(net, options, seconds)
    return Cost(platform.release(), segments, seconds, transfers, bpf, command)
