"""Import and export of test cases: a preview first, then all or nothing."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from mcp_tef.errors import InputError
from mcp_tef.events import CasesChanged, EventStream, ServersChanged
from mcp_tef.formats.cases.case_formats import FORMS, CaseFormat, form_to_write, read_entries, read_text_entries
from mcp_tef.formats.cases.entries import (
    CannotHoldError,
    CaseEntry,
    CaseSource,
    Item,
    attached,
    differences,
    first_line,
    shortened,
)
from mcp_tef.formats.cases.texts import to_json, write_text
from mcp_tef.model.cancellation import CancellableWork
from mcp_tef.model.cases import CaseDraft, TestCase
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Tool
from mcp_tef.model.transfer import (
    CaseFileFormat,
    CaseImportPreview,
    ExportReport,
    FieldChange,
    ImportedCase,
    ImportStatus,
    NewServer,
)
from mcp_tef.ports import Store
from mcp_tef.trust.files import unlink
from mcp_tef.trust.name_keys import name_key, stored_name
from mcp_tef.workflows.cancellation import to_its_end
from mcp_tef.workflows.ci_folder import CASES, write_ci_folder
from mcp_tef.workflows.servers import Servers

_WORDS_SHOWN = 200
Definitions = tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a file with their fates, and the tools files that those which come in need.

    `absent` are stored cases that the file does not hold.
    """

    cases: tuple[ImportedCase, ...]
    servers: tuple[NewServer, ...]
    absent: tuple[TestCase, ...]


def planned(
    entries: Sequence[CaseEntry], cases: Sequence[TestCase], servers: Sequence[ServerSpec], folder: Path
) -> Plan:
    """Plan the import of these entries. Each stored case is matched by one entry: by its id, else by its name."""
    tools = _ToolFiles(servers, folder)
    stored = _Stored(cases, entries)
    doubled = _doubled(entries)
    found = [_fate(entry, doubled.get(entry.place, ""), stored, tools) for entry in entries]
    return Plan(tuple(found), tools.new(), stored.left)


def _fate(entry: CaseEntry, doubled: str, stored: "_Stored", tools: "_ToolFiles") -> ImportedCase:
    refused = entry.refused or doubled
    if entry.draft is None or refused:
        return _refused(entry, refused or "It could not be read.")
    draft, reason = tools.with_servers(entry, entry.draft)
    if reason:
        return _refused(entry, reason)
    case = stored.taken(entry.id, draft)
    made = ImportedCase(label=entry.label, place=entry.place, fate=ImportStatus.ADDED, draft=draft, notes=entry.notes)
    if case is None:
        return _refused(entry, entry.lacks) if entry.lacks else replace(made, wanted_id=entry.id)
    draft = entry.over(case.draft, draft)
    found = differences(case.draft, draft).items()
    changes = tuple(FieldChange(name, _words(before), _words(after)) for name, (before, after) in found)
    return replace(made, draft=draft).over(case, changes)


def _refused(entry: CaseEntry, reason: str) -> ImportedCase:
    return ImportedCase(label=entry.label, place=entry.place, fate=ImportStatus.REFUSED, reason=shortened(reason))


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
    """The cases of the workspace, each to be matched once; `entries` are all that will ask for one."""

    def __init__(self, cases: Iterable[TestCase], entries: Iterable[CaseEntry]) -> None:
        self._by_id = {case.id: case for case in cases}
        self._same: defaultdict[tuple[str, str], list[CaseId]] = defaultdict(list)
        self._named: defaultdict[str, list[CaseId]] = defaultdict(list)
        drafts = [(entry.id, entry.draft) for entry in entries if entry.draft]
        wanted = {case_id for case_id, _ in drafts} | {(name_key(draft.name), draft.query) for _, draft in drafts}
        for case in self._by_id.values():
            key = name_key(case.draft.name), case.draft.query
            self._same[key].append(case.id)
            if not wanted & {case.id, key}:
                self._named[key[0]].append(case.id)

    def taken(self, case_id: CaseId | None, draft: CaseDraft) -> TestCase | None:
        """Return the case that an entry is about, which no later entry gets; None where it is new."""
        if case_id in self._by_id:
            return self._by_id.pop(case_id)
        key = name_key(draft.name)
        named = self._named[key] if draft.name != first_line(draft.query) else []
        found = next((one for one in (*self._same[key, draft.query], *named) if one in self._by_id), None)
        return self._by_id.pop(found) if found else None

    @property
    def left(self) -> tuple[TestCase, ...]:
        """The cases that no entry has matched."""
        return tuple(self._by_id.values())


