"""Terminal input and output: results and progress, questions and answers. Results go to stdout, the rest to stderr."""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from mcp_tef import (
    ConsentAnswer,
    ConsentKind,
    ConsentRequest,
    InputError,
    Json,
    ReachError,
    Secret,
    consent_rows,
    document_text,
    json_text,
    secrets_in,
    shown_address,
    terminal_line,
    without_keys,
)
from mcp_tef.cli.interruption import Interruption
from mcp_tef.cli.standard_streams import write_note, write_result

_BOLD, _RESET = "\x1b[1m", "\x1b[0m"
_RED, _GREEN, _YELLOW = "\x1b[31m", "\x1b[32m", "\x1b[33m"
_STYLES = {"✓": _GREEN, "✗": _RED, "~": _YELLOW, "!": _YELLOW, "mcp-tef:": f"{_BOLD}{_RED}"}
_MARK = re.compile(r"( {0,2})([✓✗~!]|mcp-tef:)(?= )")
_HELP_HEADING = re.compile(r"^[a-z]+(?: [a-z]+)*:", re.MULTILINE)
NARROWEST_CELL = 8
MOST_KEY_CHARACTERS = 1_000_000
CELL_WIDTH, LAST_CELL_WIDTH = 60, 120
_KEY_ANSWERS = {
    **dict.fromkeys(("y", "yes"), ConsentAnswer.ALLOW),
    **dict.fromkeys(("w", "without"), ConsentAnswer.WITHOUT_KEY),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """The streams of one command. With `json` on, stdout holds one JSON document and nothing else."""

    json: bool = False
    quiet: bool = False
    input: TextIO = field(default_factory=lambda: sys.stdin)
    output: TextIO = field(default_factory=lambda: sys.stdout)
    errors: TextIO = field(default_factory=lambda: sys.stderr)
    secrets: list[Secret] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    interruption: Interruption = field(default_factory=Interruption)

    def document(self, value: Json) -> None:
        """Set the one JSON document, which is written when the command has ended; a later one replaces it."""
        if self.json:
            self.document_text(document_text(value))

    def document_text(self, text: str) -> None:
        """Set the one JSON document as text that ends its own last line."""
        self.documents[:] = [json_text(self._renamed(text))]

    def write_document(self) -> None:
        """Write the JSON document, where it is wanted."""
        if self.json and self.documents:
            write_result(self.output, self.documents[0])

    def say(self, *lines: str) -> None:
        """Write lines for people, where neither JSON nor quiet is wanted; a break inside one forges no line."""
        if not (self.json or self.quiet):
            dress = styled if coloured(self.output) else terminal_line
            for line in lines:
                write_result(self.output, dress(self._renamed(line)) + "\n")

    def write(self, text: str) -> None:
        """Write a result for programs as it is, where no JSON document is wanted."""
        if not self.json:
            write_result(self.output, text)

    def note(self, text: str) -> None:
        """Write a line beside the result."""
        self.draw((styled if coloured(self.errors) else terminal_line)(self._renamed(text)) + "\n")

    def draw(self, text: str) -> None:
        """Write beside the result as it is."""
        write_note(self.errors, text)

    def _renamed(self, text: str) -> str:
        """Return the text with the names that people know in the place of temporary files."""
        for path, name in self.aliases.items():
            text = text.replace(path, name)
        return text

    def read_key(self, prompt: str) -> Secret:
        """Read a key that is typed unseen or piped in; later output never shows it."""
        with self.interruption.raised_at_once():
            if self.input.isatty():
                from getpass import getpass

                text = getpass(prompt)
            else:
                text = self.input.readline()
        key = Secret(text.strip())
        if not key:
            raise InputError("No key came in on standard input.", hint="Pipe it in, or type it when asked.")
        self.secrets.append(key)
        return key

    def read_keys(self, prompt: str) -> list[str]:
        """Read lines with a key each that are typed unseen or piped in; later output never shows what they hold."""
        with self.interruption.raised_at_once():
            if self.input.isatty():
                from getpass import getpass

                lines = [*iter(lambda: getpass(prompt).strip(), "")]
            else:
                lines = self.input.read(MOST_KEY_CHARACTERS).splitlines()
        self.secrets.extend(Secret(line.partition("=")[2].strip() or line) for line in lines if line.strip())
        return lines

    def redacted(self, text: str) -> str:
        """Return the text without any key that this process knows of."""
        return without_keys(text, (*self.secrets, *secrets_in(os.environ)))

    @property
    def live(self) -> bool:
        """Return True if stderr is a terminal on which a line can be redrawn, which TERM=dumb denies."""
        return self.errors.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def asks(self) -> bool:
        """Return True if a user can answer questions."""
        return not self.json and self.input.isatty() and self.errors.isatty()

    def send_to(self, address: str) -> None:
        """Ask who is there to open an address in a browser."""
        self.note("Open this address in a browser to sign in, and come back when it says that you can:")
        self.note(f"    {shown_address(address)}")

    def show_consent(self, request: ConsentRequest) -> None:
        """Show what would happen, each value on a line of its own: nothing is masked in what a user decides about."""
        self.note(request.title)
        for label, lines in consent_rows(request):
            for number, line in enumerate(lines):
                self.note(f"    {label + ':' if number == 0 else '':15} {line}")

    def ask_consent(self, request: ConsentRequest) -> ConsentAnswer:
        """Show what would happen, and ask."""
        self.show_consent(request)
        if request.kind is not ConsentKind.KEY:
            return ConsentAnswer.ALLOW if self.confirms("Allow it, now and from now on?") else ConsentAnswer.DECLINE
        self.draw("Send the key, now and from now on? [y]es, [w]ithout a key, [N]o: ")
        return _KEY_ANSWERS.get(self._answer(), ConsentAnswer.DECLINE)

    def confirms(self, question: str) -> bool:
        """Ask who is there; everything but a yes is a no."""
        self.draw(f"{terminal_line(question)} [y/N] ")
        return self._answer() in ("y", "yes")

    def _answer(self) -> str:
        with self.interruption.raised_at_once():
            self.interruption.await_line(self.input)
            return self.input.readline().strip().lower()


class Heading(str):
    """A line above others, such as the heads of a table."""

    __slots__ = ()


def coloured(stream: TextIO) -> bool:
    """Return True if a stream shows colour: NO_COLOR forbids it, FORCE_COLOR asks for it, else a terminal shows it."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR", "0") not in ("", "0"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def styled(line: str) -> str:
    """Return a line as `terminal_line` does, with its mark in colour; headings and "mcp-tef:" are bold."""
    text = terminal_line(line)
    if isinstance(line, Heading):
        return f"{_BOLD}{text}{_RESET}"
    mark = _MARK.match(text)
    return f"{mark[1]}{_STYLES[mark[2]]}{mark[2]}{_RESET}{text[mark.end() :]}" if mark else text


def styled_help(text: str) -> str:
    """Return a help page with its headings in bold."""
    return _HELP_HEADING.sub(lambda found: f"{_BOLD}{found[0]}{_RESET}", text)


def unreachable(error: OSError) -> ReachError:
    """Return the error for a file that cannot be opened."""
    return ReachError(
        f"{error.filename} could not be opened: {error.strerror}.", hint="Check the path.", code="file_unreachable"
    )


def screen_width() -> int | None:
    """Return the width that COLUMNS names, else that of the terminal; None where the output is no terminal."""
    named = os.environ.get("COLUMNS", "")
    if not (named.isdecimal() and int(named)) and not sys.stdout.isatty():
        return None
    return shutil.get_terminal_size().columns


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], none: str = "") -> list[str]:
    """Return lines of left-aligned columns with a head, two spaces apart; long cells are cut, the last column later.

    Where there is no row, the sentence `none` takes its place.
    On a screen the widest columns are cut further so that each row fits; the first, which holds ids, stays whole.
    Without one, as in a pipe, only the longest cells are cut, since other programs read them.
    """
    allowed = screen_width()
    limits = [LAST_CELL_WIDTH if allowed is None else CELL_WIDTH] * (len(heads) - 1) + [LAST_CELL_WIDTH]
    cells = [list(heads), *(list(map(one_line, row, limits)) for row in rows)]
    if none and len(cells) == 1:
        return [none]
    widths = _fitted([max(map(len, column)) for column in zip(*cells, strict=True)], allowed)
    lines = ["  ".join(one_line(*cell).ljust(cell[1]) for cell in zip(row, widths, strict=True)) for row in cells]
    return [Heading(lines[0].rstrip()), *map(str.rstrip, lines[1:])]


def _fitted(widths: list[int], allowed: int | None) -> list[int]:
    """Return the widths of columns, the widest narrowed until all fit on the screen, as far as they can be read."""
    while allowed and sum(widths) + 2 * (len(widths) - 1) > allowed:
        widest = max(widths[1:], default=0)
        if widest <= NARROWEST_CELL:
            break
        widths[widths.index(widest, 1)] -= 1
    return widths


def one_line(text: str, limit: int = CELL_WIDTH) -> str:
    """Return the text on one line, cut with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
