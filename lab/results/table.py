# SPDX-License-Identifier: GPL-2.0
"""The table of a sweep: a CSV file, one row per run, that only ever grows.

A row is written at once and whole, so a sweep may be stopped at any time and
taken up again. A run done again is another row; the last one counts. So a run
that counts again has its row once more.
"""

from __future__ import annotations

import csv
import errno
import fcntl
import io
import math
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, astuple, dataclass, fields
from pathlib import Path
from statistics import fmean

from lab.host import files
from lab.model.ect1 import SCALABLE, EcnClass, EcnResult
from lab.model.grid import Place
from lab.model.scenario import parse_cc
from lab.model.thin import Kind, ThinResult
from lab.results.result import jain


class TableError(RuntimeError):
    """A file that is no such table."""


def _p99_of(kind: Kind) -> property:
    """Sojourn of a class of thin traffic; nan if there is none."""

    def p99_ms(row: Row) -> float:
        found = [thin.p99_ms for thin in row.thin_classes if thin.name == kind]
        return max(found, default=math.nan)

    return property(p99_ms)


def _of_ecn(ecn: EcnClass, figure: str) -> property:
    """A figure of the sojourn of a class by the ECN field; nan if there is none."""

    def value_ms(row: Row) -> float:
        found = [getattr(one, figure) for one in row.ecn_results if one.name == ecn]
        return max(found, default=math.nan)

    return property(value_ms)


