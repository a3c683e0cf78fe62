"""Choices among a few: segments, underlined tabs, and a small menu in a field."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QStyle, QStyleOptionButton, QStylePainter, QWidget

from app.theme import Role, height, radius, sized, theme
from app.widgets.accessibility import Spoken
from app.widgets.actions import Action, Button, show_menu, show_menu_under
from app.widgets.safe_text import LINE_LIMIT, visible
from app.widgets.spans import LinePainter, paint_box, paint_icon

Choice = tuple[str, str]
CARET = 12
AROUND, LEAST_AROUND = 24, 8
OPENING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space, Qt.Key.Key_Down)


class ChoiceBar(QWidget):
    """A row of words, one of them chosen; arrow keys move. `changed` gives the key that the user chose."""

    SPOKEN_AS = Spoken.RadioButton

    changed = Signal(str)

    def __init__(self, choices: Sequence[Choice], name: str) -> None:
        super().__init__()
        self._name = name
        self._choices: list[Choice] = list(choices)
        self._place = 0
        self._hovered = -1
        self._line = LinePainter()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._update_name()

    def set_choices(self, choices: Sequence[Choice]) -> None:
        """Offer others; the chosen key stays chosen if it is among them."""
        key = self.current()
        self._choices = list(choices)
        self._place = next((n for n, choice in enumerate(choices) if choice[0] == key), 0)
        self.updateGeometry()
        self._update_name()

    def current(self) -> str:
        """Return the key of the chosen one; "" where there is none."""
        return self._choices[self._place][0] if self._choices else ""

    def set_current(self, key: str) -> None:
        """Choose without telling anyone."""
        self._place = next((n for n, choice in enumerate(self._choices) if choice[0] == key), self._place)
        self._update_name()

    def choose(self, place: int) -> None:
        """Choose as the user would."""
        if 0 <= place < len(self._choices) and place != self._place:
            self._place = place
            self._update_name()
            self.changed.emit(self.current())

    def box(self, place: int) -> QRect:
        """Return the area of an option; the whole bar, unless a subclass narrows it."""
        return self.rect()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.choose(self._at(event.position().toPoint()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._hovered = self._at(event.position().toPoint())
        self.update()

    def leaveEvent(self, event: object) -> None:
        self._hovered = -1
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
        if event.key() in steps:
            self.choose(self._place + steps[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def _at(self, point: QPoint) -> int:
        return next((n for n in range(len(self._choices)) if self.box(n).contains(point)), -1)

    def _update_name(self) -> None:
        label = self._choices[self._place][1] if self._choices else ""
        self.setAccessibleName(visible(f"{self._name}: {label}" if label else self._name))
        self.update()


class Segmented(ChoiceBar):
    """A bordered field cut in equal parts, or by the width of the words where there is too little room for that.

    Folded, it shows the chosen one alone, and the others in a menu.
    """

    def __init__(self, choices: Sequence[Choice], name: str) -> None:
        self._folded = False
        super().__init__(choices, name)
        self.setFixedHeight(height("button_and_field"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def fold(self, folded: bool) -> None:
        """Take less room, or show all words again."""
        if folded is not self._folded:
            self._folded = folded
            self.updateGeometry()
            self.update()

    def whole_width(self) -> int:
        """Return the width that shows every option."""
        return self._widest() * max(1, len(self._choices))

    def squeezed_width(self) -> int:
        """Return the width that shows every option in a part as wide as its words."""
        return sum(self._widths()) + 2 * LEAST_AROUND * len(self._choices)

    def folded_width(self) -> int:
        """Return the width with one option and a caret."""
        return self._widest() + sized(CARET) + 16

    def _widest(self) -> int:
        return max(self._widths(), default=0) + AROUND

    def _widths(self) -> list[int]:
        return [round(self._line.width(label, theme().font(strong=True))) for _, label in self._choices]

    def sizeHint(self) -> QSize:
        return QSize(self.folded_width() if self._folded else self.whole_width(), self.height())

    def minimumSizeHint(self) -> QSize:
        """Words stand closer together before any is cut, so that a pane is not widened beyond its edge."""
        return self.sizeHint() if self._folded else QSize(self.squeezed_width(), self.height())

    def box(self, place: int) -> QRect:
        if self._folded:
            return self.rect() if place == self._place else QRect()
        left, right = (self._edge(one) for one in (place, place + 1))
        return QRect(left, 0, right - left, self.height())

    def _edge(self, place: int) -> int:
        """Return where an option begins."""
        if self.width() >= self.whole_width():
            return round(self.width() * place / len(self._choices))
        spare = (self.width() - sum(self._widths())) / len(self._choices)
        return round(sum(self._widths()[:place]) + spare * place)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        line, width = (Role.FOCUS, theme().ring) if self.hasFocus() else (Role.CONTROL, 1)
        paint_box(painter, self.rect(), line, Role.SURFACE, radius("field_and_button"), width)
        if self._folded:
            self._paint_folded(painter)
            return
        for place in range(len(self._choices)):
            self._paint_part(painter, place)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if self._folded:
            self._open()
        else:
            super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self._folded and event.key() in OPENING:
            self._open()
        else:
            super().keyPressEvent(event)

    def _open(self) -> None:
        actions = [
            Action(text=label, do=partial(self.choose, place), checked=place == self._place)
            for place, (_, label) in enumerate(self._choices)
        ]
        show_menu_under(actions, self)

    def _paint_folded(self, painter: QPainter) -> None:
        side = sized(CARET)
        words = QRectF(self.rect()).adjusted(12, 0, -16 - side, 0)
        self._line.text(painter, words, self._choices[self._place][1], theme().font(strong=True), Role.ACCENT)
        paint_icon(painter, "caret-down", self.width() - 8 - side, self.height() / 2, side)

    def _paint_part(self, painter: QPainter, place: int) -> None:
        box = QRectF(self.box(place)).adjusted(3, 3, -3, -3)
        chosen = place == self._place
        if chosen or place == self._hovered:
            painter.setPen(theme().outline(Role.ACCENT))
            painter.setBrush(theme().colour(Role.SELECTED if chosen else Role.HOVER))
            painter.drawRoundedRect(box, 4, 4)
        if place and self._place not in (place, place - 1):
            painter.fillRect(QRectF(self.box(place).left(), 8, 1, self.height() - 16), theme().colour(Role.LINE))
        font = theme().font(strong=chosen)
        role = Role.ACCENT if chosen else Role.TEXT
        self._line.text(painter, box, self._choices[place][1], font, role, Qt.AlignmentFlag.AlignHCenter)


class Tabs(ChoiceBar):
    """Words on a hairline, the chosen one underlined; a caret at an end leads to those for which there is no room."""

    SPOKEN_AS = Spoken.PageTab

    GAP = 20
    LEAST_GAP = 8
    INSET = 16

    def __init__(self, choices: Sequence[Choice], name: str, *, inset: int = INSET) -> None:
        super().__init__(choices, name)
        self._inset = inset
        self._measured: tuple[object, list[int]] = (None, [])  # what was measured last, and its widths
        self.setFixedHeight(height("tab_bar"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(
            self._laid(len(self._choices) - 1).right() + self._margin() if self._choices else 32, self.height()
        )

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.height())

    def box(self, place: int) -> QRect:
        return self._laid(place).translated(-self._pushed(), 0)

    def _laid(self, place: int) -> QRect:
        widths = self._widths()
        before = sum(widths[:place]) + place * self._gap()
        return QRect(self._margin() + before, 0, widths[place], self.height())

    def _widths(self) -> list[int]:
        font = theme().font(strong=True)
        of_what = (tuple(self._choices), font.key())
        if self._measured[0] != of_what:
            self._measured = of_what, [round(self._line.width(label, font)) for _, label in self._choices]
        return self._measured[1]

    def _pushed(self) -> int:
        """Return the shift to the left that keeps the selected option and the next one in view."""
        last = len(self._choices) - 1
        margin = self._margin()
        seen = self._laid(min(self._place + 1, last)).right() + margin - self.width()
        return max(0, min(seen, self._laid(max(self._place, 0)).left() - margin))

    def _gap(self) -> int:
        """Smaller where the words would not fit otherwise."""
        gaps = max(1, len(self._choices) - 1)
        return max(self.LEAST_GAP, min(self.GAP, (self.width() - 2 * self._inset - sum(self._widths())) // gaps))

    def _margin(self) -> int:
        """Return the space at both ends for the carets, where not all options fit."""
        fits = sum(self._widths()) + self.LEAST_GAP * (len(self._choices) - 1) + 2 * self._inset <= self.width()
        return self._inset if fits else max(self._inset, self.INSET)

    def _hidden(self) -> tuple[range, range]:
        """Return the places of the options without room, at the left and at the right."""
        first = last = self._place
        while first and self.box(first - 1).left() >= 0:
            first -= 1
        while last < len(self._choices) - 1 and self.box(last + 1).right() < self.width():
            last += 1
        return range(first), range(last + 1, len(self._choices))

    def _at(self, point: QPoint) -> int:
        """Return the visible option at a point, or the next hidden one beyond the ends."""
        before, after = self._hidden()
        if before and point.x() < self.INSET:
            return before[-1]
        if after and point.x() >= self.width() - self.INSET:
            return after[0]
        found = super()._at(point)
        return -1 if found in before or found in after else found

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, self.height() - 1, self.width(), 1, theme().colour(Role.LINE))
        before, after = self._hidden()
        for place in range(before.stop, after.start if self._choices else 0):
            self._paint_word(painter, place)
        side = min(sized(CARET), self.INSET)
        for name, left, more in (("caret-left", 0, before), ("caret-right", self.width() - side, after)):
            if more:
                paint_icon(painter, name, left, self.height() / 2, side)

    def _paint_word(self, painter: QPainter, place: int) -> None:
        box, chosen = self.box(place), place == self._place
        role = Role.TEXT if chosen or place == self._hovered else Role.DIM
        label = self._choices[place][1]
        self._line.text(painter, QRectF(box.adjusted(0, 0, 4, 0)), label, theme().font(strong=chosen), role)
        if chosen:
            painter.fillRect(box.left(), self.height() - 2, box.width(), 2, theme().colour(Role.ACCENT))
            if self.hasFocus():
                painter.setPen(QPen(theme().colour(Role.FOCUS), theme().ring))
                painter.drawRoundedRect(QRectF(box).adjusted(-6, 5, 6, -6), 4, 4)


class MenuButton(Button):
    """A small field that opens a menu of choices; None among them is a line. What does not fit is elided."""

    LEAST, MOST = 96, 320

    changed = Signal(str)

    def __init__(self, name: str, choices: Sequence[Choice | None] = (), parent: QWidget | None = None) -> None:
        super().__init__("", parent=parent)
        self._name = name
        self._choices: tuple[Choice | None, ...] = ()
        self._current = ""
        self._ticked: tuple[str, ...] = ()
        self._placeholder = ""
        self.setFont(theme().font())
        self.setStyleSheet("QPushButton { text-align: left; }")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self._open)
        self.set_choices(choices, "")

    def set_choices(self, choices: Sequence[Choice | None], current: str) -> None:
        """Offer these."""
        self._choices = tuple(choices)
        self._ticked = ()
        self.set_current(current)

    def set_ticked(self, keys: Sequence[str], several: str) -> None:
        """Check any number of keys, with a label for them; from now on `changed` gives each key that is used."""
        self.set_current(keys[0] if keys else "")
        self._ticked = tuple(keys)
        if len(keys) > 1:
            self._show_label(several)

    def current(self) -> str:
        """Return the key of the chosen one."""
        return self._current

    def set_current(self, key: str) -> None:
        """Choose without telling anyone."""
        self._current = key
        self._show_label(next((choice[1] for choice in self._choices if choice and choice[0] == key), ""))

    def _show_label(self, label: str) -> None:
        self.setText(visible(label or self._placeholder, LINE_LIMIT).replace("&", "&&"))
        self._dim(not label)
        self.setAccessibleName(visible(f"{self._name}: {label}"))

    def set_placeholder(self, text: str) -> None:
        """Dim words while none is chosen."""
        self._placeholder = text
        self.set_current(self._current)

    def _dim(self, dim: bool) -> None:
        if bool(self.property("hollow")) != dim:
            self.setProperty("hollow", dim)
            self.style().unpolish(self)
            self.style().polish(self)

    def sizeHint(self) -> QSize:
        return super().sizeHint().boundedTo(QSize(self.MOST, 1_000))

    def minimumSizeHint(self) -> QSize:
        return super().minimumSizeHint().boundedTo(QSize(self.LEAST, 1_000))

    def paintEvent(self, _event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.fontMetrics().elidedText(
            option.text, Qt.TextElideMode.ElideRight, self.width() - 24 - sized(CARET)
        )
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)
        side = sized(CARET)
        paint_icon(QPainter(self), "caret-down", self.width() - 8 - side, self.height() / 2, side)

    def _open(self) -> None:
        actions: list[Action] = []
        line = False
        for choice in self._choices:
            if choice is None:
                line = True
                continue
            do = partial(self.choose, choice[0])
            checked = choice[0] == self._current or choice[0] in self._ticked
            actions.append(Action(text=choice[1], do=do, checked=checked, apart=line))
            line = False
        show_menu(actions, self.mapToGlobal(QPoint(0, self.height() + 4)), self)

    def choose(self, key: str) -> None:
        """Choose as the user would."""
        if self._ticked:
            self.changed.emit(key)
        elif key != self._current:
            self.set_current(key)
            self.changed.emit(key)
