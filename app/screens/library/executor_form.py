"""Form of an executor's settings beside their JSON, which always show the same."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.arguments.values import UnreadableError
from app.screens.library.design_draft import CONFIG_NOTES, SETTINGS, Setting, SettingForm, with_setting
from app.screens.library.schema_text import read_object
from app.theme import Role, Size, theme
from app.widgets import Field, FlowText, GrowingEdit, LineEdit, column_layout, row_layout, set_wrong
from mcp_tef import ExecutorKind, JsonObject

GAP = 8


class SettingsForm(QWidget):
    """A field for each setting of one executor; `edited` gives a setting and its text."""

    edited = Signal(object, str)

    def __init__(self, executor: ExecutorKind) -> None:
        super().__init__()
        self.fields: dict[Setting, LineEdit | GrowingEdit] = {}
        column = column_layout(self, spacing=GAP)
        line: QHBoxLayout | None = None
        for setting in SETTINGS[executor]:
            field = Field(setting.title, self._made(setting))
            if setting.is_long:
                column.addWidget(field)
                line = None
                continue
            if line is None:
                line = row_layout(spacing=GAP)
                column.addLayout(line)
            line.addWidget(field, 1)

    def _made(self, setting: Setting) -> LineEdit | GrowingEdit:
        edit: LineEdit | GrowingEdit
        if setting.form in (SettingForm.ANY, SettingForm.LINES):
            edit = GrowingEdit(setting.title, mono=True, size=Size.SMALL, least=2, most=10)
            edit.edited.connect(partial(self.edited.emit, setting))
        else:
            edit = LineEdit()
            edit.setFont(theme().font(mono=setting.key in ("url", "base_url")))
            edit.typed.connect(partial(self.edited.emit, setting))
        edit.setPlaceholderText(setting.hint)
        self.fields[setting] = edit
        return edit

    def show_config(self, config: JsonObject) -> None:
        """Show settings; a field whose text means the same already keeps it, since it may be typed in."""
        for setting, edit in self.fields.items():
            text = setting.show(config)
            if edit.text() == text or (edit.text() and setting.read(edit.text()) == config.get(setting.key)):
                continue
            if isinstance(edit, GrowingEdit):
                edit.set_text(text)
            else:
                edit.setText(text)
                edit.setCursorPosition(0)


class ExecutorForm(QWidget):
    """Form and JSON of an executor's settings. `edited` gives the JSON after the user changed it."""

    edited = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.form: SettingsForm | None = None
        self._executor: ExecutorKind | None = None
        self.note = FlowText(size=Size.SMALL, role=Role.DIM)
        self.json = GrowingEdit("Settings as JSON", mono=True, size=Size.SMALL, least=4, most=14)
        self._place = column_layout(None, self.note, spacing=GAP)
        left = column_layout(None, self._place, spacing=None)
        left.addStretch(1)
        right = column_layout(None, self.json, spacing=None)
        right.addStretch(1)
        both = row_layout(self, spacing=2 * GAP)
        both.addLayout(left, 5)
        both.addLayout(right, 3)
        self.json.edited.connect(self._type_json)

    def show_config(self, executor: ExecutorKind, text: str) -> None:
        """Show the settings of an executor, given as JSON; the form rests while that cannot be read."""
        if executor is not self._executor:
            self._make(executor)
        self.json.set_text(text)
        self._show_form(text)

    def _make(self, executor: ExecutorKind) -> None:
        if self.form is not None:
            self.form.hide()
            self.form.deleteLater()
        self._executor, self.form = executor, SettingsForm(executor)
        self.form.edited.connect(self._type_setting)
        self.note.set_text(CONFIG_NOTES[executor])
        self._place.addWidget(self.form)

    def _show_form(self, text: str) -> None:
        try:
            config = read_object(text or "{}", "Config")
        except UnreadableError:
            config = None
        set_wrong(self.json, config is None)
        if self.form is not None:
            self.form.setEnabled(config is not None)
            if config is not None:
                self.form.show_config(config)

    def _type_json(self, text: str) -> None:
        self._show_form(text)
        self.edited.emit(text)

    def _type_setting(self, setting: Setting, typed: str) -> None:
        text = with_setting(self.json.text(), setting, typed)
        self.json.set_text(text)
        self.edited.emit(text)
