"""Terminal output: plain text, one document, progress on a screen only, questions only to a user who can answer."""

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from mcp_tef import (
    Batch,
    BatchEnded,
    BatchId,
    BatchProgressed,
    BatchStatus,
    ConsentAnswer,
    InputError,
    Secret,
    ServerSpec,
    Transport,
    program_request,
)
from mcp_tef.cli.progress import Progress, progress_line
from mcp_tef.cli.terminal import Terminal, one_line, plain, table
from mcp_tef.model.consents import key_request

SPEC = ServerSpec(
    name="clock", transport=Transport.STDIO, command="npx", args=("-y", "clock"), env={"TOKEN": "geheim-123"}
)


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def at_screen(typed: str) -> Terminal:
    return Terminal(input=Screen(typed), output=Screen(), errors=Screen())


def piped(text: str, *, json: bool = False) -> Terminal:
    return Terminal(json=json, input=io.StringIO(text), output=io.StringIO(), errors=io.StringIO())


def written(stream: object) -> str:
    assert isinstance(stream, io.StringIO)
    return stream.getvalue()


@pytest.mark.parametrize("text", ["\x1b[2Jgone", "a\rb", "bell\x07", "right\u202eleft"])
def test_text_of_strangers_cannot_steer_the_terminal(text: str) -> None:
    assert plain(text).isprintable()


def test_with_json_only_the_document_reaches_stdout() -> None:
    terminal = piped("", json=True)
    terminal.say("a line for people")
    terminal.document({"é": 1})
    terminal.write_document()
    assert written(terminal.output) == '{\n  "é": 1\n}\n'


def test_without_json_no_document_is_written() -> None:
    terminal = piped("")
    terminal.document({"a": 1})
    terminal.write_document()
    assert written(terminal.output) == ""


def test_an_error_after_the_result_replaces_it_so_that_there_is_one_document() -> None:
    terminal = piped("", json=True)
    terminal.document({"runs": []})
    terminal.document({"error": {}})
    terminal.write_document()
    assert written(terminal.output) == '{\n  "error": {}\n}\n'


ASKED = program_request(SPEC, ("workspace /w.db",))
KEY = key_request("openai", "OPENAI_API_KEY", "https://other.example", unencrypted=False)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", ConsentAnswer.ALLOW),
        ("yes\n", ConsentAnswer.ALLOW),
        ("\n", ConsentAnswer.DECLINE),
        ("w\n", ConsentAnswer.DECLINE),
    ],
)
def test_consent_is_what_was_typed(typed: str, answer: ConsentAnswer) -> None:
    assert at_screen(typed).ask_consent(ASKED) is answer


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("y\n", ConsentAnswer.ALLOW), ("w\n", ConsentAnswer.WITHOUT_KEY), ("\n", ConsentAnswer.DECLINE)],
)
def test_a_key_can_also_be_left_out(typed: str, answer: ConsentAnswer) -> None:
    terminal = at_screen(typed)
    assert terminal.ask_consent(KEY) is answer
    assert all(word in written(terminal.errors) for word in ("https://other.example", "OPENAI_API_KEY"))


def test_the_question_shows_every_argument_and_names_but_no_values_of_the_environment() -> None:
    terminal = at_screen("n\n")
    terminal.ask_consent(ASKED)
    asked = written(terminal.errors)
    assert all(word in asked for word in ("npx", "-y", "clock", "TOKEN", "/w.db"))
    assert "geheim-123" not in asked
    assert "“npx” fetches the newest “clock”" in asked


def test_no_argument_can_imitate_a_line_of_the_question() -> None:
    forged = "x\n    Folder:         /srv/safe\r\x1b[2K\u202e"
    spec = replace(SPEC, args=(forged,), cwd="/tmp/evil\nRuns as:         nobody", name="a\nb")
    terminal = at_screen("n\n")
    terminal.ask_consent(program_request(spec, ("workspace\nw",)))
    lines = written(terminal.errors).splitlines()
    assert sum("Folder" in line[:16] for line in lines) == 1
    assert sum("Runs as" in line[:16] for line in lines) == 1
    assert any(line.endswith(r'2. "x\n    Folder:         /srv/safe\r\x1b[2K\u202e"') for line in lines)


def test_a_key_comes_from_standard_input_and_never_shows_again() -> None:
    terminal = piped("sk-very-secret\n")
    assert terminal.read_key("Key: ") == Secret("sk-very-secret")
    assert terminal.redacted("rejected sk-very-secret") == "rejected •••"


def test_keys_of_the_environment_do_not_show_in_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-from-outside")
    assert "sk-from-outside" not in piped("").redacted("bad key sk-from-outside")


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(InputError):
        piped("\n").read_key("Key: ")


def test_columns_are_aligned_and_long_cells_cut() -> None:
    lines = table(("A", "B"), [("x" * 200, "1"), ("y", "2")])
    assert lines[0].index("B") == lines[1].index("1") == lines[2].index("2")
    assert "…" in lines[1]


def test_one_line_keeps_short_text_and_joins_lines() -> None:
    assert one_line("a\n b") == "a b"


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


def test_in_a_pipe_a_plain_line_is_written_every_ten_seconds() -> None:
    errors, times = io.StringIO(), iter((100.0, 109.0, 110.0, 110.0, 115.0, 121.0, 121.0))
    progress = Progress(Terminal(errors=errors), lambda: next(times))
    for _ in range(4):
        progress.hear(HALF_WAY)
    assert errors.getvalue().splitlines() == ["12/24 · 2 failed · about 1:09 left · $0.0123"] * 2


def test_a_terminal_that_cannot_redraw_is_treated_as_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert not Terminal(errors=Screen()).live


def test_in_a_pipe_nothing_is_drawn_but_the_reason_of_an_early_end_is_told() -> None:
    errors = io.StringIO()
    progress = Progress(Terminal(errors=errors))
    progress.hear(HALF_WAY)
    progress.hear(BatchEnded(BATCH, "The cost cap was reached."))
    assert errors.getvalue() == "The cost cap was reached.\n"
