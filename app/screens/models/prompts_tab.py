"""Prompts tab: prompt templates in versions, edited, previewed, and compared by trials."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, Final

from PySide6.QtWidgets import QWidget

from app.core_link.commands import Command
from app.core_link.refresh import Refresh
from app.core_link.session import Page, Session
from app.core_link.targets import ShowBatch, Target
from app.screens.kit.menus import command_action
from app.screens.models.prompt_editor import PromptEditor, PromptPreview
from app.screens.models.prompts_presenter import KIND_TEXTS, PromptsPresenter
from app.screens.models.tab import ModelsTab
from app.text.formatting import clock, count, percent
from app.theme import Role, height, sized
from app.widgets import (
    Action,
    CardList,
    CardRow,
    FlowText,
    Links,
    Mark,
    MarkLabel,
    Rule,
    Span,
    Split,
    column_layout,
    row_layout,
)
from app.widgets.panes import HeadedPane
from mcp_tef import Batch, CaseId, ClaimVerdict, Event, InputError, PromptTemplate, TrialResult

GROUP: Final = "Prompts"
NEW, SAVE, DISCARD, COMPARE, DELETE = (
    f"models.prompt_{name}" for name in ("new", "save", "discard", "compare", "delete")
)
SPLIT: Final = "models.prompts"
MARKS: Final = {
    ClaimVerdict.BETTER: (Mark.CHECK, "better"),
    ClaimVerdict.WORSE: (Mark.CROSS, "worse"),
    ClaimVerdict.NO_WORTHWHILE_CHANGE: (Mark.DASH, "no worthwhile change"),
    ClaimVerdict.CANNOT_TELL_YET: (Mark.UNDECIDED, "cannot tell yet"),
}


class TrialStrip(QWidget):
    """The newest trial of the selected prompt: its verdict, and a link to its runs."""

    def __init__(self) -> None:
        super().__init__()
        self.mark, self.sentence, self.links = MarkLabel(size=20), FlowText(), Links()
        row = row_layout(None, self.mark, margins=(16, 10, 16, 10), spacing=12)
        row.addWidget(self.sentence, 1)
        row.addWidget(self.links)
        column_layout(self, row, Rule())
        self.hide()

    def show_trial(self, found: tuple[Batch, TrialResult] | None, go: Callable[[Target], object]) -> None:
        """Show a trial, or nothing."""
        self.setVisible(found is not None)
        if found is None:
            return
        batch, result = found
        claim = result.claims.on_these_cases
        running = result.end is None
        self.mark.set_mark(*((Mark.ARC, "running") if running else MARKS[claim.verdict]))
        head = f"{result.draft_name}, {result.model.partition(' with ')[0]}"
        self.sentence.set_spans([Span(f"{head}: ", strong=True), Span(result.sentence)])
        self.links.set_links([Action(text="Show the runs", do=lambda: go(ShowBatch(batch.id)), kind="link")])


class PromptsTab(ModelsTab):
    """Prompts and their versions at the left, the shown version in the middle, its preview at the right."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Prompts")
        self.presenter = PromptsPresenter(session.call)
        self.cards = CardList("Prompts", row_height=height("server_row"))
        self.versions = CardList("Versions", row_height=height("server_row"))
        self.editor, self.preview, self.trial = PromptEditor(), PromptPreview(), TrialStrip()
        self._wanted = ""
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        left = Split(
            [HeadedPane("Prompts", self.cards), HeadedPane("Versions", self.versions)],
            "Prompts and versions",
            [300, 220],
            stacked=True,
        )
        left.setMinimumWidth(sized(170))
        right = QWidget()
        column = column_layout(right, self.trial)
        work = Split([self.editor, self.preview], "Prompt and preview", [540, 340])
        work.set_stretch(0)
        column.addWidget(work, 1)
        self.split = Split([left, right], "Prompts and text", [210, 880])
        self.split.set_stretch(1)
        self.split.restore_layout(self.session.settings.get(SPLIT, []))
        self.body.addWidget(self.split, 1)

    def _connect(self) -> None:
        spawn, editor = self.session.spawn, self.editor
        self.cards.chosen.connect(lambda name: name and spawn(self._select(name), of=self))
        self.cards.opened.connect(lambda _: editor.text.setFocus())
        self.cards.delete_wanted.connect(lambda _: self._do(DELETE))
        self.cards.set_menu(lambda _: [self._action(NEW), self._action(COMPARE), self._action(DELETE)])
        self.cards.describe_keys(Enter="Edit the text", Del="Delete the prompt; can be undone")
        self.versions.chosen.connect(self._show_version)
        editor.edited.connect(self._type)
        editor.save_wanted.connect(lambda: self._do(SAVE))
        editor.discard_wanted.connect(lambda: self._do(DISCARD))
        editor.declare_wanted.connect(lambda name: self._change(partial(self.presenter.declare, name)))
        editor.correct_wanted.connect(lambda fault: self._change(partial(self.presenter.correct, fault)))
        self.preview.case.picked.connect(lambda case: spawn(self._choose_case(CaseId(case)), of=self))
        self.preview.against.changed.connect(self._compare_with)

    # ------------------------------------------------------------ what the page asks of a tab

    async def refresh(self) -> None:
        await self.presenter.load()
        self._show_cards()
        self.preview.show_cases(self.presenter)
        if self._wanted and self.cards.select(self._wanted):
            self._wanted = ""
        if not self.cards.current_id():
            self.cards.select_first()
        await self._select(self.cards.current_id())

    def handle(self, event: Event) -> Refresh:
        return self.presenter.handle(event)

    def show_item(self, item: str) -> None:
        if not self.cards.select(item):
            self._wanted = item

    def current_item(self) -> str:
        return self.cards.current_id()

    def count_text(self) -> str:
        return count(len(self.presenter.prompts), "prompt") if self.presenter.prompts else ""

    def buttons(self) -> Sequence[Action]:
        return (
            self._action(NEW, "New prompt…", icon="plus"),
            self._action(COMPARE, "Compare two versions…", kind="primary", icon="play"),
        )

    def commands(self) -> Sequence[Command]:
        return tuple(self._commands.values())

    def first_focus(self) -> QWidget | None:
        return self.cards

    def unsaved(self) -> int:
        return len(self.presenter.drafts)

    async def finish(self) -> None:
        self.session.settings.set(SPLIT, self.split.layout_state())

    @cached_property
    def _commands(self) -> Mapping[str, Command]:
        presenter = self.presenter

        def later(do: Callable[[], Coroutine[Any, Any, object]]) -> Callable[[], object]:
            return lambda: self.session.spawn(do())

        made = (
            Command(id=NEW, text="New prompt", do=later(self.new), keys="Ctrl+N", group=GROUP),
            Command(
                id=SAVE, text="Save the prompt", do=later(self.save), keys="Ctrl+S", group=GROUP,
                needs=lambda: presenter.unsaved, unless="Change a prompt first",
            ),
            Command(
                id=DISCARD, text="Discard the changes of the prompt", do=self.discard, group=GROUP,
                needs=lambda: presenter.unsaved, unless="Change a prompt first",
            ),
            Command(id=COMPARE, text="Compare two versions of prompts", do=later(self.compare), group=GROUP),
            Command(
                id=DELETE, text="Delete the prompt", do=later(self.delete), group=GROUP,
                needs=lambda: bool(presenter.versions) and not presenter.latest.built_in,
                unless="Select a prompt of your own first",
            ),
        )  # fmt: skip
        return {one.id: one for one in made}

    def _action(self, command: str, text: str = "", **looks: Any) -> Action:
        return command_action(self._commands[command], text, **looks)

    def _do(self, command: str) -> None:
        if self._commands[command].needs():
            self._commands[command].do()

    # ------------------------------------------------------------ showing

    def _show_cards(self) -> None:
        drafts = self.presenter.drafts
        self.cards.set_rows([_card(one, changed=one.name in drafts) for one in self.presenter.prompts.values()])

    async def _select(self, name: str) -> None:
        presenter = self.presenter
        if name and await presenter.select(name):
            self.versions.set_rows([_version_card(one, presenter.shares) for one in presenter.versions])
            self.versions.select(str(self.presenter.version))
            self.trial.show_trial(next(iter(self.presenter.trials), None), self.session.go)
            self._show()

    def _show(self) -> None:
        self.editor.show_prompt(self.presenter)
        self.preview.show_prompt(self.presenter)
        self.header_changed.emit()

    def _show_version(self, key: str) -> None:
        if key and int(key) != self.presenter.version:
            self.presenter.show_version(int(key))
            self._show()

    def _compare_with(self, key: str) -> None:
        self.presenter.against = int(key)
        self.preview.show_prompt(self.presenter)

    async def _choose_case(self, case_id: CaseId) -> None:
        self.preview.case.set_current(case_id)
        await self.presenter.choose_case(case_id)
        self._show()

    def _type(self, template: PromptTemplate) -> None:
        self._change(partial(self.presenter.type, template))

    def _change(self, do: Callable[[], object]) -> None:
        was = self.presenter.unsaved
        do()
        if was is not self.presenter.unsaved:
            self._show_cards()
        self._show()

    # ------------------------------------------------------------ commands

    async def new(self) -> None:
        """Ask for name and start of a new prompt, and select it."""
        from app.screens.models.prompt_dialogs import NewPromptDialog

        if not self.presenter.prompts:
            await self.presenter.load()
        prompts = list(self.presenter.prompts.values())
        dialog = NewPromptDialog(prompts, self.cards.current_id() or prompts[0].name, self)
        if not await dialog.done_with():
            return
        made = await self.presenter.add(dialog.name, dialog.source)
        self._wanted = made.name
        await self.refresh()
        self.editor.text.setFocus()
        undo, again = partial(self.presenter.delete, made.name), partial(self.presenter.restore, made.name)
        self.session.toast(f"Added {made.label}", undo, again, action=f"add {made.name}")

    async def save(self) -> None:
        """Save the typed text as the next version."""
        try:
            kept = await self.presenter.save()
        except InputError as error:
            self.editor.state.set_text(f"{error.message} {error.hint}".strip(), Role.BAD)
            return
        await self.refresh()
        self.session.toast(f"Saved {kept.label}")

    def discard(self) -> None:
        """Show the stored version again; this can be undone."""
        draft = self.presenter.shown
        self._change(self.presenter.discard)
        undo = partial(self._take_back, draft)
        self.session.toast(
            f"Discarded the changes of {draft.name}", undo, action=f"discard the changes of {draft.name}"
        )

    def _take_back(self, draft: PromptTemplate) -> None:
        self.presenter.drafts[draft.name] = draft
        self._show_cards()
        self._show()

    async def delete(self) -> None:
        """Delete the selected prompt with all its versions; this can be undone."""
        name, presenter = self.presenter.name, self.presenter
        await presenter.delete(name)
        undo, again = partial(presenter.restore, name), partial(presenter.delete, name)
        self.session.toast(f"Deleted {name}", undo, again, action=f"delete {name}")

    async def compare(self) -> None:
        """Ask which versions to compare, and with which model, and start the trial."""
        from app.dialogs.consent import Preflight
        from app.dialogs.model_request_dialog import ask_model
        from app.screens.models.prompt_dialogs import ComparePromptsDialog
        from app.screens.models.prompts_presenter import PromptTrials

        trials = PromptTrials(self.session.call)
        await trials.load()
        dialog = ComparePromptsDialog(self.session, trials, f"{self.presenter.name}@{self.presenter.version}", self)
        if not await dialog.done_with() or dialog.agreed is None:
            return
        labels, values, suite = dialog.agreed

        async def estimated(model: Any) -> Any:
            return await trials.estimate(await trials.request(model, labels, values, suite, None))

        page = self._page()
        title = f"{labels[0]} against {labels[1]}"
        explanation = "The model is asked each case with both prompts. No tool is executed."
        found = await ask_model(page, title, explanation, estimated, trials.chosen(suite))
        if found is None:
            return
        model, cap = found
        request = await trials.request(model, labels, values, suite, cap)
        if await Preflight(self.session, self).run(partial(trials.start, request), model.provider):
            self.session.toast(f"Trying {title}")

    def _page(self) -> Page:
        page = self.parentWidget()
        while page is not None and not isinstance(page, Page):
            page = page.parentWidget()
        assert page is not None
        return page


def _card(one: PromptTemplate, *, changed: bool) -> CardRow:
    kind = KIND_TEXTS[one.kind]
    state = "not saved" if changed else "built in" if one.built_in else f"version {one.version}"
    return CardRow(
        id=one.name,
        title=one.name,
        sub=(Span(kind, Role.DIM),),
        sub_right=Span(state, Role.ACCENT if changed else Role.DIM),
        tip=one.note,
    )


def _version_card(one: PromptTemplate, shares: Mapping[int, tuple[int, int]]) -> CardRow:
    correct, judged = shares.get(one.version, (0, 0))
    counted = f"Correct calls of this version, outside trials of it: {correct:,} of {judged:,}"
    when = clock(one.created_at) if one.created_at else "built in"
    return CardRow(
        id=str(one.version),
        title=f"Version {one.version}",
        right=Span(when, Role.DIM),
        sub=(Span(one.note or "No note", Role.DIM),),
        sub_right=Span(f"{percent(correct / judged)} of {judged:,}" if judged else "", Role.DIM),
        tip=f"{one.note}\n{counted}".strip(),
    )
