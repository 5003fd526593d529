# SPDX-License-Identifier: GPL-2.0
"""The networks of the papers, built by Mininet."""
