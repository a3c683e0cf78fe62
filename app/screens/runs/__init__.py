"""The screen of runs: batches, their runs and the verdicts."""
