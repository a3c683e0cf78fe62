"""A setting of the core: the environment variable that sets it, what it is for, and what may stand in it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from mcp_tef.errors import InputError

T = TypeVar("T")
KB, MB = 1024, 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable(Generic[T]):
    """`read` gives what a text means, None where it cannot be meant; `allowed` says in words what can be.

    `default` is a text as well, "" where nothing is set; `unit` is shown behind the value.
    """

    name: str
    title: str
    reason: str
    allowed: str
    read: Callable[[str], T | None]
    default: str = ""
    unit: str = ""

    def value(self, environment: Mapping[str, str], otherwise: T) -> T:
        """Return the value of the environment, or the given default; InputError for an invalid value."""
        text = environment.get(self.name, "").strip()
        if not text:
            return otherwise
        value = self.read(text)
        if value is None:
            raise InputError(
                f"{self.name} is “{_quoted(text)}”, not {self.allowed}.",
                hint=f"Set {self.name} to {self.allowed}, or remove it.",
                context={"variable": self.name},
            )
        return value

    def fault(self, text: str) -> str:
        """Return the problem of a text in one sentence; empty where the text is valid or blank."""
        return f"Write {self.allowed}." if text.strip() and self.read(text.strip()) is None else ""


def whole(least: int, most: int) -> Callable[[str], int | None]:
    """Return a parser of whole numbers in a range."""

    def read(text: str) -> int | None:
        value = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else -1
        return value if least <= value <= most else None

    return read


def size(most: int) -> Callable[[str], int | None]:
    """Return a parser of numbers of bytes: plain, or in KB or MB."""

    def read(text: str) -> int | None:
        digits, unit = text.rstrip("KMBkmb ").strip(), text.lstrip("0123456789").strip().upper()
        value = whole(1, most)(digits)
        factor = {"": 1, "KB": KB, "MB": MB}.get(unit)
        return None if value is None or factor is None or value * factor > most else value * factor

    return read


def size_words(number: int) -> str:
    """Return a number of bytes as `size` reads it."""
    for unit, one in (("MB", MB), ("KB", KB)):
        if number % one == 0:
            return f"{number // one} {unit}"
    return str(number)


def number(least: float, most: float) -> Callable[[str], float | None]:
    """Return a parser of numbers in a range."""

    def read(text: str) -> float | None:
        try:
            value = float(text) if text.isascii() else -1.0
        except ValueError:
            return None
        return value if least <= value <= most else None

    return read


def sound(
    variables: tuple[Variable[object], ...], environment: Mapping[str, str]
) -> tuple[dict[str, str], tuple[InputError, ...]]:
    """Return an environment without what cannot be meant, and what is wrong with it."""
    kept, problems = dict(environment), list[InputError]()
    for variable in variables:
        try:
            variable.value(environment, None)
        except InputError as error:
            problems.append(error)
            del kept[variable.name]
    return kept, tuple(problems)


def _quoted(text: str) -> str:
    """Return the text as far as it can be repeated: an address may hold a password, and a mistake may be long."""
    scheme, is_address, _ = text.partition("://")
    return f"{scheme[:20]}://…" if is_address else text if len(text) <= 60 else f"{text[:59]}…"
