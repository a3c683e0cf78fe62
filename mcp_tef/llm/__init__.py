"""Selection and writing by language models, and the offline baseline."""
