"""Secrets held in memory that never print themselves, and their removal from texts."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import RLock
from typing import Final
from weakref import WeakValueDictionary, finalize

from mcp_tef.errors import InputError
from mcp_tef.model.addresses import origin_of, without_user_info
from mcp_tef.model.encoded_secrets import grams, key_forms, masked, may_hold
from mcp_tef.model.json import Json

MASK: Final = "•••"
SHORTEST = 6

_SECRET_NAME = re.compile(r"(?i)(?:key|token|secret|password|passwd|pass|_pwd|credential|credentials|auth)$")
_KEY_LIKE = re.compile(
    r"\b(?:sk|pk|gsk|xai|key)-[A-Za-z0-9_*.-]{8,}|\b(?:hf_|ghp_|github_pat_|AIza)[-_A-Za-z0-9]{16,}"
    r"|(?i:(?<=bearer )|(?<=basic )(?=\S*[0-9=]))[^\s\"',;&}]{6,}"
)
_NAMED = re.compile(
    r"(?i)((?:api[-_ ]?key|token|password|secret|[?&]key)[\"']?\s{0,9}[:=]\s{0,9}[\"']?)[^\s\"',;&}]{6,}"
)


_KEY_PARAMETER = re.compile(
    r"(?i)(?<=[?&])[\w.-]*(?:key|token|secret|password|passwd|pwd|credentials?|auth|signature|sig)=[^&#]+&?"
)


class Secret:
    """A key or token: prints as dots, and gives its text only to who asks for it by name.

    As long as it lives, `without_keys` takes it out of every text.
    """

    __slots__ = ("__weakref__", "_forms", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._forms = key_forms(text)
        if len(text) >= SHORTEST:
            held = grams(self._forms)
            with _HOLDING:
                _HELD[id(self)] = self
                _GRAMS.update(held)
            finalize(self, _release, held).atexit = False

    def reveal(self) -> str:
        """Return the text itself, for the one call that needs it."""
        return self._text

    def redact(self, text: str) -> str:
        """Return `text` without this secret in it, plain or in another form."""
        if not self._text:
            return text
        plain = text.replace(self._text, MASK)
        return self.redact_forms(plain) if may_hold(plain, _GRAMS) else plain

    def redact_plain(self, text: str) -> str:
        """Return `text` without this secret as it is."""
        return text.replace(self._text, MASK) if self._text else text

    def redact_forms(self, text: str) -> str:
        """Return `text` without this secret in another form."""
        return masked(text, self._forms, MASK)

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __bool__(self) -> bool:
        return bool(self._text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


@dataclass(frozen=True, slots=True)
class SessionSecrets:
    """Secrets in memory only: keys by provider and origin, sign-ins by address, and variables of servers."""

    keys: Mapping[tuple[str, str], Secret]
    grants: Mapping[str, Secret]
    variables: Mapping[str, Secret] = field(default_factory=dict)


_HOLDING = RLock()
_HELD: WeakValueDictionary[int, Secret] = WeakValueDictionary()
_GRAMS: Counter[int] = Counter()
"""What the forms of all secrets in memory consist of, so that a text is examined only if it shares some of it."""


def _release(held: Counter[int]) -> None:
    with _HOLDING:
        _GRAMS.subtract(held)
        for gram in [gram for gram in held if _GRAMS[gram] <= 0]:
            del _GRAMS[gram]


def secrets_in(environment: Mapping[str, str]) -> tuple[Secret, ...]:
    """Return the values of variables whose names say that they are secret."""
    return tuple(
        Secret(value) for name, value in environment.items() if _SECRET_NAME.search(name) and len(value) >= SHORTEST
    )


def without(value: Json, secrets: Sequence[Secret]) -> Json:
    """Return a JSON value without any of these secrets, in whichever text or name of a field they are."""
    if isinstance(value, str):
        for secret in secrets:
            value = secret.redact(value)
        return value
    if isinstance(value, Mapping):
        return {without(name, secrets): without(inner, secrets) for name, inner in value.items()}
    return [without(inner, secrets) for inner in value] if isinstance(value, list) else value


def without_keys(text: str, known: Iterable[Secret] = ()) -> str:
    """Return `text` without the known secrets, those that this process holds, and whatever looks like one."""
    with _HOLDING:
        held = tuple(_HELD.values())
    secrets = sorted({*known, *held}, key=_length, reverse=True)
    for secret in secrets:
        text = secret.redact_plain(text)
    if may_hold(text, _GRAMS):
        for secret in secrets:
            text = secret.redact_forms(text)
    return _KEY_LIKE.sub(MASK, _NAMED.sub(rf"\g<1>{MASK}", text))


def looks_like_key(text: str) -> bool:
    """Return True if a text holds something that has the form of a key, or that a name before it calls one."""
    return bool(_KEY_LIKE.search(text) or _NAMED.search(text))


def json_without_keys(value: Json, known: Sequence[Secret] = ()) -> Json:
    """Return a JSON value with `without_keys` applied to every text, and without fields named like a secret."""
    if isinstance(value, str):
        return without_keys(value, known)
    if isinstance(value, Mapping):
        return {without_keys(name, known): _field(name, inner, known) for name, inner in value.items()}
    return [json_without_keys(inner, known) for inner in value] if isinstance(value, list) else value


def _field(name: str, value: Json, known: Sequence[Secret]) -> Json:
    clean = json_without_keys(value, known)
    if not isinstance(clean, str):
        return clean
    return _NAMED.sub(rf"\g<1>{MASK}", f"{name}={clean}").removeprefix(f"{name}=")


def without_credentials(url: str) -> str:
    """Return an address without user name, password and parameters that hold a key; other texts stay as they are."""
    plain = without_user_info(url)
    kept = _KEY_PARAMETER.sub("", plain)
    return plain if kept == plain else kept.rstrip("?&")


def require_no_credentials(url: str) -> None:
    """Raise InputError for an address that holds a password or a key: addresses are stored and shown."""
    if without_credentials(url) != url:
        raise InputError(
            "The address holds a password or a key, and addresses are stored and shown.",
            hint="Leave it out. Give the key where it is asked for, or set the provider's variable.",
        )


def _length(secret: Secret) -> int:
    return len(secret.reveal())


class RedactingFormatter(logging.Formatter):
    """Writes the lines of a log without keys, tracebacks included."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        return without_keys(super().format(record))


