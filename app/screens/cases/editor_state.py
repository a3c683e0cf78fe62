"""One case on the edited: what is typed, what is saved, and the way back."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeVar

from app.screens.cases.calls import FindTool
from app.screens.cases.form import CaseForm, ParsedCase, case_form, read_form, refitted_form
from mcp_tef import CaseDraft, CaseId, canonical, expectation_to_json

MOST_STEPS: Final = 100
Suited = TypeVar("Suited", CaseDraft, CaseForm)


class SaveStatus(StrEnum):
    """How what is typed and what is saved relate, in the words of the editor."""

    NEW = "Not saved yet"
    SAVED = "Saved"
    CHANGED = "Saving…"
    INVALID = "Not saved"
    REFUSED = "Could not be saved"


@dataclass(slots=True)
class CaseEditorState:
    """A case being edited. `saved` is what the workspace holds; None before the first save.

    `is_going_back` says that the next draft to be saved is an earlier one, which is then no step of its own.
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
        """What the form stands for now."""
        if self._read is None or self._read[0] is not self.form:
            self._read = (self.form, read_form(self.form))
        return self._read[1]

    @property
    def save_status(self) -> SaveStatus:
        """How typed and saved relate."""
        if self.refusal_text:
            return SaveStatus.REFUSED
        if self.parsed.draft is None:
            return SaveStatus.NEW if self.saved is None else SaveStatus.INVALID
        return SaveStatus.SAVED if self.draft_to_save() is None else SaveStatus.CHANGED

    @property
    def problem_text(self) -> str:
        """Why what is typed is not saved; empty where it is."""
        return self.refusal_text or next((problem.sentence for problem in self.parsed.problems), "")

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier form of this case to go back to."""
        return bool(self.past) or (self.saved is not None and self.save_status is not SaveStatus.SAVED)

    @property
    def is_empty(self) -> bool:
        """Whether nothing was typed into a new case that would be worth keeping."""
        form = self.form
        tools = any(call.tool for call in form.calls)
        return self.saved is None and not (form.query.strip() or form.name.strip() or tools)

    @property
    def has_unsavable_edits(self) -> bool:
        """Whether something is typed that cannot be saved as it stands."""
        return self.save_status in (SaveStatus.NEW, SaveStatus.INVALID, SaveStatus.REFUSED) and not self.is_empty

    def edit(self, form: CaseForm) -> None:
        """Take what was typed; what was taken back before is gone then."""
        self.form = form
        self.future = []
        self.refusal_text = ""
        self.is_going_back = False

    def draft_to_save(self) -> CaseDraft | None:
        """The draft that is to be saved; None where nothing is, or it cannot be."""
        draft = self.parsed.draft
        if draft is None or (self.saved is not None and same_draft(draft, self.saved)):
            return None
        return draft

    def mark_saved(self, draft: CaseDraft) -> None:
        """The workspace now holds `draft`."""
        if not self.is_going_back:
            self._remember(draft)
        self.is_going_back = False
        self.saved = draft
        self.refusal_text = ""

    def _remember(self, following: CaseDraft) -> None:
        """One more step back; typing what stood there before is such a step itself."""
        if self.past and same_draft(self.past[-1], following):
            self.past.pop()
        elif self.saved is not None:
            self.past = [*self.past, self.saved][-MOST_STEPS:]

    def go_back(self, find: FindTool) -> None:
        """Show the saved draft again where something else is typed, else the one before it, to be saved next."""
        if not self.can_go_back:
            return
        self.is_going_back = self.save_status is SaveStatus.SAVED
        self.future.append(self.form)
        earlier = self.past.pop() if self.is_going_back else self.saved
        if earlier is not None:
            self.form = case_form(earlier, find)
        self.refusal_text = ""

    def go_forward(self, find: FindTool) -> bool:
        """Show again what was taken back last, to be saved next; False where nothing was."""
        if not self.future:
            return False
        self.form = refitted_form(self.future.pop(), find)
        self.is_going_back, self.refusal_text = False, ""
        return True

    def update_stored(self, stored: CaseDraft, find: FindTool) -> None:
        """Someone else changed the case: show that, unless something is typed here that is not saved."""
        if self.saved is not None and same_draft(stored, self.saved):
            return
        typed = self.save_status is not SaveStatus.SAVED
        self._remember(stored)
        self.saved = stored
        if not typed:
            self.form = case_form(stored, find)

    def rename_suite(self, name: str, wanted: str) -> None:
        """A suite is called otherwise: in what is typed and saved, and in every form to go back or forward to."""
        self.form = _renamed(self.form, name, wanted)
        self.saved = _renamed(self.saved, name, wanted) if self.saved is not None else None
        self.past = [_renamed(draft, name, wanted) for draft in self.past]
        self.future = [_renamed(form, name, wanted) for form in self.future]

    def update_tools(self, find: FindTool) -> None:
        """The tools are known better now."""
        self.form = refitted_form(self.form, find)


def _renamed(one: Suited, name: str, wanted: str) -> Suited:
    suites = (wanted if suite == name else suite for suite in one.suites)
    return replace(one, suites=tuple(dict.fromkeys(suites)))


def same_draft(one: CaseDraft, other: CaseDraft) -> bool:
    """Whether two drafts are equal to the letter: 1 and 1.0 are not."""
    return replace(one, expectation=other.expectation) == other and canonical(
        expectation_to_json(one.expectation)
    ) == canonical(expectation_to_json(other.expectation))
