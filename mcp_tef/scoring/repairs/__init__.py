"""Repairs of findings: edits that make the findings of a lint rule go away."""
