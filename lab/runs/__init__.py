# SPDX-License-Identifier: GPL-2.0
"""Runs scenarios: one, or a grid of them into a table."""
