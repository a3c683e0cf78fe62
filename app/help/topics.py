"""Help pages: their texts, generated tables, and search; knows no Qt."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import resources
from app.core_link.commands import Command
from app.core_link.preferences import RUNS
from app.text.glossary import TERMS
from mcp_tef import VARIABLES, Variable

FOLDER: Final = Path(resources.__file__).parent / "help"
SHORTCUTS: Final = "shortcuts"
ORDER: Final = (
    *(
        "getting-started",
        "window",
        "concepts",
        "servers",
        "cases",
        "runs",
        "metrics",
        "similarity",
        "workshop",
        "quality",
        "library",
        "models",
    ),
    *("importing", "local-models", "ci", "programs", "python", "comparison", "confusion", "settings", SHORTCUTS),
)
IN_LISTS: Final = (
    *(("Enter", "Open or edit"), ("F2", "Edit a server, or the name of a case"), ("Del", "Remove; can be undone")),
    *(("Space", "Read a run or a tool beside the list"), ("Esc", "Back to the list"), ("Ctrl+A", "Select all rows")),
    *(("Ctrl+C", "Copy the selected rows"), ("Shift+F10", "Open the menu")),
    ("Ctrl+Shift+L", "Arrange the columns of a table: order, width, visibility"),
)
_HEADING: Final = re.compile(r"^#{1,3} (.+)$", re.MULTILINE)
_MARKS: Final = re.compile(r"!?\[([^\[\]]*)\]\([^)]*\)|[*`|#]|^-+$|\\$", re.MULTILINE)
_EXCERPT: Final = 90


@dataclass(frozen=True, slots=True)
class Topic:
    """Help page; its title is its first heading."""

    key: str
    text: str

    @property
    def title(self) -> str:
        """Title of the topic."""
        return self.text.partition("\n")[0].removeprefix("# ")

    def sections(self) -> Iterator[tuple[str, str]]:
        """Yield each heading with its text."""
        parts = _HEADING.split(self.text)
        yield from zip(parts[1::2], parts[2::2], strict=True)


@dataclass(frozen=True, slots=True)
class HelpSearchHit:
    """Section that matches a search."""

    key: str
    heading: str
    title: str
    excerpt: str

    @property
    def address(self) -> str:
        """Address of the hit, as used in links."""
        return f"{self.key}.md#{anchor(self.heading)}"


def topics(commands: Mapping[str, Sequence[Command]]) -> tuple[Topic, ...]:
    """Return all pages in order, with their generated tables."""
    made = {
        "{{shortcuts}}": shortcuts(commands),
        "{{variables}}": variables(),
        "{{runs}}": runs(),
        "{{glossary}}": glossary(),
    }
    return tuple(Topic(key, _filled((FOLDER / f"{key}.md").read_text("utf-8"), made)) for key in ORDER)


def find(pages: Iterable[Topic], typed: str) -> list[HelpSearchHit]:
    """Return the sections with the most query words, matches in headings first."""
    words = [_stem(word) for word in typed.casefold().split()]
    found = [
        (
            _held(words, f"{page.title} {heading} {body}"),
            _held(words, heading),
            HelpSearchHit(page.key, heading, page.title, _excerpt(body, words)),
        )
        for page in pages
        for heading, body in page.sections()
    ]
    most = max((held for held, *_ in found), default=0)
    best = [(in_heading, one) for held, in_heading, one in found if held == most > 0]
    return [one for _, one in sorted(best, key=lambda item: -item[0])]


def _held(words: Sequence[str], text: str) -> int:
    """Return the number of query words that occur in a text."""
    there = text.casefold()
    return sum(word in there for word in words)


def _stem(word: str) -> str:
    """Return a word without its plural ending, so that singular and plural find each other."""
    return word.removesuffix("s").removesuffix("e") if len(word) > 3 and word.endswith("s") else word


def anchor(heading: str) -> str:
    """Return the anchor of a heading."""
    return "-".join("".join(c if c.isalnum() else " " for c in heading.casefold()).split())


def shortcuts(commands: Mapping[str, Sequence[Command]]) -> str:
    """Return the tables of shortcuts, by screen."""
    groups = {group: [(one.shown_keys, one.text) for one in inside] for group, inside in commands.items()}
    tables = (_table(("Keys", group), rows) for group, rows in {**groups, "In lists": IN_LISTS}.items())
    return "\n\n".join(tables)


def glossary() -> str:
    """Return the glossary, with the texts of the tooltips."""
    rows = [(f"**{term}**", meaning) for term, meaning in sorted(TERMS.items(), key=lambda item: item[0].casefold())]
    return _table(("Term", "What it means"), rows)


def variables() -> str:
    """Return the table of environment variables."""
    rows = [
        (_names(one), f"{one.reason} {_allowed(one.allowed)}", _default(one.default, one.unit)) for one in VARIABLES
    ]
    return _table(("Variable", "What it does", "Otherwise"), rows)


def _names(one: Variable[Any]) -> str:
    return f"`{one.own_name}`" if one.name == one.own_name else f"`{one.own_name}`, `{one.name}`"


def runs() -> str:
    """Return the table of run settings with their defaults."""
    rows = [(one.title, f"{one.reason} {_allowed(one.allowed)}", _default(one.default, one.unit)) for one in RUNS]
    return _table(("Setting", "What it does", "Otherwise"), rows)


def _allowed(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _default(text: str, unit: str) -> str:
    return f"{text} {unit}".strip() or "–"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |" for line in lines)


def _filled(text: str, made: Mapping[str, str]) -> str:
    for mark, table in made.items():
        text = text.replace(mark, table)
    return text


def _excerpt(body: str, words: Sequence[str]) -> str:
    """Return the text around the first match, without Markdown."""
    plain = " ".join(_MARKS.sub(lambda found: found[1] or "", body).split())
    first = min((place for word in words if (place := plain.casefold().find(word)) >= 0), default=0)
    start = max(0, first - _EXCERPT // 3)
    return f"{'…' if start else ''}{plain[start : start + _EXCERPT].strip()}"
