# SPDX-License-Identifier: GPL-2.0
"""The arena: randomly drawn scenarios in which qdiscs are compared.

draw.py draws a scenario from a seed and a number, cost.py says what a run of it
takes, plan.py makes runs of it; due.py says what TCP is due, figures.py what came
of each run and who is behind; report.py prints that, page.py makes a page of it.
"""
