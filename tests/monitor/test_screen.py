# SPDX-License-Identifier: GPL-2.0
"""The live view where there is little to see."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from canned import Canned, program
from messages import flow, zrtt
from terminal import Terminal

Start = Callable[..., Terminal]


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
    terminal.look(1)
    return terminal.status()


def test_it_waits_for_a_zrtt(kernel: Canned, start: Start) -> None:
    terminal = start("-i0.2")
    assert terminal.look(1)[1] == "no zrtt yet"
    kernel.say([zrtt()])
    assert terminal.look(1)[1] == "lo: zrtt 2: parent root"
    assert quit_of(terminal) == 0


def test_it_ends_after_so_many_readings(kernel: Canned, start: Start) -> None:
    kernel.say([zrtt()])
    terminal = start("-n2", "-i0.1")
    terminal.look(2)
    assert terminal.status() == 0


def test_it_ends_with_its_terminal(start: Start) -> None:
    """By itself, or by SIGHUP, whichever comes first."""
    terminal = start("-i0.2")
    terminal.look(1)
    terminal.hang_up()
    assert terminal.status() in (0, -signal.SIGHUP)


@pytest.mark.parametrize(("args", "count"), [((), 29), (("-f4",), 4)])
def test_flows_fill_the_screen(
    kernel: Canned, start: Start, args: tuple[str, ...], count: int
) -> None:
    kernel.say([zrtt()], [flow(slot, 1000) for slot in range(99)])
    terminal = start(*args, lines=40)
    lines = terminal.look(0.7)
    assert len([line for line in lines if "1.00 ms  hint" in line]) == count
    assert bool(lines[-1]) == (not args)
    terminal.type("\x1b[6~")
    assert terminal.look(0.2) == lines
    assert quit_of(terminal) == 0


@pytest.mark.parametrize(("columns", "lines"), [(1, 1), (1, 24), (80, 1), (80, 2), (500, 200)])
def test_odd_terminals_do_no_harm(kernel: Canned, start: Start, columns: int, lines: int) -> None:
    kernel.say([zrtt(), zrtt(handle=0x30000)], [flow(slot, 1000) for slot in range(99)])
    terminal = start(columns=columns, lines=lines)
    terminal.look(0.5)
    terminal.type("\x1b[6~\x1b[6~\x1b[5~\x1b[A\x1b[Bxyz")
    terminal.look(0.2)
    assert quit_of(terminal) == 0


def test_unknown_terminal_is_refused(start: Start) -> None:
    terminal = start(term="no-such-terminal")
    said = " ".join(terminal.look(1))
    assert "zrtt-mon: unknown terminal" in said
    assert terminal.status() == 2


def test_refusal_leaves_a_clean_screen(kernel: Canned, start: Start) -> None:
    terminal = start("-i0.2")
    terminal.look(0.5)
    os.unlink(kernel.folder / "qdiscs.0")
    assert "zrtt-mon: no such dump" in " ".join(terminal.look(1))
    assert terminal.status() == 2
