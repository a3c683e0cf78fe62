"""Help: pages, their search and their window."""
