# SPDX-License-Identifier: GPL-2.0
"""Figures, drawn from the tables of sweeps.

Of the ZRTT paper (lab/sweeps/paper.toml): data.py picks the runs, catalogue.py says
what each figure shows, bars.py and lines.py draw it. Of the papers of endpoint
schemes: endpoints.py says it, points.py draws it. canvas.py gives them a page.
"""
