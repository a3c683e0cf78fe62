"""Journeys that need a desktop of Linux are walked there alone."""

import sys

collect_ignore = [] if sys.platform == "linux" else ["test_as_the_system.py", "test_signals.py"]
