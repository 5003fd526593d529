# SPDX-License-Identifier: GPL-2.0
"""What does the same on all kernels ran to its end."""

from __future__ import annotations

import pytest
from cases import ALIKE
from guests import Report


@pytest.mark.parametrize("experiment", ALIKE)
def test_experiment_ran_to_its_end(report: Report, experiment: str) -> None:
    assert report.lines(f"{experiment}.rc") == ["0"], report.text


def test_kernel_log_is_clean(report: Report) -> None:
    assert not report.trouble()
