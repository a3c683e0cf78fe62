"""Whether a description that a model wrote can be offered for a tool."""

import re

from mcp_tef.scoring.differentiation.sides import Side
from mcp_tef.scoring.lint.texts import escape, shows

LONGEST = 2_000

_PLACEHOLDER = re.compile(
    r"(?i)[\W_]*(?:none|null|nil|undefined|n/?a|nan|to ?do|tbd|string|text|description|(?:the )?new description)?[\W_]*"
)
_JOINER = "\u200d"


def why_unusable(text: str, side: Side, other: Side) -> str | None:
    """What is wrong with a description, to be read after the model's name; None where nothing is."""
    if _PLACEHOLDER.fullmatch(text):
        return f"gave “{text}” as the description" if text else "gave an empty description"
    if len(text) > LONGEST:
        return f"wrote {len(text):,} characters, more than {LONGEST:,}"
    if (hidden := next((each for each in text if not shows(each) and each != _JOINER), None)) is not None:
        return f"put the invisible character {escape(hidden)} into the description"
    if _same(text, side.description):
        return "gave the old description back"
    if _same(text, other.description):
        return f"gave the description of `{other.name}`"
    if _is_about(text, side, other):
        return f"described `{other.name}` in place of `{side.name}`"
    return None


def _same(one: str, other: str) -> bool:
    return " ".join(one.split()).casefold() == " ".join(other.split()).casefold()


def _is_about(text: str, side: Side, other: Side) -> bool:
    """Whether the text names the other tool as its subject: `search_files finds …`, `This tool, search_files, …`."""
    if other.name == side.name:
        return False
    name = re.escape(other.name)
    quoted = rf"[`“\"']{name}[`”\"']"
    plain = quoted if other.name.isalpha() and other.name.islower() else rf"(?:{quoted}|{name}(?![\w-]))"
    return (
        re.match(rf"\s*(?:(?:this|the) (?:tool|function)(?: is|,| called| named)*\s+)?{plain}", text, re.IGNORECASE)
        is not None
    )
