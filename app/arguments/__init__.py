"""Parameters of a tool's schema, and their values as text; knows no Qt."""
