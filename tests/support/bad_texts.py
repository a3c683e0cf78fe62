"""Generators of texts that make careless readers slow: each repeats one piece behind a beginning."""

from typing import Final

BAD_TEXTS: Final[dict[str, tuple[str, str]]] = {
    "quotes": ("", '"'),
    "open string of escaped quotes": ('{"a": "', '\\"'),
    "single quotes": ("", "'"),
    "backslashes": ('"', "\\"),
    "opening brackets": ("", "["),
    "opening braces": ("", '{"a":'),
    "template braces": ("", "{{"),
    "angles": ("", "<"),
    "angle and blanks": ("<", " "),
    "one word": ("", "a"),
    "one long key": ('{"', "k"),
    "many keys": ("{", '"k":1,'),
    "digits": ("", "1"),
    "digits in JSON": ("[", "9"),
    "blanks": ("", " "),
    "newlines": ("", "\n"),
    "carriage returns": ("", "\r"),
    "combining characters": ("e", "\u0301"),
    "half characters": ('"', "\\ud800"),
    "dollars": ("", "${"),
    "fences": ("", "```a "),
    "comments": ("", "<!--"),
    "base64": ("", "eyJhIjoi"),
    "commas": ("[", ",1"),
    "colons": ("", "a:"),
    "percent signs": ("", "%5c"),
    "addresses": ("", "a.b-c@"),
    "reminders": ("", "<system-reminder>"),
    "tracebacks": ("", "\n Traceback"),
    "thoughts": ("", "<think>"),
}


def bad_text(kind: str, size: int) -> str:
    """Return a text of this kind with so many characters."""
    begin, piece = BAD_TEXTS[kind]
    return (begin + piece * (size // len(piece) + 1))[:size]
