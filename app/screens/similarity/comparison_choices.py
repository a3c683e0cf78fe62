"""Header menus for the compared servers and the embedder, and the dialog for other embedders."""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial

from PySide6.QtCore import QPoint, QSize, QTimer, Signal
from PySide6.QtWidgets import QLineEdit, QWidget

from app.dialogs.api_key import ApiKeyField
from app.screens.similarity.labels import EMBEDDER_LABELS, embedder_label
from app.text.formatting import count
from app.theme import Role
from app.widgets import Action, Dialog, Field, FlowText, MenuButton, PickItem, PickPopup, Segmented, show_menu
from app.widgets.actions import MenuOpener
from app.widgets.safe_text import one_line
from mcp_tef import EmbedderKind, InputError, Secret, parse_embedder

MAX_MENU_ITEMS = 12
OTHER = "other"


class ServersMenu(MenuOpener):
    """Menu of the servers to compare; none selected means all of them. `picked` gives the names."""

    picked = Signal(tuple)

    def __init__(self) -> None:
        super().__init__("All servers")
        self._known: Mapping[str, int] = {}
        self._chosen: tuple[str, ...] = ()
        self.clicked.connect(lambda: self.open(self))
        self.setAccessibleName("Servers to compare")

    @cached_property
    def _popup(self) -> PickPopup:
        popup = PickPopup("servers", self)
        popup.footer = "{shown} of {all} · Enter to select or deselect · Esc to close"
        popup.picked.connect(self.pick)
        return popup

    def show_servers(self, known: Mapping[str, int], chosen: Sequence[str]) -> None:
        """Offer servers with their numbers of tools."""
        self._known, self._chosen = dict(known), tuple(name for name in chosen if name in known)
        self.setText(self.words().replace("&", "&&"))

    def pick(self, name: str) -> None:
        """Choose a server, or let it go; "" lets all go."""
        if not name:
            self.picked.emit(())
            return
        kept = tuple(one for one in self._chosen if one != name)
        self.picked.emit(kept if name in self._chosen else (*self._chosen, name))

    def actions_offered(self) -> list[Action]:
        """Return the entries of the menu."""
        every = Action(text="All servers", do=partial(self.pick, ""), checked=not self._chosen)
        found = [
            Action(
                text=f"{name} · {count(number, 'tool')}",
                do=partial(self.pick, name),
                checked=name in self._chosen,
                apart=not place,
            )
            for place, (name, number) in enumerate(self._known.items())
        ]
        return [every, *found]

    def words(self) -> str:
        """Return the text of the button."""
        if not self._chosen:
            return "All servers"
        return one_line(self._chosen[0], 24) if len(self._chosen) == 1 else count(len(self._chosen), "server")

    def open(self, field: QWidget) -> None:
        """Offer them under a field: few as a menu, many to be searched."""
        if len(self._known) <= MAX_MENU_ITEMS:
            show_menu(self.actions_offered(), field.mapToGlobal(QPoint(0, field.height() + 4)), field)
            return
        items = [PickItem(id="", title="All servers", mono=False)]
        items += [self._item(name, number) for name, number in self._known.items()]
        self._popup.open_at(field, items, self._chosen[0] if self._chosen else "")

    def _item(self, name: str, number: int) -> PickItem:
        chosen = "✓ " if name in self._chosen else ""
        return PickItem(id=name, title=name, right=f"{chosen}{count(number, 'tool')}", mono=False)


