"""Imports and exports: kinds of files, previews of what an import would change, reports of what was written."""

import shlex
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from mcp_tef.errors import InputError
from mcp_tef.model.cases import CaseDraft, TestCase
from mcp_tef.model.ids import CaseId, ServerId
from mcp_tef.model.secrets import Secret
from mcp_tef.model.servers import ServerSpec


class CaseFileFormat(StrEnum):
    """The forms that files of cases have; `tef` is our own, as YAML or JSON. A recording is only read."""

    TEF = "tef"
    CSV = "csv"
    BFCL = "bfcl"
    PROMPTFOO = "promptfoo"
    MCP_EVAL = "mcp-eval"
    RECORDING = "recording"

    @property
    def is_written(self) -> bool:
        """True if cases are exported in this form."""
        return self is not CaseFileFormat.RECORDING


CASE_FILE_SUFFIXES: Mapping[str, CaseFileFormat | None] = {
    ".yaml": None,
    ".yml": None,
    ".json": None,
    ".csv": CaseFileFormat.CSV,
    ".tsv": CaseFileFormat.CSV,
    ".jsonl": CaseFileFormat.BFCL,
    ".ndjson": CaseFileFormat.BFCL,
}
"""The extensions that files of cases have, each with its form; None where only the content tells."""


class ImportStatus(StrEnum):
    """Effect of an import on one case or server."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field of a case that would change, in words."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedItem:
    """One item of a file of any kind, and its fate. `edited` marks a change of what a person made or edited here."""

    kind: str
    name: str
    fate: ImportStatus
    changes: tuple[FieldChange, ...] = ()
    edited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedCase:
    """One case of a file and its fate. `place` says where it stands in the file; `case_id` what it would change.

    `before` is the stored case as the preview saw it; `wanted_id` is the id in the file of a case that is new here.
    `edited` marks a change of what a person made or edited here.

    `reason` says why it was refused; `notes` say what the file asks for that is not taken over.
    """

    label: str
    place: str
    fate: ImportStatus
    draft: CaseDraft | None = None
    case_id: CaseId | None = None
    before: CaseDraft | None = None
    wanted_id: CaseId | None = None
    changes: tuple[FieldChange, ...] = ()
    edited: bool = False
    reason: str = ""
    notes: tuple[str, ...] = ()

    def over(self, case: TestCase, changes: tuple[FieldChange, ...]) -> "ImportedCase":
        """Return the same as a change of a stored case, or as nothing new where there are no changes."""
        fate, edited = (ImportStatus.CHANGED, not case.imported) if changes else (ImportStatus.UNCHANGED, False)
        return replace(self, fate=fate, edited=edited, case_id=case.id, before=case.draft, changes=changes)

    def as_stored(self) -> "ImportedCase":
        """Return the same without changes to a case that is stored."""
        kept = replace(self, fate=ImportStatus.UNCHANGED, changes=(), edited=False)
        return kept if self.fate is ImportStatus.CHANGED else self


@dataclass(frozen=True, slots=True, kw_only=True)
class NewServer:
    """A tools file that an import would write and register, since the file of cases brings its own tools."""

    name: str
    path: Path
    tools: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseImportPreview:
    """Preview of a case import; nothing is changed yet.

    `absent` are cases of the workspace that the file does not hold; `ignored_servers` are names in the file in whose
    place another server was attached. What a recording proposes is only applied once it is `reviewed`.
    """

    source: str
    form: CaseFileFormat
    cases: tuple[ImportedCase, ...] = ()
    servers: tuple[NewServer, ...] = ()
    absent: tuple[TestCase, ...] = ()
    ignored_servers: tuple[str, ...] = ()
    reviewed: bool = False

    def require_reviewed(self) -> None:
        """Raise InputError for a recording whose rows nobody has seen."""
        if self.form is CaseFileFormat.RECORDING and not self.reviewed:
            raise InputError(
                f"{self.source} is a recording: what a model called is a proposal, and each row has to be reviewed.",
                hint=f"Review it with: mcp-tef cases import {shlex.quote(str(self.source))}",
            )

    def kept(self, places: Collection[str]) -> "CaseImportPreview":
        """Return the reviewed preview: of the new cases those at these places, and the tools files that they need.

        Cases that are stored stay as they are: they were reviewed before, and a recording only proposes.
        """
        taken = (one for one in self.cases if one.fate is not ImportStatus.ADDED or one.place in places)
        cases = tuple(one.as_stored() for one in taken)
        used = {name for case in cases if case.draft for name in case.draft.servers}
        servers = tuple(server for server in self.servers if server.name in used)
        return replace(self, cases=cases, servers=servers, reviewed=True)

    @property
    def ids(self) -> tuple[CaseId | None, ...]:
        """The ids in the file of the cases that it adds."""
        return tuple(one.wanted_id for one in self.of(ImportStatus.ADDED) if one.draft)

    @property
    def seen(self) -> dict[CaseId, CaseDraft]:
        """The stored cases that it changes, as it saw them."""
        return {one.case_id: one.before for one in self.of(ImportStatus.CHANGED) if one.case_id and one.before}

    def of(self, fate: ImportStatus) -> tuple[ImportedCase, ...]:
        """Return the cases of one fate, in the order of the file."""
        return tuple(case for case in self.cases if case.fate is fate)

    @property
    def changes_nothing(self) -> bool:
        """True if applying it would leave the workspace as it is."""
        return not (self.of(ImportStatus.ADDED) or self.of(ImportStatus.CHANGED))

    @property
    def note_lines(self) -> tuple[str, ...]:
        """The notes of all cases, each once, with the case or the number of cases that it is about."""
        labels: dict[str, list[str]] = {}
        for case in self.cases:
            for note in case.notes:
                labels.setdefault(note, []).append(case.label)
        return tuple(
            f"{found[0] if len(found) == 1 else f'{len(found)} cases'}: {note}" for note, found in labels.items()
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """Result of an export. `left_out` holds cases that the format cannot hold, with the reason.

    `lost` pairs the label of a written case with what the form could not hold of it.
    """

    form: CaseFileFormat
    written: int
    left_out: tuple[tuple[str, str], ...] = ()
    lost: tuple[tuple[str, str], ...] = ()


class ReportFormat(StrEnum):
    """The forms in which results of a batch leave the workspace."""

    JSON = "json"
    CSV = "csv"
    JUNIT = "junit"
    HTML = "html"
    SARIF = "sarif"
    MARKDOWN = "markdown"


class ServerFileFormat(StrEnum):
    """Whose config it is; `snippet` is any other text that lists servers."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI = "gemini"
    ZED = "zed"
    CURSOR = "cursor"
    VSCODE = "vscode"
    WINDSURF = "windsurf"
    INSPECTOR = "inspector"
    REGISTRY = "registry"
    SNIPPET = "snippet"


