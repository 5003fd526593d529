# SPDX-License-Identifier: GPL-2.0
"""Traces of lines whose rate changes all the time: their file format, and models of them."""
