# SPDX-License-Identifier: GPL-2.0
"""What the options of `lab multiqueue` make of its scenario."""

from __future__ import annotations

import sys

import pytest

from lab import cli
from lab.commands.multiqueue import changes
from lab.model.scenario import Scenario, ScenarioError
from lab.trials import multiqueue

HOSTS = multiqueue.of_hosts((1, 2), 1)[0]


def scenario(*options: str, layout: multiqueue.Layout | None = None) -> Scenario:
    args = cli.parser().parse_args(["multiqueue", *options])
    return multiqueue.scenario(layout or multiqueue.four(1), 1, changes(args))


def test_without_options_it_is_as_the_documents_have_it() -> None:
    found = scenario()
    assert (found.rate_bps, found.warmup_s, found.duration_s) == (20_000_000, 20.0, 60.0)
    assert (found.rtts_ms[0], found.rtts_ms[-1], found.n_flows) == (20.0, 400.0, 20)


def test_options_change_it() -> None:
    found = scenario(
        "--rate", "1gbit", "--rtts", "5ms..100ms/20", "--warmup", "10", "--duration", "5",
        "--start", ",".join(["0"] * 19 + ["10"]), "--stop", ",".join(["end"] * 19 + ["14"]),
    )  # fmt: skip
    assert (found.rate_bps, found.warmup_s, found.duration_s) == (10**9, 10.0, 5.0)
    assert (found.rtts_ms[0], found.rtts_ms[-1]) == (5.0, 100.0)
    assert (found.starts_s[-1], found.stops_s[-2:]) == (10.0, (None, 14.0))


def test_rtts_are_of_the_flows_or_of_the_hosts() -> None:
    assert scenario("--rtts", "5ms,10ms", layout=HOSTS).rtts_ms == (5.0, 10.0)
    with pytest.raises(ScenarioError, match="20, one for each flow"):
        scenario("--rtts", "5ms,10ms")
    with pytest.raises(ScenarioError):
        scenario("--rtts", "5ms", layout=HOSTS)


@pytest.mark.parametrize(
    ("qdisc", "complaint"), [("zrtt 'x", "No closing quotation in the qdisc"), (" ", "--qdisc: empty")]
)
def test_words_are_read_before_a_guest_boots(qdisc: str, complaint: str) -> None:
    args = cli.parser().parse_args(["multiqueue", "--qdisc", qdisc])
    with pytest.raises(ScenarioError, match=complaint):
        args.handler(args)


@pytest.mark.guest
def test_wrong_qdisc_ends_the_run_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["lab", "multiqueue", "--only", "one queue", "--qdisc", "zrtt bogus"]
    monkeypatch.setattr(sys, "argv", words)
    assert cli.main() == 1
    said = capsys.readouterr().err
    assert '"bogus"' in said
    assert " of 80 s" not in said  # the scenario's time


def test_only_no_layout_is_refused() -> None:
    args = cli.parser().parse_args(["multiqueue", "--only", "five"])
    with pytest.raises(ScenarioError, match="--only"):
        args.handler(args)
