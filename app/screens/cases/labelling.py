"""Tags, suites and servers of many cases: which to add and which to take away, asked in one sheet."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.text.formatting import count
from app.theme import Role
from app.widgets import Action, Field, FlowText, Sheet, TokensEdit
from mcp_tef import CaseDraft

WHAT = "What the cases have besides stays as it is."
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """Names that every case gets, and names that none keeps."""

    add: Names = ()
    remove: Names = ()

    def __bool__(self) -> bool:
        return bool(self.add or self.remove)

    def of(self, names: Names) -> Names:
        """What becomes of the names of one case."""
        kept = tuple(name for name in names if name not in self.remove)
        return (*kept, *(name for name in self.add if name not in kept))


@dataclass(frozen=True, slots=True, kw_only=True)
class Labelling:
    """What is to become of the tags, the suites and the servers."""

    tags: Change = Change()
    suites: Change = Change()
    servers: Change = Change()

    def __bool__(self) -> bool:
        return bool(self.tags or self.suites or self.servers)

    def of(self, draft: CaseDraft) -> CaseDraft:
        """A case with the names it is to have."""
        tags, suites = self.tags.of(draft.tags), self.suites.of(draft.suites)
        return replace(draft, tags=tags, suites=suites, servers=self.servers.of(draft.servers))


class LabelSheet(Sheet):
    """Asks what to add to the chosen cases and what to take away; `labelling` is the answer."""

    def __init__(
        self, drafts: Collection[CaseDraft], *, tags: Names, suites: Names, servers: Names, parent: QWidget
    ) -> None:
        number = count(len(drafts), "case")
        super().__init__(f"Tags, suites and servers of {number}", parent)
        self.body.addWidget(FlowText(WHAT, role=Role.DIM))
        self._tags = self._fields("tag", tags, {tag for draft in drafts for tag in draft.tags})
        self._suites = self._fields("suite", suites, {suite for draft in drafts for suite in draft.suites})
        used = {server for draft in drafts for server in draft.servers}
        self._servers = self._fields("server", servers, used, only_known=True)
        self.body.addStretch(1)
        cancel = Action(text="Cancel", do=self.reject)
        _, self._do = self.set_buttons([cancel, Action(text=f"Change {number}", do=self.accept, kind="primary")])
        self._tags[0].setFocus()
        self._judge()

    @property
    def labelling(self) -> Labelling:
        """What was chosen."""
        fields = (self._tags, self._suites, self._servers)
        tags, suites, servers = (Change(add.tokens(), remove.tokens()) for add, remove in fields)
        return Labelling(tags=tags, suites=suites, servers=servers)

    def _fields(
        self, what: str, known: Names, used: Collection[str], *, only_known: bool = False
    ) -> tuple[TokensEdit, TokensEdit]:
        """A field for what to add, and beside it one for what to take away, unless there is nothing."""
        add = TokensEdit(what, f"Add a {what}", only_known=only_known, framed=True)
        add.set_known(known)
        remove = TokensEdit(what, f"Choose a {what}", only_known=True, framed=True)
        remove.set_known(sorted(used, key=str.lower))
        beside = QHBoxLayout()
        beside.setSpacing(16)
        for title, edit in ((f"Add {what}s", add), (f"Remove {what}s", remove)):
            field = Field(title, edit)
            field.setVisible(edit is add or bool(used))
            beside.addWidget(field, 1)
            edit.changed.connect(self._judge)
        self.body.addLayout(beside)
        return add, remove

    def _judge(self) -> None:
        self._do.setEnabled(bool(self.labelling))
