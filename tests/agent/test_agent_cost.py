# SPDX-License-Identifier: GPL-2.0
"""The arithmetic of `lab agentcost`, without measuring anything."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from lab.commands.agentcost import HEAD, missed, table
from lab.senders import agentcost
from lab.senders.agentcost import VARIANTS, WITHOUT, AgentCostError, Bpf, Cost, Transfer

# The machine gets slower from round to round, which must not show in the ratios.
BASE_MBPS = (4000.0, 2000.0, 1000.0)
RATIOS = (0.9, 0.96, 0.99)
BPF = Bpf(packets=1000, stamped=20, runs=1000, run_ns=90_000)


def cost() -> Cost:
    """Of an agent that has these ratios, sampled or not."""
    base = [Transfer(mbps, 0.5, None) for mbps in BASE_MBPS]
    slowed = [Transfer(mbps * r, 0.5 / r, BPF) for mbps, r in zip(BASE_MBPS, RATIOS, strict=True)]
    transfers = {variant: base if variant == WITHOUT else slowed for variant in VARIANTS}
    return Cost("6.12", False, 2, transfers, "python3 -m lab agentcost")


def test_ratios_are_taken_within_a_round() -> None:
    assert cost().ratios("ip, sampled", lambda transfer: transfer.mbps) == pytest.approx(RATIOS)
    assert cost().speed("ip, sampled") == pytest.approx(0.96)


def test_table_shows_medians_and_quartiles() -> None:
    head, without, *others = table(cost()).splitlines()
    assert head.split() == " ".join(HEAD).split()
    assert without.split() == [WITHOUT, "2000"]
    assert len(others) == len(VARIANTS) - 1
    for line in others:
        for shown in ("1920", "0.960", "0.930 .. 0.975", "1.042", "1.026 .. 1.076", "90", "2.0%"):
            assert shown in line


def test_only_sampled_variants_are_to_reach_the_ratio() -> None:
    assert missed(cost(), 0.95) == []
    assert missed(cost(), 0.97) == ["ip, sampled: 0.960", "tcp, sampled: 0.960"]


def test_json_has_everything(tmp_path: Path) -> None:
    cost().save(tmp_path / "out" / "cost.json")
    said = json.loads((tmp_path / "out" / "cost.json").read_text())
    assert said["transfers"][WITHOUT][2] == {
        "mbps": 1000, "sender_cpu_s_per_gb": 0.5, "bpf": None,
    }  # fmt: skip
    assert said["transfers"]["tcp, sampled"][0]["bpf"]["run_ns"] == 90_000
    assert said["medians"]["ip, sampled"]["ratio"] == pytest.approx(0.96)


def measure(rounds: int, seconds: int = 1) -> None:
    """Would measure."""
    agentcost.measure(rounds=rounds, seconds=seconds, segments=False, command="", progress=print)


def test_too_few_rounds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: program)
    with pytest.raises(AgentCostError, match="--rounds"):
        measure(2)


def test_transfer_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: program)
    with pytest.raises(AgentCostError, match="--seconds"):
        measure(9, seconds=0)


def test_absent_programs_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(AgentCostError, match="iperf3"):
        measure(9)
