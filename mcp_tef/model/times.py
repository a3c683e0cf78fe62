"""Times as people read them, and as rows are ordered: after those before, since clocks are set back."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta


def local_time_text(moment: datetime) -> str:
    """Return a moment in the time zone of this machine, which is named."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M %Z}"


def moment_after(moments: Iterable[datetime]) -> datetime:
    """Return this moment in UTC, or the first one after all of some: a clock may have been wrong, or be set back.

    So what is listed by time stands in the order in which it came.
    """
    return max([datetime.now(UTC), *(moment + timedelta(microseconds=1) for moment in moments)])
