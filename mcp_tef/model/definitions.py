"""Versioned definitions of a workspace: prompts, model groups, routes and search tools, each as a JSON document."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from mcp_tef.errors import InputError
from mcp_tef.model.json import Json


class DefinitionKind(StrEnum):
    """Kind of definition; names are unique within one."""

    PROMPT = "prompt"
    GROUP = "group"
    ROUTE = "route"
    SEARCH = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredDefinition:
    """One version of a definition, which is never changed; versions count from 1."""

    kind: DefinitionKind
    name: str
    version: int
    document: Mapping[str, Json] = field(default_factory=dict)
    note: str = ""
    created_at: datetime

    @property
    def label(self) -> str:
        """Name and version, as runs record them: `counter@3`."""
        return f"{self.name}@{self.version}"


LONGEST_PROMPT_NAME = 60
BUILT_IN = "built-in"
"""Beginning of the names of the templates of this program, which nobody edits."""


class PromptKind(StrEnum):
    """Purpose of a template: selecting tools natively or as JSON, reviewing a definition, rewriting a description."""

    SYSTEM = "system"
    JSON = "json"
    REVIEW = "review"
    REWRITING = "rewriting"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptTemplate:
    """One version of a template; `variables` are those of its own with their values, "" where a run must give one.

    `model` is the label of the model it is meant for, "" for any.
    """

    name: str
    version: int
    kind: PromptKind
    text: str
    variables: Mapping[str, str] = field(default_factory=dict)
    model: str = ""
    note: str = ""
    created_at: datetime | None = None

    @property
    def label(self) -> str:
        """Name and version, as runs record them: `counter@3`."""
        return f"{self.name}@{self.version}"

    @property
    def built_in(self) -> bool:
        """True for a template of this program."""
        return self.name.startswith(BUILT_IN)


def prompt_label(text: str) -> tuple[str, int | None]:
    """Return name and version of `NAME@3`, or None for the latest of `NAME`. InputError."""
    name, at, number = text.strip().partition("@")
    if at and not (number.isdecimal() and int(number)):
        raise InputError(f"“{text}” names no version of a prompt.", hint="Write NAME, or NAME@3 for version 3.")
    return name.strip(), int(number) if at else None


def require_prompt_name(name: str) -> str:
    """Return the name of a new template without surrounding spaces. InputError for an unusable one."""
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_PROMPT_NAME or not name.isprintable() or "@" in name:
        said = f"The name of a prompt has 1 to {LONGEST_PROMPT_NAME} characters, which can be shown, and no @."
        raise InputError(said, hint="Use another name.")
    if any(word in name.split() for word in ("with", "via")):  # results name a model “via” a client “with” a prompt
        said = f"“{name}” holds “with” or “via”, which stand before other names in results."
        raise InputError(said, hint="Use another name.")
    if name.casefold().startswith(BUILT_IN):
        raise InputError("Built-in prompts are never changed.", hint=f"Copy one: prompts add NAME --from {BUILT_IN}")
    return name
