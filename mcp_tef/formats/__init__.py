"""File formats of cases and servers."""
