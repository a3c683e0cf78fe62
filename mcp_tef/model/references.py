"""What `${…}` stands for in what is said of a server: kept as it is on disk, filled in only when it connects."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

_PATTERN = re.compile(
    r"\$\{(?:"
    r"input:(?P<input>[^{}\r\n]{1,200})"
    r"|(?P<place>workspaceFolder|workspaceFolderBasename|userHome|pathSeparator|/)(?::[^{}\r\n]{0,200})?"
    r"|keychain:(?P<keychain>[A-Za-z0-9_.-]{1,100})"
    r"|(?:env:)?(?P<variable>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>[^{}\r\n]*))?"
    r"|(?P<unknown>[A-Za-z]+:[^{}\r\n]{0,200})"
    r")\}"
)


class ReferenceKind(StrEnum):
    """What a reference is filled from: environment, keychain, a question of the config, a folder, or nothing."""

    KEYCHAIN = "keychain"
    VARIABLE = "variable"
    INPUT = "input"
    PLACE = "place"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reference:
    """One `${…}`: `${NAME}`, `${env:NAME}`, `${NAME:-default}`, `${keychain:NAME}`, `${input:id}`, …"""

    kind: ReferenceKind
    name: str
    start: int
    end: int
    default: str | None = None

    @property
    def variable(self) -> str:
        """The environment variable that fills it; for an input its id in capitals."""
        return variable_name(self.name) if self.kind is ReferenceKind.INPUT else self.name


def references(text: str) -> Iterator[Reference]:
    """Every reference in a text, in order; other dollars and braces are plain text."""
    for found in _PATTERN.finditer(text):
        kind = next(kind for kind in ReferenceKind if found[kind.value] is not None)
        yield Reference(kind, found[kind.value], found.start(), found.end(), found["default"])


def undecided_host(url: str) -> str:
    """Return the first reference before the path of an address that is no plain variable; empty where there is none.

    Such a part (a keychain entry, a question of a config, a folder) would decide which host is contacted, and it is not
    shown to the user who is asked about the address.
    """
    start = max(url.find("://") + 3, 0) if "://" in url else 0
    found, end = tuple(references(url)), len(url)
    for place in range(start, len(url)):
        if url[place] in "/?#\\" and not any(one.start <= place < one.end for one in found):
            end = place
            break
    odd = (one for one in found if one.start < end and one.kind is not ReferenceKind.VARIABLE)
    return next((url[one.start : one.end] for one in odd), "")


def variable_name(text: str) -> str:
    """The text as the name of an environment variable: `github-token` becomes `GITHUB_TOKEN`."""
    name = re.sub(r"[^A-Z0-9]+", "_", text.upper()).strip("_")
    return name if name and not name[0].isdigit() else f"VALUE_{name}".rstrip("_")
