# SPDX-License-Identifier: GPL-2.0
"""What the module tells the user it accepts is what the contract says.

The messages are literal strings, as the kernel wants them; the ranges they
state are compared with the macros of the uapi header, by compiling it.
"""

from __future__ import annotations

import re
import subprocess

import pytest
from sources import ROOT
from uapi import ATTRIBUTES, HEADER

SOURCE = (ROOT / "qdisc" / "config.h").read_text()

MESSAGES = dict(re.findall(r'^\tZRTT_REFUSAL\((\w+),\s+"([^"]*)"\);', SOURCE, re.MULTILINE))
"""By attribute; the kernel puts the module's name in front."""

UNITS = {
    "us": 1, "ms": 1000, "s": 1_000_000, "%": (1 << 30) / 100, "": 1,
    "kbit": 125, "gbit": 125_000_000, "tbit": 125_000_000_000,
}  # fmt: skip

# attribute -> (macro of the least value, of the largest, scale of bare numbers)
RANGES = {
    "LIMIT": ("TC_ZRTT_LIMIT_MIN", "TC_ZRTT_LIMIT_MAX", 1),
    "TARGET": ("TC_ZRTT_TARGET_MIN", "TC_ZRTT_TARGET_MAX", 1),
    "TUPDATE": ("TC_ZRTT_TUPDATE_MIN", "TC_ZRTT_TUPDATE_MAX", 1),
    "THRESHOLD": ("TC_ZRTT_THRESHOLD_MIN", "TC_ZRTT_THRESHOLD_MAX", 1),
    "FREEZE": ("TC_ZRTT_FREEZE_MIN", "TC_ZRTT_FREEZE_MAX", 1),
    "ALPHA": ("0", "TC_ZRTT_ALPHA_LIMIT", 1 << 16),
    "ALPHA_LAW": ("0", "TC_ZRTT_ALPHA_LIMIT", 1 << 16),
    "ALPHA_MAX": ("0", "TC_ZRTT_ALPHA_LIMIT", 1 << 16),
    "PTH": ("TC_ZRTT_PTH_MIN", "TC_ZRTT_PTH_MAX", 1),
    "FEEDBACK": ("0", "TC_ZRTT_FEEDBACK_MAX", 1),
    "MARK_MAX": ("0", "TC_ZRTT_P_ONE", 1),
    "FLOWS": ("TC_ZRTT_FLOWS_MIN", "TC_ZRTT_FLOWS_MAX", 1),
    "MARK_RTT": ("0", "TC_ZRTT_MARK_BITS_MAX", 1),
    "BANDWIDTH": ("TC_ZRTT_BANDWIDTH_MIN", "TC_ZRTT_BANDWIDTH_MAX", 1),
    "CEIL": ("TC_ZRTT_BANDWIDTH_MIN", "TC_ZRTT_CEIL_MAX", 1),
    "AUTO_MIN": ("TC_ZRTT_BANDWIDTH_MIN", "TC_ZRTT_AUTO_RATE_MAX", 1),
    "AUTO_MAX": ("TC_ZRTT_BANDWIDTH_MIN", "TC_ZRTT_AUTO_RATE_MAX", 1),
    "OVERHEAD": ("TC_ZRTT_OVERHEAD_MIN", "TC_ZRTT_OVERHEAD_MAX", 1),
    "MPU": ("0", "TC_ZRTT_MPU_MAX", 1),
    "FAIR_MASK": ("1", "TC_ZRTT_FAIR_BITS_MAX", 1),
    "PREFIX6": ("TC_ZRTT_PREFIX6_MIN", "TC_ZRTT_PREFIX6_MAX", 1),
    "WEIGHT_MASK": ("0", "TC_ZRTT_WEIGHT_BITS_MAX", 1),
    "WEIGHT_DSCP": ("TC_ZRTT_WEIGHT_MIN", "TC_ZRTT_WEIGHT_MAX", 1 << 8),
}
# attribute -> prefix of the enumerators whose names are the words
WORDS = {
    "MODE": "TC_ZRTT_MODE_",
    "CONTROLLER": "TC_ZRTT_CTL_",
    "HINT": "TC_ZRTT_HINT_",
    "ATM": "TC_ZRTT_ATM_",
    "FAIR": "TC_ZRTT_FAIR_",
    "AUTO": "TC_ZRTT_AUTO_",
}
FLAGS = ("STRIP", "HANDSHAKE", "TIMESTAMPS", "QUIC", "ECN", "SPLIT_GSO", "NAMES", "LANES", "L4S", "NAT")
# Where a parameter is more than one word, or has another name than its attribute.
KEYWORDS = {
    "ALPHA_LAW": "alpha",
    "FAIR_MASK": "fair mark",
    "WEIGHT_MASK": "weight mark",
    "WEIGHT_DSCP": "weight dscp",
    "AUTO": "bandwidth auto",
    "AUTO_MIN": "min",
    "AUTO_MAX": "max",
}
# Both ends are one unit of Q30 from what is said: "above 0 and at most 100%".
STEPS = ("INCREMENT", "DECREMENT")
# Its upper end is the machine's.
MEMORY = "MEMORY_LIMIT"


