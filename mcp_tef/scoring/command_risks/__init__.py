"""Risks of a command line, shown before a server's program is started; pure."""
