# SPDX-License-Identifier: GPL-2.0
"""What the laboratory reads in the words of tc."""

from __future__ import annotations

from lab.readings import METER_CLASS

# As iproute2 6.1 prints them: the first holds the qdisc under test.
CLASSES = """class meter 2:1 parent 2: leaf 3: \n
class meter 2:38b parent 2: \n Sent 5825872 bytes 3848 pkt (dropped 0, overlimits 1308 requeues 0) \n backlog 0b 0p requeues 0
class meter 2:38c parent 2: \n Sent 5679014 bytes 3751 pkt (dropped 0, overlimits 0 requeues 0) \n backlog 0b 0p requeues 0
"""


def test_marks_are_read_of_each_class() -> None:
    assert METER_CLASS.findall(CLASSES) == [("38b", "1308"), ("38c", "0")]
