"""Groups tab: deployments that answer in each other's place, and what a group can do as a whole."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Session
from app.core_link.targets import ShowRuns, StartRuns
from app.dialogs.consent import with_consent
from app.screens.kit.menus import command_action
from app.screens.models.check_pane import ask_for_key, needs_key
from app.screens.models.definition_tab import DefinitionDialog, DefinitionTab, model_items
from app.screens.models.groups_presenter import (
    DeploymentForm,
    GroupsPresenter,
    ability_rows,
    state_text,
)
from app.text.formatting import count
from app.theme import Role, Size
from app.widgets import (
    Action,
    CardRow,
    Cell,
    CellKind,
    Column,
    FlowText,
    Links,
    ListTable,
    Mark,
    Row,
    Span,
    Split,
    column_layout,
)
from app.widgets.panes import HeadedPane
from mcp_tef import Deployment, Event, ModelCheck, ModelGroup, RunFilter

DEPLOYMENTS: Final = (
    Column(key="model", title="Deployment", kind=CellKind.MONO, stretch=True, least=130, tip="Provider and model"),
    Column(key="at", title="Address", width=140, least=80, role=Role.DIM, tip="Where it is asked"),
    Column(key="rpm", title="Calls/min", kind=CellKind.NUMBER, width=84, tip="Requests that it takes in a minute"),
    Column(key="tpm", title="Tokens/min", kind=CellKind.NUMBER, width=84, tip="Tokens that it takes in a minute"),
    Column(key="state", title="State", width=170, least=90, role=Role.DIM, tip="What the last hello found"),
)
ABILITIES: Final = (
    Column(key="what", title="As a whole", width=160, tip="What the group can do"),
    Column(key="value", title="Value", stretch=True, least=100, tip="The value for the whole group"),
    Column(key="rule", title="From", width=200, role=Role.DIM, tip="How the deployments are united"),
)
HOW: Final = (
    "Calls go to the deployment with the most room, and to the next one when it fails. "
    "Each run records which deployment answered."
)


class GroupsTab(DefinitionTab):
    """Lists groups, with the deployments of the selected one above its abilities."""

    NOUN, ICON = "group", "stack"
    WHY_EMPTY = (
        "A group holds several deployments that answer in each other's place: calls are spread by free room, and fall "
        "over to the next one when a deployment fails. It is run like a model, as group/NAME."
    )

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Groups")
        self.presenter = GroupsPresenter(session.call)
        self.title, self.about = FlowText(size=Size.LEAD, strong=True), FlowText(role=Role.DIM)
        self.links, self.state = Links(), FlowText(role=Role.BAD)
        self.deployments = ListTable(DEPLOYMENTS, "Deployments")
        self.abilities = ListTable(ABILITIES, "Abilities of the group")
        abilities = HeadedPane("What the group can do", self.abilities)
        self.lay_out(Split([self._upper(), abilities], "Deployments and abilities", [400, 320], stacked=True))
        self.deployments.chosen.connect(lambda _: self._show_links())
        self.deployments.opened.connect(lambda _: session.spawn(self.edit_deployment(), of=self))
        self.deployments.delete_wanted.connect(lambda _: session.spawn(self.remove_deployment(), of=self))
        self.deployments.describe_keys(Enter="Change the deployment", Del="Remove the deployment; can be undone")
        self.deployments.set_menu(lambda _: self._deployment_actions())

    def _upper(self) -> QWidget:
        made, head = QWidget(), QVBoxLayout()
        head.setContentsMargins(16, 12, 16, 8)
        head.setSpacing(6)
        for part in (self.title, self.about, self.links):
            head.addWidget(part)
        column = column_layout(made, head)
        column.addWidget(self.deployments, 1)
        foot = column_layout(None, self.state, margins=(16, 8, 16, 8), spacing=None)
        column.addLayout(foot)
        return made

    # ------------------------------------------------------------ what the page asks of a tab

    async def refresh(self) -> None:
        await self.presenter.load()
        self._show()

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def count_text(self) -> str:
        return count(len(self.presenter.groups), "group")

    def buttons(self) -> Sequence[Action]:
        new, hello, *_ = self.commands()
        if not self.presenter.groups:
            return ()
        ask = command_action(hello, "Ask all hello", icon="chat-circle")
        return ask, command_action(new, "New group…", kind="primary", icon="plus")

    def commands(self) -> Sequence[Command]:
        def picked() -> bool:
            return bool(self.deployments.current_id())

        unless = "Select a deployment first"
        return (
            self.new_command(self.new_group),
            self.command("group_hello", "Ask every deployment hello", self.ask_hello, "Ctrl+Return"),
            self.command("use_group", "Use the group in a run", self.use),
            self.command("group_runs", "Show the runs of the group", self.show_runs),
            self.command("add_deployment", "Add a deployment", self.add_deployment),
            self.command("edit_deployment", "Change the deployment", self.edit_deployment, "", picked, unless),
            self.command("remove_deployment", "Remove the deployment", self.remove_deployment, "", picked, unless),
            self.delete_command(),
        )

    # ------------------------------------------------------------ showing

    def _show(self) -> None:
        presenter = self.presenter
        self.show_cards(
            [
                CardRow(id=name, title=name, sub=(Span(presenter.summary(name), _role(presenter.failed(name))),))
                for name in presenter.groups
            ]
        )

    def show_selected(self) -> None:
        name, presenter = self.cards.current_id(), self.presenter
        group = presenter.groups.get(name)
        if group is None:
            return
        self.title.set_text(f"group/{name}")
        self.about.set_text(HOW)
        self.deployments.set_rows(
            [
                _deployment_row(str(place), one, presenter.state(name, one))
                for place, one in enumerate(group.deployments)
            ]
        )
        if not self.deployments.current_id():
            self.deployments.select_first()
        self.abilities.set_rows([Row(row[0], row) for row in ability_rows(presenter.abilities[name])])
        self._show_links()

    def _show_links(self) -> None:
        use, runs, add = self.commands()[2:5]
        texts = ((use, "Use in a run"), (runs, "Show its runs"), (add, "Add a deployment…"))
        links = [command_action(one, text, kind="link") for one, text in texts]
        one, check = self._deployment()
        if one and needs_key(check):
            links.append(Action(text="Type a key…", do=partial(self._type_key, one), kind="link"))
        self.links.set_links(links)
        failed = check is not None and check.failed is not None
        self.state.set_text(f"{one.label_at}, {state_text(check)}" if one and failed else "", Role.BAD)
        self.state.setVisible(failed)

    def _deployment(self) -> tuple[Deployment | None, ModelCheck | None]:
        """Return the selected deployment with its last check."""
        group, place = self._selected()
        if group is None or place is None or place >= len(group.deployments):
            return None, None
        one = group.deployments[place]
        return one, self.presenter.state(group.name, one)

    def _type_key(self, one: Deployment) -> None:
        self.session.spawn(self.type_key(one), of=self)

    async def type_key(self, one: Deployment) -> None:
        """Ask for the key of a deployment, and ask the group again."""
        if await ask_for_key(self.session, self, one.provider, one.base_url):
            await self.ask_hello()

    def _deployment_actions(self) -> list[Action]:
        _, _, _, _, add, edit, remove, _ = self.commands()
        return [
            command_action(add, "Add a deployment…"),
            command_action(edit, "Change…"),
            command_action(remove, "Remove", apart=True),
        ]

    # ------------------------------------------------------------ doing

    async def new_group(self) -> None:
        """Ask for a new group with its first deployment."""
        dialog = await self._dialog("New group", "Create group", DeploymentForm(), named=True)
        group = await dialog.kept(lambda: self.presenter.add(dialog.name.text(), dialog.form()))
        if group is not None:
            undo, again = partial(self.presenter.remove, group.name), partial(self.presenter.save, group)
            await self.added(group.name, undo, again)

    async def add_deployment(self) -> None:
        """Ask for one more deployment of the group."""
        await self._change_deployment("Add a deployment", "Add deployment", DeploymentForm(), None)

    async def edit_deployment(self) -> None:
        """Change the selected deployment."""
        group, place = self._selected()
        if group and place is not None:
            form = DeploymentForm.of(group.deployments[place])
            await self._change_deployment("Change the deployment", "Save", form, place)

    async def _change_deployment(self, title: str, button: str, form: DeploymentForm, place: int | None) -> None:
        group, _ = self._selected()
        if group is None:
            return
        dialog = await self._dialog(title, button, form)

        async def keep() -> ModelGroup:
            made = self.presenter.with_deployment(group, dialog.form(), place)
            await self.presenter.save(made, group)
            return made

        if changed := await dialog.kept(keep):
            self._changed(group, changed, title.lower())

    async def remove_deployment(self) -> None:
        """Remove the selected deployment; the last one of a group stays."""
        group, place = self._selected()
        if group and place is not None:
            changed = self.presenter.without_deployment(group, place)
            await self.presenter.save(changed, group)
            self._changed(group, changed, "remove the deployment")

    def _changed(self, before: ModelGroup, after: ModelGroup, what: str) -> None:
        undo, again = partial(self.presenter.save, before, after), partial(self.presenter.save, after, before)
        self.session.toast(f"Changed {before.name}", undo, again, action=what)

    async def _dialog(
        self, title: str, button: str, form: DeploymentForm, *, named: bool = False
    ) -> "DeploymentDialog":
        if not self.presenter.known:
            await self.presenter.load_known()
        return DeploymentDialog(self.session, title, button, form, self.presenter.known, self, named=named)

    async def remove(self, name: str) -> Callable[[], object]:
        return partial(self.presenter.save, await self.presenter.remove(name))

    async def ask_hello(self) -> None:
        """Ask each deployment of the selected group hello."""
        name = self.cards.current_id()
        self.about.set_text("Asking every deployment hello…")
        try:
            await with_consent(self.session, self, partial(self.presenter.check, name))
        finally:
            self._show()
        states = [self.presenter.state(name, one) for one in self.presenter.groups[name].deployments]
        failed = next((place for place, check in enumerate(states) if check and check.failed), None)
        if failed is not None:
            self.deployments.select(str(failed))

    def use(self) -> None:
        """Open the form that starts runs with the group."""
        self.session.go(StartRuns(model=f"group/{self.cards.current_id()}"))

    def show_runs(self) -> None:
        """Show the runs that asked the group; each says which deployment answered."""
        label = f"group/{self.cards.current_id()}"
        self.session.go(ShowRuns(RunFilter(models=(label,)), label))

    def _selected(self) -> tuple[ModelGroup | None, int | None]:
        row = self.deployments.current_id()
        return self.presenter.groups.get(self.cards.current_id()), int(row) if row else None


class DeploymentDialog(DefinitionDialog):
    """Fields of a deployment, below the name of a new group."""

    def __init__(
        self,
        session: Session,
        title: str,
        button: str,
        form: DeploymentForm,
        known: Sequence[str],
        parent: QWidget,
        *,
        named: bool,
    ) -> None:
        super().__init__(session, title, button, parent)
        if named:
            self.name = self.add_line("Name", note="The group is run as group/NAME.")
        self.model = self.add_model("Model", model_items(known), form.model)
        hint = "Only for your own server, such as http://localhost:11434/v1"
        self.address = self.add_line("Address", form.base_url, hint=hint)
        self.rpm = self.add_line("Requests a minute", form.rpm, hint="No limit")
        self.tpm = self.add_line("Tokens a minute", form.tpm, hint="No limit")
        (self.name if named else self.model).setFocus()

    def form(self) -> DeploymentForm:
        """Return what was typed."""
        texts = (edit.text() for edit in (self.address, self.rpm, self.tpm))
        base_url, rpm, tpm = texts
        return replace(DeploymentForm(), model=self.model.current(), base_url=base_url, rpm=rpm, tpm=tpm)


def _role(failed: int) -> Role:
    return Role.BAD if failed else Role.DIM


def _deployment_row(row_id: str, one: Deployment, check: ModelCheck | None) -> Row:
    return Row(
        row_id,
        (
            Cell(text=one.label, tip=one.label_at),
            Cell(text=one.base_url or "the provider’s own", tip=one.base_url or ""),
            _room(one.rpm),
            _room(one.tpm),
            _state(check),
        ),
    )


def _room(value: int | None) -> Cell:
    return Cell(text="no limit" if value is None else f"{value:,}", sort=value or 0)


def _state(check: ModelCheck | None) -> Cell:
    text = state_text(check)
    if check is None:
        return Cell(text=text)
    failed = check.failed is not None
    return Cell(text=text, tip=text, marks=(Mark.TRIANGLE if failed else Mark.CHECK,), role=_role(int(failed)))