@dataclass(frozen=True)
class Row:
    """One run. The fields are the columns, in this order."""

    sweep: str
    cell: str
    qdisc: str
    words: str
    """Of the qdisc, as typed to tc."""
    kernel: str
    """As given to lab run; release says which it was."""
    seed: int
    cc: str
    flows: int
    rtts: str
    sessions: int
    """Flows of each host; 0 if they differ."""
    rate: str
    ecn: str
    gso: str
    hint: str
    extra: str
    """What else the cell has: steps, liars, UDP, as typed to lab run."""
    jain: float
    max_min_ratio: float
    """inf if a flow received nothing."""
    utilisation: float
    min_phase_utilisation: float
    """Of the worst of the times between two changes of the rate."""
    tcp_share: float
    """Of the link, the rest being UDP or idle."""
    goodput_mean_mbps: float
    """Of a flow."""
    max_class_ratio: float
    """Mean goodput of the flows of the best-off congestion control, to that of all."""
    liar_share: float
    """Goodput of the best-off flow that lies of its RTT, to the mean of all; nan if none lies."""
    fct_mean_s: float
    """Completion time of short flows; nan if there are none."""
    fct_p95_s: float
    short_unfinished: int
    cross_mean_mbps: float
    """Goodput of a flow that crosses one router only; nan if there are none."""
    reverse_mean_mbps: float
    """Goodput of a flow the other way; nan if there are none."""
    sojourn_mean_ms: float
    sojourn_p50_ms: float
    sojourn_p95_ms: float
    sojourn_p99_ms: float
    sojourn_max_ms: float
    marks: int
    drops: int
    retransmits: int
    goodputs_mbps: str
    """Of each flow, separated by semicolons: the sessions of the first RTT first."""
    wall_s: float
    reruns: int
    release: str
    revision: str
    """Of git, with +dirty if the tree differed from it."""
    inputs: str
    """Hash of all that the run was made of."""
    command: str
    # What an older table lacks.
    drop_rate: float = math.nan
    """Of the packets that came to the queue; a super-packet that is dropped counts as one."""
    cross_goodputs_mbps: str = ""
    """Of each flow that crosses one router only, as the others."""
    victim_mbps: float = math.nan
    """Mean goodput of the flows in whose names strangers send; nan if there are none."""
    limit_drops: float = math.nan
    """Of the drops, those of a full queue; nan if the qdisc does not tell."""
    thin: str = ""
    """Of each class of thin traffic, separated by semicolons: its name, streams, packets sent and
    lost, Mbit/s, sojourn (mean, p95, p99, max, ms), separated by colons."""
    ecn_classes: str = ""
    """Of each class by the ECN field, separated by semicolons: its name, packets sent, Mbit/s,
    sojourn (mean, p95, p99, max, ms), separated by colons; empty if nothing was ECT(1)."""
    ect1_share: float = math.nan
    """Of those that send as ECT(1) without being entitled to: the rate of the best-off, to its
    max-min fair share; nan if there are none."""
    host_jain: float = math.nan
    """Of the hosts' or subscribers' goodput, divided by their weights."""
    within_jain: float = math.nan
    """Of the flows of one of them, the worst."""
    host_error: float = math.nan
    """How far the share of the worst of them is from the mean, to the mean."""
    host_due: float = math.nan
    """What the worst-off of them has, to its weighted max-min fair share beside UDP."""
    receiver_jain: float = math.nan
    """Of the addresses of the receivers' side; nan if there is one."""
    host_goodputs_mbps: str = ""
    """Of each host or subscriber, separated by semicolons."""
    line_mbps: float = math.nan
    """What a line behind the router could carry, on average; nan if there is none."""
    line_mean_ms: float = math.nan
    """Sojourn in its FIFO."""
    line_p95_ms: float = math.nan
    whole_mean_ms: float = math.nan
    """Of each packet, from the arrival at the queue to the end of the line."""
    whole_p95_ms: float = math.nan
    line_drops: float = math.nan
    """Packets that its FIFO had no room for."""

    voip_p99_ms = _p99_of(Kind.VOIP)
    game_p99_ms = _p99_of(Kind.GAME)
    dns_p99_ms = _p99_of(Kind.DNS)
    ping_p99_ms = _p99_of(Kind.PING)

    l4s_mean_ms = _of_ecn(EcnClass.L4S, "mean_ms")
    l4s_p99_ms = _of_ecn(EcnClass.L4S, "p99_ms")
    classic_mean_ms = _of_ecn(EcnClass.CLASSIC, "mean_ms")
    classic_p99_ms = _of_ecn(EcnClass.CLASSIC, "p99_ms")

    @property
    def ecn_results(self) -> list[EcnResult]:
        """The classes by the ECN field."""
        return [EcnResult.unpacked(word) for word in self.ecn_classes.split(";") if word]

    @property
    def scalable_share(self) -> float:
        """Mean goodput of the flows whose congestion control is scalable, to that of all."""
        turns = parse_cc(self.cc)
        found = [
            mbps for index, mbps in enumerate(self.goodputs)
            if turns[index % len(turns)] in SCALABLE
        ]  # fmt: skip
        return fmean(found) / fmean(self.goodputs) if found and any(self.goodputs) else math.nan

    @property
    def share_error(self) -> float:
        """How far the goodput of the worst-off or best-off flow is from the mean, to the mean."""
        mean = fmean(self.goodputs)
        return max(abs(mbps / mean - 1) for mbps in self.goodputs) if mean else math.nan

    @property
    def thin_classes(self) -> list[ThinResult]:
        """The classes of thin traffic; figures of the worst of them have metrics of their own."""
        return [ThinResult.unpacked(word) for word in self.thin.split(";") if word]

    @property
    def thin_mean_ms(self) -> float:
        """Mean sojourn of the worst class."""
        return max((thin.mean_ms for thin in self.thin_classes), default=math.nan)

    @property
    def thin_p95_ms(self) -> float:
        """Likewise."""
        return max((thin.p95_ms for thin in self.thin_classes), default=math.nan)

    @property
    def thin_p99_ms(self) -> float:
        """Likewise."""
        return max((thin.p99_ms for thin in self.thin_classes), default=math.nan)

    @property
    def thin_max_ms(self) -> float:
        """Likewise."""
        return max((thin.max_ms for thin in self.thin_classes), default=math.nan)

    @property
    def thin_loss(self) -> float:
        """Share of what the worst class sent."""
        return max((thin.loss for thin in self.thin_classes), default=math.nan)

    @property
    def jain_all(self) -> float:
        """Jain's index, flows that cross one router only included."""
        return jain([*self.goodputs, *self.cross_goodputs])

    @property
    def last_cc_mbps(self) -> float:
        """Goodput of all flows that have the last of the congestion controls given in turn."""
        turns = len(parse_cc(self.cc))
        return sum(self.goodputs[turns - 1 :: turns] + self.cross_goodputs[turns - 1 :: turns])

    @property
    def goodputs(self) -> list[float]:
        """Of each flow, Mbit/s."""
        return _numbers(self.goodputs_mbps)

    @property
    def host_goodputs(self) -> list[float]:
        """Of each host or subscriber, Mbit/s."""
        return _numbers(self.host_goodputs_mbps)

    @property
    def cross_goodputs(self) -> list[float]:
        """Of each that crosses one router only."""
        return _numbers(self.cross_goodputs_mbps)

    @property
    def identity(self) -> tuple[str, str, str]:
        """What identifies a run, so that it is not repeated; the command has the rest."""
        return (self.command, self.release, self.inputs)

    @property
    def place(self) -> Place:
        """What rows have in common of which the last counts."""
        return (self.kernel, self.cell, self.qdisc, self.seed)


def _numbers(text: str) -> list[float]:
    return [float(word) for word in text.split(";") if word]


