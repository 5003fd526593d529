# SPDX-License-Identifier: GPL-2.0
"""Models of lines whose rate changes all the time: what they say of themselves holds."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from statistics import correlation, fmean, median, pstdev

import pytest

from lab import cli
from lab.model.line import Line
from lab.traces import mahimahi, models
from lab.traces.mahimahi import TraceError

LONG_S = 3000
SECOND = 1000 // models.STEP_MS
Logs = list[float]


def logarithms(rates: models.Rates) -> Logs:
    """Of the rate of each step, outages left out."""
    return [math.log(mbps) for mbps in rates[:: models.STEP_MS] if mbps]


def silences(rates: models.Rates) -> list[tuple[int, int]]:
    """When there is no service, and for how long, in ms."""
    found: list[tuple[int, int]] = []
    for ms, mbps in enumerate(rates):
        if mbps:
            continue
        if found and sum(found[-1]) == ms:
            found[-1] = (found[-1][0], found[-1][1] + 1)
        else:
            found.append((ms, 1))
    return found


def correlation_after(logs: Logs, steps: int) -> float:
    """Of values so far apart."""
    return correlation(logs[:-steps], logs[steps:])


def test_lte_has_the_spread_and_the_coherence_it_says() -> None:
    rates = models.lte(LONG_S, seed=1)
    logs = logarithms(rates)
    assert math.exp(median(logs)) == pytest.approx(models.LTE_MEDIAN_MBPS, rel=0.1)
    assert pstdev(logs) == pytest.approx(models.LTE_DEVIATION, rel=0.1)
    assert correlation_after(logs, SECOND) == pytest.approx(1 / math.e, abs=0.08)
    assert correlation_after(logs, 5 * SECOND) < 0.15
    served = [mbps for mbps in rates if mbps]
    assert (min(served), max(served)) == (models.LEAST_MBPS, models.MOST_MBPS)


def test_lte_has_outages() -> None:
    found = silences(models.lte(LONG_S, seed=2))
    assert len(found) == pytest.approx(LONG_S / models.OUTAGES_APART_S, rel=0.3)
    least, most = models.OUTAGE_MS
    lengths = [length for _, length in found]
    assert least <= min(lengths) < fmean(lengths) == pytest.approx((least + most) / 2, rel=0.15)
    assert fmean(length <= most for length in lengths) > 0.95  # two of them may overlap


def test_starlink_is_given_anew_every_15_s() -> None:
    rates = models.starlink(LONG_S, seed=1)
    found = silences(rates)
    period_ms = models.STARLINK_PERIOD_S * 1000
    assert [ms for ms, _ in found] == list(range(0, LONG_S * 1000, period_ms))
    least, most = models.STARLINK_GAP_MS
    assert least <= min(length for _, length in found) < max(length for _, length in found) <= most
    periods = [
        logarithms(rates[at : at + period_ms]) for at in range(0, LONG_S * 1000, period_ms)
    ]  # fmt: skip
    within = fmean(pstdev(logs) for logs in periods)
    between = pstdev(fmean(logs) for logs in periods)
    assert 0.05 < within <= models.STARLINK_DEVIATION < 2 * models.STARLINK_DEVIATION < between


def test_stalls_are_as_long_and_as_far_apart_as_said() -> None:
    rates = models.stalls(LONG_S, seed=1)
    found = silences(rates)
    assert {mbps for mbps in rates if mbps} == {models.STALLS_MBPS}
    lengths = [length for _, length in found]
    apart = [after - before for (before, _), (after, _) in pairwise(found)]
    assert models.STALL_MS[0] <= min(lengths) < max(lengths) <= models.STALL_MS[1]
    assert models.STALLS_APART_S[0] <= min(apart) / 1000 + 0.001
    assert max(apart) / 1000 - 0.001 <= models.STALLS_APART_S[1]


@pytest.mark.parametrize("name", models.MODELS)
def test_seeds_differ_and_repeat(name: str) -> None:
    assert models.trace(name, 1, 20) == models.trace(name, 1, 20) != models.trace(name, 2, 20)


def test_frames_leave_as_bits_add_up() -> None:
    rates = [12.112] * 100 + [0.0] * 50 + [24.224] * 50
    times = models.slots(rates)
    assert times[-1] == 200
    assert len(times) == pytest.approx(201, abs=2)
    assert not [ms for ms in times if 100 <= ms < 150]
    assert mahimahi.mean_bps(times, 0, 100) == pytest.approx(12.112e6, rel=0.02)


def test_file_is_read_and_written() -> None:
    times = models.trace("starlink", 1, 5)
    assert mahimahi.parse(mahimahi.text(times)) == times
    assert mahimahi.parse("0\n7\n7\n9") == (0, 7, 7, 9)
    assert mahimahi.frames_before((0, 7, 7, 9), 9) == 4
    assert mahimahi.frames_before((0, 7, 7, 9), 16) == 5
    assert mahimahi.frames_before((0, 7, 7, 9), 17) == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no time"), ("0\n0\n", "no time"), ("3\nx\n", "line 2, 'x'"), ("3\n\n4\n", "line 2"),
        ("3\n-1\n", "'-1'"), ("5\n4\n", "line 2, 4"), ("3600001\n", "3600001"), ("1.5\n", "1.5"),
    ],
)  # fmt: skip
def test_bad_file_is_refused(text: str, said: str) -> None:
    with pytest.raises(TraceError) as refused:
        mahimahi.parse(text)
    assert said in str(refused.value)


def test_command_writes_what_a_line_takes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace"
    args = cli.parser().parse_args(["trace", "lte", "--seed", "3", "--output", str(path)])
    args.handler(args)
    assert f"{path}: " in capsys.readouterr().out
    by_file, by_model = (
        Line.parse(f"{words} buffer=500ms") for words in (f"trace={path}", "model=lte:3")
    )
    assert by_file == by_model


@pytest.mark.parametrize("words", [["5g"], ["lte", "--seconds", "0"], ["lte", "--seconds", "x"]])
def test_command_refuses_nonsense(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["trace", *words])
    assert words[-1] in capsys.readouterr().err
