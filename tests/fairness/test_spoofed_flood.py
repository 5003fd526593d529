# SPDX-License-Identifier: GPL-2.0
"""A download goes on beside a flood of which each packet has another sender."""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.exec import plan, runner

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


def test_download_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "flood.toml"
    path.write_text(SCENARIO)
    shutil.copy(FLOOD, tmp_path)
    (wanted,) = plan.load(path)
    options = runner.Options(qdisc=QDISC, kernel="uml", seed=1, timeout_s=600)
    figures = runner.run(wanted, options, tmp_path / "out", print)
    (web,) = (of for of in figures.directions[0].classes if of.name == "web")
    assert web.goodput_mbps > GOODPUT_MBPS
    assert web.sojourn_ms.p95 < 100
