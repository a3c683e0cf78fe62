"""One HTML page that needs nothing else: no script, no font, no image but those within it."""

from collections.abc import Iterable, Sequence

from mcp_tef.workflows.reports.charts import shown
from mcp_tef.workflows.reports.style import STYLE

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_MORE_STYLE = """
.heat { display: block; width: 100%; max-width: 60rem; } .heat, .pixels { image-rendering: pixelated; }
.legend { display: flex; gap: .5rem; align-items: center; } .legend img { width: 16rem; height: .75rem; }
.low { display: flex; justify-content: space-between; gap: 1rem; } pre { white-space: pre-wrap; margin: .25rem 0;
  font: 12px/1.5 ui-monospace, monospace; overflow-wrap: anywhere; unicode-bidi: isolate; }
code { font: 13px ui-monospace, monospace; unicode-bidi: isolate; } h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
ul { margin: .25rem 0; padding-left: 1.25rem; } li { margin: .25rem 0; } .nowrap { white-space: nowrap; }
"""


def page(title: str, lead: str, sections: Sequence[str], *, heading: str = "") -> str:
    """The whole page. `title` and `heading` (else the title again) are plain text, `lead` and the sections markup."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown(title)}</title>\n<style>{STYLE}{_MORE_STYLE}</style>\n</head>\n<body>\n"
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
    heads: Sequence[str], rows: Sequence[Sequence[str]], figures: Sequence[int] = (), *, narrow: bool = False
) -> str:
    """Plain texts in rows and columns; nothing where there is no row. `figures` are the columns set as numbers."""
    top = "".join(f"<th{_class(at in figures)}>{shown(head)}</th>" for at, head in enumerate(heads))
    body = "".join(_row(row, figures) for row in rows)
    kind = ' class="narrow"' if narrow else ""
    whole = f'<div class="wide"><table{kind}><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'
    return whole if rows else ""


def _row(row: Sequence[str], figures: Sequence[int]) -> str:
    return f"<tr>{''.join(f'<td{_class(at in figures)}>{shown(cell)}</td>' for at, cell in enumerate(row))}</tr>"


def _class(figure: bool) -> str:
    return ' class="number"' if figure else ""


def unread(reasons: Iterable[tuple[str, str]]) -> str:
    """What could not be read: pairs of a name and a reason."""
    return section("Not read", table(("What", "Why"), [*reasons]))
