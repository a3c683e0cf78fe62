"""Earlier messages of a conversation as text to edit: each begins with `User:` or `Assistant:`."""

import re
from typing import Final

from app.arguments.values import UnreadableError, dumps, loads
from mcp_tef import EarlierMessage, InputError, Json, messages_from_json, messages_to_json

_BEGINNING: Final = re.compile(r"^(user|assistant):[ \t]*", re.IGNORECASE | re.MULTILINE)
HOW_TO_WRITE: Final = "Begin each earlier message with User: or Assistant:."


def messages_text(messages: tuple[EarlierMessage, ...]) -> str:
    """Return the text of messages; as JSON if a message could not be read back from plain text."""
    text = "\n".join(f"{message.role.value.capitalize()}: {message.content}" for message in messages)
    try:
        reproduced = read_messages(text) == messages
    except UnreadableError:
        reproduced = False
    return text if reproduced else dumps(messages_to_json(messages))


def read_messages(text: str) -> tuple[EarlierMessage, ...]:
    """Parse messages; raise UnreadableError for text that begins without a role, and for an empty message."""
    text = text.strip()
    if not text:
        return ()
    if text.startswith("["):
        return _checked(loads(text))
    before, *parts = _BEGINNING.split(text)
    if before or not parts:
        raise UnreadableError(HOW_TO_WRITE)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return _checked([{"role": role.lower(), "content": content.strip()} for role, content in pairs])


def _checked(value: Json) -> tuple[EarlierMessage, ...]:
    try:
        return messages_from_json(value)
    except InputError as error:
        raise UnreadableError(f"{error.message} {error.hint}") from error
