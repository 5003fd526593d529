# SPDX-License-Identifier: GPL-2.0
"""A self-contained HTML page of results: one file, nothing fetched.

rows.py reads tables and results, tables.py and plots.py show them, page.py puts
the page together from page.html, page.css and page.js.
"""
