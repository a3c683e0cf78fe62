"""Use cases of the core."""