@dataclass
class _ToolFiles:
    """Servers that are there, and tools files for definitions that a file of cases brings itself."""

    servers: Sequence[ServerSpec]
    folder: Path
    _new: dict[Path, NewServer] = field(default_factory=dict)

    def with_servers(self, entry: CaseEntry, draft: CaseDraft) -> tuple[CaseDraft, str]:
        """Return the draft with servers that are there or will be; else why it is refused."""
        known = {spec.name for spec in self.servers}
        if not known.issuperset(draft.servers):
            draft = replace(draft, servers=tuple(stored_name(name, known) or name for name in draft.servers))
        missing = next((name for name in draft.servers if name not in known), None)
        if entry.tools and (missing or not draft.servers):
            return replace(draft, servers=(self._server_with(entry.tools, draft, entry.label),)), ""
        if missing:
            return draft, f"There is no server named {missing}. " + did_you_mean(missing, known, "Add it first.")
        return draft, ""

    def new(self) -> tuple[NewServer, ...]:
        """Return the tools files to be written and registered."""
        return tuple(self._new.values())

    def _server_with(self, tools: Definitions, draft: CaseDraft, label: str) -> str:
        path = self.folder / f"{fingerprint(tools)[:16]}.json"
        there = next((spec.name for spec in self.servers if spec.path == str(path)), None)
        if there is None and path not in self._new:
            name = self._free(draft.servers[0] if len(draft.servers) == 1 else f"Tools of {label}")
            self._new[path] = NewServer(name=name, path=path, tools=tools)
        return there or self._new[path].name

    def _free(self, wanted: str) -> str:
        """Return the name, with a number where it is taken."""
        taken = {spec.name for spec in self.servers} | {new.name for new in self._new.values()}
        numbered = (f"{wanted} {number}" for number in range(2, len(taken) + 3))
        return wanted if wanted not in taken else next(name for name in numbered if name not in taken)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """Result of an import, by label; `refused` pairs a label with the reason. `servers` were registered for it."""

    added: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    servers: tuple[str, ...] = ()


def _report(preview: CaseImportPreview) -> ImportReport:
    labels = {fate: tuple(case.label for case in preview.of(fate)) for fate in ImportStatus}
    return ImportReport(
        added=labels[ImportStatus.ADDED],
        updated=labels[ImportStatus.CHANGED],
        unchanged=labels[ImportStatus.UNCHANGED],
        refused=tuple((case.label, case.reason) for case in preview.of(ImportStatus.REFUSED)),
        servers=tuple(server.name for server in preview.servers),
    )


