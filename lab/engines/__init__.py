# SPDX-License-Identifier: GPL-2.0
"""Runs a script in a guest: in QEMU or on user-mode Linux."""
