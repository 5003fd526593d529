# SPDX-License-Identifier: GPL-2.0
"""A download goes on beside a flood of which each packet has another sender."""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.exec import plan, runner
from lab.exec.figures import Direction

FLOOD = Path(plan.__file__).parents[1] / "scenarios/flood.py"
SCENARIO = """
rate = "5mbit"
warmup = 4
duration = 4

[hosts]
web = { side = "left", rtt = "40ms" }
bots = { side = "left", rtt = "10ms" }
user = { side = "right" }

[[command]]
name = "web"
host = "web"
run = "python3 -m http.server 80"
listen = "tcp 80"
zeros = { big = "1GB" }

[[command]]
name = "get"
host = "user"
run = '''python3 -c "import urllib.request as r
big = r.urlopen('http://web/big')
while big.read(65536): pass"'''

[[command]]
name = "flood"
host = "bots"
run = "python3 flood.py user syn 60 6"
files = ["flood.py"]
start = 3

[classes]
web = { host = "web" }
"""
QDISC = "zrtt flows 1024"
"""As many packets may wait as there are slots, so that slots of flows that have some are lost."""
GOODPUT_MBPS = 1.5


def beside_flood(folder: Path, qdisc: str) -> Direction:
    """What the queue towards the user did."""
    path = folder / "flood.toml"
    path.write_text(SCENARIO)
    shutil.copy(FLOOD, folder)
    (wanted,) = plan.load(path)
    options = runner.Options(qdisc=qdisc, kernel="uml", seed=1, timeout_s=600)
    return runner.run(wanted, options, folder / "out", print).directions[0]


def test_download_goes_on(tmp_path: Path) -> None:
    right = beside_flood(tmp_path, QDISC)
    (web,) = (of for of in right.classes if of.name == "web")
    assert web.goodput_mbps > GOODPUT_MBPS
    assert web.sojourn_ms.p95 < 100
    assert right.queue.limit_drops > 10000


def test_papers_queue_refuses_nobody(tmp_path: Path) -> None:
    right = beside_flood(tmp_path, f"{QDISC} mode blue limit 100000")
    assert right.queue.drops > 10000
    assert right.queue.limit_drops == 0
