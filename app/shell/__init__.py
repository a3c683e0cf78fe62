"""The main window: start, navigation, notifications and shutdown."""
