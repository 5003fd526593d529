# SPDX-License-Identifier: GPL-2.0
"""Runs batches of flent, unchanged, in a guest that looks like a testbed."""
