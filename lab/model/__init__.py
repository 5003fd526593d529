# SPDX-License-Identifier: GPL-2.0
"""What a run is: its options, checked before anything boots."""
