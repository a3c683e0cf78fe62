"""Calls into the core that import cases from files and export them; knows no Qt."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from app.screens.cases.presenter import BY, CasesPresenter, StaleData
from mcp_tef import CancellableWork, CaseDraft, CaseFileFormat, CaseId, CaseImportPreview, ExportReport, ImportStatus

if TYPE_CHECKING:
    from mcp_tef import Engine

T = TypeVar("T")
_INCOMING = (ImportStatus.ADDED, ImportStatus.CHANGED)
CancellableCall: TypeAlias = Callable[
    [str, "Callable[[Engine, CancellableWork], Awaitable[object]]"], Awaitable[object]
]


class LongCall(Protocol):
    """Callable that runs work in the core and shows its title while it lasts."""

    async def __call__(self, title: str, work: "Callable[[Engine], Awaitable[T]]", /) -> T: ...


@dataclass(frozen=True, slots=True)
class CaseImportChange:
    """Effect of an import: the ids it added, and the drafts of changed cases before and after it."""

    added: tuple[CaseId, ...] = ()
    before: Mapping[CaseId, CaseDraft] = field(default_factory=dict)
    after: Mapping[CaseId, CaseDraft] = field(default_factory=dict)


class CaseFilesPresenter:
    """Preview, import, undo, redo and export of cases; edits are saved before."""

    def __init__(self, cases: CasesPresenter, call: LongCall, call_cancellable: CancellableCall) -> None:
        self._cases = cases
        self._call = call
        self._call_cancellable = call_cancellable

    async def preview_file(self, file: Path, file_format: CaseFileFormat | None) -> CaseImportPreview:
        """Return the changes that a file would make."""
        await self._cases.save()
        return await self._call(
            f"Reading {file.name}", lambda core: _warned(core, core.case_files.preview(file, file_format))
        )

    async def preview_text(self, text: str) -> CaseImportPreview:
        """Return the changes that a pasted text would make."""
        await self._cases.save()
        return await self._call("Reading the text", lambda core: _warned(core, core.case_files.preview_text(text)))

    async def apply(self, preview: CaseImportPreview) -> CaseImportChange:
        """Import a preview, all or nothing; raise StoppedError if the user cancels in time."""
        before = await self._cases.stored_drafts()
        await self._call_cancellable(
            f"Importing {preview.source}", lambda core, work: core.case_files.apply(preview, by=BY, work=work)
        )
        await self._cases.refresh(StaleData.CASES)
        after = await self._cases.stored_drafts()
        changed = [case_id for case_id in after if case_id in before and before[case_id] != after[case_id]]
        return CaseImportChange(
            tuple(case_id for case_id in after if case_id not in before),
            {case_id: before[case_id] for case_id in changed},
            {case_id: after[case_id] for case_id in changed},
        )

    async def undo(self, change: CaseImportChange) -> None:
        """Undo an import."""
        await self._cases.remove(change.added)
        await self._cases.edit_all(change.before, change.after)

    async def redo(self, change: CaseImportChange) -> None:
        """Redo an import that was undone."""
        await self._cases.restore(change.added)
        await self._cases.edit_all(change.after, change.before)

    async def export(self, file: Path, ids: Sequence[CaseId], file_format: CaseFileFormat | None) -> ExportReport:
        """Write saved cases to a file and return what its format could not hold."""
        await self._cases.save()
        wanted = self._cases.runnable(ids)
        return await self._call(
            f"Exporting {file.name}", lambda core: core.case_files.export_file(file, wanted, file_format)
        )

    async def export_for_ci(self, folder: Path) -> int:
        """Write the files that run all cases in continuous integration into a folder; return their number."""
        await self._cases.save()
        return len(await self._call("Exporting for CI", lambda core: core.case_files.export_for_ci(folder)))


async def _warned(core: "Engine", reading: Awaitable[CaseImportPreview]) -> CaseImportPreview:
    """Return a preview with warnings among its notes, such as an expected tool that no server offers."""
    preview = await reading
    preview.require_reviewed()
    incoming = {case.place: case.draft for case in preview.cases if case.fate in _INCOMING and case.draft}
    found = dict(zip(incoming, await core.cases.warnings_of(list(incoming.values())), strict=True))
    cases = tuple(replace(case, notes=(*case.notes, *found.get(case.place, ()))) for case in preview.cases)
    return replace(preview, cases=cases)
