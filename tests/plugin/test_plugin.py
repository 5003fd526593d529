# SPDX-License-Identifier: GPL-2.0
"""q_zrtt.so inside the machine's own tc(8): no qdisc, no root, no network."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from qdisc_netlink import (
    NLA_F_NESTED,
    attr,
    parse_attrs,
    qdisc_message,
    qdisc_options,
)
from uapi import ATTRIBUTES
from uapi_contract import (
    LANE_STATS,
    LANES,
    ROOT,
    XSTATS,
    pack_option,
    pack_xstats,
    shown_xstats,
    unpack_option,
)

P_ONE = 1 << 30
ALPHA_ONE = 1 << 16
RAW = (1 << 31) - 1
ATMS = ["noatm", "atm", "ptm"]

WORDS = {
    "MODE": ["zrtt", "paper", "mrtt", "prto", "blue"],
    "CONTROLLER": ["blue", "pblue", "pi2"],
    "ALPHA_LAW": ["capped", "paper"],
    "HINT": ["clamp", "trust", "ignore"],
    "FAIR": ["flow", "srchost", "dsthost", "dualhost"],
}
FAIR_MARK = len(WORDS["FAIR"])
"""And this, which has a mask."""
ONE = 1 << 8
FLAGS = {
    "STRIP": ("strip", "nostrip"),
    "HANDSHAKE": ("handshake", "nohandshake"),
    "TIMESTAMPS": ("timestamps", "notimestamps"),
    "QUIC": ("quic", "noquic"),
    "ECN": ("ecn", "noecn"),
    "SPLIT_GSO": ("split_gso", "no_split_gso"),
    "NAMES": ("names", "nonames"),
    "LANES": ("lanes", "nolanes"),
    "L4S": ("l4s", "nol4s"),
    "NAT": ("nat", "nonat"),
}


def weights(**by_dscp: float) -> int:
    """As they are sent, by d8, d46 and so on; the others are 1."""
    values = [round(by_dscp.get(f"d{dscp}", 1) * ONE) for dscp in range(64)]
    return int.from_bytes(struct.pack("=64H", *values), "little")


ALPHA_FIXED = len(WORDS["ALPHA_LAW"])

# The defaults of design, in the order of the command line.
DEFAULT_LINE = (
    "mode zrtt limit 1000000 memory_limit 32Mb controller pi2 target 15ms "
    "tupdate 16ms threshold 100 freeze 50ms increment 2% decrement 0.2% alpha capped "
    "alpha_max 1.25 pth 4% feedback 2 mark_max 25% flows 16384 hint clamp nomark_rtt nostrip "
    "handshake notimestamps quic ecn split_gso nonames lanes nol4s "
    "fair flow prefix6 64 nonat unlimited raw mpu 0 noatm noceil noweight"
)
DEFAULTS = {
    "MODE": 0,
    "LIMIT": 1_000_000,
    "MEMORY_LIMIT": 32 << 20,
    "CONTROLLER": 2,
    "TARGET": 15_000,
    "TUPDATE": 16_000,
    "THRESHOLD": 100,
    "FREEZE": 50_000,
    "INCREMENT": round(0.02 * P_ONE),
    "DECREMENT": round(0.002 * P_ONE),
    "ALPHA_LAW": 0,
    "ALPHA_MAX": ALPHA_ONE * 5 // 4,
    "PTH": round(0.04 * P_ONE),
    "FEEDBACK": 2,
    "MARK_MAX": round(0.25 * P_ONE),
    "FLOWS": 16384,
    "HINT": 0,
    "MARK_RTT": 0,
    "STRIP": 0,
    "HANDSHAKE": 1,
    "TIMESTAMPS": 0,
    "QUIC": 1,
    "ECN": 1,
    "SPLIT_GSO": 1,
    "NAMES": 0,
    "LANES": 1,
    "L4S": 0,
    "FAIR": 0,
    "PREFIX6": 64,
    "NAT": 0,
    "BANDWIDTH": 0,
    "OVERHEAD": RAW,
    "MPU": 0,
    "ATM": 0,
    "WEIGHT_MASK": 0,
    "WEIGHT_DSCP": weights(),
    "AUTO": 0,
    "AUTO_MIN": 16_000,
    "AUTO_MAX": 1_250_000_000,
    "CEIL": 0,
}


@dataclass(frozen=True)
class Tc:
    """tc(8) with the plugin, its requests caught and its replies invented."""

    binary: str
    plugin: Path
    shim: Path
    scratch: Path

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        preload = {"LD_PRELOAD": str(self.shim), "TC_LIB_DIR": str(self.plugin.parent)}
        return subprocess.run(
            [self.binary, *args],
            check=False,
            env=os.environ | preload | env,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def add(self, line: str, verb: str = "add") -> tuple[subprocess.CompletedProcess[str], bytes | None]:
        """Type the line; the request tc would send, None if it sends none."""
        request = self.scratch / "request"
        request.unlink(missing_ok=True)
        args = ["qdisc", verb, "dev", "lo", "root", "zrtt", *line.split()]
        done = self.run(*args, ZRTT_REQUEST=str(request))
        return done, request.read_bytes() if request.exists() else None

    def sent(self, line: str, verb: str = "add") -> dict[str, int]:
        """Attributes that the line sends, checked for size and repetition."""
        done, request = self.add(line, verb)
        assert done.returncode == 0, done.stderr
        assert request is not None
        kind, options = qdisc_options(request)
        assert kind & NLA_F_NESTED, "strict kernels want the flag"

        names = {attribute.number: name for name, attribute in ATTRIBUTES.items()}
        found: dict[str, int] = {}
        for number, payload in parse_attrs(options):
            name = names[number]
            assert name not in found
            found[name] = unpack_option(name, payload)
        return found

    def shown(self, options: dict[str, int], xstats: bytes | None = None, **env: str) -> str:
        """What `tc -s` prints for a qdisc with these attributes."""
        packed = b"".join(attr(*pack_option(k, v)) for k, v in options.items())
        messages = self.scratch / "messages"
        messages.write_bytes(qdisc_message(packed, xstats))
        done = self.run("-s", "monitor", "file", str(messages), **env)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    def shown_json(self, options: dict[str, int], xstats: bytes | None = None) -> dict[str, object]:
        (qdisc,) = json.loads(self.shown(options, xstats, ZRTT_JSON="1"))
        return qdisc


def symbols(binary: Path | str, kinds: str) -> set[str]:
    """Dynamic symbols of the given nm(1) types."""
    lines = subprocess.check_output(["nm", "-D", str(binary)], text=True)
    found = (line.split()[-2:] for line in lines.splitlines())
    return {name for kind, name in found if kind in kinds}


def line_of(shown: str) -> str:
    """The parameters as printed, without what tc itself prints before them."""
    match = re.search(r"^qdisc zrtt 8001: .*?refcnt 2 (.*?) *$", shown, re.MULTILINE)
    assert match, shown
    return match.group(1)


@pytest.fixture(scope="session")
def tc(tmp_path_factory: pytest.TempPathFactory) -> Tc:
    binary = shutil.which("tc", path=os.environ["PATH"] + ":/usr/sbin:/sbin")
    assert binary, "tc is not installed"
    out = tmp_path_factory.mktemp("plugin")
    subprocess.run(
        ["make", "-s", "-C", ROOT / "tc-plugin", f"OUT={out}", "CFLAGS=-O2 -Werror"],
        check=True,
    )
    shim = out / "tc_shim.so"
    subprocess.run(
        [os.environ.get("CC", "cc"), "-Wall", "-Werror", "-fPIC", "-shared"]
        + ["-o", shim, Path(__file__).with_name("tc_shim.c"), "-ldl"],
        check=True,
    )
    return Tc(binary, out / "q_zrtt.so", shim, out)


def test_needs_only_what_tc_and_libc_export(tc: Tc) -> None:
    foreign = {name for name in symbols(tc.plugin, "U") if "@GLIBC" not in name}
    assert foreign <= symbols(tc.binary, "T")
    assert "get_u32" in foreign, "nm printed nothing useful"


def test_exports_only_the_name_that_tc_looks_up(tc: Tc) -> None:
    assert symbols(tc.plugin, "TDBR") == {"zrtt_qdisc_util"}


def words_of(name: str) -> list[str]:
    """That stand for an attribute on the command line."""
    several = {"ALPHA_LAW": ["alpha"], "FAIR_MASK": ["fair", "mark"], "WEIGHT_MASK": ["weight", "mark"],
               "WEIGHT_DSCP": ["weight", "dscp"], "AUTO_MIN": ["min"], "AUTO_MAX": ["max"]}  # fmt: skip
    return several.get(name, [name.lower()])


def test_help_names_every_keyword(tc: Tc) -> None:
    done, request = tc.add("help")
    assert request is None and done.returncode == 1
    usage = set(re.findall(r"\w+", done.stderr))
    keywords = {word for name in ATTRIBUTES for word in words_of(name)}
    offs = {off for _, off in FLAGS.values()} | {"nomark_rtt", "unlimited", "raw"}
    assert keywords | offs <= usage
    assert set().union(*WORDS.values(), ATMS) <= usage


def test_help_explains_every_keyword(tc: Tc) -> None:
    heads = re.findall(r"^  ((?:\w+,? )+) +\w", tc.add("help")[0].stderr, re.MULTILINE)
    explained = set(re.findall(r"\w+", " ".join(heads)))
    assert {word for name in ATTRIBUTES for word in words_of(name)} <= explained | {"LIST"}


def test_no_parameter_sends_no_attribute(tc: Tc) -> None:
    assert tc.sent("") == {}


def test_full_line_sends_every_attribute(tc: Tc) -> None:
    of_line = {"AUTO", "AUTO_MIN", "AUTO_MAX"}
    assert tc.sent(DEFAULT_LINE) == {
        name: value for name, value in DEFAULTS.items() if name not in of_line
    }
    assert DEFAULTS.keys() == ATTRIBUTES.keys() - {"ALPHA", "FAIR_MASK"}


@pytest.mark.parametrize(
    ("name", "number"),
    [(n, i) for n, words in WORDS.items() for i in range(len(words))],
)
def test_words(tc: Tc, name: str, number: int) -> None:
    keyword = name.lower().removesuffix("_law")
    assert tc.sent(f"{keyword} {WORDS[name][number]}") == {name: number}


@pytest.mark.parametrize("name", FLAGS)
def test_flags(tc: Tc, name: str) -> None:
    on, off = FLAGS[name]
    assert tc.sent(on) == {name: 1}
    assert tc.sent(off) == {name: 0}


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("limit 1", "LIMIT", 1),
        ("limit 1000000", "LIMIT", 1_000_000),
        ("memory_limit 1", "MEMORY_LIMIT", 1),
        ("memory_limit 1b", "MEMORY_LIMIT", 1),
        ("memory_limit 64k", "MEMORY_LIMIT", 64 << 10),
        ("memory_limit 64Kb", "MEMORY_LIMIT", 64 << 10),
        ("memory_limit 1.5m", "MEMORY_LIMIT", 3 << 19),
        ("memory_limit 32MB", "MEMORY_LIMIT", 32 << 20),
        ("memory_limit 1g", "MEMORY_LIMIT", 1 << 30),
        ("memory_limit 3gb", "MEMORY_LIMIT", 3 << 30),
        ("memory_limit 8kbit", "MEMORY_LIMIT", 1 << 10),
        ("memory_limit 8mbit", "MEMORY_LIMIT", 1 << 20),
        ("memory_limit 8gbit", "MEMORY_LIMIT", 1 << 30),
        ("memory_limit 4294967295", "MEMORY_LIMIT", (1 << 32) - 1),
        ("threshold 1", "THRESHOLD", 1),
        ("threshold 1000000", "THRESHOLD", 1_000_000),
        ("feedback 0", "FEEDBACK", 0),
        ("feedback 3", "FEEDBACK", 3),
        ("flows 64", "FLOWS", 64),
        ("flows 4194304", "FLOWS", 1 << 22),
        ("target 100us", "TARGET", 100),
        ("target 1s", "TARGET", 1_000_000),
        ("target 2500", "TARGET", 2500),
        ("target 2.5ms", "TARGET", 2500),
        ("target 2.5msecs", "TARGET", 2500),
        ("tupdate 0.001sec", "TUPDATE", 1000),
        ("tupdate 1000MS", "TUPDATE", 1_000_000),
        ("freeze 1ms", "FREEZE", 1000),
        ("freeze 10s", "FREEZE", 10_000_000),
        ("increment 2%", "INCREMENT", 21_474_836),
        ("increment 0.02", "INCREMENT", 21_474_836),
        ("increment .02", "INCREMENT", 21_474_836),
        ("increment 1", "INCREMENT", P_ONE),
        ("decrement 0.2%", "DECREMENT", 2_147_484),
        ("decrement 0.0000001%", "DECREMENT", 1),
        ("decrement 100%", "DECREMENT", P_ONE),
        ("pth 0.01%", "PTH", P_ONE // 10_000),
        ("pth 4%", "PTH", 42_949_673),
        ("mark_max 0", "MARK_MAX", 0),
        ("mark_max 100%", "MARK_MAX", P_ONE),
        ("alpha_max 0", "ALPHA_MAX", 0),
        ("alpha_max 1.25", "ALPHA_MAX", 81_920),
        ("alpha_max 4.0", "ALPHA_MAX", 4 * ALPHA_ONE),
        ("limit 5 limit 6", "LIMIT", 6),
        ("ecn noecn", "ECN", 0),
        ("mark_rtt 0xffff", "MARK_RTT", 0xFFFF),
        ("mark_rtt 0xffff0000", "MARK_RTT", 0xFFFF0000),
        ("mark_rtt 0x80000000", "MARK_RTT", 1 << 31),
        ("mark_rtt 1", "MARK_RTT", 1),
        ("mark_rtt 4080", "MARK_RTT", 0xFF0),
        ("mark_rtt 0", "MARK_RTT", 0),
        ("nomark_rtt", "MARK_RTT", 0),
        ("mark_rtt 0xff nomark_rtt", "MARK_RTT", 0),
        ("nomark_rtt mark_rtt 0xff", "MARK_RTT", 0xFF),
        ("bandwidth 8kbit", "BANDWIDTH", 1000),
        ("bandwidth 8000", "BANDWIDTH", 1000),
        ("bandwidth 20Mbit", "BANDWIDTH", 2_500_000),
        ("bandwidth 1.5mbit", "BANDWIDTH", 187_500),
        ("bandwidth 100gbit", "BANDWIDTH", 12_500_000_000),
        ("bandwidth 1tbit", "BANDWIDTH", 125_000_000_000),
        ("bandwidth 2500kbps", "BANDWIDTH", 2_500_000),
        ("bandwidth 1mbit unlimited", "BANDWIDTH", 0),
        ("ceil 8kbit", "CEIL", 1000),
        ("ceil 100gbit", "CEIL", 12_500_000_000),
        ("ceil 1mbit noceil", "CEIL", 0),
        ("overhead -64", "OVERHEAD", -64),
        ("overhead 0", "OVERHEAD", 0),
        ("overhead 256", "OVERHEAD", 256),
        ("overhead 18 raw", "OVERHEAD", RAW),
        ("mpu 256", "MPU", 256),
        ("atm", "ATM", 1),
        ("atm ptm", "ATM", 2),
        ("ptm noatm", "ATM", 0),
    ],
)
def test_values(tc: Tc, line: str, name: str, value: int) -> None:
    assert tc.sent(line) == {name: value}


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("fair mark 0xff00", {"FAIR": FAIR_MARK, "FAIR_MASK": 0xFF00}),
        ("fair mark 0xffffff00 fair srchost", {"FAIR": 1}),
        ("prefix6 1", {"PREFIX6": 1}),
        ("prefix6 128", {"PREFIX6": 128}),
        ("weight mark 0xff", {"WEIGHT_MASK": 0xFF, "WEIGHT_DSCP": weights()}),
        ("weight dscp EF:4,CS1:0.25", {"WEIGHT_MASK": 0, "WEIGHT_DSCP": weights(d46=4, d8=0.25)}),
        ("weight dscp af41:64,0x3f:0.0625", {"WEIGHT_MASK": 0, "WEIGHT_DSCP": weights(d34=64, d63=0.0625)}),
        ("weight dscp cs0:2 weight mark 0x3", {"WEIGHT_MASK": 3, "WEIGHT_DSCP": weights(d0=2)}),
        ("weight mark 0x3 noweight", {"WEIGHT_MASK": 0, "WEIGHT_DSCP": weights()}),
        ("bandwidth auto", {"AUTO": 1}),
        ("bandwidth auto min 1mbit max 10gbit", {"AUTO": 1, "AUTO_MIN": 125_000, "AUTO_MAX": 1_250_000_000}),
        ("bandwidth auto ingress", {"AUTO": 2}),
        ("bandwidth auto ingress egress", {"AUTO": 1}),
        ("bandwidth 1mbit bandwidth auto", {"AUTO": 1}),
        ("bandwidth auto bandwidth 1mbit", {"BANDWIDTH": 125_000}),
        ("bandwidth auto unlimited", {"BANDWIDTH": 0}),
        ("max 1mbit bandwidth auto min 8kbit ingress", {"AUTO": 2, "AUTO_MIN": 1000, "AUTO_MAX": 125_000}),
    ],
)  # fmt: skip
def test_several_attributes(tc: Tc, line: str, values: dict[str, int]) -> None:
    assert tc.sent(line) == values


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("fair", '"fair" must be flow | srchost | dsthost | dualhost | mark, but the line ends'),
        ("fair host", '"fair" must be flow | srchost'),
        ("fair mark", '"fair mark" must be 1..24 adjacent bits, but the line ends'),
        ("fair mark 0", '"fair mark" must be 1..24 adjacent bits, not "0"'),
        ("fair mark 0x5", '"fair mark" must be 1..24 adjacent bits, not "0x5"'),
        ("fair mark 0x1ffffff", '"fair mark" must be 1..24 adjacent bits'),
        ("prefix6 0", '"prefix6" must be 1..128 bits'),
        ("prefix6 129", '"prefix6" must be 1..128 bits'),
        ("weight", '"weight" must be mark MASK | dscp DSCP:WEIGHT,..., but the line ends'),
        ("weight tos 1", '"weight" must be mark MASK | dscp DSCP:WEIGHT,...'),
        ("weight mark 0x1ff", '"weight mark" must be 1..8 adjacent bits'),
        ("weight mark", '"weight mark" must be 1..8 adjacent bits, but the line ends'),
        ("weight dscp", '"weight" must be mark MASK | dscp DSCP:WEIGHT,..., but the line ends'),
        ("weight dscp EF", '"weight dscp" must be DSCP:WEIGHT,...'),
        ("weight dscp EF:0", '"weight dscp" must be DSCP:WEIGHT,...'),
        ("weight dscp EF:65", '"weight dscp" must be DSCP:WEIGHT,...'),
        ("weight dscp EF:2,46:3", '"weight dscp" must be DSCP:WEIGHT,...'),
        ("weight dscp CS8:1", '"weight dscp" must be DSCP:WEIGHT,...'),
        ("weight dscp AF44:1", '"weight dscp" must be DSCP:WEIGHT,...'),
        ("weight dscp 64:1", '"weight dscp" must be DSCP:WEIGHT,...'),
        ("weight dscp EF:2,", '"weight dscp" must be DSCP:WEIGHT,...'),
        ("egress", '"egress" needs "bandwidth auto"'),
        ("bandwidth 20mbit ingress", '"ingress" needs "bandwidth auto"'),
        ("ingress bandwidth auto", '"ingress" needs "bandwidth auto"'),
        ("bandwidth auto unlimited egress", '"egress" needs "bandwidth auto"'),
        ("min 1mbit", '"min" needs "bandwidth auto"'),
        ("bandwidth 20mbit max 50mbit", '"max" needs "bandwidth auto"'),
        ("bandwidth auto min 7kbit", '"min" must be 8Kbit..10Gbit, not "7kbit"'),
        ("bandwidth auto max 11gbit", '"max" must be 8Kbit..10Gbit, not "11gbit"'),
        ("bandwidth auto max", '"max" must be 8Kbit..10Gbit, but the line ends'),
    ],
)
def test_several_attributes_that_are_refused(tc: Tc, line: str, says: str) -> None:
    done, request = tc.add(line)
    assert (done.returncode, request) == (1, None)
    assert done.stderr.startswith(f"zrtt: {says}")


def test_change_takes_the_bounds_of_a_rate_that_is_found(tc: Tc) -> None:
    """And of no rate that it sets itself; whose line it is stays or is said anew."""
    assert tc.sent("min 1mbit max 50mbit", "change") == {"AUTO_MIN": 125_000, "AUTO_MAX": 6_250_000}
    for line, word in (("bandwidth 1mbit max 2mbit", "max"), ("ingress", "ingress")):
        done, request = tc.add(line, "change")
        assert (done.returncode, request) == (1, None)
        assert done.stderr.startswith(f'zrtt: "{word}" needs "bandwidth auto"')


@pytest.mark.parametrize(
    "line",
    [
        "fair mark 0xff00 prefix6 56 nat",
        "fair srchost prefix6 64 nonat",
        "ceil 1.5Mbit",
        "weight mark 0xff",
        "weight dscp CS1:0.25,AF41:2,EF:4,63:0.125",
        "weight mark 0xff weight dscp CS0:64",
        "bandwidth auto egress min 1Mbit max 10Gbit",
        "bandwidth auto ingress min 8Kbit max 50Mbit",
    ],
)
def test_several_attributes_can_be_typed_back(tc: Tc, line: str) -> None:
    sent = tc.sent(line)
    values = DEFAULTS | sent
    shown = line_of(tc.shown(values))
    assert f" {line}" in shown
    # of a line either the rate is shown, or how it is found
    of_line = ("BANDWIDTH",) if "AUTO" in sent else ("AUTO", "AUTO_MIN", "AUTO_MAX")
    assert tc.sent(shown) == {name: value for name, value in values.items() if name not in of_line}


@pytest.mark.parametrize("value", ["0", "0.333333", "2", "4"])
def test_fixed_alpha(tc: Tc, value: str) -> None:
    alpha = round(float(value) * ALPHA_ONE)
    assert tc.sent(f"alpha {value}") == {"ALPHA_LAW": ALPHA_FIXED, "ALPHA": alpha}


def test_later_alpha_law_overrides_the_value(tc: Tc) -> None:
    assert tc.sent("alpha 2 alpha paper") == {"ALPHA_LAW": 1}


def test_locale_does_not_matter(tc: Tc) -> None:
    done, request = tc.add("alpha 1,5")
    assert done.returncode == 1 and request is None


MASKS = ["0x5", "0x1ffff", "0xffff8000", "0xffffffff", "0x80000001", "0x100000000", "-1", "x", "0x"]
COUNTS = ["-1", "1.5", "x", "0x10", "4294967297", "18446744073709551617", "5p"]
NUMBERS = ["-1", "x", ".", "1.2.3", "1e0", "0x1", "nan", "inf", "9" * 400]
TOO_LONG = ["4295s", "4294967297us", "-1ms", "5ns"]


@pytest.mark.parametrize(
    ("keyword", "accepts", "values"),
    [
        ("mode", "zrtt | paper | mrtt | prto | blue", ["fifo", "zrt", "ZRTT"]),
        ("limit", "1..1000000 packets", ["0", "1000001", *COUNTS]),
        ("memory_limit", "1b..4294967295b", ["0", "0.4b", "4g", "1t", "32mib", *NUMBERS]),
        ("controller", "blue | pblue | pi2", ["pie"]),
        ("target", "100us..1s", ["99us", "1000001", *NUMBERS, *TOO_LONG]),
        ("tupdate", "1ms..1s", ["999us", "1.1s", *NUMBERS, *TOO_LONG]),
        ("threshold", "1..1000000 packets", ["0", "1000001", *COUNTS]),
        ("freeze", "1ms..10s", ["999us", "10.1s", *NUMBERS, *TOO_LONG]),
        ("increment", "0.0000001%..100%", ["0", "100.1%", "2", "2%%", *NUMBERS]),
        ("decrement", "0.0000001%..100%", ["0%", "101%", "1.01", "5ms"]),
        ("alpha", "capped | paper | 0..4", ["auto", "fixed", "4.1", "2%", *NUMBERS]),
        ("alpha_max", "0..4", ["auto", "4.00002", *NUMBERS]),
        ("pth", "0.01%..100%", ["0.0099%", "1.1", "-4%"]),
        ("feedback", "0..3", ["4", "off", "1.0"]),
        ("mark_max", "0%..100%", ["100.001%", "-0.1", "10%x"]),
        ("flows", "64..4194304 and a power of two", ["63", "100", "8388608", "0"]),
        ("hint", "clamp | trust | ignore", ["off"]),
        ("mark_rtt", "0..16 adjacent bits", MASKS),
        ("bandwidth", "auto | 8Kbit..1000Gbit", ["0", "7kbit", "1.1tbit", "20%", *NUMBERS]),
        ("overhead", "-64..256 bytes", ["-65", "257", "x", "1.5", "2147483647"]),
        ("mpu", "0..256 bytes", ["257", *COUNTS]),
    ],
)
def test_refusals_name_the_parameter_and_its_range(
    tc: Tc, keyword: str, accepts: str, values: list[str]
) -> None:
    expected = f'zrtt: "{keyword}" must be {accepts}'
    for value in values:
        done, request = tc.add(f"{keyword} {value}")
        assert done.returncode == 1, value
        assert request is None, value
        assert done.stderr == f'{expected}, not "{value}"\n'

    done, request = tc.add(keyword)
    assert (done.returncode, request) == (1, None)
    assert done.stderr == f"{expected}, but the line ends\n"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("limit 10 quantum 1514", "quantum"),
        ("auto", "auto"),
        ("bandwidth 20mbit auto", "auto"),
        ("unlimited auto", "auto"),
        ("bandwidth auto noauto", "noauto"),
    ],
)
def test_unknown_keyword(tc: Tc, line: str, word: str) -> None:
    done, request = tc.add(line)
    assert (done.returncode, request) == (1, None)
    assert done.stderr.startswith(f'What is "{word}"?\nUsage: ... zrtt ')


def test_empty_keyword(tc: Tc) -> None:
    done = tc.run("qdisc", "add", "dev", "lo", "root", "zrtt", "bandwidth", "auto", "")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, 'What is ""?')


def test_text_is_the_command_line(tc: Tc) -> None:
    assert line_of(tc.shown(DEFAULTS)) == DEFAULT_LINE


def test_text_can_be_typed_back_without_loss(tc: Tc) -> None:
    rng = random.Random(1)
    ranges = {
        "MEMORY_LIMIT": (1, (1 << 32) - 1),
        "TARGET": (100, 1_000_000),
        "FREEZE": (1000, 10_000_000),
        "INCREMENT": (1, P_ONE),
        "DECREMENT": (1, 10_000),
        "PTH": (P_ONE // 10_000, P_ONE),
        "MARK_MAX": (0, P_ONE),
        "ALPHA": (0, 4 * ALPHA_ONE),
        "ALPHA_MAX": (0, 4 * ALPHA_ONE),
    }
    lows = {name: low for name, (low, _) in ranges.items()}
    highs = {name: high for name, (_, high) in ranges.items()}
    drawn = [{n: rng.randint(*r) for n, r in ranges.items()} for _ in range(60)]
    for values in drawn:
        bits = rng.randint(1, 16)
        values["BANDWIDTH"] = round(10 ** rng.uniform(3, 11))
        values["OVERHEAD"] = rng.randint(-64, 256)
        values["MPU"] = rng.randint(0, 256)
        values["ATM"] = rng.randint(0, 2)
        values["MARK_RTT"] = ((1 << bits) - 1) << rng.randint(0, 32 - bits)
    for values in [lows, highs, *drawn]:
        options = DEFAULTS | values | {"ALPHA_LAW": ALPHA_FIXED}
        assert tc.sent(line_of(tc.shown(options))) == {
            name: value for name, value in options.items() if not name.startswith("AUTO")
        }


def test_json_options(tc: Tc) -> None:
    options = tc.shown_json(DEFAULTS)["options"]
    assert options == {
        "mode": "zrtt",
        "limit": 1_000_000,
        "memory_limit": 32 << 20,
        "controller": "pi2",
        "target": 15_000,
        "tupdate": 16_000,
        "threshold": 100,
        "freeze": 50_000,
        "increment": 0.02,
        "decrement": 0.002,
        "alpha": "capped",
        "alpha_max": 1.25,
        "pth": 0.04,
        "feedback": 2,
        "mark_max": 0.25,
        "flows": 16384,
        "hint": "clamp",
        "mark_rtt": "0",
        "strip": False,
        "handshake": True,
        "timestamps": False,
        "quic": True,
        "ecn": True,
        "split_gso": True,
        "names": False,
        "lanes": True,
        "l4s": False,
        "fair": "flow",
        "prefix6": 64,
        "nat": False,
        "bandwidth": 0,
        "overhead": "raw",
        "mpu": 0,
        "atm": "noatm",
        "ceil": 0,
        "weight_mark": "0",
        "weight_dscp": {},
    }
    known = tc.shown_json(
        DEFAULTS | {"FAIR": FAIR_MARK, "FAIR_MASK": 0xFF00, "WEIGHT_MASK": 7, "WEIGHT_DSCP": weights(d46=4)}
    )["options"]
    assert [known[name] for name in ("fair", "fair_mark", "weight_mark", "weight_dscp")] == [
        "mark", "0xff00", "0x7", {"EF": 4.0},
    ]  # fmt: skip
    assert all(isinstance(options[name.lower()], bool) for name in FLAGS)
    fixed = DEFAULTS | {"ALPHA_LAW": ALPHA_FIXED, "ALPHA": ALPHA_ONE * 3 // 2}
    assert tc.shown_json(fixed)["options"]["alpha"] == 1.5
    marked = DEFAULTS | {"MARK_RTT": 0xFFFF0000}
    assert tc.shown_json(marked)["options"]["mark_rtt"] == "0xffff0000"
    assert "hint clamp mark_rtt 0xffff0000 nostrip" in line_of(tc.shown(marked))


def test_json_of_a_shaper(tc: Tc) -> None:
    shaped = DEFAULTS | {"BANDWIDTH": 2_500_000, "OVERHEAD": -4, "MPU": 64, "ATM": 2}
    options = tc.shown_json(shaped)["options"]
    assert isinstance(options, dict)
    assert [options[name] for name in ("bandwidth", "overhead", "mpu", "atm")] == [
        2_500_000, -4, 64, "ptm",
    ]  # fmt: skip
    assert line_of(tc.shown(shaped)).endswith("bandwidth 20Mbit overhead -4 mpu 64 ptm noceil noweight")
    found = tc.shown_json(shaped | {"AUTO": 2, "AUTO_MIN": 1000, "AUTO_MAX": 5_000_000})["options"]
    assert [found[name] for name in ("bandwidth", "auto", "min", "max")] == [
        2_500_000, "ingress", 1000, 5_000_000,
    ]  # fmt: skip
    assert not {"auto", "min", "max"} & set(options)


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (1, "1b"), (1023, "1023b"), (1 << 10, "1Kb"), (1025, "1025b"), (1500 << 10, "1500Kb"),
        ((1 << 20) - 1, "1048575b"), (1 << 20, "1Mb"), ((1 << 20) + 1, "1048577b"),
        (1 << 30, "1024Mb"), ((1 << 32) - 1, "4294967295b"),
    ],
)  # fmt: skip
def test_sizes_are_exact(tc: Tc, size: int, shown: str) -> None:
    assert line_of(tc.shown({"MEMORY_LIMIT": size})) == f"memory_limit {shown}"
    assert tc.sent(f"memory_limit {shown}") == {"MEMORY_LIMIT": size}


def test_parameter_that_an_older_kernel_lacks(tc: Tc) -> None:
    older = {name: value for name, value in DEFAULTS.items() if name != "LANES"}
    assert line_of(tc.shown(older)) == DEFAULT_LINE.replace(" lanes ", " ")
    options = tc.shown_json(older)["options"]
    assert isinstance(options, dict)
    assert "lanes" not in options


def test_words_of_a_newer_kernel(tc: Tc) -> None:
    assert line_of(tc.shown({"MODE": 99, "LIMIT": 7})) == "mode unknown limit 7"


# Each field has a value of its own, wide ones beyond 32 bits.
STATS = {
    field: (1 << 40) + i if width == "Q" else 1000 + i for i, (field, width) in enumerate(XSTATS)
} | {"prob": P_ONE // 8, "alpha": ALPHA_ONE * 3 // 4, "delay_us": 15_666}
PIE_FIELDS = {"prob", "delay_us", "dq_rate", "packets_in", "drop_limit", "drop_mark"}
STATS_JSON = shown_xstats(STATS) | {"prob": 0.125, "alpha": 0.75}
LANE_VALUES = [
    {
        field: (1 << 41) + 100 * lane + i if width == "Q" else 2000 + 100 * lane + i
        for i, (field, width) in enumerate(LANE_STATS)
    }
    for lane in range(len(LANES))
]
LANES_JSON = [
    {"name": name, **values} for name, values in zip(LANES, LANE_VALUES, strict=True)
]


def test_json_statistics_have_every_field(tc: Tc) -> None:
    qdisc = tc.shown_json(DEFAULTS, pack_xstats(STATS))
    assert {field: qdisc[field] for field in STATS_JSON} == STATS_JSON


def test_text_statistics(tc: Tc) -> None:
    shown = tc.shown(DEFAULTS, pack_xstats(STATS))
    words = shown.split()
    pairs = set(itertools.pairwise(words))
    for field in STATS_JSON.keys() - PIE_FIELDS - {"alpha", "rtt_avg_us"}:
        assert (field, str(STATS[field])) in pairs
    assert f"  alpha 0.750 rtt_avg {STATS['rtt_avg_us'] / 1000:g}ms" in shown


def test_json_statistics_have_every_lane(tc: Tc) -> None:
    """Beside the parameter of that name, which is among the options."""
    qdisc = tc.shown_json(DEFAULTS, pack_xstats(STATS, LANE_VALUES))
    assert qdisc["lanes"] == LANES_JSON
    assert {field: qdisc[field] for field in STATS_JSON} == STATS_JSON
    options = qdisc["options"]
    assert isinstance(options, dict)
    assert options["lanes"] is True


def test_text_has_a_line_for_each_lane(tc: Tc) -> None:
    before = tc.shown(DEFAULTS, pack_xstats(STATS)).splitlines()
    shown = tc.shown(DEFAULTS, pack_xstats(STATS, LANE_VALUES)).splitlines()
    added = [
        f"  lane {name} packets {lane['packets']} bytes {lane['bytes']} marks {lane['marks']} drops {lane['drops']} "
        f"backlog_packets {lane['backlog_packets']} delay {lane['delay_us'] / 1000:g}ms"
        for name, lane in zip(LANES, LANE_VALUES, strict=True)
    ]
    assert [line for line in shown if line not in before] == added
    assert [line for line in shown if line not in added] == before
    last = next(i for i, line in enumerate(before) if " limit_now " in line)
    assert shown[last + 1 : last + 1 + len(LANES)] == added


def test_hosts_have_a_line_if_there_are_any(tc: Tc) -> None:
    values = {"hosts": 12, "hosts_held": 5, "host_due": 150_000, "hosts_evicted": 1 << 40}
    packed = pack_xstats(STATS, LANE_VALUES, values)
    shown = tc.shown(DEFAULTS, packed).splitlines()
    assert f"  hosts 12 hosts_held 5 host_due 1200Kbit hosts_evicted {1 << 40}" in shown
    qdisc = tc.shown_json(DEFAULTS, packed)
    assert {name: qdisc[name] for name in values} == values
    nobody = dict.fromkeys(values, 0)
    packed = pack_xstats(STATS, LANE_VALUES, nobody)
    assert not re.search(r"^  hosts ", tc.shown(DEFAULTS, packed), re.MULTILINE)
    qdisc = tc.shown_json(DEFAULTS, packed)
    assert {name: qdisc[name] for name in values} == nobody
    older = tc.shown_json(DEFAULTS, pack_xstats(STATS, LANE_VALUES))
    assert "hosts" not in older


NO_HOSTS = {"hosts": 0, "hosts_held": 0, "host_due": 0, "hosts_evicted": 0}


def test_line_whose_rate_is_found_has_a_line(tc: Tc) -> None:
    values = {
        "line_rate": 2_500_000, "line_measured": 2_600_000, "line_lowered": 1 << 40, "line_raised": 7,
        "line_state": 4, "line_queue_us": 1500, "line_hosts": 3, "line_lost": 1 << 41, "line_ceiling": 2_700_000,
    }  # fmt: skip
    packed = pack_xstats(STATS, LANE_VALUES, NO_HOSTS, values)
    expected = f"  line 20Mbit queue measured 20800Kbit queue 1.5ms hosts 3 lowered {1 << 40} raised 7"
    expected += f" lost {1 << 41} ceiling 21600Kbit"
    assert expected in tc.shown(DEFAULTS, packed).splitlines()
    assert tc.shown_json(DEFAULTS, packed)["line"] == {
        "rate": 2_500_000, "state": "queue", "measured": 2_600_000, "queue_us": 1500, "hosts": 3,
        "lowered": 1 << 40, "raised": 7, "lost": 1 << 41, "ceiling": 2_700_000,
    }  # fmt: skip
    nothing = pack_xstats(STATS, LANE_VALUES, NO_HOSTS, dict.fromkeys(values, 0))
    assert not re.search(r"^  line ", tc.shown(DEFAULTS, nothing), re.MULTILINE)
    assert "line" not in tc.shown_json(DEFAULTS, nothing)
    assert "line" not in tc.shown_json(DEFAULTS, pack_xstats(STATS, LANE_VALUES, NO_HOSTS, None))


def test_flows_of_quic_are_shown(tc: Tc) -> None:
    hosts = {"hosts": 12, "hosts_held": 5, "host_due": 150_000, "hosts_evicted": 1}
    packed = pack_xstats(STATS, LANE_VALUES, hosts, {"flows_quic": 7})
    assert " flows_quic 7 evicted " in tc.shown(DEFAULTS, packed)
    assert tc.shown_json(DEFAULTS, packed)["flows_quic"] == 7
    older = tc.shown_json(DEFAULTS, pack_xstats(STATS, LANE_VALUES, hosts, None))
    assert (older["flows_quic"], older["hosts"]) == (0, 12)


@pytest.mark.parametrize("prob", [0, 1, P_ONE // 100_000, P_ONE // 8, P_ONE])
def test_flent_reads_the_statistics_of_pie(tc: Tc, prob: int) -> None:
    """The form that flent's TcRunner looks for; no other line may match it."""
    stats = STATS | {"prob": prob}
    shown = tc.shown(DEFAULTS, pack_xstats(stats, LANE_VALUES))
    (first,) = re.findall(r"prob ([0-9.]+) delay ([0-9.]+)([mu]?s) avg_dq_rate (\d+)", shown)
    (second,) = re.findall(
        r"pkts_in (\d+) overlimit (\d+) dropped (\d+) maxq (\d+) ecn_mark (\d+)", shown
    )
    assert float(first[0]) == pytest.approx(prob / P_ONE, abs=1e-6)
    assert first[1:] == ("15.666", "ms", str(stats["dq_rate64"]))
    fields = ["packets_in", "drop_limit", "drop_mark", "maxq", "ecn_mark"]
    assert [int(number) for number in second] == [stats[field] for field in fields]


