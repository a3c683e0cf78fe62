"""Cases screen: connects the widgets with the presenters."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from dataclasses import replace
from typing import Final

from PySide6.QtCore import QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.import_outcomes import DropOutcome
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import AddServer, NewCases, ShowCase, ShowToolCases, Target
from app.screens.cases.bulk_edit import BulkEdit, SuiteRenaming
from app.screens.cases.call_list import ToolPick
from app.screens.cases.case_checks import CaseDrafts
from app.screens.cases.commands import CaseCommands, CaseRunLinks, case_filter_actions
from app.screens.cases.editor import EditorChoices
from app.screens.cases.editor_state import CaseEditorState
from app.screens.cases.form import CaseForm
from app.screens.cases.import_export import CaseFiles
from app.screens.cases.presenter import CasesPresenter
from app.screens.cases.rows import CALLED, FIELDS, NO_REVIEW, tool_key
from app.screens.cases.undo_steps import CaseUndoSteps, VisibleCasesPage
from app.screens.cases.view import NO_CASES, NO_SERVERS, CasesView, nothing_matches, table_row
from app.screens.kit import NO_FILTERS, FilterValues, ViewState, ViewStates
from app.text.formatting import count
from app.widgets import Action, frozen_updates, show_menu, yield_to_ui
from mcp_tef import CaseId, DetectedFile, Event

SAVE_MS: Final = 600
REVIEW_MS: Final = 250
RUNS_MS: Final = 400


class CasesPage(Page):
    """Page of test cases: queries, expectations and recent results."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, key="cases", title="Test cases")
        self.presenter = CasesPresenter(session.call)
        self._views = ViewStates(session.settings, session.workspace, self.key)
        self.presenter.view = self._views.load(FIELDS)
        self._showing = False
        self._filled = False
        self._target: Target | None = None
        self._focus_due = False
        visible_page = VisibleCasesPage()
        self.steps = CaseUndoSteps(session, self.presenter, visible_page)
        self._save_timer = self._timer(SAVE_MS, self.save)
        self._review_timer = self._timer(REVIEW_MS, self.review)
        self.transfer = CaseFiles(self, self.presenter, visible_page)
        self.running = CaseRunLinks(session, self.presenter, self.save)
        actions: dict[str, Callable[[], object]] = {
            "Add server…": lambda: session.go(AddServer()),
            "Open the sample": lambda: session.spawn(self.presenter.open_sample()),
            "New case": self.new,
            "Draft cases…": lambda: self.drafts.draft(),
            "Import…": self.transfer.ask_import,
            "Show all cases": self._show_everything,
        }
        self.view = CasesView(lambda server, name: self.presenter.tools.find(server, name), actions)
        self.table, self.editor = self.view.table, self.view.editor
        self.many = BulkEdit(self, self.presenter, self.table, visible_page)
        self.suites = SuiteRenaming(self, self.presenter, visible_page)
        self.drafts = CaseDrafts(self, self.presenter, self.many, self._edit_query)
        self.case_commands = CaseCommands(
            self.presenter, self.many, self.suites, self.transfer, self.running, self.drafts, self.new, self._to_run
        )
        self.body.addWidget(self.view)
        self.view.restore_layout(session.settings)
        self.restore_layout("cases.table", self.table)
        visible_page.attach(self._show_again, self.table.rows.ids)
        session.closing.connect(visible_page.detach)
        self._wire()

    def _timer(self, milliseconds: int, work: Callable[[], Coroutine[object, object, None]]) -> QTimer:
        timer = QTimer(self, interval=milliseconds, singleShot=True)
        timer.timeout.connect(lambda: self.session.spawn(work()))
        self.session.closing.connect(timer.stop)
        return timer

    def _wire(self) -> None:
        search = self.header.set_search("Search cases")
        search.setText(self.presenter.view.text)
        search.searched.connect(self._search)
        self.header.set_filter(lambda: case_filter_actions(self.presenter, self._filter, self.suites.ask))
        self.table.chosen.connect(self._choose)
        self.table.picked.connect(lambda _ids: self._show_header())
        self.table.opened.connect(lambda _id: self._edit())
        self.table.rename_wanted.connect(lambda _id: self._edit(name=True))
        self.table.delete_wanted.connect(lambda _ids: self.many.delete())
        self.table.set_menu(lambda _ids: self.case_commands.row_menu())
        self.table.describe_keys(Enter="Edit the case", F2="Edit the name", Del="Delete the cases")
        self.editor.changed.connect(self._typed)
        self.editor.picked.connect(self._pick)
        self.editor.undo_wanted.connect(self._undo)
        self.editor.runs_wanted.connect(lambda: self.case_commands.show_runs())
        self.editor.run_wanted.connect(self.running.run_edited)
        self.view.left_editor.connect(self._leave_editor)

    # ------------------------------------------------------------ page interface

    async def refresh(self) -> None:
        """Read stale data again and show it; unsaved typing stays."""
        await self.presenter.refresh()
        async with frozen_updates(self.view):
            self._show_rows()
            await yield_to_ui()
            self._filled = True
            self._show_one()
        self._review_timer.start(0)

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def receive(self, events: tuple[Event, ...]) -> bool:
        """Show runs straight from their events, which come by the hundred; return False if data must be read again."""
        changed = self.presenter.take_changed_cases()
        self._show_some(changed)
        if self.presenter.current in changed and not self._review_timer.isActive():
            self._review_timer.start(RUNS_MS)
        return not self.presenter.stale

    def open_target(self, target: Target) -> None:
        """Show a case or the cases that expect a tool, or start new cases."""
        self._target = target
        if self._filled:
            self._show_target()

    async def bring_in(self, arrivals: Sequence[DetectedFile]) -> Sequence[DropOutcome]:
        return [await self.transfer.bring_in(arrival) for arrival in arrivals]

    def current_target(self) -> Target | None:
        return ShowCase(self.presenter.current) if self.presenter.current else None

    def leave(self) -> None:
        """Save edits and layout."""
        self.session.spawn(self.finish())

    def unsaved(self) -> int:
        return sum(edited.has_unsavable_edits for edited in self.presenter.editor_states)

    async def finish(self) -> None:
        self.view.remember_layout(self.session.settings)
        await self.save()

    def first_focus(self) -> QWidget | None:
        self._focus_due = not self._filled
        return self.editor.query if self.editor.query.hasFocus() else self.table

    def commands(self) -> Sequence[Command]:
        return self.case_commands.all()

    # ------------------------------------------------------------ showing

    def _show_all(self) -> None:
        self._show_rows()
        self._show_one()

    def _show_one(self) -> None:
        """Show the target, the selected case or the first one."""
        self._filled = True
        if self._focus_due:
            self.table.setFocus()
            self._focus_due = False
        self._show_target()
        chosen = self.presenter.current
        if chosen is None:
            self.table.select_first()
        if chosen is not None or self.presenter.current is None:
            self._show_editor()

    def _show_again(self, case_id: str) -> None:
        """Show the current cases after an action or undo, and select its case."""
        self._show_all()
        if case_id:
            self.table.select(case_id)
        self._review_timer.start(REVIEW_MS)

    def _show_rows(self) -> None:
        rows = self.presenter.rows()
        self._showing = True
        self.table.set_rows([table_row(row) for row in rows])
        self.table.show_origins(shown=any(row.generated for row in rows))
        if self.presenter.current is not None and self.table.current_id() != self.presenter.current:
            self.table.select(self.presenter.current)
        self._showing = False
        if rows:
            self.view.show_table()
        elif self.presenter.total:
            self.view.show_nothing(nothing_matches(self.presenter.view))
        else:
            self.view.show_blank(NO_CASES if self.presenter.servers else NO_SERVERS)
        self._show_header()

    def _show_some(self, ids: Iterable[CaseId]) -> None:
        rows = (self.presenter.row(case_id) for case_id in ids if self.table.rows.place(case_id) is not None)
        self.table.upsert([table_row(row) for row in rows if row is not None])

    def _show_header(self) -> None:
        shown, total = self.table.rows.rowCount(), self.presenter.total
        self.header.set_count("" if not total else f"{total:,}" if shown >= total else f"{shown:,} of {total:,}")
        self.header.mark_filter(len(self.presenter.view.filters))
        ids = self._to_run()
        run = Action(
            text=f"Run {count(len(ids), 'case')}…" if ids else "Run cases…",
            do=lambda: self.running.run(self._to_run()),
            kind="primary" if ids else "plain",
            icon="play",
            enabled=bool(ids),
        )
        more = Action(text="More", do=self._open_more, icon="dots-three", kind="quiet")
        self.header.set_buttons([more, Action(text="New case", do=self.new, icon="plus"), run])

    def _show_editor(self) -> None:
        presenter, edited = self.presenter, self.presenter.edited
        self.view.show_panes(has_case=edited is not None)
        if edited is not None:
            offered = EditorChoices(
                tools=presenter.choices(),
                servers=presenter.server_names(),
                suites=presenter.all_suites(),
                tags=presenter.all_tags(),
            )
            self.editor.show_case(edited, offered)

    def _show_target(self) -> None:
        target, self._target = self._target, None
        match target:
            case NewCases(tools=()):
                self.new()
            case NewCases(tools=tools):
                self._write(lambda: self.presenter.new_for(tools))
            case ShowToolCases(tool=tool):
                self._show_everything(NO_FILTERS.with_values(CALLED.name, tool_key(tool)))
                self.table.select_first()
            case ShowCase(case_id=case_id) if not self.table.select(case_id):
                self._show_everything()
                if not self.table.select(case_id):
                    self.session.toast("That case no longer exists")

    # ------------------------------------------------------------ selection and filters

    def _choose(self, case_id: str) -> None:
        if self._showing or case_id == (self.presenter.current or ""):
            return
        if self.presenter.unsaved():
            self.session.spawn(self.save())
        left = self.presenter.edited
        self.presenter.open(CaseId(case_id) if case_id else None)
        if left is not None and left.saved is None:
            self._show_rows()
        self._show_editor()
        self._review_timer.start(0)

    def _edit(self, *, name: bool = False) -> None:
        self.view.edit(editing=True)
        (self.editor.about.name if name else self.editor.query).setFocus()

    def _edit_query(self, case_id: CaseId) -> None:
        """Show a case and edit its query."""
        self._target = ShowCase(case_id)
        self._show_target()
        self._edit()

    def _leave_editor(self) -> None:
        self.view.edit(editing=False)
        self.table.setFocus()

    def _search(self, text: str) -> None:
        self._show_view(replace(self.presenter.view, text=text))

    def _filter(self, filters: FilterValues) -> None:
        self._show_view(replace(self.presenter.view, filters=filters))

    def _show_view(self, view: ViewState) -> None:
        if view != self.presenter.view:
            self.presenter.view = view
            self._views.save(view, FIELDS)
            self._show_rows()

    def _show_everything(self, filters: FilterValues = NO_FILTERS) -> None:
        if self.header.search is not None:
            self.header.search.clear()
        self._show_view(ViewState(filters=filters))

    def _to_run(self) -> tuple[CaseId, ...]:
        """Return the selected cases if there are several, otherwise all shown cases."""
        selected = self.many.selected()
        ids = selected if len(selected) > 1 else tuple(CaseId(row_id) for row_id in self.table.rows.ids())
        return self.presenter.runnable(ids)

    # ------------------------------------------------------------ typing, saving, going back

    def _typed(self, form: CaseForm) -> None:
        edited = self.presenter.edited
        if edited is not None:
            edited.edit(form)
            self._after_edit(edited)

    def _pick(self, pick: ToolPick) -> None:
        self.presenter.pick(pick.number, pick.choice)
        if self.presenter.edited is not None:
            self._after_edit(self.presenter.edited)

    def _after_edit(self, edited: CaseEditorState) -> None:
        self._show_editor()
        self._show_some([edited.case_id])
        self._save_timer.start()
        self._review_timer.start(REVIEW_MS)

    async def save(self) -> None:
        """Save edits; each saved step can be undone."""
        self._save_timer.stop()
        due = self.presenter.unsaved()
        if not due:
            return
        known = [edited.case_id for edited in due]
        await self.steps.save()
        if known == [edited.case_id for edited in due]:
            self._show_some(known)
        else:
            self._show_rows()
        self._show_editor()

    async def review(self) -> None:
        """Review the draft in the core; a review of an older form is not shown."""
        edited = self.presenter.edited
        if edited is None or edited.parsed.draft is None:
            return
        form = edited.form
        review = await self.presenter.review()
        if self.presenter.edited is edited and edited.form == form:
            self.editor.show_review(review)
        elif not self._review_timer.isActive():
            self._review_timer.start(REVIEW_MS)

    def _undo(self) -> None:
        if self.presenter.edited is not None:
            self.steps.undo(self.presenter.edited)

    # ------------------------------------------------------------ new, copy, delete, run

    def new(self) -> None:
        """Start a case in the editor."""
        self._write(self.presenter.new)

    def _write(self, begin: Callable[[], object]) -> None:
        if self.presenter.unsaved():
            self.session.spawn(self.save())
        begin()
        self._show_rows()
        self._show_editor()
        self.editor.show_review(NO_REVIEW)
        self._edit()

    def _open_more(self) -> None:
        show_menu(self.case_commands.file_menu(), QCursor.pos(), self)
