"""The settings: how the window looks, where things lie, and what was agreed to."""
