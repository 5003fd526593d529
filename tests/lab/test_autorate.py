# SPDX-License-Identifier: GPL-2.0
"""The comparator that sets the bandwidth of cake: its rule, its options, and a run."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lab.model.autorate import Autorate
from lab.model.line import Line
from lab.model.scenario import Scenario, ScenarioError
from lab.net import topology
from lab.runs import runner

FOLDER = Path(__file__).resolve().parents[2] / "lab" / "guest" / "autorate"
ROOM = 1024
"""More than struct rule takes."""
QDISC = "cake-autorate min 1mbit base 10mbit max 50mbit"
LINE = Line.parse("rate=20mbit@0,5mbit@20 buffer=500ms")


class Rule:
    """The rule in C, at rates from 1 to 50 Mbit/s."""

    def __init__(self, library: ctypes.CDLL, base_kbps: float = 10_000) -> None:
        self._c, self._state = library, ctypes.create_string_buffer(ROOM)
        self._c.rule_init(self._state, 1000.0, base_kbps, 50_000.0)
        self.now_ms = 0.0
        self.samples = 0

    def sample(self, rtt_ms: float) -> None:
        """After 50 ms, of the next reflector."""
        self.now_ms += 50
        self._c.rule_sample(self._state, self.samples % 6, self.now_ms, rtt_ms)
        self.samples += 1

    def load(self, kbps: float) -> None:
        self._c.rule_load(self._state, kbps)

    @property
    def kbps(self) -> float:
        return float(self._c.rule_rate(self._state))


@pytest.fixture(scope="module")
def rule(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Rule]]:
    """Makes rules that have seen a round-trip time of 20 ms."""
    product = tmp_path_factory.mktemp("rule") / "rule.so"
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", product, FOLDER / "rule.c"], check=True
    )
    library = ctypes.CDLL(str(product))
    library.rule_rate.restype = ctypes.c_double
    double = ctypes.c_double
    library.rule_init.argtypes = [ctypes.c_char_p, double, double, double]
    library.rule_load.argtypes = [ctypes.c_char_p, double]
    library.rule_sample.argtypes = [ctypes.c_char_p, ctypes.c_int, double, double]

    def made(base_kbps: float = 10_000) -> Rule:
        one = Rule(library, base_kbps)
        for _ in range(6):
            one.sample(20)
        return one

    yield made


def test_high_load_without_delay_raises_by_4_per_cent(rule: Callable[..., Rule]) -> None:
    one = rule()
    assert one.kbps == 10_000
    one.load(7600)
    one.sample(20)
    assert one.kbps == pytest.approx(10_400)
    one.load(7400)
    one.sample(20)
    assert one.kbps <= 10_400


def test_mean_delay_slows_the_rise(rule: Callable[..., Rule]) -> None:
    """Delays count by half, as of one way; two that are long are no bufferbloat yet."""
    one = rule()
    one.load(50_000)
    one.sample(20 + 2 * 60)
    assert one.kbps == pytest.approx(10_400)  # 10 ms on average
    one.sample(20 + 2 * 60)
    assert 10_400 * 1.015 < one.kbps < 10_400 * 1.025  # 20 ms: half of the way to 30 ms


def test_three_of_six_delayed_lower_the_rate(rule: Callable[..., Rule]) -> None:
    one = rule()
    one.load(50_000)
    for _ in range(2):
        one.sample(20 + 2 * 32)
    before = one.kbps
    one.sample(20 + 2 * 32)
    assert one.kbps == pytest.approx(before * 0.99)
    for _ in range(5):  # 250 ms in which it rests
        one.sample(20 + 2 * 200)
    assert one.kbps == pytest.approx(before * 0.99)
    one.sample(20 + 2 * 200)
    assert one.kbps == pytest.approx(before * 0.99 * 0.75)


def test_low_load_returns_to_the_base_once_a_second(rule: Callable[..., Rule]) -> None:
    one = rule()
    one.load(50_000)
    for _ in range(20):
        one.sample(20)
    high = one.kbps
    one.load(0)
    for _ in range(21):
        one.sample(20)
    assert high * 0.979 < one.kbps < high * 0.991
    for _ in range(2000):
        one.sample(20)
    assert one.kbps == 10_000


def test_rate_stays_in_its_bounds(rule: Callable[..., Rule]) -> None:
    one = rule()
    one.load(1e6)
    for _ in range(200):
        one.sample(20)
    assert one.kbps == 50_000
    for _ in range(200):
        one.sample(2000)
    assert one.kbps == 1000


def test_baseline_falls_at_once_and_rises_slowly(rule: Callable[..., Rule]) -> None:
    one = rule()
    one.load(50_000)
    for _ in range(12):
        one.sample(220)
    lowered = one.kbps
    assert lowered < 10_000
    for _ in range(600):
        one.sample(220)
    assert one.kbps == 1000  # 100 samples of each: a tenth of the rise
    other = rule()
    for _ in range(12):
        other.sample(2)
    other.load(50_000)
    before = other.kbps
    for _ in range(3):
        other.sample(2 + 2 * 40)
    assert other.kbps < before * 1.04 * 1.04


def test_option_is_read() -> None:
    assert Autorate.parse(QDISC.split()) == Autorate(10**6, 10**7, 5 * 10**7)
    scenario = Scenario(qdisc=QDISC, line=LINE).check()
    assert scenario.qdisc_words == ["cake", "bandwidth", "10000000bit"]
    script = topology.script(scenario)
    assert "handle 3: cake bandwidth 10000000bit\n" in script
    assert '"$LAB/autorate" bot 2:1 3: 10.255.0.2 1000 10000 50000 ' in script
    assert "sch_cake" in topology.modules(scenario)
    assert "autorate" not in topology.script(Scenario(qdisc="cake", line=LINE))


@pytest.mark.parametrize(
    "words",
    [
        "cake-autorate", "cake-autorate min 1mbit", "cake-autorate base 1mbit min 1mbit max 2mbit",
        "cake-autorate min 1mbit base 2mbit max fast", "cake-autorate min 3mbit base 2mbit max 5mbit",
        "cake-autorate min 0bit base 2mbit max 5mbit", QDISC + " nat",
    ],
)  # fmt: skip
def test_nonsense_is_refused(words: str) -> None:
    with pytest.raises(ScenarioError, match="cake-autorate"):
        Scenario(qdisc=words, line=LINE).check()


def test_without_a_line_it_is_refused() -> None:
    with pytest.raises(ScenarioError, match="without --line"):
        Scenario(qdisc=QDISC).check()


@pytest.mark.guest
def test_cake_follows_the_line() -> None:
    fields = {"rtts_ms": (20.0, 40.0), "hint": "none", "warmup_s": 10.0, "duration_s": 30.0}
    made = [
        runner.run(Scenario(kernel="uml", qdisc=qdisc, line=LINE, **fields).check()).line
        for qdisc in (QDISC, "cake bandwidth 10mbit")
    ]  # fmt: skip
    follows, fixed = made
    assert follows is not None and fixed is not None
    assert follows.phases[0].utilisation > 0.9 > 0.6 > fixed.phases[0].utilisation
    assert follows.whole_ms.p95 < fixed.whole_ms.p95 / 3
