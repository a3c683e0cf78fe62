"""Journeys that need a desktop of Linux are walked there alone."""

import sys

OF_LINUX = ["test_as_the_system.py", "test_signals.py", "test_window_beside_commands.py"]
collect_ignore = [] if sys.platform == "linux" else OF_LINUX
