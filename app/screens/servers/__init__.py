"""The servers: where tools come from, whether they answer, and what their tools say."""
