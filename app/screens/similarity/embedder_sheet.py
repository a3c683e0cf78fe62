"""The form for another embedder: which kind, which one, and a key where it needs one."""

from PySide6.QtWidgets import QLineEdit, QWidget

from app.theme import Role
from app.widgets import Action, Field, FlowText, Segmented, Sheet
from mcp_tef import EmbedderKind, InputError, Secret, parse_embedder

KINDS = (
    (EmbedderKind.FASTEMBED, "Local model", "A model that fastembed knows", "BAAI/bge-small-en-v1.5"),
    (EmbedderKind.FOLDER, "Folder", "A folder with an ONNX model and its tokenizer", "/path/to/model"),
    (EmbedderKind.LITELLM, "Provider", "PROVIDER/MODEL", "openai/text-embedding-3-small"),
    (EmbedderKind.HTTP, "Own endpoint", "The address of an embedding service", "http://localhost:8080/embed"),
)
NEEDS_KEY = (EmbedderKind.LITELLM, EmbedderKind.HTTP)
WHAT = (
    "An embedder turns names and descriptions into numbers that can be compared. Local ones send nothing anywhere; "
    "a provider or an endpoint is sent the text of every tool."
)


class EmbedderSheet(Sheet):
    """`chosen` is the embedder as the command line writes it, and `key` its key, once the sheet was accepted."""

    def __init__(self, current: str, parent: QWidget) -> None:
        super().__init__("Choose an embedder", parent, width=520)
        self.chosen = ""
        self.key: Secret | None = None
        self.kinds = Segmented([(kind.value, title) for kind, title, _, _ in KINDS], "Kind of embedder")
        self.target = QLineEdit()
        self.key_edit = QLineEdit()
        self.key_edit.setEchoMode(QLineEdit.EchoMode.Password)
        self.target_field = Field("Model", self.target)
        self.key_field = Field("Key", self.key_edit, note="Only if it needs one. Kept in memory until you quit.")
        self.body.addWidget(FlowText(WHAT, role=Role.DIM))
        for part in (self.kinds, self.target_field, self.key_field):
            self.body.addWidget(part)
        self.body.addStretch(1)
        self.set_buttons(
            [Action(text="Cancel", do=self.reject), Action(text="Compare", do=self._agree, kind="primary")]
        )
        kind, _, target = current.partition(":")
        self.kinds.set_current(kind)
        self.target.setText(target)
        self.kinds.changed.connect(lambda _: self._turn())
        self.target.textEdited.connect(lambda _: self.target_field.tell(self._fault()))
        self._turn()

    def _turn(self) -> None:
        kind, _, label, example = next(one for one in KINDS if one[0].value == self.kinds.current())
        self.target_field.set_label(label)
        self.target_field.set_error("")
        self.target.setPlaceholderText(example)
        self.key_field.setVisible(kind in NEEDS_KEY)
        self.key_edit.clear()

    def _label(self) -> str:
        kind, target = self.kinds.current(), self.target.text().strip()
        return f"{kind}:{target}" if target else kind

    def _fault(self) -> str:
        try:
            parse_embedder(self._label())
        except InputError:
            return f"Write {next(one[2] for one in KINDS if one[0].value == self.kinds.current()).lower()}."
        return ""

    def _agree(self) -> None:
        if fault := self._fault():
            self.target_field.set_error(fault)
            self.target.setFocus()
            return
        kind = EmbedderKind(self.kinds.current())
        text = self.key_edit.text().strip()
        self.chosen, self.key = self._label(), Secret(text) if text and kind in NEEDS_KEY else None
        self.key_edit.clear()
        self.accept()