@pytest.fixture(scope="module")
def macro(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Values of the header's macros, as the compiler sees them."""
    names = sorted({name for low, high, _ in RANGES.values() for name in (low, high)} - {"0", "1"})
    names += ["TC_ZRTT_FLOWS_UNPRIV", "TC_ZRTT_STEP_MIN", "TC_ZRTT_STEP_MAX", "TC_ZRTT_P_ONE"]
    folder = tmp_path_factory.mktemp("macros")
    prints = "".join(f'printf("{name} %lld\\n", (long long){name});' for name in names)
    (folder / "m.c").write_text(
        f'#include <stdio.h>\n#include "{HEADER}"\nint main(void) {{ {prints} }}\n'
    )
    subprocess.run(["gcc", "-o", folder / "m", folder / "m.c"], check=True)
    out = subprocess.run([folder / "m"], check=True, capture_output=True, text=True).stdout
    return {"0": 0, "1": 1} | {name: int(value) for name, value in map(str.split, out.splitlines())}


def test_every_attribute_has_a_refusal() -> None:
    assert ATTRIBUTES
    assert set(MESSAGES) == set(ATTRIBUTES)
    assert set(MESSAGES) == {*RANGES, *WORDS, *FLAGS, *STEPS, MEMORY}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_refusal_names_the_parameter(name: str) -> None:
    keyword = KEYWORDS.get(name, name.lower())
    assert MESSAGES[name].startswith(f"{keyword} must be ")


@pytest.mark.parametrize("name", RANGES)
def test_refusal_states_the_range(name: str, macro: dict[str, int]) -> None:
    low, high, scale = RANGES[name]
    number = r"(-?[\d.]+)(us|ms|s|%|kbit|gbit|tbit)?"
    ends = re.search(rf"{number} to {number}(?![^\s,])", MESSAGES[name])
    assert ends, MESSAGES[name]
    said_low = float(ends[1]) * UNITS[ends[2] or ""] * scale
    said_high = float(ends[3]) * UNITS[ends[4] or ""] * scale
    assert abs(said_low - macro[low]) < 1
    assert abs(said_high - macro[high]) < 1


def test_refusal_without_rights_states_the_bound(macro: dict[str, int]) -> None:
    bound = re.search(r'"sch_zrtt: flows above (\d+) need CAP_NET_ADMIN', SOURCE)
    assert bound
    assert int(bound[1]) == macro["TC_ZRTT_FLOWS_UNPRIV"]


@pytest.mark.parametrize("name", STEPS)
def test_refusal_of_steps_states_the_range(name: str, macro: dict[str, int]) -> None:
    assert MESSAGES[name].endswith("above 0 and at most 100%")
    assert macro["TC_ZRTT_STEP_MIN"] == 1
    assert macro["TC_ZRTT_STEP_MAX"] == macro["TC_ZRTT_P_ONE"]


def test_refusal_of_memory_states_both_ends() -> None:
    assert MESSAGES[MEMORY].endswith("above 0 and at most the machine's memory")


@pytest.mark.parametrize("name", WORDS)
def test_refusal_lists_the_words(name: str) -> None:
    enumerators = re.findall(rf"^\t{WORDS[name]}(\w+),", HEADER.read_text(), re.MULTILINE)
    words = re.split(r", | or ", MESSAGES[name].partition(" must be ")[2])
    assert words == [enumerator.lower() for enumerator in enumerators]


@pytest.mark.parametrize("name", FLAGS)
def test_refusal_of_flags_says_0_or_1(name: str) -> None:
    assert MESSAGES[name].endswith(" must be 0 or 1")
