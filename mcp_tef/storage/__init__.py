"""Keeps servers, cases, runs and verdicts in one SQLite file."""
