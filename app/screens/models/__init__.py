"""The Models screen: the conditions under which tools are picked."""
