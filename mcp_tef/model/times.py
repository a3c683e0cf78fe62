"""Times as people read them. Order never follows from a time: clocks are set back, and files come from elsewhere."""

from datetime import datetime


def local_time_text(moment: datetime) -> str:
    """Return a moment in the time zone of this machine, which is named."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"
