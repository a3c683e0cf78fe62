"""Similarity of tools: scores of all pairs, their reasons, and groups."""
