#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Starts what a guest with sanitizers is put through.
set -eu
export PYTHONDONTWRITEBYTECODE=1
exec python3 -m lab.guest.stress "$@"
