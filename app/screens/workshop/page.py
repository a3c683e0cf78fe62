"""Workshop screen: change tools in drafts, predict what changes, try it, and take the new texts along."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.import_outcomes import DropOutcome, DropStatus
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import AddServer, ChangeTool, ShowDraft, Target
from app.screens.kit.menus import command_action
from app.screens.workshop import commands as ids
from app.screens.workshop.commands import workshop_commands
from app.screens.workshop.definition_fields import other_changes
from app.screens.workshop.draft_dialogs import DraftNameDialog, ListingConflictsDialog
from app.screens.workshop.draft_exports import DraftExports
from app.screens.workshop.draft_tools import ListingState, listing_text
from app.screens.workshop.presenter import WorkshopPresenter
from app.screens.workshop.rival_presenter import read_rival
from app.screens.workshop.trial_controller import TrialController
from app.screens.workshop.view import DRAFT, WorkshopTabs, WorkshopView
from app.widgets import Action, at_once
from mcp_tef import INSTRUCTIONS, DetectedFile, DraftId, Event

if TYPE_CHECKING:
    from app.screens.workshop.batch_tab import BatchTab

SAVE_MS: Final = 400
PREDICT_MS: Final = 150


class WorkshopPage(Page):
    """Page of drafts; `open_target` shows a draft, or a tool in a draft over its server."""

    def __init__(self, session: Session, view: WorkshopView | None = None) -> None:
        super().__init__(session, key="workshop", title="Workshop")
        self.presenter = WorkshopPresenter(session.call)
        self.view = view or at_once(WorkshopView.in_parts())
        self.trial = TrialController(self, self.view, self.presenter, self.save)
        self.exports = DraftExports(self, self.presenter, self.trial.presenter, self.save)
        self._pending: Target | None = None
        self._tab: BatchTab[Any] | None = None
        self._choices = 0
        self._pause = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._predict_pause = QTimer(self, singleShot=True, interval=PREDICT_MS)
        self.view.restore(session.settings)
        self.tabs = WorkshopTabs(self, self.view)
        self.body.addWidget(self.tabs.stack, 1)
        self._connect()
        self._show_buttons()

    def _connect(self) -> None:
        view = self.view
        self._pause.timeout.connect(lambda: self.session.spawn(self.save()))
        self._predict_pause.timeout.connect(lambda: self.session.spawn(self.predict()))
        for timer in (self._pause, self._predict_pause):
            self.session.closing.connect(timer.stop)
        self.trial.changed.connect(self._show_prediction)
        self.tabs.turned.connect(self._turn)
        view.draft_chosen.connect(self._choose_draft)
        view.tool_chosen.connect(self._choose_tool)
        view.drafts.rename_wanted.connect(lambda _: self._do(ids.RENAME))
        view.drafts.delete_wanted.connect(lambda _: self._do(ids.REMOVE))
        view.drafts.set_menu(lambda _: self._menu(ids.RENAME, ids.REMOVE))
        view.drafts.describe_keys(F2="Rename the draft", Del="Remove the draft; can be undone")
        view.tools.delete_wanted.connect(lambda _: self._do(ids.REMOVE_TOOL))
        view.tools.set_menu(lambda _: self._menu(ids.ADD_TOOL, ids.REMOVE_TOOL))
        view.tools.describe_keys(Enter="Edit the description", Del="Remove the tool in the draft")
        view.tools.opened.connect(lambda _: self.view.editor.focus("description"))
        view.new.button.clicked.connect(lambda: self._do(ids.NEW))
        view.add.button.clicked.connect(lambda: self._do(ids.ADD_TOOL))
        view.editor.edited.connect(self._type)
        view.editor.history.clicked.connect(lambda: self._do(ids.HISTORY))
        view.editor.every_wanted.connect(lambda _: self._do(ids.FIELDS))
        view.editor.reset_wanted.connect(self._put_back)
        view.prediction.details_wanted.connect(lambda: self.session.spawn(self.trial.show_prediction()))
        view.editor.step_wanted.connect(lambda by: self._do(ids.UNDO if by < 0 else ids.REDO))

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        """Read the drafts, and show the selected one."""
        if await self.presenter.load():
            self._present()
            await self._open_pending()
            await self.trial.refresh()
            await self.trial.verdicts.load(self.trial.presenter.results)
            self._show_drafts()
        await self.tabs.refresh()

    def handle(self, event: Event) -> Refresh:
        of_tab = self._tab.presenter.handle(event) if self._tab is not None else Refresh.NONE
        return max(self.presenter.handle(event), self.trial.handle(event), of_tab)

    def open_target(self, target: Target) -> None:
        """Show a draft, or a tool in the newest draft over its server, which is made if there is none."""
        self._pending = target
        self.tabs.open_target(target)

    async def _open_pending(self) -> None:
        target, self._pending = self._pending, None
        if isinstance(target, ShowDraft):
            self._choose_draft(target.draft_id)
        elif isinstance(target, ChangeTool):
            self.view.rival.show_tool(await read_rival(self.session.call, target.beside))
            self._choices += 1
            try:
                await self.presenter.open_tool(target)
            finally:
                self._present()
            self.view.editor.focus(self.presenter.opened.field if self.presenter.opened else "description")

    async def bring_in(self, arrivals: Sequence[DetectedFile]) -> Sequence[DropOutcome]:
        """Apply patches to the selected draft, each as a step that can be undone."""
        await self.settled()
        self.tabs.show_tab(DRAFT)
        for one in arrivals:
            await self._then_present(partial(self.presenter.apply_patch, one.text))()
        return [DropOutcome(one.name, DropStatus.TAKEN, "Applied to the draft.") for one in arrivals]

    def current_target(self) -> Target | None:
        draft = ShowDraft(self.presenter.draft_id) if self.presenter.draft_id else None
        return self.tabs.target() or draft

    def leave(self) -> None:
        self._pause.stop()
        self.session.spawn(self.save())

    async def finish(self) -> None:
        self._pause.stop()
        await self.presenter.save()
        self.view.remember(self.session.settings)

    @cached_property
    def _commands(self) -> Mapping[str, Command]:
        presenter, either = self.presenter, self.tabs.or_draft

        def later(do: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], object]:
            return lambda: self.session.spawn(do())

        does: dict[str, Callable[[], object]] = {
            ids.NEW: later(self.new_draft),
            ids.RENAME: later(self.rename),
            ids.REMOVE: later(self.remove),
            ids.ADD_TOOL: later(self._then_present(presenter.add_tool)),
            ids.REMOVE_TOOL: later(self._then_present(presenter.remove_tool)),
            ids.UNDO: later(self._then_present(partial(presenter.step, -1))),
            ids.REDO: later(self._then_present(partial(presenter.step, 1))),
            ids.NEXT: lambda: self._choose_tool(presenter.next_tool(1)),
            ids.PREVIOUS: lambda: self._choose_tool(presenter.next_tool(-1)),
            ids.EDIT: lambda: self.view.editor.focus("description"),
            ids.FIELDS: self.toggle_fields,
            ids.COPY: self.exports.copy,
            ids.ACCEPT: either(lambda tab: tab.accept(), lambda: None),
            ids.EXPORT: either(lambda tab: tab.export(), self.exports.open_menu),
            ids.SOURCE: later(self.exports.change_source),
            ids.REBASE: later(self.rebase),
            ids.TRY: either(lambda tab: tab.toggle(), self.trial.toggle),
            ids.STOP: either(lambda tab: tab.toggle(), self.trial.toggle),
            ids.FIND: self.find_text,
            ids.HISTORY: later(self._then_present(self.trial.show_history)),
            ids.EXPLAIN: later(self.trial.explain),
            ids.MORE: later(self.trial.run_more),
            ids.ADD_CASES: partial(self.trial.add_cases, self.view.cases, about=True),
            ids.ADD_GUARDS: partial(self.trial.add_cases, self.view.guards, about=False),
        }
        return workshop_commands(does, self._conditions())

    def _conditions(self) -> dict[str, Callable[[], bool]]:
        """Return when each command is possible; those that it does not name always are."""
        presenter, either = self.presenter, self.tabs.or_draft
        of_draft = (ids.FIELDS, ids.HISTORY, ids.RENAME, ids.REMOVE, ids.ADD_TOOL, ids.NEXT, ids.PREVIOUS)
        of_lists = (ids.ADD_CASES, ids.ADD_GUARDS)
        can: dict[str, Callable[[], bool]] = dict.fromkeys((*of_draft, *of_lists), lambda: presenter.draft is not None)
        can[ids.SOURCE] = lambda: bool(presenter.draft and presenter.draft.revisions)
        return can | {
            ids.EXPORT: either(lambda tab: tab.presenter.exportable, can[ids.SOURCE]),
            ids.REMOVE_TOOL: lambda: presenter.tool()[1] is not None and presenter.tool_key != INSTRUCTIONS,
            ids.EDIT: lambda: presenter.tool()[1] is not None and self.tabs.tab is None,
            ids.ACCEPT: either(lambda tab: tab.acceptable(), lambda: False),
            ids.UNDO: lambda: presenter.can_step(-1),
            ids.REDO: lambda: presenter.can_step(1),
            ids.COPY: lambda: bool(presenter.changed_texts()),
            ids.REBASE: lambda: presenter.listing is ListingState.NEWER,
            ids.TRY: either(lambda tab: not tab.presenter.why_not(), self.trial.can_try),
            ids.STOP: either(lambda tab: tab.presenter.under_way, self.trial.can_stop),
            ids.EXPLAIN: self.trial.presenter.decided,
            ids.MORE: lambda: self.trial.presenter.more_estimate is not None,
        }

    def commands(self) -> Sequence[Command]:
        return (*self._commands.values(), *self.tabs.commands())

    def first_focus(self) -> QWidget | None:
        if (tab := self.tabs.tab) is not None:
            return tab.first_focus()
        if self.presenter.draft is None:
            return next(iter(self.view.empty.buttons()), None)
        return self.view.tools if not self.view.narrow() else self.view.tool_menu

    def _do(self, command: str) -> None:
        if self._commands[command].needs():
            self._commands[command].do()

    def _menu(self, *wanted: str) -> list[Action]:
        return [command_action(self._commands[one]) for one in wanted]

    def _then_present(self, do: Callable[[], Awaitable[object]]) -> Callable[[], Coroutine[Any, Any, None]]:
        async def work() -> None:
            await do()
            self._pause.start()  # a text that was typed for a tool that is back now is still to be saved
            self._present()
            await self.trial.refresh()

        return work

    # ------------------------------------------------------------------ showing

    def _present(self) -> None:
        presenter = self.presenter
        self._show_buttons()
        if presenter.draft is None:
            self._show_empty()
            return
        self._show_drafts()
        self.view.show_panes()
        self._show_listing()
        self._show_tool()
        self._predict_pause.start()

    def _show_drafts(self) -> None:
        if (draft := self.presenter.draft) is not None:
            self.view.show_drafts(self.presenter.drafts(), draft.id, self.trial.verdicts.of_drafts)

    def _show_tool(self) -> None:
        presenter, editor = self.presenter, self.view.editor
        self.view.show_tools(presenter.tools(), presenter.tool_key)
        revision = presenter.revision()
        over = presenter.draft.server or "tools file" if presenter.draft else ""
        editor.show_tool(presenter.tool_key, revision.name, " · ".join(filter(None, (over, presenter.reason))))
        editor.show_put_in(*presenter.put_in())
        editor.show_every(every=presenter.every_field)
        editor.show_fields(presenter.fields(), other_changes(revision), removed=revision.after is None)
        self._show_saved()

    def _show_saved(self) -> None:
        presenter, draft = self.presenter, self.presenter.draft
        problem = presenter.problem
        said = "" if problem or draft is None else "Not saved yet" if presenter.unsaved else "Saved"
        self.view.editor.show_state(said, undo=presenter.can_step(-1), redo=presenter.can_step(1))
        self.view.editor.notice.show_message(*((problem.message, problem.hint or "") if problem else ("", "")))
        self._show_buttons()

    def _show_listing(self) -> None:
        notice, draft = self.view.listing, self.presenter.draft
        server = draft.server if draft else ""
        move = command_action(self._commands[ids.REBASE], "Move the draft")
        moves = [move] if self.presenter.listing is ListingState.NEWER else []
        notice.show_message(listing_text(self.presenter.listing, server or ""), actions=moves)

    def _show_empty(self) -> None:
        text = (
            "A draft changes the texts of tools without touching a server. The Workshop predicts the effect while you "
            "type, tries your test cases with the original and the draft, and shows which is better."
        )
        sample, kind = self.presenter.has_sample, "plain" if self.presenter.has_sample else "primary"
        if self.presenter.servers:
            acts = [command_action(self._commands[ids.NEW], "New draft…", kind=kind, icon="plus")]
        else:
            acts = [Action(text="Add server…", do=lambda: self.session.go(AddServer()), kind=kind, icon="plus")]
        if sample:
            work = self._then_present(self.presenter.open_sample_draft)
            acts.insert(0, Action(text="Open the sample draft", do=lambda: self.session.spawn(work()), kind="primary"))
        self.view.empty.set("wrench", "No drafts yet", text, acts)
        self.view.show_empty()

    def _turn(self) -> None:
        self._tab = self.tabs.tab
        self._show_buttons()

    def _show_buttons(self) -> None:
        if self.tabs.tab is not None:
            self.header.set_buttons(self.tabs.buttons())
            return
        copy = command_action(self._commands[ids.COPY], "Copy new text", kind="primary", icon="copy")
        export = command_action(self._commands[ids.EXPORT], "Export", icon="export")
        self.header.set_buttons([export, copy] if self.presenter.draft else [])

    # ------------------------------------------------------------------ choosing and typing

    def _choose_draft(self, draft_id: str) -> None:
        if draft_id and draft_id != self.presenter.draft_id:
            self._choices += 1
            self.session.spawn(self._switch(DraftId(draft_id), self._choices))

    async def _switch(self, draft_id: DraftId, choice: int) -> None:
        await self.save()
        if choice == self._choices:  # else another draft was chosen or made while the text was saved
            await self.presenter.open_draft(draft_id)
            self._pause.start()
            self._present()
            self.request_refresh()

    def _choose_tool(self, key: str) -> None:
        if key and key != self.presenter.tool_key:
            self.presenter.choose_tool(key)
            self._show_tool()
            self._show_prediction()

    def toggle_fields(self) -> None:
        """Show every field of a tool, or its texts and changes only."""
        self.presenter.every_field = not self.presenter.every_field
        self._show_tool()

    def _type(self, field: str, text: str) -> None:
        self.presenter.type_text(field, text)
        self._pause.start()
        self._predict_pause.start()
        self._show_saved()

    async def save(self) -> None:
        """Make a step of what was typed, and show what the draft is now."""
        if await self.presenter.save():
            self._present()
            await self.trial.refresh()
        else:
            self._show_saved()

    async def predict(self) -> None:
        """Predict what the draft changes as it is typed, and show it."""
        if await self.presenter.predict():
            self._show_prediction()
            self.trial.show_lists()

    def _show_prediction(self) -> None:
        folded = not self.view.banner.isHidden()
        pending = self._predict_pause.isActive()
        name = self.presenter.revision().name
        self.view.prediction.show_prediction(self.presenter.prediction, name, folded=folded, pending=pending)

    def _put_back(self, key: str) -> None:
        field = next((one for one in self.presenter.fields() if one.key == key), None)
        if field is not None:
            self.session.spawn(self._then_present(partial(self.presenter.put_back, field))())

    # ------------------------------------------------------------------ drafts

    async def new_draft(self) -> None:
        """Ask for a name and a server or tools file, and make a draft over it."""
        taken = [one.name for one in self.presenter.drafts()]
        self.tabs.show_tab(DRAFT)
        dialog = DraftNameDialog("New draft", f"Draft {len(taken) + 1}", taken, self, self.presenter.servers)
        if await dialog.done_with():
            file, self._choices = dialog.tools_file, self._choices + 1
            await self.presenter.new(dialog.name, None if file else dialog.server_name, file)
            self._present()

    def find_text(self) -> None:
        """Turn to the search for better texts, for the server of the draft with the model of its trial."""
        draft, trial = self.presenter.draft, self.trial.presenter
        self.tabs.find_text((draft.server if draft else None) or "", trial.models, trial.max_cost_usd)

    async def rename(self) -> None:
        """Ask for another name of the draft."""
        draft = self.presenter.draft
        if draft is None:
            return
        taken = [one.name for one in self.presenter.drafts() if one is not draft]
        dialog = DraftNameDialog("Rename draft", draft.name, taken, self)
        if await dialog.done_with():
            await self.presenter.rename(dialog.name)
            self._present()

    async def remove(self) -> None:
        """Remove the draft; it can be undone."""
        draft = await self.presenter.remove()
        self._present()
        if draft is not None:

            async def back() -> None:
                await self.presenter.restore(draft)
                self._present()

            self.session.toast(f"Removed the draft {draft.name}", undo=back, action=f"remove the draft {draft.name}")

    async def rebase(self) -> None:
        """Move the draft to the newer listing; texts that both changed are shown first."""
        moved = await self.presenter.rebase(keep_draft=None)
        if moved is not None and moved.conflicts:
            dialog = ListingConflictsDialog(moved.conflicts, self)
            if not await dialog.done_with():
                return
            await self.presenter.rebase(keep_draft=dialog.keep_draft)
        self._present()
