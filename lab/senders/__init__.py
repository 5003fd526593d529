# SPDX-License-Identifier: GPL-2.0
"""zrtt-agent: runs it, and measures what it costs a sender."""
