"""Issues that make two tools hard to tell apart, and texts, examples and names that fix them."""
