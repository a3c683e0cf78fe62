"""Versioned definitions of a workspace: prompts, model groups, routes and search tools, each as a JSON document."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

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
