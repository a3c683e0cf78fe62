"""Findings that the user accepted: the dialog that asks for the reason, and the list of those of one tool."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.theme import Role
from app.widgets import Action, Button, Dialog, Field, FlowText, LineEdit, Rule, Section
from mcp_tef import LintRule, ToolQuality

NOTE = "The findings are listed below the others and cost no points, until the tool's text changes."


class IgnoreDialog(Dialog):
    """Field for the reason for which the findings of a rule are accepted; `reason` holds it once accepted."""

    def __init__(self, tool: str, rule: str, parent: QWidget) -> None:
        super().__init__("Ignore findings", parent, width=420)
        self.reason = ""
        self.edit = LineEdit()
        self.field = Field("Reason", self.edit, note=NOTE)
        self.body.addWidget(FlowText(f"{rule}, in {tool}", role=Role.DIM))
        self.body.addWidget(self.field)
        self.set_buttons([Action(text="Cancel", do=self.reject), Action(text="Ignore", do=self._agree, kind="primary")])
        self.edit.setFocus()

    def _agree(self) -> None:
        self.reason = self.edit.text().strip()
        self.field.set_error("" if self.reason else "Say why it is accepted.")
        if self.reason:
            self.accept()


class IgnoredSection(QWidget):
    """Accepted findings of one tool by rule, each with its reason and day; `restore_wanted` names a rule."""

    restore_wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.head = Section("Ignored findings")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(Rule())
        column.addWidget(self.head)
        self._rows: list[QWidget] = []

    def show_quality(self, quality: ToolQuality) -> None:
        """Show those of another tool; the part hides where there is none."""
        for row in self._rows:
            row.hide()
            row.deleteLater()
        rules = {finding.rule: entry for finding, entry in quality.ignored}
        self._rows = [self._row(rule, f"{entry.reason} ({entry.date})") for rule, entry in rules.items()]
        for row in self._rows:
            self.head.add(row)
        self.setVisible(bool(rules))

    def _row(self, rule: LintRule, why: str) -> QWidget:
        row = QWidget()
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(FlowText(f"{rule.title}: {why}", role=Role.DIM), 1)
        again = Button("Report again")
        again.setAccessibleName(f"Report again: {rule.title}")
        again.clicked.connect(partial(self.restore_wanted.emit, rule.id))
        line.addWidget(again, 0, Qt.AlignmentFlag.AlignTop)
        return row
