# SPDX-License-Identifier: GPL-2.0
"""The kernels of guests: Debian's, fetched, and user-mode Linux, built."""
