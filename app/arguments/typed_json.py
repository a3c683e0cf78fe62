"""JSON as people type and read it, with sentences instead of stack traces."""

import json

from mcp_tef import Json


class UnreadableError(ValueError):
    """A text that is not what its field asks for; the message is one sentence for people."""


def needed(text: str, sentence: str) -> str:
    """The text, where there is one; raises UnreadableError with the sentence."""
    if not text:
        raise UnreadableError(sentence)
    return text


def dumps(value: Json, *, indent: int | None = None) -> str:
    """JSON as people read it: Unicode as it is."""
    return json.dumps(value, ensure_ascii=False, indent=indent)


def loads(text: str) -> Json:
    """The value of a JSON text; raises UnreadableError with where it breaks off."""
    try:
        return json.loads(needed(text.strip(), "Write a JSON value."))
    except json.JSONDecodeError as error:
        raise UnreadableError(f"This is not JSON yet: {_plainly(error)}.") from error
    except (RecursionError, ValueError) as error:
        if isinstance(error, UnreadableError):
            raise
        raise UnreadableError("This JSON is too deep or too long to be read.") from error


def _plainly(error: json.JSONDecodeError) -> str:
    where = f"line {error.lineno}, column {error.colno}"
    said = error.msg[:1].lower() + error.msg[1:]
    return f"{said} at {where}"


def is_json(text: str) -> bool:
    """Whether a text can be read as JSON."""
    try:
        loads(text)
    except UnreadableError:
        return False
    return True
