# SPDX-License-Identifier: GPL-2.0
"""This machine: its files, programs, network namespaces and cgroups, and the terminal."""