_KEY_LINES: Final = "Write each key in a line of its own: PROVIDER=KEY, or PROVIDER@ADDRESS=KEY for one address."


def keys_by_name(lines: Iterable[str]) -> dict[str, Secret]:
    """Return the keys of lines `PROVIDER=KEY`, or `PROVIDER@ADDRESS=KEY` by the address's origin.

    Raises InputError, which never repeats a line, for another form, for a name that comes twice, and for no line.
    """
    found: dict[str, Secret] = {}
    for number, line in enumerate(lines, 1):
        if line.strip():
            name, key = _named_key(number, line)
            if name in found:
                raise InputError(f"Two keys are given for {name}.", hint="Leave one of them out.")
            found[name] = key
    if not found:
        raise InputError("No key came in on standard input.", hint=_KEY_LINES)
    return found


def _named_key(number: int, line: str) -> tuple[str, Secret]:
    name, equals, key = (part.strip() for part in line.partition("="))
    provider, at, address = name.partition("@")
    if not (equals and provider and key) or " " in name:
        raise InputError(f"Line {number} of the keys is not PROVIDER=KEY.", hint=_KEY_LINES)
    origin = origin_of(address)
    if at and not origin:
        raise InputError(f"Line {number} of the keys names no address behind the @.", hint=_KEY_LINES)
    return f"{provider}{at}{origin}", Secret(key)
