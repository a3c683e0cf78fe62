"""State of one case in the editor: typed form, stored draft and undo history."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from typing import Final, TypeVar

from app.screens.cases.calls import FindTool
from app.screens.cases.form import CaseForm, ParsedCase, case_form, read_form, refitted_form
from mcp_tef import (
    CaseDraft,
    CaseId,
    ChangedMeanwhileError,
    canonical,
    changed_fields,
    expectation_to_json,
    merged_fields,
)

MOST_STEPS: Final = 100
Suited = TypeVar("Suited", CaseDraft, CaseForm)


class SaveStatus(StrEnum):
    """Save status of an edited case, as the editor shows it."""

    NEW = "Not saved yet"
    SAVED = "Saved"
    CHANGED = "Saving…"
    INVALID = "Not saved"
    REFUSED = "Could not be saved"


@dataclass(slots=True)
class CaseEditorState:
    """A case being edited. `saved` is the stored draft; None before the first save.

    `is_going_back` is set while an earlier draft is restored, so that saving it adds no undo step.
    """

    case_id: CaseId
    form: CaseForm
    saved: CaseDraft | None = None
    past: list[CaseDraft] = field(default_factory=list)
    future: list[CaseForm] = field(default_factory=list)
    refusal_text: str = ""
    is_going_back: bool = False
    _read: tuple[CaseForm, ParsedCase] | None = None

    @property
    def parsed(self) -> ParsedCase:
        """Draft that the form describes, or the problems that prevent one."""
        if self._read is None or self._read[0] is not self.form:
            self._read = (self.form, read_form(self.form))
        return self._read[1]

    @property
    def save_status(self) -> SaveStatus:
        """Relation between the typed form and the stored draft."""
        if self.refusal_text:
            return SaveStatus.REFUSED
        if self.parsed.draft is None:
            return SaveStatus.NEW if self.saved is None else SaveStatus.INVALID
        return SaveStatus.SAVED if self.draft_to_save() is None else SaveStatus.CHANGED

    @property
    def problem_text(self) -> str:
        """Reason why the typed form is not saved; empty if it is."""
        return self.refusal_text or next((problem.sentence for problem in self.parsed.problems), "")

    @property
    def can_go_back(self) -> bool:
        """True if an earlier form of this case can be restored."""
        return bool(self.past) or (self.saved is not None and self.save_status is not SaveStatus.SAVED)

    @property
    def is_empty(self) -> bool:
        """True for a new case without query, name and tools."""
        form = self.form
        tools = any(call.tool for call in form.calls)
        return self.saved is None and not (form.query.strip() or form.name.strip() or tools)

    @property
    def has_unsavable_edits(self) -> bool:
        """True if the form holds edits that cannot be saved yet."""
        return self.save_status in (SaveStatus.NEW, SaveStatus.INVALID, SaveStatus.REFUSED) and not self.is_empty

    def edit(self, form: CaseForm) -> None:
        """Replace the form by a typed one and clear the redo history."""
        self.form = form
        self.future = []
        self.refusal_text = ""
        self.is_going_back = False

    def draft_to_save(self) -> CaseDraft | None:
        """Return the draft to save; None if there is nothing to save or the form is invalid."""
        draft = self.parsed.draft
        if draft is None or (self.saved is not None and same_draft(draft, self.saved)):
            return None
        return draft

    def mark_saved(self, draft: CaseDraft) -> None:
        """Record that the workspace now holds `draft`."""
        if not self.is_going_back:
            self._remember(draft)
        self.is_going_back = False
        self.saved = draft
        self.refusal_text = ""

    def _remember(self, following: CaseDraft) -> None:
        """Add an undo step; typing the previous draft again removes one instead."""
        if self.past and same_draft(self.past[-1], following):
            self.past.pop()
        elif self.saved is not None:
            self.past = [*self.past, self.saved][-MOST_STEPS:]

    def go_back(self, find: FindTool) -> None:
        """Restore the stored draft if the form differs from it, else the draft before it; it is saved next."""
        if not self.can_go_back:
            return
        self.is_going_back = self.save_status is SaveStatus.SAVED
        self.future.append(self.form)
        earlier = self.past.pop() if self.is_going_back else self.saved
        if earlier is not None:
            self.form = case_form(earlier, find)
        self.refusal_text = ""

    def go_forward(self, find: FindTool) -> bool:
        """Restore the form that was undone last, to be saved next; return False if there is none."""
        if not self.future:
            return False
        self.form = refitted_form(self.future.pop(), find)
        self.is_going_back, self.refusal_text = False, ""
        return True

    def update_stored(self, stored: CaseDraft, find: FindTool) -> None:
        """Take over a change made elsewhere, which is no step to undo here; what was typed stays in the form.

        Where both changed the same field, the form is not saved before the user, who is told, goes on.
        """
        if self.saved is None or same_draft(stored, self.saved):
            return
        seen, draft = self.saved, self.parsed.draft
        if draft is None:
            return
        typed = {name: getattr(draft, name) for name in changed_fields(seen, draft)}
        try:
            merged_fields(seen, draft, stored, f"the case “{stored.name}”")
        except ChangedMeanwhileError as error:
            self.refusal_text = f"{error.message} {error.hint}"
        came = {name: getattr(stored, name) for name in changed_fields(seen, stored)}
        self.past = _without_repeats([replace(draft, **came) for draft in self.past], stored)
        self.future = []
        self.saved = stored
        self.form = case_form(replace(stored, **typed), find)

    def rename_suite(self, name: str, wanted: str) -> None:
        """Rename a suite in the form, the stored draft and both histories."""
        self.form = _renamed(self.form, name, wanted)
        self.saved = _renamed(self.saved, name, wanted) if self.saved is not None else None
        self.past = [_renamed(draft, name, wanted) for draft in self.past]
        self.future = [_renamed(form, name, wanted) for form in self.future]

    def update_tools(self, find: FindTool) -> None:
        """Adapt the form to newly listed tools."""
        self.form = refitted_form(self.form, find)


def _without_repeats(drafts: Sequence[CaseDraft], last: CaseDraft) -> list[CaseDraft]:
    """Return the drafts without those that equal the next one."""
    return [one for one, following in pairwise([*drafts, last]) if not same_draft(one, following)]


def _renamed(one: Suited, name: str, wanted: str) -> Suited:
    suites = (wanted if suite == name else suite for suite in one.suites)
    return replace(one, suites=tuple(dict.fromkeys(suites)))


def same_draft(one: CaseDraft, other: CaseDraft) -> bool:
    """Return True if two drafts have the same JSON: 1 and 1.0 differ."""
    return replace(one, expectation=other.expectation) == other and canonical(
        expectation_to_json(one.expectation)
    ) == canonical(expectation_to_json(other.expectation))
