"""A setting of the core: the environment variable that sets it, what it is for, and what may stand in it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from mcp_tef.errors import InputError

T = TypeVar("T")
KB, MB = 1024, 1024 * 1024
OWN_PREFIX = "MCP_TEF_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable(Generic[T]):
    """`read` gives what a text means, None where it cannot be meant; `allowed` says in words what can be.

    `default` is a text as well, "" where nothing is set; `unit` is shown behind the value. Other programs may use the
    `name` as well, if it does not begin with MCP_TEF_: then it counts only where its value fits, and behind `own_name`.
    """

    name: str
    title: str
    reason: str
    allowed: str
    read: Callable[[str], T | None]
    default: str = ""
    unit: str = ""

    @property
    def own_name(self) -> str:
        """Name that no other program uses."""
        return self.name if self.name.startswith(OWN_PREFIX) else OWN_PREFIX + self.name.removeprefix("MCP_")

    def text(self, environment: Mapping[str, str]) -> str:
        """Return what the environment says, "" for nothing and for the value of another program."""
        text = environment.get(self.name, "").strip()
        return environment.get(self.own_name, "").strip() or ("" if self.fault(text) else text)

    def value(self, environment: Mapping[str, str], otherwise: T) -> T:
        """Return the value of the environment, or the given default; InputError for an invalid value of our own."""
        text = self.text(environment)
        if not text:
            return otherwise
        value = self.read(text)
        if value is None:
            raise InputError(
                f"{self.own_name} is “{_quoted(text)}”, not {self.allowed}.",
                hint=f"Set {self.own_name} to {self.allowed}, or remove it.",
                context={"variable": self.own_name},
            )
        return value

    def is_foreign(self, environment: Mapping[str, str]) -> bool:
        """Return True if the name holds the value of another program, and ours does not say another."""
        shared = self.name != self.own_name and not environment.get(self.own_name, "").strip()
        return shared and bool(self.fault(environment.get(self.name, "")))

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
    variables: Iterable[Variable[object]], environment: Mapping[str, str]
) -> tuple[dict[str, str], tuple[InputError, ...]]:
    """Return an environment without our own variables that cannot be meant, and what is wrong with them."""
    kept, problems = dict(environment), list[InputError]()
    for variable in variables:
        try:
            variable.value(environment, None)
        except InputError as error:
            problems.append(error)
            del kept[variable.own_name]
    return kept, tuple(problems)


def foreign_note(variables: Iterable[Variable[Any]]) -> tuple[str, ...]:
    """Return one sentence about variables of other programs, which have names of ours; none for none."""
    names = [(variable.name, variable.own_name) for variable in variables]
    if not names:
        return ()
    theirs, own = (" and ".join(part) for part in zip(*names, strict=True))
    return (f"Ignored {theirs}: the value is for another program. For mcp-tef, set {own}.",)


def _quoted(text: str) -> str:
    """Return the text as far as it can be repeated: an address may hold a password, and a mistake may be long."""
    scheme, is_address, _ = text.partition("://")
    return f"{scheme[:20]}://…" if is_address else text if len(text) <= 60 else f"{text[:59]}…"
