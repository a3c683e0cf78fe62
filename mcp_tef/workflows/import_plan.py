"""Decides what becomes of each case of a file: added, changed, unchanged or refused, and why."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mcp_tef.formats.cases.entries import CaseEntry, differences, shortened
from mcp_tef.model.cases import CaseDraft, TestCase
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.servers import ServerSpec
from mcp_tef.model.suggestions import did_you_mean
from mcp_tef.model.transfer import FieldChange, ImportedCase, ImportFate, NewServer

_WORDS_SHOWN = 200
Definitions = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a file with their fates, and the tools files that those which come in need."""

    cases: tuple[ImportedCase, ...]
    servers: tuple[NewServer, ...]


def planned(
    entries: Sequence[CaseEntry], cases: Sequence[TestCase], servers: Sequence[ServerSpec], folder: Path
) -> Plan:
    """What importing these entries would do. Each stored case is matched by one entry, by id or by name and query."""
    tools = _ToolFiles(servers, folder)
    stored = _Stored(cases)
    doubled = _doubled(entries)
    found = [_fate(entry, doubled.get(entry.place, ""), stored, tools) for entry in entries]
    return Plan(tuple(found), tools.new())


def _fate(entry: CaseEntry, doubled: str, stored: "_Stored", tools: "_ToolFiles") -> ImportedCase:
    refused = entry.refused or doubled
    if entry.draft is None or refused:
        return _refused(entry, refused or "It could not be read.")
    draft, reason = tools.with_servers(entry, entry.draft)
    if reason:
        return _refused(entry, reason)
    case = stored.taken(entry.id, draft)
    made = ImportedCase(label=entry.label, place=entry.place, fate=ImportFate.ADDED, draft=draft, notes=entry.notes)
    if case is None:
        return made
    changes = tuple(
        FieldChange(name, _words(before), _words(after))
        for name, (before, after) in differences(case.draft, draft).items()
    )
    fate = ImportFate.CHANGED if changes else ImportFate.UNCHANGED
    return replace(made, fate=fate, case_id=case.id, changes=changes)


def _refused(entry: CaseEntry, reason: str) -> ImportedCase:
    return ImportedCase(label=entry.label, place=entry.place, fate=ImportFate.REFUSED, reason=shortened(reason))


def _words(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value) or "none"
    text = value if isinstance(value, str) else "no tool" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _WORDS_SHOWN else text[: _WORDS_SHOWN - 1] + "…"


def _doubled(entries: Iterable[CaseEntry]) -> dict[str, str]:
    """Why entries that share an id are refused, by the place of each; all places are named."""
    places: defaultdict[CaseId, list[str]] = defaultdict(list)
    for entry in entries:
        if entry.id:
            places[entry.id].append(entry.place)
    return {
        place: f"The id {case_id} is there {len(found)} times: {_listed(found)}."
        for case_id, found in places.items()
        if len(found) > 1
        for place in found
    }


def _listed(places: Sequence[str]) -> str:
    shown = places if len(places) <= 5 else [*places[:4], f"{len(places) - 4} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


class _Stored:
    """The cases of the workspace, each to be matched once."""

    def __init__(self, cases: Iterable[TestCase]) -> None:
        self._by_id = {case.id: case for case in cases}
        self._same: defaultdict[tuple[str, str], list[CaseId]] = defaultdict(list)
        for case in self._by_id.values():
            self._same[case.draft.name, case.draft.query].append(case.id)

    def taken(self, case_id: CaseId | None, draft: CaseDraft) -> TestCase | None:
        """The case that an entry is about, which no later entry gets; None where it is new."""
        if case_id in self._by_id:
            return self._by_id.pop(case_id)
        same = self._same[draft.name, draft.query]
        found = next((one for one in same if one in self._by_id), None)
        return self._by_id.pop(found) if found else None


@dataclass
class _ToolFiles:
    """Servers that are there, and tools files for definitions that a file of cases brings itself."""

    servers: Sequence[ServerSpec]
    folder: Path
    _new: dict[Path, NewServer] = field(default_factory=dict)

    def with_servers(self, entry: CaseEntry, draft: CaseDraft) -> tuple[CaseDraft, str]:
        """The draft with servers that are there or will be; else why it is refused."""
        known = {spec.name for spec in self.servers}
        missing = next((name for name in draft.servers if name not in known), None)
        if entry.tools and (missing or not draft.servers):
            return replace(draft, servers=(self._server_with(entry.tools, draft, entry.label),)), ""
        if missing:
            return draft, f"There is no server named {missing}. " + did_you_mean(missing, known, "Add it first.")
        return draft, ""

    def new(self) -> tuple[NewServer, ...]:
        """The tools files to be written and registered."""
        return tuple(self._new.values())

    def _server_with(self, tools: Definitions, draft: CaseDraft, label: str) -> str:
        path = self.folder / f"{fingerprint(tools)[:16]}.json"
        there = next((spec.name for spec in self.servers if spec.path == str(path)), None)
        if there is None and path not in self._new:
            name = self._free(draft.servers[0] if len(draft.servers) == 1 else f"Tools of {label}")
            self._new[path] = NewServer(name=name, path=path, tools=tools)
        return there or self._new[path].name

    def _free(self, wanted: str) -> str:
        """The name, with a number where it is taken."""
        taken = {spec.name for spec in self.servers} | {new.name for new in self._new.values()}
        numbered = (f"{wanted} {number}" for number in range(2, len(taken) + 3))
        return wanted if wanted not in taken else next(name for name in numbered if name not in taken)
