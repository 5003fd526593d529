# SPDX-License-Identifier: GPL-2.0
"""The stress test that runs in a guest with sanitizers; lab/trials/stress.py starts it."""
