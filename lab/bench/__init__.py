# SPDX-License-Identifier: GPL-2.0
"""What a packet costs: instructions, nanoseconds, memory."""