class CaseTransfer:
    """Imports and exports. Tools that a file of cases brings are kept in `folder`, as tools files."""

    def __init__(self, store: Store, servers: Servers, events: EventStream, folder: Path) -> None:
        self._store = store
        self._servers = servers
        self._events = events
        self._folder = folder

    async def preview(
        self,
        path: Path,
        form: CaseFileFormat | None = None,
        *,
        attach: Sequence[str] = (),
        inside: Path | None = None,
    ) -> CaseImportPreview:
        """Preview the import of a file; raises InputError if the file is unreadable as a whole or holds no case.

        `attach` names servers: a single one for every case, several for cases that name none. `inside` is the folder
        of a project file that names the file, which may lead nowhere else.
        """
        found, entries = await asyncio.to_thread(read_entries, path, form, inside)
        if not entries:
            raise InputError(f"{path.name} holds no case.", hint="Write at least one case with a query.")
        named = {name for entry in entries if entry.draft for name in entry.draft.servers}
        ignored = named - set(attach) if len(attach) == 1 else ()
        preview = await self.preview_entries([attached(entry, attach) for entry in entries], path.name, found)
        return replace(preview, ignored_servers=tuple(sorted(ignored)))

    async def preview_text(self, text: str) -> CaseImportPreview:
        """Return the same of a pasted text."""
        found, entries = await asyncio.to_thread(read_text_entries, text)
        return await self.preview_entries(entries, "the text", found)

    async def keep_tools(self, text: str) -> Path:
        """Return a tools file of its own that holds a pasted text, beside those that came with cases."""
        return await asyncio.to_thread(_kept, self._folder, text)

    async def preview_entries(
        self, entries: Sequence[CaseEntry], source: str, form: CaseFileFormat
    ) -> CaseImportPreview:
        """Return the same of entries that were read already."""
        cases, servers = await self._store.cases.all(), await self._store.servers.all()
        plan = planned(entries, cases, [server.spec for server in servers], self._folder)
        return CaseImportPreview(source=source, form=form, cases=plan.cases, servers=plan.servers, absent=plan.absent)

    async def apply(
        self, preview: CaseImportPreview, *, by: str = "", work: CancellableWork | None = None
    ) -> ImportReport:
        """Do what a preview said, in one transaction; where any of it fails, or is stopped, nothing has changed.

        StoppedError where `work` was stopped before it was done. InputError for a recording that nobody reviewed.
        """
        preview.require_reviewed()
        added = [case.draft for case in preview.of(ImportStatus.ADDED) if case.draft]
        changed = {case.case_id: case.draft for case in preview.of(ImportStatus.CHANGED) if case.case_id and case.draft}
        if added or changed:
            await self._store_all(added, changed, preview, by, work or CancellableWork())
        return _report(preview)

    async def _store_all(
        self,
        added: Sequence[CaseDraft],
        changed: Mapping[CaseId, CaseDraft],
        preview: CaseImportPreview,
        by: str,
        work: CancellableWork,
    ) -> None:
        cases = await to_its_end(work, self._write_all(added, changed, preview, work))
        names = {new.name for new in preview.servers}
        ids = [server.id for server in await self._store.servers.all() if server.name in names]
        if ids:
            self._events.publish(ServersChanged(tuple(ids), by))
        self._events.publish(CasesChanged(tuple(case.id for case in cases), by))
        for server_id in ids:
            await self._servers.check(server_id)

    async def _write_all(
        self,
        added: Sequence[CaseDraft],
        changed: Mapping[CaseId, CaseDraft],
        preview: CaseImportPreview,
        work: CancellableWork,
    ) -> tuple[TestCase, ...]:
        """Tools files, and the one transaction; the files that were not there go again where that does not end well."""
        servers = preview.servers
        specs = [ServerSpec(name=new.name, transport=Transport.FILE, path=str(new.path)) for new in servers]
        with ExitStack() as take_back:
            for new in servers:
                if not new.path.exists():
                    take_back.callback(unlink, new.path)
            await asyncio.to_thread(_write_tools, servers)
            cases = await self._store.cases.apply(
                added, changed, specs, seen=preview.seen, ids=preview.ids, imported=True, step=work.step
            )
            take_back.pop_all()
        return cases

    async def import_file(self, path: Path, form: CaseFileFormat | None = None, *, by: str = "") -> ImportReport:
        """Preview and apply at once; cases that cannot come in are refused with the reason, the rest comes in."""
        return await self.apply(await self.preview(path, form), by=by)

    async def export_file(
        self, path: Path, ids: Sequence[CaseId] = (), form: CaseFileFormat | None = None
    ) -> ExportReport:
        """Write cases (all, where no ids are given). What was written is read back, and what is missing is told."""
        chosen = form or form_to_write(path)
        tools = await self._known_tools()
        cases = await self._store.cases.select(ids=ids)
        items = [Item(case, _offered(case, tools)) for case in cases]
        return await asyncio.to_thread(_write, path, chosen, items)

    async def export_for_ci(self, folder: Path) -> tuple[Path, ...]:
        """Write what runs all cases in continuous integration; return the paths in the folder. Raises InputError."""
        paths = await asyncio.to_thread(write_ci_folder, folder, await self._known_tools())
        await self.export_file(folder / CASES)
        return (CASES, *paths)

    async def write_drafts(
        self, path: Path, drafts: Sequence[CaseDraft], form: CaseFileFormat | None = None
    ) -> ExportReport:
        """Write drafts that are not stored; what the form cannot hold is told."""
        chosen, moment = form or form_to_write(path), datetime.now(UTC)
        cases = [TestCase(id=CaseId(""), draft=draft, created_at=moment, updated_at=moment) for draft in drafts]
        return await asyncio.to_thread(_write, path, chosen, [Item(case) for case in cases])

    async def _known_tools(self) -> dict[str, tuple[Tool, ...] | None]:
        """Return the tools of each server as last seen, by its name."""
        found: dict[str, tuple[Tool, ...] | None] = {}
        for server in await self._store.servers.all():
            listing = await self._store.servers.listing(server.id)
            found[server.name] = listing.tools if listing else None
        return found


def _kept(folder: Path, text: str) -> Path:
    path = next(path for number in count(1) if not (path := folder / f"pasted-{number}.json").exists())
    write_text(path, text, private=True)
    return path


def _write_tools(servers: Sequence[NewServer]) -> None:
    for server in servers:
        write_text(server.path, to_json({"tools": list(server.tools)}), private=True)


def _offered(case: TestCase, tools: Mapping[str, tuple[Tool, ...] | None]) -> tuple[Tool, ...] | None:
    listings = [tools.get(name) for name in case.draft.servers]
    return None if None in listings else tuple(tool for listing in listings if listing for tool in listing)


def _write(path: Path, form: CaseFileFormat, items: Sequence[Item]) -> ExportReport:
    way, rows, written, left_out = FORMS[form], [], [], []
    for item in items:
        try:
            rows.append(way.row(item))
            written.append(item.case)
        except CannotHoldError as error:
            left_out.append((item.case.name, str(error)))
    if not rows:
        why = (
            f"{way.title} can hold none of these cases: {left_out[0][1]}" if left_out else "There is no case to export."
        )
        raise InputError(why, hint="Select another form; our own holds everything.")
    text = way.text(rows, path.suffix.lower())
    lost = _lost(way, CaseSource(text, path.name), written)
    write_text(path, text)
    return ExportReport(form=form, written=len(rows), left_out=tuple(left_out), lost=lost)


def _lost(way: CaseFormat, source: CaseSource, written: Sequence[TestCase]) -> tuple[tuple[str, str], ...]:
    """Return the parts of the cases that a reader of this text would not get."""
    pairs = zip(written, way.read(source), strict=True)
    return tuple((case.name, what) for case, entry in pairs if (what := _missing(case, entry)))


def _missing(case: TestCase, entry: CaseEntry) -> str:
    if entry.draft is None:
        return f"It could not be read back: {entry.refused}"
    fields = ", ".join(differences(case.draft, entry.draft))
    return f"Read back, it would differ in: {fields}." if fields else ""
