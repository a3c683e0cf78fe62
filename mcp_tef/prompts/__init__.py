"""Prompts for models, and parsers of their answers."""
