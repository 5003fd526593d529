# SPDX-License-Identifier: GPL-2.0
"""The figures of the ZRTT paper, drawn from the table of lab/sweeps/paper.toml.

data.py picks the runs, catalogue.py says what each figure shows, bars.py and
lines.py draw it, in what canvas.py gives them.
"""
