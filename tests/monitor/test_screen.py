# SPDX-License-Identifier: GPL-2.0
"""The live view without traffic."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from canned import Canned, program
from messages import flow, host, zrtt
from terminal import Terminal

Start = Callable[..., Terminal]
LINES = 40
HOSTED = [flow(slot, 1000, names=host(slot // 3 + 1, slot) if slot else None) for slot in range(99)]
"""Flows of 33 hosts, but for one that has none."""


@pytest.fixture
def start(kernel: Canned, monkeypatch: pytest.MonkeyPatch) -> Start:
    """Starts it on a terminal."""
    monkeypatch.setenv("CANNED", str(kernel.folder))
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")  # curses keeps what it has

    def terminal(*args: str, columns: int = 80, lines: int = 24, term: str = "linux") -> Terminal:
        return Terminal([str(program()), *args], columns, lines, term)

    return terminal


def quit_of(terminal: Terminal) -> int:
    """Its exit status, if it heeds the key."""
    terminal.type("q")
    return terminal.status()


def waits(lines: list[str]) -> bool:
    """Whether it says that there is nothing to see."""
    return lines[1] == "no zrtt yet"


def test_view_waits_for_a_zrtt(kernel: Canned, start: Start) -> None:
    terminal = start("-i0.2")
    terminal.wait(waits)
    kernel.say([zrtt()])
    terminal.wait(lambda lines: lines[1] == "lo: zrtt 2: parent root")
    assert quit_of(terminal) == 0


def test_view_ends_after_count_readings(kernel: Canned, start: Start) -> None:
    kernel.say([zrtt()])
    assert start("-n2", "-i0.1").status() == 0


def test_view_ends_with_its_terminal(start: Start) -> None:
    """By itself, or by SIGHUP, whichever comes first."""
    terminal = start("-i0.2")
    terminal.wait(waits)
    terminal.hang_up()
    assert terminal.status() in (0, -signal.SIGHUP)


@pytest.mark.parametrize(("args", "count"), [((), 25), (("-f4",), 4)])
def test_flows_fill_the_screen(
    kernel: Canned, start: Start, args: tuple[str, ...], count: int
) -> None:
    """Of the one reading that there is: keys alone change the screen."""
    kernel.say([zrtt()], [flow(slot, 1000) for slot in range(99)])
    terminal = start("-i3600", *args, lines=40)
    terminal.wait(lambda lines: "p pause" in lines[0])
    terminal.type("p")
    lines = terminal.wait(lambda lines: " paused " in lines[0])
    assert len([line for line in lines if "1.00 ms  hint" in line]) == count
    assert bool(lines[-1]) == (not args)
    terminal.type("\x1b[6~p")
    assert terminal.wait(lambda lines: " paused " not in lines[0])[1:] == lines[1:]
    assert quit_of(terminal) == 0


def shows(hosts: int, flows: int) -> Callable[[list[str]], bool]:
    """Whether so many of each are on a screen, which is drawn line by line."""

    def has(lines: list[str]) -> bool:
        found = [line for line in lines if " bit/s  host " in line]
        return (len(found), len([line for line in lines if "1.00 ms  hint" in line])) == (
            hosts, flows,
        )  # fmt: skip

    return has


def test_key_turns_to_hosts_and_to_flows(kernel: Canned, start: Start) -> None:
    """Which have all of the screen then, and half of it at first and at last."""
    kernel.say([zrtt()], HOSTED)
    terminal = start("-i3600", lines=LINES)
    terminal.wait(shows(11, 11))
    for hosts, flows in ((25, 0), (0, 25), (11, 11)):
        terminal.type("h")
        terminal.wait(shows(hosts, flows))
    assert quit_of(terminal) == 0


def test_few_hosts_leave_their_place_to_flows(kernel: Canned, start: Start) -> None:
    kernel.say([zrtt()], [flow(slot, 1000, names=host(slot % 2 + 1)) for slot in range(99)])
    terminal = start("-i3600", lines=LINES)
    terminal.wait(shows(2, 21))
    assert quit_of(terminal) == 0


def test_key_cannot_turn_to_what_is_not_there(kernel: Canned, start: Start) -> None:
    kernel.say([zrtt()], [flow(slot, 1000) for slot in range(99)])
    terminal = start("-i3600", lines=LINES)
    terminal.wait(shows(0, 25))
    terminal.type("hp")
    paused = terminal.wait(lambda lines: " paused " in lines[0])
    assert shows(0, 25)(paused)
    assert quit_of(terminal) == 0


def test_number_of_hosts_is_as_told(kernel: Canned, start: Start) -> None:
    kernel.say([zrtt()], HOSTED)
    terminal = start("-i3600", "-H4", "-f5", lines=LINES)
    terminal.wait(shows(4, 5))
    assert quit_of(terminal) == 0


@pytest.mark.parametrize(("columns", "lines"), [(1, 1), (1, 24), (80, 1), (80, 2), (500, 200)])
def test_unusual_terminals(kernel: Canned, start: Start, columns: int, lines: int) -> None:
    kernel.say([zrtt(), zrtt(handle=0x30000)], [flow(slot, 1000) for slot in range(99)])
    terminal = start(columns=columns, lines=lines)
    terminal.wait(any)
    terminal.type("\x1b[6~\x1b[6~\x1b[5~\x1b[A\x1b[Bxyz")
    assert quit_of(terminal) == 0


def test_unknown_terminal_is_refused(start: Start) -> None:
    terminal = start(term="no-such-terminal")
    terminal.wait(lambda lines: "zrtt-mon: unknown terminal" in " ".join(lines))
    assert terminal.status() == 2


def test_refusal_leaves_a_clean_screen(kernel: Canned, start: Start) -> None:
    terminal = start("-i0.2")
    terminal.wait(waits)
    os.unlink(kernel.folder / "qdiscs.0")
    terminal.wait(lambda lines: "zrtt-mon: no such dump" in " ".join(lines))
    assert terminal.status() == 2
