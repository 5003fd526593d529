# SPDX-License-Identifier: GPL-2.0
"""The scripts that make a guest's network and start its traffic."""