COLUMNS = tuple(field.name for field in fields(Row))
FEWEST = sum(field.default is MISSING for field in fields(Row))
METRICS: dict[str, Callable[[Iterable[float]], float]] = {
    **dict.fromkeys((
        "jain", "jain_all", "utilisation", "min_phase_utilisation", "tcp_share",
        "goodput_mean_mbps", "last_cc_mbps", "cross_mean_mbps", "reverse_mean_mbps", "victim_mbps",
        "scalable_share", "host_jain", "within_jain", "host_due", "receiver_jain", "line_mbps",
    ), min),
    **dict.fromkeys((
        "max_min_ratio", "max_class_ratio", "liar_share", "fct_mean_s", "fct_p95_s",
        "short_unfinished", "sojourn_mean_ms", "sojourn_p50_ms", "sojourn_p95_ms",
        "sojourn_p99_ms", "sojourn_max_ms", "marks", "drops", "limit_drops", "drop_rate",
        "retransmits", "thin_mean_ms", "thin_p95_ms", "thin_p99_ms", "thin_max_ms", "thin_loss",
        "voip_p99_ms", "game_p99_ms", "dns_p99_ms", "ping_p99_ms",
        "l4s_mean_ms", "l4s_p99_ms", "classic_mean_ms", "classic_p99_ms",
        "share_error", "ect1_share", "host_error",
        "line_mean_ms", "line_p95_ms", "whole_mean_ms", "whole_p95_ms", "line_drops",
    ), max),
}  # fmt: skip
"""What targets and `lab report --metric` know, and which of several values is the worst."""
_TYPES = {"str": str, "int": int, "float": float}
"""As the annotations of Row are spelt."""


def _line(values: tuple[object, ...]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(
        [f"{value:.6g}" if isinstance(value, float) else value for value in values]
    )
    return text.getvalue()


def _unusable(path: Path, error: Exception) -> TableError:
    return TableError(f"{path}: {getattr(error, 'strerror', None) or error}")


def whole_lines(path: Path) -> io.StringIO:
    """The text of a table; a last line that was cut short is not there."""
    text = path.read_text()
    return io.StringIO(text[: text.rfind("\n") + 1])


def _row(record: list[str], columns: int) -> Row:
    """A line of a table that has so many columns. Raises ValueError."""
    pairs = zip(fields(Row)[:columns], record, strict=True)
    return Row(*(_TYPES[str(field.type)](value) for field, value in pairs))


def load(path: Path) -> list[Row]:
    """Reads a table, or one of an older laboratory. Raises TableError."""
    try:
        head, *records = list(csv.reader(whole_lines(path))) or [[]]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise _unusable(path, error) from error
    if tuple(head) != COLUMNS[: max(len(head), FEWEST)]:
        raise TableError(f"{path}: not a table of this laboratory; its columns are others")
    rows = []
    for number, record in enumerate(records, 2):
        try:
            rows.append(_row(record, len(head)))
        except ValueError as error:
            raise TableError(f"{path}: row {number}: {error}") from error
    return rows


class Table:
    """A table being written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open()
        if not path.stat().st_size:
            self._write(_line(COLUMNS))
        self.rows = load(path)
        self._cut_torn_line()
        self._give_columns()

    def _open(self) -> None:
        path = self._path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("ab+")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TableError(f"{path}: another sweep writes to it") from error
        except OSError as error:
            raise _unusable(path, error) from error

    def _cut_torn_line(self) -> None:
        self._file.seek(0)
        self._file.truncate(self._file.read().rfind(b"\n") + 1)

    def _give_columns(self) -> None:
        """Adds missing columns to a table of an older laboratory."""
        self._file.seek(0)
        if self._file.readline() != _line(COLUMNS).encode():
            files.write(self._path, "".join(map(_line, [COLUMNS, *map(astuple, self.rows)])))
            self._file.close()
            self._open()

    def _write(self, line: str) -> None:
        """One system call: another reader sees all of it or nothing. Raises TableError."""
        content, to = line.encode(), self._file.fileno()
        try:
            before = os.fstat(to).st_size
            if os.write(to, content) < len(content):
                os.ftruncate(to, before)
                raise OSError(errno.ENOSPC, "a row was written in part only")
        except OSError as error:
            raise _unusable(self._path, error) from error

    def append(self, row: Row) -> None:
        """Adds a row to the file, and here as it is read from there."""
        line = _line(astuple(row))
        self._write(line)
        self.rows += [_row(record, len(COLUMNS)) for record in csv.reader(io.StringIO(line))]

    def close(self) -> None:
        """Releases the table; one without a run is deleted."""
        if not self.rows:
            self._path.unlink(missing_ok=True)
        self._file.close()


@contextmanager
def opened(path: Path) -> Iterator[Table]:
    """A table to write to, made if there is none."""
    table = Table(path)
    try:
        yield table
    finally:
        table.close()
