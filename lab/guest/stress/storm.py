# SPDX-License-Identifier: GPL-2.0
"""Changes everything at random under traffic: qdiscs, parents, links, devices, namespaces."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from random import Random

from lab.guest.stress import faults, network, options, senders
from lab.guest.stress.network import DEVICES
from lab.guest.stress.rtnl import CREATE, EXCL, REPLACE, ROOT, RTM_NEWQDISC, Place, request
from lab.host.netns import NetnsError

WORLDS = 2
PAUSES_S = (0.0, 0.001, 0.01)
BURST = 10
"""Requests to qdiscs between two changes of what is around them."""
FAIL_PERCENT = "20"
MAX_ORPHANS = Path("/proc/sys/net/ipv4/tcp_max_orphans")

# What may be above zrtt: the number of places there, and lines of tc, DEV to be filled in.
LAYOUTS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (0, ()),
    (
        2,
        (
            "qdisc add dev DEV root handle 1: htb default 1",
            "class add dev DEV parent 1: classid 1:1 htb rate 2mbit ceil 20mbit",
            "class add dev DEV parent 1: classid 1:2 htb rate 100mbit",
        ),
    ),
    (3, ("qdisc add dev DEV root handle 1: prio",)),
    (2, ("qdisc add dev DEV root handle 1: mq",)),
    (1, ("qdisc add dev DEV root handle 1: netem delay 3ms 2ms loss 1% duplicate 1% reorder 5%",)),
    (1, ("qdisc add dev DEV root handle 1: tbf rate 10mbit burst 10k latency 1s",)),
    (
        1,
        (
            "qdisc add dev DEV root handle 1: hfsc default 1",
            "class add dev DEV parent 1: classid 1:1 hfsc ls rate 20mbit ul rate 20mbit",
        ),
    ),
)
FIRST_CHILD = 0x10001
REDIRECT = (
    "qdisc add dev y0 ingress",
    "filter add dev y0 parent ffff: matchall action mirred egress redirect dev ifb0",
)


class Storm:
    """One world and what happens to it."""

    def __init__(self, number: int, rng: Random) -> None:
        self._number, self._rng = number, rng
        self.done: Counter[str] = Counter()
        self.seen: set[str] = set()
        self._build()

    def _build(self) -> None:
        self._stack = ExitStack()
        made = network.made(self._number, track=self._rng.random() < 0.5)
        self._world = self._stack.enter_context(made)
        self._senders = senders.start(self._world, self._rng)
        self._places: dict[str, list[Place]] = {}
        for device in DEVICES:
            self._lay_out(device)

    def close(self) -> None:
        """The namespaces go while packets are under way."""
        self._stack.close()
        for sender in self._senders:
            sender.kill()

    def step(self) -> None:
        """One change of what is around the qdiscs, mostly, and some of them."""
        changes: tuple[Callable[[], None], ...] = (
            self._relay, self._flap, self._resize, self._cut, self._redirect, self._inject,
        )  # fmt: skip
        change = self._rng.choices(changes, (30, 15, 15, 5, 10, 25))[0]
        if self._rng.random() < 0.01:
            change = self._rebuild
        try:  # refused, if an allocation was made to fail
            change()
            self.done[change.__name__.strip("_")] += 1
        except NetnsError:
            self.done["refused"] += 1
        for _ in range(BURST):
            self._ask()

    def _rebuild(self) -> None:
        """Deletes namespaces, with their devices, and builds them again."""
        self._fail("0")
        self.close()
        self._build()

    def _tc(self, line: str, device: str) -> None:
        self._world.r.tc(*line.replace("DEV", device).split())

    def _relay(self) -> None:
        self._lay_out(self._rng.choice(DEVICES))

    def _lay_out(self, device: str) -> None:
        """Builds other parents for zrtt."""
        number, lines = self._rng.choice(LAYOUTS)
        parents = range(FIRST_CHILD, FIRST_CHILD + number) or (ROOT,)
        ifindex = self._world.ifindex(device)
        self._places[device] = [Place(ifindex, parent) for parent in parents]
        with suppress(NetnsError):  # there is none
            self._tc("qdisc del dev DEV root", device)
        for line in lines:
            self._tc(line, device)

    def _flap(self) -> None:
        device = self._rng.choice(DEVICES)
        self._world.r.ip_batch([f"link set {device} down", f"link set {device} up"])

    def _resize(self) -> None:
        self._world.r.ip("link", "set", "x0", "mtu", str(self._rng.choice((1280, 1500, 9000))))

    def _cut(self) -> None:
        """Deletes a device, with its qdiscs and their packets."""
        device = self._rng.choice(("x0", "y0"))
        self._fail("0")
        self._world.r.ip("link", "del", device)
        network.cable(self._world, device)
        self._lay_out(device)

    def _redirect(self) -> None:
        try:
            for line in REDIRECT:
                self._tc(line, "y0")
        except NetnsError:  # it is there
            self._tc("qdisc del dev DEV ingress", "y0")

    def _inject(self) -> None:
        self._fail(self._rng.choice(("0", FAIL_PERCENT)))

    def _fail(self, percent: str) -> None:
        """Starts or stops failing some of sch_zrtt's allocations."""
        for injector in faults.INJECTORS:
            (injector / "probability").write_text(percent)

    def _ask(self) -> None:
        """One thing about one of our qdiscs."""
        rng, rtnl = self._rng, self._world.rtnl
        places = [place for all_of in self._places.values() for place in all_of]
        place = rng.choice(places)
        values = rng.choice((options.valid, options.with_timestamps))(rng)
        what = rng.choices(("put", "change", "add", "anything", "delete", "dump"),
                           (40, 25, 10, 10, 5, 10))[0]  # fmt: skip
        match what:
            case "put":
                rtnl.put(place, values)
            case "change":
                rtnl.put(place, values, 0)
            case "add":
                rtnl.put(place, values, CREATE | EXCL)
            case "anything":
                rtnl.ask(request(place, RTM_NEWQDISC, CREATE | REPLACE, options.anything(rng)))
            case "delete":
                rtnl.delete(place)
            case "dump":
                for qdisc in rtnl.dump():
                    self.seen |= qdisc.moved()
                self.seen |= {"classes"} if rtnl.classes(place.ifindex) else set()
        self.done[what] += 1
        time.sleep(rng.choice(PAUSES_S))


def run(rng: Random, steps: int) -> str:
    """Runs that many steps, in all worlds by turns.

    A connection that a killed sender leaves behind would keep its namespace for as long
    as a slow shaper keeps its last packets: there are to be none.
    """
    MAX_ORPHANS.write_text("0")
    faults.configure()
    with faults.below_module():
        storms = [Storm(number, rng) for number in range(WORLDS)]
        for number in range(steps):
            storms[number % WORLDS].step()
        for storm in storms:
            storm.close()
        done = sum((storm.done for storm in storms), Counter())
        seen = set[str]().union(*(storm.seen for storm in storms))
    times = ", ".join(f"{what} {number}" for what, number in sorted(done.items()))
    return f"{times}; moved: {' '.join(sorted(seen))}"