class EmbedderMenu(MenuButton):
    """By which embedder; `wanted` gives it as the command line writes it, "" for the best here, or `OTHER`."""

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__("Embedder")
        self._now = ""
        self._offered: tuple[tuple[str, str], ...] = ()
        self.changed.connect(self._chosen)

    def show_embedder(self, wanted: str, used: str) -> None:
        """Show what was asked for, and what is used."""
        self._now = wanted
        best = f"Best available: {embedder_label(used).lower()}" if used else "Best available"
        fixed = [(kind.value, EMBEDDER_LABELS[kind]) for kind in (EmbedderKind.FASTEMBED, EmbedderKind.TFIDF)]
        own = [(wanted, f"{embedder_label(wanted)}: {_short(wanted)}")] if ":" in wanted else []
        self._offered = (("", best), *fixed, *own, (OTHER, "Other embedder…"))
        self.set_choices([*self._offered[:-1], None, self._offered[-1]], wanted)
        self.setText((embedder_label(wanted) if wanted else embedder_label(used) or "Embedder").replace("&", "&&"))

    def actions_offered(self) -> list[Action]:
        """Return the embedders as menu entries, for a narrow header."""
        return [
            Action(text=label, do=partial(self.choose, key), checked=key == self.current())
            for key, label in self._offered
        ]

    def sizeHint(self) -> QSize:
        return super().sizeHint() + QSize(18, 0)

    def _chosen(self, key: str) -> None:
        if key == OTHER:
            self.set_current(self._now)
        self.wanted.emit(key)


class CompareMenu(MenuOpener):
    """Both menus in one, for a narrow header."""

    def __init__(self, servers: ServersMenu, embedder: EmbedderMenu) -> None:
        super().__init__("Compare")
        self._servers, self._embedder = servers, embedder
        self.clicked.connect(lambda: show_menu(self.actions_offered(), self._below(), self))

    def actions_offered(self) -> list[Action]:
        """Return the embedders, and an entry that opens the servers."""
        servers = Action(text=f"{self._servers.words()}…", do=self._open_servers, apart=True)
        return [*self._embedder.actions_offered(), servers]

    def _open_servers(self) -> None:
        QTimer.singleShot(0, self, lambda: self._servers.open(self))

    def _below(self) -> QPoint:
        return self.mapToGlobal(QPoint(0, self.height() + 4))


def _short(label: str) -> str:
    target = label.partition(":")[2]
    return target if len(target) <= 40 else f"…{target[-39:]}"


EMBEDDER_KINDS = (
    (EmbedderKind.FASTEMBED, "Local model", "A model known to fastembed", "BAAI/bge-small-en-v1.5"),
    (EmbedderKind.FOLDER, "Folder", "A folder with an ONNX model and its tokenizer", "/path/to/model"),
    (EmbedderKind.LITELLM, "Provider", "PROVIDER/MODEL", "openai/text-embedding-3-small"),
    (EmbedderKind.HTTP, "Your endpoint", "The address of an embedding service", "http://localhost:8080/embed"),
)
NEEDS_KEY = (EmbedderKind.LITELLM, EmbedderKind.HTTP)
WHAT = (
    "An embedder turns names and descriptions into vectors that can be compared. Local embedders send no data; "
    "a provider or an endpoint receives the text of every tool."
)


class EmbedderDialog(Dialog):
    """`chosen` is the embedder as the command line writes it, and `key` its key, once the dialog was accepted."""

    def __init__(self, current: str, parent: QWidget) -> None:
        super().__init__("Select an embedder", parent, width=520)
        self.chosen = ""
        self.key: Secret | None = None
        self.kinds = Segmented([(kind.value, title) for kind, title, _, _ in EMBEDDER_KINDS], "Kind of embedder")
        self.target = QLineEdit()
        self.key_input = ApiKeyField(can_remember=False)
        self.target_field = Field("Model", self.target)
        self.key_field = Field("Key", self.key_input, note="Only if required. Kept in memory until you quit.")
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
        kind, _, label, example = next(one for one in EMBEDDER_KINDS if one[0].value == self.kinds.current())
        self.target_field.set_label(label)
        self.target_field.set_error("")
        self.target.setPlaceholderText(example)
        self.key_field.setVisible(kind in NEEDS_KEY)
        self.key_input.take()  # a key typed for one kind is not sent to another

    def _label(self) -> str:
        kind, target = self.kinds.current(), self.target.text().strip()
        return f"{kind}:{target}" if target else kind

    def _fault(self) -> str:
        try:
            parse_embedder(self._label())
        except InputError:
            return f"Write {next(one[2] for one in EMBEDDER_KINDS if one[0].value == self.kinds.current()).lower()}."
        return ""

    def _agree(self) -> None:
        if fault := self._fault():
            self.target_field.set_error(fault)
            self.target.setFocus()
            return
        self.chosen, self.key = self._label(), self.key_input.take()
        self.accept()
