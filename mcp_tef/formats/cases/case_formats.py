"""Registry of the formats of case files, and detection of a file's format."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases import bfcl, mcp_eval, promptfoo, recordings, spreadsheet, tef
from mcp_tef.formats.cases.entries import CaseEntry, CaseSource, Item, parsed
from mcp_tef.formats.cases.recordings import is_recording
from mcp_tef.formats.cases.texts import decoded, read_text
from mcp_tef.model.json import Json
from mcp_tef.model.transfer import CASE_FILE_SUFFIXES, CaseFileFormat
from mcp_tef.trust.project_files import read_inside

_RECORDED = {".json", ".jsonl", ".ndjson"}


@dataclass(frozen=True, slots=True)
class CaseFormat:
    """Reader and writer of one case format. `row` raises CannotHoldError for a case that the format cannot hold."""

    title: str
    read: Callable[[CaseSource], tuple[CaseEntry, ...]]
    row: Callable[[Item], Json]
    text: Callable[[Sequence[Json], str], str]


FORMS: Mapping[CaseFileFormat, CaseFormat] = {
    CaseFileFormat.TEF: CaseFormat("mcp-tef", tef.read, tef.row, tef.text),
    CaseFileFormat.CSV: CaseFormat("CSV", spreadsheet.read, spreadsheet.row, spreadsheet.text),
    CaseFileFormat.BFCL: CaseFormat("BFCL", bfcl.read, bfcl.row, bfcl.text),
    CaseFileFormat.PROMPTFOO: CaseFormat("promptfoo", promptfoo.read, promptfoo.row, promptfoo.text),
    CaseFileFormat.MCP_EVAL: CaseFormat("mcp-eval", mcp_eval.read, mcp_eval.row, mcp_eval.text),
    CaseFileFormat.RECORDING: CaseFormat("recording", recordings.read, recordings.row, recordings.text),
}


def read_entries(
    path: Path, form: CaseFileFormat | None = None, inside: Path | None = None
) -> tuple[CaseFileFormat, tuple[CaseEntry, ...]]:
    """Return the form and the cases of a file; where `inside` is a folder, the path leads nowhere else. InputError."""
    if inside is None:
        text = read_text(path)
    else:
        text = decoded(read_inside(inside, path.relative_to(inside).as_posix(), "cases"), path)
    source = CaseSource(text, path.name, path)
    found = form or form_to_read(path, source)
    return found, FORMS[found].read(source)


def read_text_entries(text: str) -> tuple[CaseFileFormat, tuple[CaseEntry, ...]]:
    """Return the form and the cases of a pasted text. Raises InputError."""
    is_json = text.lstrip("\ufeff \t\r\n").startswith(("{", "["))
    source = CaseSource(text, "the text.json" if is_json else "the text.yaml")
    found = form_of(source)
    return found, FORMS[found].read(source)


def form_to_write(path: Path) -> CaseFileFormat:
    """Return the form that a file is written in by its name: a document is of our own."""
    return _by_name(path) or CaseFileFormat.TEF


def form_to_read(path: Path, source: CaseSource) -> CaseFileFormat:
    """Return the form that a file has: a recording by its first record, others by name, a document by its content."""
    if path.suffix.lower() in _RECORDED and is_recording(source):
        return CaseFileFormat.RECORDING
    return _by_name(path) or _form_of(parsed(source))


def form_of(source: CaseSource) -> CaseFileFormat:
    """Return the form that a text without a name has."""
    return _form_of(parsed(source))


def _by_name(path: Path) -> CaseFileFormat | None:
    """Return the form that an extension stands for; None for a document. InputError where it stands for nothing."""
    suffix = path.suffix.lower()
    if suffix not in CASE_FILE_SUFFIXES:
        raise InputError(
            f"The extension of {path.name} does not say what form it has.",
            hint="Name it .yaml, .json, .csv or .jsonl, or say which form it has.",
        )
    return CASE_FILE_SUFFIXES[suffix]


def _form_of(document: Json) -> CaseFileFormat:
    """Detect promptfoo by its tests and mcp-eval by the inputs of its cases; everything else counts as our own."""
    if not isinstance(document, Mapping):
        return CaseFileFormat.TEF
    if {"tests", "scenarios"} & document.keys() and "cases" not in document:
        return CaseFileFormat.PROMPTFOO
    match document.get("cases"):
        case [Mapping() as first, *_] if "inputs" in first and "query" not in first:
            return CaseFileFormat.MCP_EVAL
    return CaseFileFormat.TEF
