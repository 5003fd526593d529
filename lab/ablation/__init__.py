# SPDX-License-Identifier: GPL-2.0
"""What each step of mode zrtt is for: measured by leaving it out."""
