"""One HTML page that needs nothing else: no script, no font, no image but those within it."""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final

from mcp_tef.reports.charts import shown
from mcp_tef.reports.style import STYLE

_LONG: Final = re.compile(r"\S{21,}")
_JOINT: Final = re.compile(r"(?<=\w)([_/.-])(?=\w)")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(title: str, lead: str, sections: Sequence[str], *, heading: str = "") -> str:
    """The whole page. `title` and `heading` (else the title again) are plain text, `lead` and the sections markup."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{shown(heading or title)}</h1>{lead}</header>\n{''.join(sections)}\n</body>\n</html>\n"
    )


def section(title: str, body: str) -> str:
    """A part under its heading; nothing where there is nothing to show."""
    return f"<section><h2>{shown(title)}</h2>\n{body}</section>\n" if body else ""


def paragraphs(*texts: str) -> str:
    """Plain texts, one paragraph each; empty ones are left out."""
    return "".join(f"<p>{shown(text)}</p>" for text in texts if text)


def counted(count: int, thing: str) -> str:
    """`1 tool`, `1,200 tools`."""
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    figures: Sequence[int] = (),
    *,
    kind: str = "",
    colours: Sequence[str] = (),
) -> str:
    """Plain texts in rows and columns; nothing where there is no row. `figures` are the columns set as numbers.

    A `kind` is "narrow", for few short cells, or "runs", whose first column does not wrap. `colours` are the classes
    of the first cell of each row, whose words say the same.
    """
    top = "".join(f"<th{_class('number' * (at in figures))}>{shown(head)}</th>" for at, head in enumerate(heads))
    body = "".join(_row(row, figures, colour) for row, colour in zip_longest(rows, colours, fillvalue=""))
    worn = f' class="{kind}"' if kind else ""
    whole = f'<div class="wide"><table{worn}><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    return whole if rows else ""


def _row(row: Sequence[str], figures: Sequence[int], colour: str) -> str:
    worn = ("number" if at in figures else "" if at else colour for at in range(len(row)))
    return f"<tr>{''.join(f'<td{_class(name)}>{cell(text)}</td>' for name, text in zip(worn, row, strict=True))}</tr>"


def cell(text: str) -> str:
    """Plain text for a cell, in which names that are too long for one break where their words do."""
    return _LONG.sub(lambda found: _JOINT.sub(r"\1<wbr>", found[0]), shown(text))


def _class(name: str) -> str:
    return f' class="{name}"' if name else ""


def unread(reasons: Iterable[tuple[str, str]]) -> str:
    """Render what could not be read: pairs of a name and a reason."""
    return section("Not read", table(("What", "Why"), [*reasons]))
