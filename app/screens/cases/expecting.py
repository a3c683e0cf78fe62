"""Another expected tool for many cases: in place of which one, and what is right instead, asked in one sheet."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from PySide6.QtWidgets import QWidget

from app.screens.cases.tools import ToolChoice
from app.text.formatting import count
from app.theme import Role
from app.widgets import Action, Field, FlowText, MenuButton, Picker, PickItem, Sheet
from mcp_tef import NO_TOOL, CaseDraft, CaseId, Expectation, ExpectedCall, ToolLabel

WHAT = "Expected values stay as they are. A case that does not offer the server of the tool yet is given it."
ANY = "Whatever they expect"
NONE = "no tool"


@dataclass(frozen=True, slots=True)
class Expecting:
    """`after` (None: no tool) is expected in place of `before`; where that is None, whatever is expected now."""

    before: ToolLabel | None
    after: ToolChoice | None

    def of(self, draft: CaseDraft) -> CaseDraft:
        """A case with what it is to expect; as it is where it does not expect what is meant."""
        if self.before is not None and self.before not in expected_tools([draft]):
            return draft
        if self.after is None:
            return replace(draft, expectation=NO_TOOL)
        servers = draft.servers if self.after.server in draft.servers else (*draft.servers, self.after.server)
        return replace(draft, expectation=self._expectation(draft.expectation, self.after), servers=servers)

    def _expectation(self, now: Expectation, after: ToolChoice) -> Expectation:
        calls = [call for answer in now.alternatives for call in answer]
        if self.before is None and len(calls) != 1:
            return Expectation(((ExpectedCall(tool=after.name, server=after.server),),))
        answers = (tuple(self._call(call, after) for call in answer) for answer in now.alternatives)
        return replace(now, alternatives=tuple(answers))

    def _call(self, call: ExpectedCall, after: ToolChoice) -> ExpectedCall:
        meant = self.before is None or _label(call) == self.before
        return replace(call, tool=after.name, server=after.server) if meant else call


def _label(call: ExpectedCall) -> ToolLabel:
    return ToolLabel(tool=call.tool, server=call.server)


def expected_tools(drafts: Collection[CaseDraft]) -> tuple[ToolLabel, ...]:
    """The tools that cases expect, each once."""
    answers = (answer for draft in drafts for answer in draft.expectation.alternatives)
    return tuple(dict.fromkeys(_label(call) for answer in answers for call in answer))


class ExpectSheet(Sheet):
    """Asks in place of which tool, and what; `changed` are the cases that become others by it."""

    def __init__(self, drafts: Mapping[CaseId, CaseDraft], tools: Sequence[ToolChoice], parent: QWidget) -> None:
        super().__init__(f"Expected tool of {count(len(drafts), 'case')}", parent)
        self._drafts = drafts
        self._known = {_words(label): label for label in expected_tools(drafts.values())}
        self._tools = {f"{tool.server}\n{tool.name}": tool for tool in tools}
        self.before = MenuButton("In place of", [("", ANY), *((words, words) for words in self._known)])
        self.after = Picker("Expected tool", "Pick the tool that should be called")
        none = PickItem(id=NONE, title=NONE, detail="An answer that calls no tool at all", mono=False)
        self.after.set_items([none, *(_item(key, tool) for key, tool in self._tools.items())])
        self.after.set_footer("{shown} of {all}. Enter picks, Esc keeps the old one.")
        self.body.addWidget(FlowText(WHAT, role=Role.DIM))
        for title, widget in (("In place of", self.before), ("Expect", self.after)):
            self.body.addWidget(Field(title, widget))
        self.body.addStretch(1)
        cancel = Action(text="Cancel", do=self.reject)
        _, self._do = self.set_buttons([cancel, Action(text="Change cases", do=self.accept, kind="primary")])
        self.before.changed.connect(lambda _: self._judge())
        self.after.picked.connect(lambda _: self._judge())
        self.after.setFocus()
        self._judge()

    def changed(self) -> dict[CaseId, CaseDraft]:
        """The cases that are to change, as they are to be."""
        if not self.after.current():
            return {}
        wanted = Expecting(self._known.get(self.before.current()), self._tools.get(self.after.current()))
        after = {case_id: wanted.of(draft) for case_id, draft in self._drafts.items()}
        return {case_id: draft for case_id, draft in after.items() if draft != self._drafts[case_id]}

    def _judge(self) -> None:
        number = len(self.changed())
        self._do.setText(f"Change {count(number, 'case')}" if number else "Change cases")
        self._do.setEnabled(number > 0)


def _words(label: ToolLabel) -> str:
    return f"{label.server} / {label.tool}" if label.server else f"{label.tool}"


def _item(key: str, tool: ToolChoice) -> PickItem:
    return PickItem(id=key, title=tool.name, detail=tool.sentence, right=tool.server, lead=tool.server)