@dataclass(frozen=True, slots=True)
class PlainTextSecret:
    """A secret that a definition holds in plain text: where, and the environment variable to keep it in instead."""

    where: str
    variable: str


@dataclass(frozen=True, slots=True)
class DefinitionWithoutSecrets:
    """A definition with references in place of `secrets`, and their values by variable."""

    spec: ServerSpec
    secrets: tuple[PlainTextSecret, ...] = ()
    values: Mapping[str, Secret] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedServer:
    """One server of a config and its fate. `label` is its name there, `place` where it stands in the config.

    `spec` has the name that it would get here, and references in place of `secrets`; `needs` are environment
    variables that it refers to and that are not set. `before` is the stored server that it would change, as the
    preview saw it, `edited` a change of what a person made or edited here. `reason` says why it was refused.
    """

    label: str
    place: str
    fate: ImportStatus
    spec: ServerSpec | None = None
    server_id: ServerId | None = None
    before: ServerSpec | None = None
    changes: tuple[FieldChange, ...] = ()
    edited: bool = False
    secrets: tuple[PlainTextSecret, ...] = ()
    needs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    reason: str = ""

    @property
    def name(self) -> str:
        """The name that it would get, or has in the config where it was refused."""
        return self.spec.name if self.spec else self.label


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerImportPreview:
    """Preview of importing a config; importing never starts a server."""

    source: str
    form: ServerFileFormat
    title: str
    servers: tuple[ImportedServer, ...] = ()

    @property
    def seen(self) -> dict[ServerId, ServerSpec]:
        """The stored servers that it changes, as it saw them."""
        return {one.server_id: one.before for one in self.of(ImportStatus.CHANGED) if one.server_id and one.before}

    def of(self, fate: ImportStatus) -> tuple[ImportedServer, ...]:
        """Return the servers of one fate, in the order of the config."""
        return tuple(server for server in self.servers if server.fate is fate)

    @property
    def changes_nothing(self) -> bool:
        """True if applying it would leave the workspace as it is."""
        return not (self.of(ImportStatus.ADDED) or self.of(ImportStatus.CHANGED))


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedConfig:
    """A config in one of the usual places: what it would bring, or in `problem` why it cannot be read."""

    path: Path
    title: str
    preview: ServerImportPreview | None = None
    problem: str = ""


class FileKind(StrEnum):
    """Kind of a dropped file or pasted text."""

    WORKSPACE = "workspace"
    SERVERS = "servers"
    TOOLS = "tools"
    CASES = "cases"
    PATCH = "patch"


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedFile:
    """A file, or a text that was pasted (`path` is None then). Where it is none of the kinds, `problem` says why.

    A patch has its `text` in either case.
    """

    kind: FileKind | None
    path: Path | None = None
    text: str = ""
    problem: str = ""

    @property
    def name(self) -> str:
        """Name for messages: the file's name, or "The text"."""
        return self.path.name if self.path else "The text"
