"""Library screen: tools of one's own, designed, run, evaluated and served before their server exists."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final

from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.links import link_actions, tool_links
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import NewCases, ShowLibraryTool, StartRuns, Target
from app.screens.kit import NO_FILTERS, FilterField, ViewState, ViewStates
from app.screens.kit.menus import command_action, view_actions
from app.screens.library import commands as ids
from app.screens.library.commands import library_commands
from app.screens.library.dialogs import CategoryDialog, NewToolDialog
from app.screens.library.library_rows import CATEGORY, FIELDS, ORDERS, STATUS, LibraryRow
from app.screens.library.presenter import LibraryPresenter
from app.screens.library.run_pane import RunController
from app.screens.library.transfer import LibraryServing, LibraryTransfer
from app.screens.library.view import DEFINITION, RUN, LibraryView, tool_row
from app.text.formatting import count
from app.widgets import Action, at_once
from mcp_tef import (
    Event,
    Execution,
    ExecutionStatus,
    InputError,
    ToolStatus,
)

WHY_EMPTY: Final = (
    "Would a model select your tool? Find out before its server exists: design the tool here, let it answer by text, "
    "script or request, and evaluate it with test cases like the tools of any server."
)


class LibraryPage(Page):
    """Lists tools of the library, with definition, executions and versions of the selected one."""

    def __init__(self, session: Session, view: LibraryView | None = None) -> None:
        super().__init__(session, key="library", title="Library")
        self.presenter = LibraryPresenter(session.call)
        self._views = ViewStates(session.settings, session.workspace, self.key)
        self.presenter.view = self._views.load(FIELDS)
        self.view = view or at_once(LibraryView.in_parts())
        self.running = RunController(session, self.presenter, self.view.run)
        self.serving = LibraryServing(session, self.presenter, self)
        self.transfer = LibraryTransfer(self, self.presenter)
        self._pending = self.presenter.view.selected
        self._fault = ""
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        search = self.header.set_search("Search library tools")
        search.setText(self.presenter.view.text)
        search.searched.connect(lambda text: self._show_view(replace(self.presenter.view, text=text.strip())))
        self.header.set_filter(lambda: view_actions(FIELDS, ORDERS, self.presenter.view, self._show_view))
        self.view.restore(self.session.settings)
        self.body.addWidget(self.view, 1)

    def _connect(self) -> None:
        view, spawn = self.view, self.session.spawn
        self.session.closing.connect(view.definition.stop)
        view.tools.chosen.connect(self._choose)
        view.tools.opened.connect(lambda _: view.definition.description.setFocus())
        view.tools.delete_wanted.connect(lambda _: self._do(ids.DELETE))
        view.tools.set_menu(lambda _: self._menu())
        view.tools.describe_keys(Enter="Edit the description", Del="Delete the tools; can be undone")
        view.sidebar.category_chosen.connect(lambda key: self._filter(CATEGORY, key.partition(":")[2]))
        view.sidebar.status_chosen.connect(lambda key: self._filter(STATUS, key.partition(":")[2]))
        view.sidebar.serve_wanted.connect(lambda: self._do(ids.SERVE))
        view.head.status_chosen.connect(lambda key: spawn(self.set_status(ToolStatus(key))))
        view.head.evaluate.clicked.connect(lambda: self._do(ids.EVALUATE))
        view.definition.edited.connect(self._type)
        view.definition.paused.connect(lambda: spawn(self._judge(), of=self))
        view.definition.category_wanted.connect(lambda: spawn(self.new_category()))
        view.definition.bar.save_wanted.connect(lambda: self._do(ids.SAVE))
        view.definition.bar.discard_wanted.connect(lambda: self._do(ids.DISCARD))
        view.versions.chosen.connect(lambda version: spawn(self._compare(version), of=self))
        view.versions.restore_wanted.connect(lambda version: spawn(self.presenter.restore_version(version)))
        view.executions.filtered.connect(self._filter_executions)
        view.executions.use_wanted.connect(self._use)
        view.executions.again_wanted.connect(self._execute_again)
        self.serving.changed.connect(lambda: view.sidebar.show_served(on=bool(self.serving.address)))
        self.running.ended.connect(lambda: spawn(self._reselect(), of=self))

    # ------------------------------------------------------------------ what the window asks of a page

    async def refresh(self) -> None:
        """Read the tools, and show the selected one."""
        if await self.presenter.load():
            self._present()
            await self._reselect()

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def open_target(self, target: Target) -> None:
        """Select a tool, without search and filters."""
        if isinstance(target, ShowLibraryTool):
            self._pending = self.presenter.id_of(target.name)
            self.clear_filters()

    def current_target(self) -> Target | None:
        return ShowLibraryTool(tool.name) if (tool := self.presenter.tool) else None

    def unsaved(self) -> int:
        return len(self.presenter.drafts)

    async def finish(self) -> None:
        self.view.remember(self.session.settings)
        self._views.save(replace(self.presenter.view, selected=self.presenter.selected), FIELDS)

    @cached_property
    def _commands(self) -> Mapping[str, Command]:
        presenter = self.presenter

        def later(do: Callable[[], Coroutine[Any, Any, object]]) -> Callable[[], object]:
            return lambda: self.session.spawn(do())

        does: dict[str, Callable[[], object]] = {
            ids.NEW: later(self.new_tool),
            ids.SAVE: later(self.save),
            ids.DISCARD: self.discard,
            ids.RUN: self.run_tool,
            ids.EVALUATE: self.evaluate,
            ids.DELETE: later(self.delete),
            ids.IMPORT: later(self.transfer.open_import),
            ids.EXPORT: lambda: self.transfer.export(self._selected_names()),
            ids.EXPORT_ALL: lambda: self.transfer.export(()),
            ids.SERVE: lambda: self.serving.open(self._served()),
            ids.CLEAR: self.clear_filters,
        }
        can: dict[str, Callable[[], bool]] = dict.fromkeys((ids.SAVE, ids.DISCARD), lambda: presenter.unsaved)
        can |= dict.fromkeys((ids.RUN, ids.DELETE, ids.EXPORT), lambda: presenter.tool is not None)
        can |= {ids.EVALUATE: lambda: presenter.label is not None, ids.EXPORT_ALL: lambda: bool(presenter.rows)}
        return library_commands(does, can | {ids.SERVE: lambda: bool(self._served())})

    def commands(self) -> Sequence[Command]:
        return tuple(self._commands.values())

    def first_focus(self) -> QWidget | None:
        return self.view.tools if self.presenter.rows else next(iter(self.view.empty.buttons()), None)

    def _do(self, command: str) -> None:
        if self._commands[command].needs():
            self._commands[command].do()

    def _menu(self) -> list[Action]:
        texts = {ids.RUN: "Run…", ids.EVALUATE: "Evaluate…", ids.EXPORT: "Export…", ids.DELETE: "Delete"}
        return [command_action(self._commands[one], text, apart=one == ids.DELETE) for one, text in texts.items()]

    def _served(self) -> list[str]:
        served = (ToolStatus.ACTIVE, ToolStatus.DEPRECATED)
        return [row.tool.name for row in self.presenter.rows.values() if row.tool.status in served]

    def _selected_names(self) -> list[str]:
        rows = self.presenter.rows
        return [rows[one].tool.name for one in self.view.tools.selected_ids() if one in rows]

    # ------------------------------------------------------------------ showing

    def _present(self) -> None:
        presenter = self.presenter
        self.header.set_count(presenter.summary())
        new = command_action(self._commands[ids.NEW], "New tool…", kind="primary", icon="plus")
        bring = command_action(self._commands[ids.IMPORT], "Import…", icon="download-simple")
        if not presenter.rows:
            self.header.set_buttons([])
            self.view.show_empty([new, bring], WHY_EMPTY)
            return
        self.header.set_buttons([bring, new])
        self.header.mark_filter(len(presenter.view.filters))
        filters = presenter.view.filters
        self.view.sidebar.show_filters(
            presenter.category_rows(),
            dict(presenter.status_counts()),
            filters.first(CATEGORY.name),
            filters.first(STATUS.name),
        )
        self._show_list()

    def _show_list(self) -> None:
        presenter, tools = self.presenter, self.view.tools
        rows = [tool_row(row, unsaved=row.tool.id in presenter.drafts) for row in presenter.shown()]
        self.view.show_tools(rows, command_action(self._commands[ids.CLEAR], kind="primary"))
        if self._pending and tools.select(self._pending):
            self._pending = ""

    def _show_tool(self) -> None:
        presenter, view = self.presenter, self.view
        tool = presenter.tool
        if tool is None:
            return
        view.head.show_tool(tool, presenter.next_statuses(), presenter.server)
        links = tool_links(presenter.label, self.key)[1:] if presenter.label else ()
        view.head.links.set_links(link_actions(links, self.session.go))
        view.head.evaluate.setEnabled(presenter.label is not None)
        view.definition.show_draft(presenter.draft, presenter.categories)
        view.run.show_tool(tool)
        self._show_state()
        self._show_history()

    def _show_history(self) -> None:
        detail, view, tool = self.presenter.detail, self.view, self.presenter.tool
        view.head.show_picked(detail.picked, tool.version if tool else 0)
        view.versions.show_versions(detail.versions, detail.picked)
        view.executions.show_executions(detail.executions)
        self.session.spawn(self._compare(view.versions.current()), of=self)

    def _show_state(self) -> None:
        presenter, tool = self.presenter, self.presenter.tool
        version = tool.version if tool else 0
        self.view.definition.show_state(
            unsaved=presenter.unsaved, version=version, fault=self._fault, advice=presenter.detail.finding
        )

    # ------------------------------------------------------------------ choosing and typing

    def _choose(self, tool_id: str) -> None:
        if tool_id and tool_id != self.presenter.selected:
            self._fault = ""
            self.presenter.execution_statuses, self.presenter.execution_text = (), ""
            self.view.executions.clear_filter()
            self.session.spawn(self._select(tool_id), of=self)

    async def _select(self, tool_id: str) -> None:
        if await self.presenter.select(tool_id):
            self._show_tool()
            await self._judge()

    async def _reselect(self) -> None:
        """Read the details of the selected tool again."""
        current = self.view.tools.current_id()
        if current:
            await self._select(current)

    def _filter(self, field: FilterField[LibraryRow], value: str) -> None:
        filters = self.presenter.view.filters.with_values(field.name, *([value] if value else []))
        self._show_view(replace(self.presenter.view, filters=filters))

    def _show_view(self, view: ViewState) -> None:
        self.presenter.view = view
        self._views.save(view, FIELDS)
        self._present()

    def clear_filters(self) -> None:
        """Clear search and filters."""
        if self.header.search is not None:
            self.header.search.clear()
        self._show_view(replace(self.presenter.view, filters=NO_FILTERS, text=""))

    def _type(self, draft: Any) -> None:
        self.presenter.type(draft)
        self._show_state()

    async def _judge(self) -> None:
        """Show what keeps the design from being saved; an answer to an older one is not shown."""
        presenter = self.presenter
        tool_id, draft = presenter.selected, presenter.draft
        fault = await presenter.fault() if presenter.unsaved else ""
        finding = await presenter.worst_finding()
        if (presenter.selected, presenter.draft) == (tool_id, draft):
            self._fault, presenter.detail.finding = fault, finding
            self._show_state()

    async def _compare(self, version: int) -> None:
        versions = self.presenter.detail.versions
        chosen = next((one for one in versions if one.version == version), None)
        found = await self.presenter.differences(version - 1, version) if version > 1 else ()
        if self.view.versions.current() == version:
            self.view.versions.show_differences(chosen, found)

    def _filter_executions(self, status: str, text: str) -> None:
        self.presenter.execution_statuses = (ExecutionStatus(status),) if status else ()
        self.presenter.execution_text = text
        self.session.spawn(self._reselect(), of=self)

    # ------------------------------------------------------------------ commands

    async def new_tool(self) -> None:
        """Ask for name and description of a new tool, and select it."""
        dialog = NewToolDialog([row.tool.name for row in self.presenter.rows.values()], self)
        if not await dialog.done_with() or dialog.design is None:
            return
        tool = await self.presenter.add(dialog.design)
        self._pending = tool.id
        self.clear_filters()
        await self.refresh()
        self.view.tabs.set_current(DEFINITION)
        self.view.tools.setFocus()
        undo, again = partial(self.presenter.delete, [tool.name]), partial(self.presenter.restore, [tool.id])
        self.session.toast(f"Added {tool.name} as a draft", undo, again, action=f"add {tool.name}")

    async def new_category(self) -> None:
        """Ask for a new category, and put the tool into it."""
        dialog = CategoryDialog(self)
        if await dialog.done_with():
            name = await self.presenter.ensure_category(dialog.path)
            self.presenter.type(replace(self.presenter.draft, category=name))
            await self.refresh()

    async def save(self) -> None:
        """Save the definition as a new version."""
        self.view.definition.commit()
        bar = self.view.definition.bar
        try:
            tool = await self.presenter.save(bar.changelog.text().strip())
        except InputError as error:
            self._fault = f"{error.message} {error.hint}".strip()
            self._show_state()
            return
        bar.changelog.clear()
        if tool is not None:
            self._pending = tool.id
            self.session.toast(f"Saved version {tool.version} of {tool.name}")
        await self.refresh()

    def discard(self) -> None:
        """Drop what was typed since the last version; this can be undone."""
        draft, tool = self.presenter.draft, self.presenter.tool
        if tool is None:
            return
        self.presenter.discard()
        self._fault = ""
        self._show_tool()
        self._show_list()

        def back() -> None:
            self.presenter.drafts[tool.id] = draft
            self.request_refresh()

        self.session.toast(f"Discarded the changes of {tool.name}", back, action=f"discard changes of {tool.name}")

    async def set_status(self, status: ToolStatus) -> None:
        """Give the selected tool another status."""
        tool = await self.presenter.set_status(status)
        if tool is not None:
            self.session.toast(f"{tool.name} is {tool.status} now")

    async def delete(self) -> None:
        """Delete the selected tools; this can be undone."""
        names = self._selected_names()
        gone = await self.presenter.delete(names)
        what = names[0] if len(names) == 1 else count(len(names), "tool")
        undo, again = partial(self.presenter.restore, gone), partial(self.presenter.delete, names)
        self.session.toast(f"Deleted {what}", undo, again, action=f"delete {what}")

    def run_tool(self) -> None:
        """Show the form of the arguments; from there, run the tool."""
        if self.view.tabs.current() == RUN:
            self.running.start()
        else:
            self.view.tabs.set_current(RUN)
            if self.view.run.form is not None:
                self.view.run.form.first().setFocus()

    def evaluate(self) -> None:
        """Run the test cases that expect the tool; without any, write the first one."""
        if (label := self.presenter.label) is not None:
            cases = self.presenter.detail.cases
            self.session.go(StartRuns(cases) if cases else NewCases((label,)))

    def _use(self, execution: Execution) -> None:
        tool = self.presenter.tool
        if tool is not None:
            self.view.tabs.set_current(RUN)
            self.view.run.show_tool(tool, execution.input)

    def _execute_again(self, execution: Execution) -> None:
        self._use(execution)
        self.running.start()
