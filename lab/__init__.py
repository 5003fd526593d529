# SPDX-License-Identifier: GPL-2.0
"""The laboratory of sch_zrtt: real kernels in virtual time, and what they did."""
