"""Preview of a prompt: the request of a case with the text filled, and the words that differ between two versions."""

from collections.abc import Sequence
from typing import Final

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.screens.models.prompts_presenter import Preview, PromptsPresenter
from app.text.formatting import count
from app.theme import Role, Size, sized
from app.widgets import FlowText, Label, MenuButton, Picker, PickItem, Rule, ScrollPane, Span

MOST_TOOLS: Final = 12
SIDE: Final = 16


class PromptPreview(QWidget):
    """The request as the model gets it, for the case that `case` names, above the differences from `against`."""

    def __init__(self) -> None:
        super().__init__()
        self.case = Picker("Case of the preview", "No case")
        self.system, self.tools, self.query = FlowText(), FlowText(mono=True), FlowText()
        self.against = MenuButton("Compare with")
        self.summary = Label(size=Size.SMALL, role=Role.DIM)
        self.changes = FlowText()
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(SIDE, 12, SIDE - 8, 12)
        column.setSpacing(8)
        column.addWidget(self.case)
        texts: tuple[tuple[str, QWidget], ...] = (("Prompt", self.system), ("Tools", self.tools), ("User", self.query))
        for title, part in texts:
            column.addWidget(Label(title, size=Size.SMALL, role=Role.DIM, strong=True))
            column.addWidget(part)
        self._rule = Rule()
        self.against.setMinimumWidth(sized(112))
        column.addWidget(self._rule)
        head = QHBoxLayout()
        head.addWidget(Label("Differences from", size=Size.SMALL, role=Role.DIM, strong=True))
        head.addWidget(self.against)
        head.addStretch(1)
        self._head = QWidget()
        self._head.setLayout(head)
        head.setContentsMargins(0, 0, 0, 0)
        for part in (self._head, self.summary, self.changes):
            column.addWidget(part)
        column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(ScrollPane(inside, "Preview of the request"))
        self.setMinimumWidth(sized(220))

    def show_cases(self, presenter: PromptsPresenter) -> None:
        """Offer the cases."""
        items = [
            PickItem(id=one.id, title=one.name, detail=one.draft.query, mono=False) for one in presenter.cases.values()
        ]
        self.case.set_items(items)
        self.case.set_current(presenter.case_id or "")
        self.case.setEnabled(bool(items))

    def show_prompt(self, presenter: PromptsPresenter) -> None:
        """Show the request and the differences."""
        self._show_request(presenter.preview())
        earlier = [one for one in presenter.versions if one.version != presenter.version]
        self.against.set_choices(
            [(str(one.version), f"version {one.version}") for one in earlier], str(presenter.against or "")
        )
        self.against.set_placeholder("no version")
        for part in (self._rule, self._head):
            part.setVisible(bool(earlier))
        self._show_differences(presenter.differences())

    def _show_differences(self, found: Sequence[tuple[str, str, str]]) -> None:
        more, less = (sum(len(one[place].split()) for one in found) for place in (2, 1))
        self.summary.setText(f"{count(more, 'word')} more, {less:,} fewer" if more or less else "The same words")
        self.summary.setVisible(bool(found))
        self.changes.set_spans(_changed(found))
        self.changes.setVisible(bool(more or less))

    def _show_request(self, preview: Preview) -> None:
        self.system.set_spans(
            [
                Span(text, Role.ACCENT if name else Role.TEXT, back=Role.SELECTED if name else None)
                for text, name in preview.pieces
            ]
        )
        names, more = preview.tools[:MOST_TOOLS], len(preview.tools) - MOST_TOOLS
        listed = ", ".join(names) + (f" and {more:,} more" if more > 0 else "")
        self.tools.set_text(listed or "None listed yet. Connect the case's servers on the Servers screen.")
        self.query.set_text(preview.query or "There is no test case yet.")


def _changed(changes: Sequence[tuple[str, str, str]]) -> list[Span]:
    """Return both texts in one: words that went struck through, words that came tinted."""
    spans: list[Span] = []
    for both, gone, came in changes:
        spans += [Span(both)] if both else []
        spans += [Span(gone, Role.BAD, back=Role.BAD_TINT, strike=True)] if gone else []
        spans += [Span(" ")] if gone and came else []
        spans += [Span(came, Role.GOOD, back=Role.GOOD_TINT)] if came else []
        spans.append(Span(" "))
    return spans