def test_shorter_and_longer_statistics(tc: Tc) -> None:
    whole = pack_xstats(STATS, LANE_VALUES)
    scalars = len(pack_xstats(STATS))
    end = 0
    for known, (_, width) in enumerate(XSTATS, start=1):
        end += struct.calcsize(width)
        qdisc = tc.shown_json(DEFAULTS, whole[:end])
        there = {field: STATS[field] if i < known else 0 for i, (field, _) in enumerate(XSTATS)}
        want = shown_xstats(there)
        want |= {field: STATS_JSON[field] for field in ("prob", "alpha") if want[field]}
        assert {field: qdisc[field] for field in want} == want
        assert "lanes" not in qdisc
    assert end == scalars

    for cut in range(scalars, len(whole), 4):
        assert "lanes" not in tc.shown_json(DEFAULTS, whole[:cut])
        assert "  lane " not in tc.shown(DEFAULTS, whole[:cut])

    qdisc = tc.shown_json(DEFAULTS, whole + b"\xff" * 24)
    assert {field: qdisc[field] for field in STATS_JSON} == STATS_JSON
    assert qdisc["lanes"] == LANES_JSON


def test_departure_rate_above_32_bits(tc: Tc) -> None:
    """What 32 bits end at, 34 Gbit/s, is shown of an older kernel only."""
    rate, most = 12_500_000_000, (1 << 32) - 1
    whole = pack_xstats(STATS | {"dq_rate": most, "dq_rate64": rate})
    older = whole[: whole.rindex(struct.pack("=Q", rate))]
    for xstats, shown in ((whole, rate), (older, most)):
        assert tc.shown_json(DEFAULTS, xstats)["dq_rate"] == shown
        assert f" avg_dq_rate {shown}\n" in tc.shown(DEFAULTS, xstats)
