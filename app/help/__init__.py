"""The help: pages of our own, read beside the window."""
