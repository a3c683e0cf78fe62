"""Results of a batch as files for other programs and for readers."""
