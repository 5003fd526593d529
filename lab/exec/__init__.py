# SPDX-License-Identifier: GPL-2.0
"""Any program of this machine, in the laboratory's network."""
