# SPDX-License-Identifier: GPL-2.0
"""What guests measured: results, tables of many, summaries."""
