"""Progress is one line on a screen, and nothing at all elsewhere."""

import io
from datetime import UTC, datetime

from mcp_tef import Batch, BatchEnded, BatchId, BatchProgressed, BatchStatus
from mcp_tef.cli.terminal import Progress, Terminal, progress_line

BATCH = Batch(
    id=BatchId("b"),
    name="",
    status=BatchStatus.RUNNING,
    models=("m/x",),
    total=24,
    counts={"failed": 2},
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
)
HALF_WAY = BatchProgressed(batch=BATCH, done=12, tokens=100, cost_usd=0.0123, seconds_left=69.4)


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_the_line_tells_how_far_how_long_and_how_much() -> None:
    assert progress_line(HALF_WAY) == "████████████░░░░░░░░░░░░ 12/24 · 2 failed · about 1:09 left · $0.0123"


def test_what_cannot_be_told_is_left_out() -> None:
    early = BatchProgressed(batch=BATCH, done=0, tokens=0, cost_usd=None, seconds_left=None)
    assert "left" not in progress_line(early)
    assert "$" not in progress_line(early)


def test_on_a_screen_the_line_is_drawn_and_taken_away() -> None:
    errors = Screen()
    progress = Progress(Terminal(errors=errors))
    progress.hear(HALF_WAY)
    progress.hear(BatchEnded(BATCH))
    assert "12/24" in errors.getvalue()
    assert errors.getvalue().endswith("\r\x1b[K")


def test_in_a_pipe_nothing_is_drawn_but_the_reason_of_an_early_end_is_told() -> None:
    errors = io.StringIO()
    progress = Progress(Terminal(errors=errors))
    progress.hear(HALF_WAY)
    progress.hear(BatchEnded(BATCH, "The cost cap was reached."))
    assert errors.getvalue() == "The cost cap was reached.\n"
