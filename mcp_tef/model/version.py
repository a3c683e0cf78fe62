"""The version of the program, as reports and `--version` show it."""

from typing import Final

VERSION: Final = "0.1.0"
