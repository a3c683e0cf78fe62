"""One HTML page that needs nothing else: no script, no font, no image but those within it; with its style sheet."""

import re
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import Final

from mcp_tef.reports.charts import shown

STYLE = """
:root { color-scheme: light dark; --surface: #ffffff; --sunken: #f6f7f9; --line: #e4e6ea; --track: #dcdfe6;
  --text: #1b1d23; --dim: #5c626e; --accent: #4650c8; --good: #00714f; --bad: #b54200; --warn: #875800;
  --good-fill: #007f59; --bad-fill: #ad4000; --warn-fill: #b97a00; --info-fill: #3389c2; --high: #2f3796; }
@media (prefers-color-scheme: dark) { :root { --surface: #17191d; --sunken: #111316; --line: #2a2d34;
  --track: #353941; --text: #e7e8eb; --dim: #9ca3af; --accent: #a3aaff; --good: #3cc79f; --bad: #ff8f57;
  --warn: #edb445; --good-fill: #0f9f78; --bad-fill: #d4581c; --warn-fill: #e6ac3c; --info-fill: #6db8e8;
  --high: #a3aaff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem; background: var(--surface); color: var(--text);
  font: 14px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; } h1, h3, p, li { overflow-wrap: anywhere; }
p, .dim { color: var(--dim); } p { margin: .25rem 0 .75rem; max-width: 46rem; }
.lead { color: var(--text); max-width: none; } .lead strong { font-size: 2rem; line-height: 1.2; margin-right: .5rem; }
ul { margin: .25rem 0; padding-left: 1.25rem; } li { margin: .25rem 0; } .nowrap { white-space: nowrap; }
code { font: .92em ui-monospace, monospace; color: var(--text); unicode-bidi: isolate; }
pre { white-space: pre-wrap; margin: .25rem 0; font: 12px/1.5 ui-monospace, monospace; overflow-wrap: anywhere;
  unicode-bidi: isolate; }
.said { border-left: 2px solid var(--track); margin: .5rem 0; padding-left: .75rem; }
.low { display: flex; justify-content: space-between; gap: 1rem; } .low code { min-width: 0; }
.pair { display: grid; grid-template-columns: 1fr 1fr; gap: 1.5rem; margin: .5rem 0; } .pair > div { min-width: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .35rem .5rem; border-bottom: 1px solid var(--line);
  unicode-bidi: isolate; }
td { overflow-wrap: anywhere; min-width: 8rem; } th { font-weight: 600; color: var(--dim); white-space: nowrap; }
td:last-child:not(.number) { min-width: 12rem; }
.narrow { width: auto; } .narrow td, .narrow th { padding-right: 2rem; } .runs td:first-child { white-space: nowrap; }
.runs td:nth-child(2) { min-width: 18rem; }
td.number, th.number { text-align: right; white-space: nowrap; min-width: 0; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.wide { overflow-x: auto; } svg { display: block; max-width: 100%; height: auto; }
svg text { fill: var(--text); font-size: 12px; }
svg .dim { fill: var(--dim); } .axis { stroke: var(--line); } .interval { stroke: var(--accent); stroke-width: 2; }
.flag { stroke: #ff6a3d; stroke-width: 2; } .dot { fill: var(--accent); }
.f-good { fill: var(--good-fill); } .f-bad { fill: var(--bad-fill); }
.f-warn { fill: var(--warn-fill); } .f-info { fill: var(--info-fill); } .f-none { fill: var(--track); }
.key.f-good { color: var(--good-fill); } .key.f-bad { color: var(--bad-fill); } .key.f-warn { color: var(--warn-fill); }
.key.f-info { color: var(--info-fill); } .key.f-none { color: var(--track); }
.cell { fill: var(--high); } svg .on-dark { fill: var(--surface); } svg .on-pale { fill: #0b0c0f; }
svg .on-deep { fill: #ffffff; } .diagonal { stroke: var(--dim); stroke-dasharray: 3 3; }
.heat { display: block; width: 100%; max-width: 60rem; } .heat, .pixels { image-rendering: pixelated; }
.legend { display: flex; gap: .25rem 1rem; align-items: center; flex-wrap: wrap; margin-top: .75rem; max-width: none; }
.bar { height: 22px; } .legend img { width: 12rem; height: .75rem; }
@media (max-width: 40rem) { body { padding: 1rem; }
  .wide > svg:not(.bar) { max-width: none; } .pair { display: block; } }
@media print { :root { color-scheme: light; --surface: #fff; --sunken: #fff; --line: #ccc; --track: #ccc; --text: #000;
  --dim: #444; --accent: #000; --high: #555; --good: #000; --bad: #000; --warn: #000; --good-fill: #007f59;
  --bad-fill: #ad4000; --warn-fill: #b97a00; --info-fill: #3389c2; }
  body { max-width: none; padding: 0; font-size: 11px; } .wide { overflow: visible; }
  h2, h3, h2 + p, h3 + p, p:has(+ .wide) { break-after: avoid; } tr, svg, p, .pair { break-inside: avoid; }
  thead { display: table-header-group; } td, td:last-child:not(.number) { min-width: 0; }
  .runs td:nth-child(2) { min-width: 0; width: 38%; }
  .runs td:nth-child(n+3):not(.number) { min-width: 10em; } }
"""


_LONG: Final = re.compile(r"\S{21,}")
_JOINT: Final = re.compile(r"(?<=\w)([_/.-])(?=\w)")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(title: str, lead: str, sections: Sequence[str], *, heading: str = "") -> str:
    """Render the page. `title` and `heading` (else the title again) are plain text, `lead` and `sections` markup."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{shown(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n"
        f"<header><h1>{shown(heading or title)}</h1>{lead}</header>\n{''.join(sections)}\n</body>\n</html>\n"
    )


def section(title: str, body: str) -> str:
    """Render a part under its heading; nothing where there is nothing to show."""
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
