# SPDX-License-Identifier: GPL-2.0
"""Compiles what guests run, and the modules with each compiler."""
