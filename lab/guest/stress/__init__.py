# SPDX-License-Identifier: GPL-2.0
"""What a guest with sanitizers is put through; lab/stress.py starts it."""
