"""Link between the window and the core: bridge, session, settings, undo and background tasks."""
