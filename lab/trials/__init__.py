# SPDX-License-Identifier: GPL-2.0
"""Single experiments with a report of their own: floods, stress, long runs, tdc."""
