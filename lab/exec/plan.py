# SPDX-License-Identifier: GPL-2.0
"""What `lab exec` is to run, and the file that says so (docs/exec.md)."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.exec import vary
from lab.exec.builds import BUILDS
from lab.model.options import ScenarioError
from lab.model.scenario import CCS, MAX_RTT_MS, MIN_RATE_BPS
from lab.model.units import UnitError, parse_rate, parse_time

LEFT, RIGHT = "left", "right"
MAX_HOSTS = 250
"""On each side."""
MAX_S = 3600.0
NAME = re.compile(r"[a-z][a-z0-9-]{0,11}")
"""Of hosts and commands: a network namespace, the start of a device's name."""
PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]+")
RESERVED = ("router", "core", "localhost")
KINDS = {
    str: "text", float: "a number", int: "a whole number", bool: "true or false",
    list: "a list", dict: "a table",
}  # fmt: skip
FIGURES = ("jain", "class_ratio", "utilisation", "sojourn_mean_ms", "sojourn_p95_ms")
"""Of a run, that a target can be about; samples of a command come to these."""
SIZES = {"kB": 10**3, "MB": 10**6, "GB": 10**9}


@dataclass(frozen=True)
class Host:
    """A host, on a link of its own."""

    name: str
    side: str
    number: int
    """Among those of its side."""
    rtt_ms: float
    """What it adds to the RTT of each connection."""
    cc: str

    @property
    def address(self) -> str:
        """Its own."""
        return f"10.{int(self.side == RIGHT)}.{self.number}.2"

    @property
    def gateway(self) -> str:
        """The other end of its link."""
        return f"10.{int(self.side == RIGHT)}.{self.number}.1"


@dataclass(frozen=True)
class Endpoint:
    """Where a server listens."""

    protocol: str
    """tcp or udp."""
    port: int

    @classmethod
    def parse(cls, text: str) -> Endpoint:
        """Reads "tcp 80"."""
        match = re.fullmatch(r"(tcp|udp) (\d{1,5})", text)
        if not match or not 0 < int(match[2]) < 65536:
            raise ScenarioError('want "tcp PORT" or "udp PORT"')
        return cls(match[1], int(match[2]))


@dataclass(frozen=True)
class Command:
    """A program that runs on a host, in a folder of its own."""

    name: str
    host: str
    words: tuple[str, ...]
    start_s: float = 0.0
    listen: Endpoint | None = None
    """A server's: time starts when all of them listen."""
    ends: bool = False
    """It must end by itself before the run does."""
    programs: tuple[str, ...] = ()
    """That it runs, beside the first of its words."""
    files: tuple[Path, ...] = ()
    """Absolute: at the same path in the guest; else beside the file, copied to its folder."""
    zeros: dict[str, int] = field(default_factory=dict)
    """Files of so many zero bytes in its folder."""
    samples: str = ""
    """The unit of the numbers that it prints; empty if it prints none."""
    at: str = ""
    """Where it is described: the file and the line."""


@dataclass(frozen=True)
class Class:
    """A name for flows with such an end; what is None may be any."""

    name: str
    host: str | None = None
    protocol: str | None = None
    port: int | None = None


@dataclass(frozen=True)
class Target:
    """What is expected of a figure over zrtt."""

    metric: str
    min: float | None
    max: float | None
    not_above: tuple[str, ...]
    """Kinds of qdiscs whose figure it must not exceed, if they are run, too."""


@dataclass(frozen=True)
class Plan:
    """A checked file, or a variant of it."""

    path: Path
    variant: str
    """Its values, as "cc=bbr,ecn=true"; empty without [[vary]]."""
    rate_bps: int
    rate_back_bps: int | None
    """From right to left; None: no bottleneck."""
    duration_s: float
    warmup_s: float
    ecn: bool
    min_rate_bps: int
    """Flows that send less, and could not send more, have no part in Jain's index."""
    present: float
    """Nor those there for a smaller share of the measured time."""
    hosts: tuple[Host, ...]
    commands: tuple[Command, ...]
    classes: tuple[Class, ...]
    targets: tuple[Target, ...]
    packages: tuple[str, ...]
    """Of Debian, that have programs."""
    builds: tuple[str, ...]
    """Programs of the laboratory's own."""

    @property
    def total_s(self) -> float:
        """Virtual seconds from the time that all servers listen."""
        return self.warmup_s + self.duration_s

    def host(self, name: str) -> Host:
        """The host of that name."""
        return next(host for host in self.hosts if host.name == name)

    def side(self, side: str) -> list[Host]:
        """All hosts of a side."""
        return [host for host in self.hosts if host.side == side]


