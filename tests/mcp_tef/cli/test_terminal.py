"""Terminal output: plain text, one document, progress on a screen only, questions only to a user who can answer."""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from mcp_tef import (
    Batch,
    BatchEnded,
    BatchId,
    BatchProgressed,
    BatchStarted,
    BatchStatus,
    ConsentAnswer,
    InputError,
    Secret,
    ServerSpec,
    Transport,
    launch_preview,
)
from mcp_tef.cli.main import main
from mcp_tef.cli.progress import Progress, progress_line
from mcp_tef.cli.terminal import Terminal, one_line, table
from mcp_tef.trust.consents import key_request
from mcp_tef.trust.outputs import terminal_line

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
    assert terminal_line(text).isprintable()


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


ASKED = launch_preview(SPEC, ("workspace /w.db",))
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


def test_the_question_shows_every_argument_and_what_variables_are_set_to() -> None:
    terminal = at_screen("n\n")
    terminal.ask_consent(ASKED)
    asked = written(terminal.errors)
    assert all(word in asked for word in ("npx", "-y", "clock", "TOKEN", "/w.db"))
    assert '"TOKEN=geheim-123"' in asked
    assert "Put the secret into a variable" in asked
    assert "“npx” fetches the newest “clock”" in asked


def test_no_argument_can_imitate_a_line_of_the_question() -> None:
    forged = "x\n    Folder:         /srv/safe\r\x1b[2K\u202e"
    spec = replace(SPEC, args=(forged,), cwd="/tmp/evil\nRuns as:         nobody", name="a\nb")
    terminal = at_screen("n\n")
    terminal.ask_consent(launch_preview(spec, ("workspace\nw",)))
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


class Timers:
    """A clock that is turned by hand, and the calls that are due at its times."""

    def __init__(self) -> None:
        self.now = 0.0
        self.due: list[Timer] = []

    def later(self, seconds: float, call: Callable[[], None]) -> "Timer":
        """Note a call."""
        self.due.append(Timer(self, self.now + seconds, call))
        return self.due[-1]

    def pass_time(self, seconds: float) -> None:
        """Do what is due until then."""
        end = self.now + seconds
        while coming := [timer for timer in self.due if timer.at <= end]:
            self.now = coming[0].at
            self.due.remove(coming[0])
            coming[0].call()
        self.now = end


@dataclass
class Timer:
    """A call that is due."""

    timers: Timers
    at: float
    call: Callable[[], None]

    def cancel(self) -> None:
        """Take it back."""
        self.timers.due.remove(self)


def test_in_a_pipe_a_plain_line_is_written_every_ten_seconds_even_without_news() -> None:
    errors, timers = io.StringIO(), Timers()
    progress = Progress(Terminal(errors=errors), lambda: timers.now, timers.later)
    progress.hear(BatchStarted(BATCH))
    timers.pass_time(9.9)
    assert errors.getvalue() == ""
    timers.pass_time(0.2)
    progress.hear(HALF_WAY)
    timers.pass_time(25)
    half_way = "12/24 · 2 failed · about 1:09 left · $0.0123"
    assert errors.getvalue().splitlines() == ["24/24", half_way, half_way]
    progress.hear(BatchEnded(BATCH))
    timers.pass_time(60)
    assert len(errors.getvalue().splitlines()) == 3


@pytest.mark.parametrize("stream", [Screen, io.StringIO])
def test_with_quiet_neither_bar_nor_line_is_shown_but_the_reason_of_an_early_end(stream: type[io.StringIO]) -> None:
    errors, timers = stream(), Timers()
    progress = Progress(Terminal(errors=errors, quiet=True), lambda: timers.now, timers.later)
    progress.hear(HALF_WAY)
    progress.heard(0.5)
    timers.pass_time(60)
    progress.hear(BatchEnded(BATCH, "The cost cap was reached."))
    assert errors.getvalue() == "The cost cap was reached.\n"


def test_a_terminal_that_cannot_redraw_is_treated_as_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    assert not Terminal(errors=Screen()).live


ONE = "\x1b[32m✓\x1b[0m TP  one"


@pytest.fixture
def colours(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that says nothing about colour."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize(
    ("stream", "environment", "shown"),
    [
        (Screen, {}, ONE),
        (io.StringIO, {}, "✓ TP  one"),
        (Screen, {"NO_COLOR": "1"}, "✓ TP  one"),
        (Screen, {"NO_COLOR": "1", "FORCE_COLOR": "1"}, "✓ TP  one"),
        (Screen, {"NO_COLOR": ""}, ONE),
        (Screen, {"TERM": "dumb"}, "✓ TP  one"),
        (io.StringIO, {"FORCE_COLOR": "1"}, ONE),
        (io.StringIO, {"FORCE_COLOR": "0"}, "✓ TP  one"),
    ],
)
def test_marks_have_colour_where_it_is_wanted(
    stream: type[io.StringIO], environment: dict[str, str], shown: str, colours: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        colours.setenv(name, value)
    output = stream()
    Terminal(output=output).say("✓ TP  one")
    assert output.getvalue() == f"{shown}\n"


def test_headings_and_errors_stand_out_and_no_name_can_add_colour(colours: pytest.MonkeyPatch) -> None:
    terminal = at_screen("")
    terminal.say(*table(("ID", "NAME"), [("1", "\x1b[31mred")]), "  ✗ rule", "An ✗ inside")
    terminal.note("mcp-tef: It failed.")
    bold, *rest = written(terminal.output).splitlines()
    assert bold == "\x1b[1mID  NAME\x1b[0m"
    assert rest == ["1   ·[31mred", "  \x1b[31m✗\x1b[0m rule", "An ✗ inside"]
    assert written(terminal.errors) == "\x1b[1m\x1b[31mmcp-tef:\x1b[0m It failed.\n"


def test_help_has_bold_headings_in_colour_and_keeps_to_the_width(
    colours: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def page_of_compare() -> str:
        assert main(["compare", "--help"]) == 0
        return capsys.readouterr().out

    colours.setenv("COLUMNS", "60")
    page = page_of_compare()
    paragraphs = [line for line in page.splitlines() if not line.startswith("  mcp-tef ")]
    assert max(map(len, paragraphs)) <= 60
    assert "\x1b" not in page
    colours.setenv("FORCE_COLOR", "1")
    assert "\x1b[1moptions:\x1b[0m" in page_of_compare()


def test_a_table_keeps_to_the_width_and_leaves_ids_whole(colours: pytest.MonkeyPatch) -> None:
    rows = [("0123456789abcdef0123", "a long name " * 4, "another long text " * 4)]
    colours.setenv("COLUMNS", "60")
    lines = table(("ID", "NAME", "QUERY"), rows)
    assert max(map(len, lines)) <= 60
    assert lines[1].startswith("0123456789abcdef0123  a long name")
    colours.delenv("COLUMNS")
    assert max(map(len, table(("ID", "NAME", "QUERY"), rows))) > 100


def test_a_table_in_a_pipe_is_not_cut_to_a_screen(colours: pytest.MonkeyPatch) -> None:
    colours.delenv("COLUMNS", raising=False)
    name, query = "a long name " * 8, "a longer query " * 7
    _, row = table(("ID", "NAME", "QUERY"), [("0123", name, query)])
    assert row == f"0123  {name.strip()}  {query.strip()}"
