"""What moving cases between a file and a workspace would do, and what it did."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from mcp_tef.model.cases import CaseDraft
from mcp_tef.model.ids import CaseId


class CaseFileForm(StrEnum):
    """The forms that files of cases have; `tef` is our own, as YAML or JSON."""

    TEF = "tef"
    CSV = "csv"
    BFCL = "bfcl"
    PROMPTFOO = "promptfoo"
    MCP_EVAL = "mcp-eval"


CASE_FILE_SUFFIXES: Mapping[str, CaseFileForm | None] = {
    ".yaml": None,
    ".yml": None,
    ".json": None,
    ".csv": CaseFileForm.CSV,
    ".tsv": CaseFileForm.CSV,
    ".jsonl": CaseFileForm.BFCL,
    ".ndjson": CaseFileForm.BFCL,
}
"""The extensions that files of cases have, each with its form; None where only the content tells."""


class ImportFate(StrEnum):
    """What becomes of one case of a file."""

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
class ImportedCase:
    """One case of a file and its fate. `place` says where it stands in the file; `case_id` what it would change.

    `reason` says why it was refused; `notes` say what the file asks for that is not taken over.
    """

    label: str
    place: str
    fate: ImportFate
    draft: CaseDraft | None = None
    case_id: CaseId | None = None
    changes: tuple[FieldChange, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewServer:
    """A tools file that an import would write and register, since the file of cases brings its own tools."""

    name: str
    path: Path
    tools: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportPreview:
    """What importing a file would do; nothing is done yet."""

    source: str
    form: CaseFileForm
    cases: tuple[ImportedCase, ...] = ()
    servers: tuple[NewServer, ...] = ()

    def of(self, fate: ImportFate) -> tuple[ImportedCase, ...]:
        """The cases of one fate, in the order of the file."""
        return tuple(case for case in self.cases if case.fate is fate)

    @property
    def changes_nothing(self) -> bool:
        """Whether applying it would leave the workspace as it is."""
        return not (self.of(ImportFate.ADDED) or self.of(ImportFate.CHANGED))


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    """What an export wrote. A case is `left_out` where the form cannot hold it, with the reason.

    `lost` pairs the label of a written case with what the form could not hold of it.
    """

    form: CaseFileForm
    written: int
    left_out: tuple[tuple[str, str], ...] = ()
    lost: tuple[tuple[str, str], ...] = ()


class ReportForm(StrEnum):
    """The forms in which results of a batch leave the workspace."""

    JSON = "json"
    CSV = "csv"
    JUNIT = "junit"
    HTML = "html"
