"""Judging of answers, similarity of tools, and lint of their definitions."""
