"""The screen of figures: what all runs say together, and how two batches differ."""
