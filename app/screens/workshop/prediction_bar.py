"""The bar that predicts the effect of a draft while one types: baseline, findings, nearest tool and tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import Button, Label, LineText, Rule, Span, Spoken, describe, joined
from mcp_tef import Neighbour, Prediction, ToolPrediction

BY_SEARCH: Final = "Found by search; no model asked"
CLOSER: Final = 0.05
ARROW: Final = " → "


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedValue:
    """One value before and after the change, and a note that `bad` colours; `short` is all of it on one line."""

    title: str
    short: str
    before: str = ""
    after: str = ""
    note: str = ""
    bad: bool = False


def predicted_values(prediction: Prediction, tool: str) -> tuple[PredictedValue, ...]:
    """Return what a prediction says of the whole draft, and of the nearest tool of one of its tools."""
    named = (one for one in prediction.tools if one.name == tool)
    shown = next(named, next(iter(prediction.tools), ToolPrediction(name="")))
    return (_baseline(prediction), _findings(prediction.tools), _nearest(shown), _tokens(prediction))


def _baseline(prediction: Prediction) -> PredictedValue:
    cases = prediction.cases
    if not cases:
        none = "No test case yet"
        return PredictedValue(title="Baseline finds the right tool", short=none.lower(), before="—", note=none)
    before, after = sum(one.passed_before for one in cases), sum(one.passed_after for one in cases)
    of_cases = f"of {count(len(cases), 'case')}"
    note = f"{of_cases} · {prediction.fixed:,} fixed, {prediction.broken:,} broken"
    return PredictedValue(
        title="Baseline finds the right tool",
        short=f"{before:,}{ARROW}{after:,} {of_cases}",
        before=f"{before:,}",
        after=f"{after:,}",
        note=note,
        bad=prediction.broken > prediction.fixed,
    )


def _findings(tools: Sequence[ToolPrediction]) -> PredictedValue:
    gone, new = (sum(len(getattr(one, name)) for one in tools) for name in ("findings_gone", "findings_new"))
    names = [finding.rule.title for one in tools for finding in one.findings_new]
    note = names[0] if names else "No new finding"
    before = f"{gone:,} gone, {new:,} new"
    return PredictedValue(title="Findings", short=f"findings {before}", before=before, note=note, bad=new > 0)


def _nearest(tool: ToolPrediction) -> PredictedValue:
    before, after = next(iter(tool.neighbours_before), None), next(iter(tool.neighbours_after), None)
    newly = tool.newly_near if before else ()
    old, new = (f"{one.similarity:.2f}" if one else "none" for one in (before, after))
    return PredictedValue(
        title="Nearest tool",
        short=f"nearest {old}{ARROW}{new}",
        before=old,
        after=new,
        note=f"{count(len(newly), 'tool')} newly near" if newly else after.tool if after else "",
        bad=_is_closer(before, after),
    )


def _is_closer(before: Neighbour | None, after: Neighbour | None) -> bool:
    return before is not None and after is not None and after.similarity > before.similarity + CLOSER


def _tokens(prediction: Prediction) -> PredictedValue:
    before, after = prediction.set_tokens_before, prediction.set_tokens_after
    share = f", {100 * (after - before) / before:+.0f} %" if before else ""
    more = f"{after - before:+,}".replace("-", "−")
    return PredictedValue(
        title="Tokens of all tools",
        short=f"tokens {more}",
        before=f"{before:,}",
        after=f"{after:,}",
        note=f"{more}{share}".replace("-", "−"),
    )


class PredictedValueView(QWidget):
    """A title, two values with an arrow between, and a note."""

    SPOKEN_AS = Spoken.Grouping

    def __init__(self) -> None:
        super().__init__()
        self.title = LineText(size=Size.SMALL, role=Role.DIM)
        self.values = LineText(size=Size.LEAD)
        self.note = LineText(size=Size.SMALL, role=Role.DIM)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 8, 8, 8)
        column.setSpacing(2)
        for part in (self.title, self.values, self.note):
            column.addWidget(part)

    def show_value(self, value: PredictedValue) -> None:
        """Show another value."""
        self.title.set_text(value.title)
        spans = [Span(value.before, Role.DIM if value.after else Role.TEXT)]
        spans += [Span(ARROW, Role.DIM), Span(value.after, strong=True)] if value.after else []
        self.values.set_spans(spans)
        self.note.set_text(value.note, Role.BAD if value.bad else Role.DIM)
        self.setAccessibleName(f"{value.title}: {joined(spans)}, {value.note}")


class PredictionBar(QWidget):
    """Four values side by side, or one line once there is a verdict. `details_wanted` asks for all of it."""

    details_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.values = tuple(PredictedValueView() for _ in range(4))
        self.record = Label(BY_SEARCH, size=Size.SMALL, role=Role.DIM)
        self.line = LineText(size=Size.SMALL, role=Role.DIM)
        self.details = Button("Show the prediction", kind="link")
        self.details.clicked.connect(self.details_wanted)
        self._wide = QWidget()
        self._lay_out()
        describe("The offline baseline searches the texts of the tools. A trial asks a model.", self.record)
        self.show_prediction(None, "", folded=False, pending=False)

    def _lay_out(self) -> None:
        row = QHBoxLayout(self._wide)
        row.setContentsMargins(0, 0, 8, 0)
        row.setSpacing(0)
        for place, part in enumerate(self.values):
            if place:
                row.addWidget(Rule(upright=True))
            row.addWidget(part, 3 if not place else 2)
        below = QHBoxLayout()
        below.setContentsMargins(16, 4, 12, 4)
        below.setSpacing(12)
        below.addWidget(self.record)
        below.addWidget(self.line, 1)
        below.addStretch(0)
        below.addWidget(self.details)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self._wide)
        column.addLayout(below)
        column.addWidget(Rule())

    def show_prediction(self, prediction: Prediction | None, tool: str, *, folded: bool, pending: bool) -> None:
        """Show a prediction; `pending` says that a newer one is on its way."""
        values = predicted_values(prediction, tool) if prediction is not None else ()
        for part in (self._wide, self.record):
            part.setVisible(bool(values) and not folded)
        self.line.setVisible(folded or not values)
        self.details.setVisible(bool(values))
        for view, value in zip(self.values, values, strict=False):
            view.show_value(value)
        self.record.setText(f"{BY_SEARCH}{_record(prediction)}" + (" · predicting…" if pending else ""))
        self.line.set_text(_one_line(values, pending=pending))


def _one_line(values: Sequence[PredictedValue], *, pending: bool) -> str:
    if values:
        return f"{BY_SEARCH}: {' · '.join(value.short for value in values)}"
    return "Predicting…" if pending else "Change a text to see what it changes; no model is asked."


def _record(prediction: Prediction | None) -> str:
    record = prediction.record if prediction else None
    if record is None or not record.trials:
        return ""
    return f" · its direction was right in {record.right:,} of {count(record.trials, 'trial')} here"
