"""The command line: the second tenant of the front door, beside the window."""
