# SPDX-License-Identifier: GPL-2.0
"""Tables as text, and pictures."""
