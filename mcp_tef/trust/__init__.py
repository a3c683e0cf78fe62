"""Owners of the rules that keep strangers out: files, project files, addresses, plans, patterns, bounds, listeners."""
