"""Where the words of the command line go: results to stdout, everything else to stderr."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from mcp_tef import (
    ConsentError,
    InputError,
    Json,
    ReachError,
    Secret,
    ServerSpec,
    launch_risks,
    secrets_in,
    without_keys,
)
from mcp_tef.cli.interruption import Interruption


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    """The streams of one command. With `json` on, stdout holds one JSON document and nothing else."""

    json: bool = False
    input: TextIO = field(default_factory=lambda: sys.stdin)
    output: TextIO = field(default_factory=lambda: sys.stdout)
    errors: TextIO = field(default_factory=lambda: sys.stderr)
    secrets: list[Secret] = field(default_factory=list)
    documents: list[str] = field(default_factory=list)
    interruption: Interruption = field(default_factory=Interruption)

    def document(self, value: Json) -> None:
        """Set the one JSON document, which is written when the command has ended; a later one replaces it."""
        if self.json:
            self.document_text(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")

    def document_text(self, text: str) -> None:
        """Set the one JSON document as text that ends its own last line."""
        self.documents[:] = [text]

    def write_document(self) -> None:
        """Write the JSON document, where it is wanted."""
        if self.json and self.documents:
            self.output.write(self.documents[0])

    def say(self, *lines: str) -> None:
        """Write lines for people, where no JSON is wanted."""
        if not self.json:
            self.output.writelines(plain(line) + "\n" for line in lines)

    def note(self, text: str) -> None:
        """Write a line beside the result."""
        self.errors.write(plain(text) + "\n")
        self.errors.flush()

    def read_key(self, prompt: str) -> Secret:
        """A key that is typed unseen, or piped in; it never shows in what is written later."""
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

    def read_input(self) -> str:
        """All of standard input."""
        with self.interruption.raised_at_once():
            return self.input.read()

    def redacted(self, text: str) -> str:
        """The text without any key that this process knows of."""
        return without_keys(text, (*self.secrets, *secrets_in(os.environ)))

    @property
    def live(self) -> bool:
        """Whether stderr is a screen on which a line can be drawn over."""
        return self.errors.isatty()

    @property
    def asks(self) -> bool:
        """Whether somebody is there to answer a question."""
        return not self.json and self.input.isatty() and self.errors.isatty()

    def send_to(self, address: str) -> None:
        """Ask who is there to open an address in a browser."""
        self.note("Open this address in a browser to sign in, and come back when it says that you can:")
        self.note(f"    {address}")

    def agrees(self, spec: ServerSpec) -> bool:
        """Show what would start, and ask; raises ConsentError where nobody can answer."""
        risks = [f"Look twice: {risk}" for risk in launch_risks(spec)]
        if not self.asks:
            raise ConsentError(
                f"{spec.name} would start a program that nobody has agreed to: {spec.address}.",
                hint=" ".join([*risks, "Add --yes to agree to it."]),
            )
        self.note(f"{spec.name} would start this program on your machine:")
        for argument in spec.argv:
            self.note(f"    {argument}")
        self.note(f"in the folder: {spec.cwd or 'the current one'}")
        self.note(f"with these environment variables set: {', '.join(spec.env) or 'none'}")
        if spec.env_file:
            self.note(f"and with those of the file: {spec.env_file}")
        for risk in risks:
            self.note(risk)
        return self.confirms("Start it now, and whenever it is needed?")

    def confirms(self, question: str) -> bool:
        """Ask who is there; everything but a yes is a no."""
        self.errors.write(f"{question} [y/N] ")
        self.errors.flush()
        with self.interruption.raised_at_once():
            return self.input.readline().strip().lower() in ("y", "yes")


def plain(text: str) -> str:
    """The text without anything that could steer a terminal; names and errors come from strangers."""
    return "".join(character if character.isprintable() or character == "\n" else "·" for character in text)


def unreachable(error: OSError) -> ReachError:
    """The error for a file that cannot be opened."""
    return ReachError(
        f"{error.filename} could not be opened: {error.strerror}.", hint="Check the path.", code="file_unreachable"
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of left-aligned columns, two spaces apart, with a head."""
    cells = [list(heads), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]


def one_line(text: str, limit: int = 60) -> str:
    """The text on one line, cut with an ellipsis."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
