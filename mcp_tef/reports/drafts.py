"""Drafts of changed tools as files: patch, ToolHive override, tools file, Markdown for a pull request, HTML page."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import write_text
from mcp_tef.model.drafts import INSTRUCTIONS, Draft, ToolRevision, name_of
from mcp_tef.model.json import Json, canonical
from mcp_tef.model.json_patch import MISSING
from mcp_tef.model.rates import percent_text
from mcp_tef.model.runs import Batch
from mcp_tef.model.trials import TrialResult
from mcp_tef.reports.charts import visible
from mcp_tef.reports.markdown import plain
from mcp_tef.reports.page import counted, page, paragraphs, section, table
from mcp_tef.statistics.trial_text import joint_sentence, trial_sentences
from mcp_tef.trust.outputs import document_text


class DraftFormat(StrEnum):
    """Format in which a draft is exported: RFC 6902, ToolHive, `tools/list`, or for readers."""

    PATCH = "patch"
    OVERRIDE = "override"
    TOOLS = "tools"
    MARKDOWN = "markdown"
    HTML = "html"


_ENDINGS: Final = {
    ".patch.json": DraftFormat.PATCH,
    ".override.json": DraftFormat.OVERRIDE,
    ".tools.json": DraftFormat.TOOLS,
    ".json": DraftFormat.PATCH,
    ".md": DraftFormat.MARKDOWN,
    ".html": DraftFormat.HTML,
}
_OF_OVERRIDES: Final = (("name",), ("description",))
_LONGEST_TEXT: Final = 20_000


def draft_format(path: Path, wanted: str | None = None) -> DraftFormat:
    """Return the format that is wanted, else that of the ending. InputError for an ending that is not known."""
    if wanted is not None:
        return DraftFormat(wanted)
    found = next((kind for ending, kind in _ENDINGS.items() if path.name.lower().endswith(ending)), None)
    if found is None:
        raise InputError(f"The ending of {path} names no format.", hint=f"End it in {', '.join(_ENDINGS)}.")
    return found


def write_draft(draft: Draft, path: Path, kind: DraftFormat, *, evidence: Sequence[str] = ()) -> None:
    """Write a draft to a file, whole or not at all. InputError."""
    write_text(path, draft_text(draft, kind, evidence=evidence))


def draft_text(draft: Draft, kind: DraftFormat, *, evidence: Sequence[str] = ()) -> str:
    """Return a draft in a format; `evidence` are sentences about a trial, told to readers."""
    match kind:
        case DraftFormat.PATCH:
            return _json_text(list(draft.patch))
        case DraftFormat.OVERRIDE:
            return _json_text(draft_override(draft))
        case DraftFormat.TOOLS:
            text = {"instructions": draft.instructions} if draft.instructions else {}
            return _json_text({"tools": [raw for raw in draft.tools if raw], **text})
        case DraftFormat.MARKDOWN:
            return draft_markdown(draft, evidence)
    return draft_html(draft, evidence)


def draft_override(draft: Draft) -> dict[str, Json]:
    """Return names and descriptions as a ToolHive override, by the names of the listing."""
    found = {}
    for one in _of_tools(draft):
        changed = {path[0]: new for path, (_, new) in one.fields.items() if path in _OF_OVERRIDES}
        if one.before is not None and one.after is not None and changed:
            found[name_of(one.before)] = {key: "" if value is MISSING else value for key, value in changed.items()}
    return {"toolsOverride": found}


def _of_tools(draft: Draft) -> list[ToolRevision]:
    return [one for one in draft.revisions if one.name != INSTRUCTIONS]


def left_out_of_override(draft: Draft) -> tuple[str, ...]:
    """Return the changes that an override cannot express, as texts."""
    tools = _of_tools(draft)
    found = [INSTRUCTIONS] if len(tools) < len(draft.revisions) else []
    for one in tools:
        if one.before is None or one.after is None:
            found.append(f"{one.name} is {'added' if one.before is None else 'removed'}")
        else:
            found += [
                f"{' / '.join(path)} of {one.name}" for path in one.fields if path[0] not in ("name", "description")
            ]
    return tuple(found)


def draft_markdown(draft: Draft, evidence: Sequence[str] = ()) -> str:
    """Return what changed, with old and new texts and the evidence, as Markdown. Words of strangers stay words."""
    parts = [f"## {plain(_title(draft))}", plain(_lead(draft))]
    for one in draft.revisions:
        parts.append(f"### {plain(_heading(one))}")
        for field, before, after in _fields(one):
            parts += [f"**{plain(field)}**", _quoted("Before", before), _quoted("After", after)]
    told = "\n".join(f"- {plain(sentence)}" for sentence in evidence)
    return "\n\n".join([*parts, *(["### Evidence", told] if told else [])]) + "\n"


def draft_html(draft: Draft, evidence: Sequence[str] = ()) -> str:
    """Return one page with what changed, old beside new; `evidence` are sentences about a trial, told first."""
    parts = [section(_heading(one), table(("Text", "Before", "After"), [*_fields(one)])) for one in draft.revisions]
    return page(_title(draft), paragraphs(*evidence, _lead(draft)), parts)


def trials_evidence(trials: Sequence[tuple[Batch, TrialResult]]) -> tuple[str, ...]:
    """Return sentences about a trial for a reader of the draft; of several models with their joint sentence first."""
    told = [joint_sentence([result for _, result in trials])] if len(trials) > 1 else []
    told += [text for batch, result in trials for text in _trial_evidence(result, batch.created_at.date())]
    return tuple(told)


def _trial_evidence(result: TrialResult, day: date) -> tuple[str, ...]:
    """Return verdicts, arms, pairs, model and date."""
    shares, judged = result.shares, result.criterion.value.replace("_", " ").capitalize()
    shown = [percent_text(rate.value) for rate in (shares.before, shares.after)]
    pairs = f"{counted(result.pairs, 'pair')} of runs with {result.model}, {day:%Y-%m-%d}"
    return (*trial_sentences(result), f"{judged}: original {shown[0]}, draft {shown[1]} in {pairs}.")


def _title(draft: Draft) -> str:
    return f"Draft: {draft.name}"


def _lead(draft: Draft) -> str:
    over = f"the server {draft.server}" if draft.server else "a tools file"
    number = sum(bool(raw) for raw in draft.base)
    return f"{counted(len(draft.revisions), 'change')} to the {counted(number, 'tool')} of {over}."


def _heading(one: ToolRevision) -> str:
    if one.before is None or one.after is None:
        return f"{one.name} ({'added' if one.before is None else 'removed'})"
    was = name_of(one.before)
    return one.name if was == one.name else f"{was} (now {one.name})"


def _fields(one: ToolRevision) -> Iterator[tuple[str, str, str]]:
    """Yield each changed text with its path, before and after; of an added or removed tool its description."""
    if one.before is None or one.after is None:
        texts = [(raw or {}).get("description") or "" for raw in (one.before, one.after)]
        yield "description", str(texts[0]), str(texts[1])
        return
    for path, (before, after) in one.fields.items():
        yield " / ".join(path), value_text(before), value_text(after)


def value_text(value: Any) -> str:
    """Return a text as it is, any other value as JSON, and nothing for a missing one."""
    text = "" if value is MISSING or value is None else value if isinstance(value, str) else canonical(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"


def _quoted(label: str, text: str) -> str:
    """Return a text in a fence that is longer than any within it."""
    if not text:
        return f"{label}: nothing"
    shown = visible(text)
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", shown)), default=0))
    return f"{label}:\n\n{fence}text\n{shown}\n{fence}"


def _json_text(value: Json | Mapping[str, Json]) -> str:
    return document_text(value)
