"""JSON as users type and read it, with sentences for errors."""

import json

from mcp_tef import Json


class UnreadableError(ValueError):
    """Text that its field cannot take; the message is one sentence for the user."""


def needed(text: str, sentence: str) -> str:
    """Return the text; raise UnreadableError with the sentence if it is empty."""
    if not text:
        raise UnreadableError(sentence)
    return text


def dumps(value: Json, *, indent: int | None = None) -> str:
    """Return JSON with Unicode characters unescaped."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def loads(text: str) -> Json:
    """Parse JSON; raise UnreadableError with the place of the error."""
    try:
        return json.loads(needed(text.strip(), "Write a JSON value."))
    except json.JSONDecodeError as error:
        raise UnreadableError(f"This is not JSON yet: {_plainly(error)}.") from error
    except (RecursionError, ValueError) as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError("This JSON is too deep or too long.") from error


def _plainly(error: json.JSONDecodeError) -> str:
    where = f"line {error.lineno}, column {error.colno}"
    reason = error.msg[:1].lower() + error.msg[1:]
    return f"{reason} at {where}"


def is_json(text: str) -> bool:
    """Return True if a text is JSON."""
    try:
        loads(text)
    except UnreadableError:
        return False
    return True
