"""What bringing in servers from the configs of other programs would do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from mcp_tef.model.ids import ServerId
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.transfer import FieldChange, ImportFate


class ServerFileForm(StrEnum):
    """Whose config it is; `snippet` is any other text that lists servers."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"
    INSPECTOR = "inspector"
    REGISTRY = "registry"
    SNIPPET = "snippet"


@dataclass(frozen=True, slots=True)
class WrittenSecret:
    """A secret that a definition holds in plain text: where, and the environment variable to keep it in instead."""

    where: str
    variable: str


@dataclass(frozen=True, slots=True)
class TypedDefinition:
    """A definition with references in place of `secrets`, and their values by variable."""

    spec: ServerSpec
    secrets: tuple[WrittenSecret, ...] = ()
    values: Mapping[str, Secret] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedServer:
    """One server of a config and its fate. `label` is its name there, `place` where it stands in the config.

    `spec` has the name that it would get here, and references in place of `secrets`; `needs` are environment
    variables that it refers to and that are not set. `reason` says why it was refused.
    """

    label: str
    place: str
    fate: ImportFate
    spec: ServerSpec | None = None
    server_id: ServerId | None = None
    changes: tuple[FieldChange, ...] = ()
    secrets: tuple[WrittenSecret, ...] = ()
    needs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def name(self) -> str:
        """The name that it would get, or has in the config where it was refused."""
        return self.spec.name if self.spec else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerImportPreview:
    """What importing a config would do; nothing is done yet, and nothing is ever started by it."""

    source: str
    form: ServerFileForm
    title: str
    servers: tuple[ImportedServer, ...] = ()

    def of(self, fate: ImportFate) -> tuple[ImportedServer, ...]:
        """The servers of one fate, in the order of the config."""
        return tuple(server for server in self.servers if server.fate is fate)

    @property
    def changes_nothing(self) -> bool:
        """Whether applying it would leave the workspace as it is."""
        return not (self.of(ImportFate.ADDED) or self.of(ImportFate.CHANGED))


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundConfig:
    """A config in one of the usual places: what it would bring, or in `problem` why it cannot be read."""

    path: Path
    title: str
    preview: ServerImportPreview | None = None
    problem: str = ""