class _Reader:
    """Reads a document; errors name the file and the key."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text()
            self.top: dict[str, Any] = tomllib.loads(self.text)
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ScenarioError(f"{path}: {error}") from error

    def error(self, key: str, message: object) -> ScenarioError:
        line = self._line(key)
        return ScenarioError(f"{self.path}{f':{line}' if line else ''}: {key}: {message}")

    def _line(self, key: str) -> int:
        """The line of a key, or the next one up that has one; 0 if there is none.

        tomllib forgets lines, so the text is searched: for the key, below its table.
        """
        names = re.findall(r"[^.\[\]]+|\[\d+\]", key)
        lines = self.text.splitlines()
        at, seen = 0, 0
        for depth, name in enumerate(names):
            if re.fullmatch(r"\[\d+\]", name):
                header = re.compile(rf"\s*\[\[\s*{re.escape(names[depth - 1])}\s*\]\]")
                starts = [number for number, line in enumerate(lines, 1) if header.match(line)]
                index = int(name[1:-1]) - 1
                at = seen = starts[index] if index < len(starts) else seen
                continue
            wanted = re.compile(
                rf"\s*(\[+[^\]]*\b)?{re.escape(name)}\s*(=|\.|\])"
                rf"|.*[{{,]\s*{re.escape(name)}\s*="
            )
            for number in range(max(at, 1), len(lines) + 1):
                if wanted.match(lines[number - 1]):
                    at = seen = number
                    break
        return seen

    def known(self, table: Any, key: str, allowed: Collection[str], needed: Collection[str] = ()
              ) -> dict[str, Any]:  # fmt: skip
        """Refuses what is no table, unknown keys and missing ones."""
        if not isinstance(table, dict):
            raise self.error(key, "want a table")
        prefix = f"{key}." if key else ""
        for unknown in table.keys() - set(allowed):
            raise self.error(f"{prefix}{unknown}", f"unknown; one of {', '.join(allowed)}")
        for name in needed:
            if name not in table:
                raise self.error(f"{prefix}{name}", "is missing")
        return table

    def value(self, table: dict[str, Any], prefix: str, name: str, kind: type, default: Any) -> Any:
        """A value of that type; whole numbers are numbers, too."""
        value = table.get(name, default)
        if kind is float and type(value) is int:
            value = float(value)
        if value is not default and type(value) is not kind:
            raise self.error(f"{prefix}{name}", f"want {KINDS[kind]}")
        return value

    def parsed(self, table: dict[str, Any], prefix: str, name: str, parse: Callable[[str], Any],
               default: Any = None) -> Any:  # fmt: skip
        """A value that is written as text."""
        text = self.value(table, prefix, name, str, None)
        if text is None:
            return default
        try:
            return parse(text)
        except (ScenarioError, UnitError, ValueError) as error:
            raise self.error(f"{prefix}{name}", error) from error

    def texts(self, table: dict[str, Any], prefix: str, name: str) -> tuple[str, ...]:
        values = self.value(table, prefix, name, list, [])
        if not all(isinstance(value, str) and value for value in values):
            raise self.error(f"{prefix}{name}", "want a list of texts")
        return tuple(values)

    def rate(self, table: dict[str, Any], prefix: str, name: str, default: int | None) -> Any:
        rate: int | None = self.parsed(table, prefix, name, parse_rate, default)
        if rate is not None and name != "min_rate" and rate < MIN_RATE_BPS:
            raise self.error(f"{prefix}{name}", "at least 10kbit")
        return rate

    def number(self, table: dict[str, Any], prefix: str, name: str, default: float | None,
               least: float, most: float) -> Any:  # fmt: skip
        value = self.value(table, prefix, name, float, default)
        if value is not None and not least <= value <= most:
            raise self.error(f"{prefix}{name}", f"want {least:g} to {most:g}")
        return value

    def hosts(self) -> tuple[Host, ...]:
        found: list[Host] = []
        tables = self.known(self.top["hosts"], "hosts", self._names("hosts"))
        for name, table in tables.items():
            prefix = f"hosts.{name}."
            self.known(table, f"hosts.{name}", ("side", "rtt", "cc"), ("side",))
            if table["side"] not in (LEFT, RIGHT):
                raise self.error(f"{prefix}side", f'want "{LEFT}" or "{RIGHT}"')
            rtt_ms = self.parsed(table, prefix, "rtt", parse_time, 0.0)
            if rtt_ms > MAX_RTT_MS:
                raise self.error(f"{prefix}rtt", "want 0 to 4 s")
            cc = self.value(table, prefix, "cc", str, "cubic")
            if cc not in CCS:
                raise self.error(f"{prefix}cc", f"one of {', '.join(CCS)}")
            number = sum(host.side == table["side"] for host in found)
            if number == MAX_HOSTS:
                raise self.error(f"hosts.{name}", f"at most {MAX_HOSTS} on a side")
            found.append(Host(name, table["side"], number, rtt_ms, cc))
        for side in (LEFT, RIGHT):
            if side not in {host.side for host in found}:
                raise self.error("hosts", f'none has side = "{side}"')
        return tuple(found)

    def _names(self, key: str) -> list[str]:
        """The keys of a table that are fit for names."""
        table = self.top[key]
        for name in table if isinstance(table, dict) else ():
            self._check_name(f"{key}.{name}", name)
        return list(table) if isinstance(table, dict) else []

    def _check_name(self, key: str, name: str) -> None:
        if not NAME.fullmatch(name) or name in RESERVED:
            raise self.error(
                key, f"a name has 1 to 12 of a-z, 0-9 and -, and is not {', '.join(RESERVED)}"
            )

    def commands(self, hosts: Collection[str], total_s: float) -> tuple[Command, ...]:
        tables = self.top["command"]
        if not isinstance(tables, list) or not tables:
            raise self.error("command", "want [[command]]")
        found: list[Command] = []
        for key, table in vary.commands(tables, self.error):
            self.known(
                table, key,
                ("name", "host", "run", "start", "listen", "ends", "programs", "files", "zeros",
                 "samples"),
                ("name", "host", "run"),
            )  # fmt: skip
            found.append(self._command(key, table, hosts, total_s))
            if found[-1].name in {command.name for command in found[:-1]}:
                raise self.error(f"{key}.name", f"there is a {found[-1].name} already")
        return tuple(found)

    def _command(self, key: str, table: dict[str, Any], hosts: Collection[str], total_s: float
                 ) -> Command:  # fmt: skip
        prefix = f"{key}."
        name = self.value(table, prefix, "name", str, "")
        self._check_name(f"{prefix}name", name)
        host = self.value(table, prefix, "host", str, "")
        if host not in hosts:
            raise self.error(f"{prefix}host", f"no host {host}; one of {', '.join(hosts)}")
        words = self.parsed(table, prefix, "run", shlex.split)
        if not words:
            raise self.error(f"{prefix}run", "empty")
        listen = self.parsed(table, prefix, "listen", Endpoint.parse)
        if listen and "start" in table:
            raise self.error(f"{prefix}start", "not with listen: servers start before all others")
        start_s = self.number(table, prefix, "start", 0.0, 0, total_s)
        ends = self.value(table, prefix, "ends", bool, False)
        programs = self.texts(table, prefix, "programs")
        files = tuple(Path(text) for text in self.texts(table, prefix, "files"))
        for file in files:
            here = self.path.parent / file  # an absolute path stays what it is
            if not here.exists() or (not file.is_absolute() and not here.is_file()):
                raise self.error(f"{prefix}files", f"there is no file {here}")
        zeros = {}
        for file_name in self.value(table, prefix, "zeros", dict, {}):
            if "/" in file_name or file_name.startswith("."):
                raise self.error(f"{prefix}zeros.{file_name}", "a name without / and leading dot")
            zeros[file_name] = self.parsed(
                table["zeros"], f"{prefix}zeros.", file_name, _parse_size
            )
        return Command(
            name, host, tuple(words), start_s, listen, ends, programs, files, zeros,
            samples=self.value(table, prefix, "samples", str, ""),
            at=f"{self.path}:{self._line(f'{prefix}run')}",
        )  # fmt: skip

    def packages(self, top: dict[str, Any]) -> tuple[str, ...]:
        names = self.texts(top, "", "packages")
        for name in names:
            if not PACKAGE.fullmatch(name):
                raise self.error("packages", f"{name} is no name of a Debian package")
        return names

    def builds(self, top: dict[str, Any]) -> tuple[str, ...]:
        names = self.texts(top, "", "builds")
        for name in names:
            if name not in BUILDS:
                raise self.error("builds", f"no program {name}; one of {', '.join(BUILDS)}")
        return names

    def targets(self, commands: Collection[Command]) -> tuple[Target, ...]:
        sampled = [command.name for command in commands if command.samples]
        metrics = [*FIGURES, *(f"{name}.{of}" for name in sampled for of in ("median", "p95"))]
        tables = self.top.get("target", [])
        if not isinstance(tables, list):
            raise self.error("target", "want [[target]]")
        found = []
        for number, table in enumerate(tables, 1):
            key = f"target[{number}]"
            self.known(table, key, ("metric", "min", "max", "not_above"), ("metric",))
            if table["metric"] not in metrics:
                raise self.error(f"{key}.metric", f"one of {', '.join(metrics)}")
            bounds = [self.value(table, f"{key}.", bound, float, None) for bound in ("min", "max")]
            rivals = self.texts(table, f"{key}.", "not_above")
            if bounds == [None, None] and not rivals:
                raise self.error(key, "want min, max or not_above")
            found.append(Target(table["metric"], *bounds, rivals))
        return tuple(found)

    def classes(self, hosts: Collection[str]) -> tuple[Class, ...]:
        found = []
        tables = self.top.get("classes", {})
        for name, table in self.known(tables, "classes", tables).items():
            prefix = f"classes.{name}."
            self.known(table, f"classes.{name}", ("host", "protocol", "port"))
            if not table:
                raise self.error(f"classes.{name}", "want host, protocol or port")
            host = self.value(table, prefix, "host", str, None)
            if host is not None and host not in hosts:
                raise self.error(f"{prefix}host", f"no host {host}; one of {', '.join(hosts)}")
            protocol = self.value(table, prefix, "protocol", str, None)
            if protocol not in (None, "tcp", "udp", "icmp"):
                raise self.error(f"{prefix}protocol", "one of tcp, udp, icmp")
            port = self.value(table, prefix, "port", int, None)
            if port is not None and not 0 < port < 65536:
                raise self.error(f"{prefix}port", "want 1 to 65535")
            found.append(Class(name, host, protocol, port))
        return tuple(found)


def _parse_size(text: str) -> int:
    match = re.fullmatch(r"(\d+) ?([kMG]B)", text)
    if not match:
        raise ScenarioError(f"want a number and one of {', '.join(SIZES)}")
    return int(match[1]) * SIZES[match[2]]


def load(path: Path) -> list[Plan]:
    """Reads and checks a file: a plan for each of its variants.

    Raises ScenarioError, which names the file, line and key.
    """
    reader = _Reader(path)
    document = reader.top
    found = []
    for values in vary.combinations(document, reader.error):
        reader.top = vary.put(document, values)
        found.append(_plan(reader, vary.variant_name(values)))
    return found


def _plan(reader: _Reader, variant: str) -> Plan:
    top = reader.known(
        reader.top, "",
        ("rate", "rate_back", "duration", "warmup", "ecn", "packages", "builds", "flows", "hosts",
         "command", "classes", "vary", "target"),
        ("rate", "duration", "hosts", "command"),
    )  # fmt: skip
    flows = reader.known(top.get("flows", {}), "flows", ("min_rate", "present"))
    duration_s = reader.number(top, "", "duration", None, 1, MAX_S)
    warmup_s = reader.number(top, "", "warmup", 0.0, 0, MAX_S)
    hosts = reader.hosts()
    names = [host.name for host in hosts]
    commands = reader.commands(names, warmup_s + duration_s)
    return Plan(
        path=reader.path,
        variant=variant,
        rate_bps=reader.rate(top, "", "rate", None),
        rate_back_bps=reader.rate(top, "", "rate_back", None),
        duration_s=duration_s,
        warmup_s=warmup_s,
        ecn=reader.value(top, "", "ecn", bool, True),
        min_rate_bps=reader.rate(flows, "flows.", "min_rate", 10_000),
        present=reader.number(flows, "flows.", "present", 0.8, 0, 1),
        hosts=hosts,
        commands=commands,
        classes=reader.classes(names),
        targets=reader.targets(commands),
        packages=reader.packages(top),
        builds=reader.builds(top),
    )
