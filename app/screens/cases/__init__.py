"""The screen of test cases: what users say, and which calls would be right."""
