"""One case on the desk: what is typed, what is saved, and the way back."""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final, TypeVar

from app.screens.cases.calls import FindTool
from app.screens.cases.form import CaseForm, Reading, case_form, read_form, refitted_form
from mcp_tef import CaseDraft, CaseId, canonical, expectation_to_json

MOST_STEPS: Final = 100
Suited = TypeVar("Suited", CaseDraft, CaseForm)


class State(StrEnum):
    """How what is typed and what is saved relate, in the words of the editor."""

    NEW = "Not saved yet"
    SAVED = "Saved"
    CHANGED = "Saving…"
    INVALID = "Not saved"
    REFUSED = "Could not be saved"


@dataclass(slots=True)
class Desk:
    """A case being edited. `saved` is what the workspace holds; None before the first save.

    `going_back` says that the next draft to be saved is an earlier one, which is then no step of its own.
    """

    case_id: CaseId
    form: CaseForm
    saved: CaseDraft | None = None
    past: list[CaseDraft] = field(default_factory=list)
    future: list[CaseForm] = field(default_factory=list)
    refused: str = ""
    going_back: bool = False
    _read: tuple[CaseForm, Reading] | None = None

    @property
    def reading(self) -> Reading:
        """What the form stands for now."""
        if self._read is None or self._read[0] is not self.form:
            self._read = (self.form, read_form(self.form))
        return self._read[1]

    @property
    def state(self) -> State:
        """How typed and saved relate."""
        if self.refused:
            return State.REFUSED
        if self.reading.draft is None:
            return State.NEW if self.saved is None else State.INVALID
        return State.SAVED if self.due() is None else State.CHANGED

    @property
    def sentence(self) -> str:
        """Why what is typed is not saved; empty where it is."""
        return self.refused or next((problem.sentence for problem in self.reading.problems), "")

    @property
    def can_go_back(self) -> bool:
        """Whether there is an earlier form of this case to go back to."""
        return bool(self.past) or (self.saved is not None and self.state is not State.SAVED)

    @property
    def untouched(self) -> bool:
        """Whether nothing was typed into a new case that would be worth keeping."""
        form = self.form
        tools = any(call.tool for call in form.calls)
        return self.saved is None and not (form.query.strip() or form.name.strip() or tools)

    @property
    def stuck(self) -> bool:
        """Whether something is typed that cannot be saved as it stands."""
        return self.state in (State.NEW, State.INVALID, State.REFUSED) and not self.untouched

    def edit(self, form: CaseForm) -> None:
        """Take what was typed; what was taken back before is gone then."""
        self.form = form
        self.future = []
        self.refused = ""
        self.going_back = False

    def due(self) -> CaseDraft | None:
        """The draft that is to be saved; None where nothing is, or it cannot be."""
        draft = self.reading.draft
        if draft is None or (self.saved is not None and same_draft(draft, self.saved)):
            return None
        return draft

    def keep(self, draft: CaseDraft) -> None:
        """The workspace now holds `draft`."""
        if not self.going_back:
            self._remember(draft)
        self.going_back = False
        self.saved = draft
        self.refused = ""

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
        self.going_back = self.state is State.SAVED
        self.future.append(self.form)
        earlier = self.past.pop() if self.going_back else self.saved
        if earlier is not None:
            self.form = case_form(earlier, find)
        self.refused = ""

    def go_forward(self, find: FindTool) -> bool:
        """Show again what was taken back last, to be saved next; False where nothing was."""
        if not self.future:
            return False
        self.form = refitted_form(self.future.pop(), find)
        self.going_back, self.refused = False, ""
        return True

    def renew(self, stored: CaseDraft, find: FindTool) -> None:
        """Someone else changed the case: show that, unless something is typed here that is not saved."""
        if self.saved is not None and same_draft(stored, self.saved):
            return
        typed = self.state is not State.SAVED
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

    def refit(self, find: FindTool) -> None:
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
