"""The version of the program, as reports and `--version` show it."""

VERSION = "0.1.0"
