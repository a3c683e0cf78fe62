"""The trial on the page: its lists, footer and verdict, and the questions that start it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from PySide6.QtCore import QObject, Signal

from app.core_link.refresh import Refresh
from app.core_link.session import Page
from app.core_link.targets import ShowBatch, ShowDraft
from app.dialogs.model_request import ModelRequestDialog, ModelTask, last_form
from app.screens.workshop.improvement_dialog import ImprovementDialog
from app.screens.workshop.improvement_presenter import ImprovementPresenter
from app.screens.workshop.presenter import WorkshopPresenter
from app.screens.workshop.trial_presenter import TrialPresenter
from app.screens.workshop.trial_view import BASELINE, OTHER, change_text
from app.screens.workshop.view import WorkshopView
from app.text.formatting import count
from app.widgets import Action, show_menu_under
from mcp_tef import (
    ClaimVerdict,
    Estimate,
    Event,
    ModelSettings,
    TrialGoal,
    TrialResult,
    drafts_tried_text,
    is_baseline,
    percent_text,
)

NO_CASES: Final = "No test case is about the changed tools yet. Write one that expects the tool."
BY_SEARCH: Final = "Found by search; no model asked"


class TrialController(QObject):
    """Starts, stops and shows the trial of the selected draft; `changed` tells that a verdict came or went."""

    changed = Signal()

    def __init__(
        self, page: Page, view: WorkshopView, drafts: WorkshopPresenter, save: Callable[[], Awaitable[object]]
    ) -> None:
        super().__init__(page)
        self.presenter = TrialPresenter(page.session.call)
        self._page, self._session, self._view, self._drafts, self._save = page, page.session, view, drafts, save
        self._model: ModelSettings | None = None
        self._dialog: ModelRequestDialog | None = None
        footer = view.footer
        footer.go.clicked.connect(self.toggle)
        footer.goal_chosen.connect(self._choose_goal)
        footer.model_chosen.connect(self._choose_model)
        footer.options.clicked.connect(lambda: show_menu_under(self.options(), footer.options))
        for part in (view.cases, view.guards):
            part.ticked.connect(self._tick)
        footer.show_models("", BASELINE)

    def handle(self, event: Event) -> Refresh:
        """Decide how soon an event makes the trial out of date."""
        return self.presenter.handle(event)

    async def refresh(self) -> None:
        """Read cases and result of the selected draft, and show them."""
        draft = self._drafts.draft
        if draft is not None and await self.presenter.load(draft):
            self.show()

    # ------------------------------------------------------------ running

    def can_try(self) -> bool:
        """Return True if the draft can be tried now."""
        return not self.presenter.can_try(self._drafts.draft)

    def toggle(self) -> None:
        """Stop the trial that runs, or start one."""
        self._session.spawn(self.stop() if self.presenter.running else self.start())

    async def start(self) -> None:
        """Try the draft as it is now."""
        await self._save()
        draft = self._drafts.draft
        if draft is not None and self.can_try():
            await self.presenter.start(draft)
            self.show()

    async def stop(self) -> None:
        """Stop the trial; what was asked is kept."""
        await self.presenter.stop()
        self.show()

    async def confirm(self) -> None:
        """Try the draft again with fresh runs."""
        draft = self._drafts.draft
        if draft is not None and self.can_try():
            await self.presenter.confirm(draft)
            self.show()

    def can_find_text(self) -> bool:
        """Return True if a better text can be sought: the draft stands over a server, and no trial runs."""
        draft = self._drafts.draft
        return draft is not None and draft.server is not None and not self.presenter.running

    async def find_text(self) -> None:
        """Search for better texts of the draft's server; the one that is found has a draft of its own."""
        await self._save()
        draft = self._drafts.draft
        if draft is None or draft.server is None:
            return
        settings, cap = self.presenter.settings, self.presenter.max_cost_usd
        search = ImprovementPresenter(self._session.call, draft.server, settings, cap)
        if await ImprovementDialog(self._session, search, self._page).done_with() and search.draft_id:
            self._session.go(ShowDraft(search.draft_id))

    def options(self) -> list[Action]:
        """Return the entries of the options of a trial."""
        presenter = self.presenter
        whole = presenter.goal is TrialGoal.FULL
        return [
            Action(
                text="Ask all planned rounds, without an early end",
                do=lambda: self._choose_goal(TrialGoal.QUICK if whole else TrialGoal.FULL),
                checked=whole,
            ),
            Action(
                text="Same against same: try the original against itself",
                do=self._toggle_same,
                checked=presenter.same_against_same,
            ),
            Action(
                text="Find a better text…",
                do=lambda: self._session.spawn(self.find_text()),
                enabled=self.can_find_text(),
                apart=True,
            ),
        ]

    def _toggle_same(self) -> None:
        self.presenter.same_against_same = not self.presenter.same_against_same
        self._replan()

    def _choose_goal(self, goal: TrialGoal) -> None:
        self.presenter.goal = goal
        self._replan()

    def _choose_model(self, key: str) -> None:
        if key == OTHER:
            self._session.spawn(self._ask_model())
            return
        self.presenter.settings = ModelSettings() if key == BASELINE or self._model is None else self._model
        self._replan()

    async def _ask_model(self) -> None:
        """Ask for a model with its key and cost cap; without an answer the model before stays."""
        draft = self._drafts.draft
        if draft is None:
            return

        async def estimate(_cases: object, model: ModelSettings) -> Estimate:
            return await self.presenter.estimate_for(draft, model)

        async def run(*_: object) -> None:
            """Do nothing: the trial starts with its own button."""

        task = ModelTask(
            title="Model of the trial",
            explanation="The model is asked with the original tools and with those of the draft. No tool is executed.",
            noun="case",
            activity="tries the draft",
            result="tried",
            estimate=estimate,
            run=run,
            cost=lambda _: None,
        )
        cases = [row for row in self.presenter.case_rows() if row.ticked]
        self._dialog = ModelRequestDialog(
            self._session, task, [("Cases", cases or [None])], last_form(self._session.settings), self._page
        )
        dialog = self._dialog
        if await dialog.done_with() and dialog.agreed is not None:
            self._model = self.presenter.settings = dialog.agreed
            self.presenter.max_cost_usd = dialog.max_cost_usd
        self._replan()

    def _replan(self) -> None:
        self._session.spawn(self._plan())

    async def _plan(self) -> None:
        if (draft := self._drafts.draft) is not None:
            await self.presenter.plan(draft)
            self.show()

    def _tick(self, ids: tuple[str, ...], shown: tuple[str, ...]) -> None:
        self.presenter.tick(ids, shown)
        self._replan()

    # ------------------------------------------------------------ showing

    def show(self) -> None:
        """Show the lists, the footer and the verdict."""
        presenter, view = self.presenter, self._view
        cases, guards = presenter.case_rows(), presenter.guard_rows()
        ticked = [sum(row.ticked for row in rows) for rows in (cases, guards)]
        view.cases.show_rows(cases, change_text(cases) or presenter.size_text(), reasons=True)
        said = [row.said for row in guards]
        broken = f"{said.count('broken'):,} broken" if "broken" in said else "none broken" if any(said) else ""
        view.guards.show_rows(guards, " · ".join(filter(None, (count(ticked[1], "case"), broken))), reasons=False)
        self._show_footer(ticked[0])
        self._show_verdict()
        self.changed.emit()

    def _show_footer(self, cases: int) -> None:
        presenter, footer = self.presenter, self._view.footer
        why = presenter.can_try(self._drafts.draft)
        model = self._model.label if self._model else ""
        chosen = BASELINE if is_baseline(presenter.settings.label) else presenter.settings.label
        footer.show_models(model, chosen)
        footer.goal.set_current(presenter.goal)
        plan = " · ".join(filter(None, (presenter.size_text() if cases else "", presenter.cost_text())))
        line = presenter.progress_text() if presenter.running else why or plan
        footer.show_state(
            line, cases, running=presenter.running, possible=not why, hint=why or presenter.can_show or "Ctrl+Return"
        )

    def _show_verdict(self) -> None:
        result, banner, draft = self.presenter.result, self._view.banner, self._drafts.draft
        if result is None or not self.presenter.decided() or draft is None:
            banner.hide()
            return
        claims = (result.claims.on_these_cases, result.claims.for_queries_like_these)
        changed = "" if self.presenter.is_about(draft) else "The draft was changed after this trial."
        links = [Action(text="Show the runs", do=partial(self._session.go, ShowBatch(result.batch_id)), kind="link")]
        if result.drafts_tried > 1 or claims[0].verdict is ClaimVerdict.CANNOT_TELL_YET:
            links.insert(0, Action(text="Confirm with fresh runs", do=self._confirm, kind="link"))
        banner.show_verdict(result.sentence, claims, " · ".join(filter(None, (*_notes(result), changed))), links)

    def _confirm(self) -> None:
        self._session.spawn(self.confirm())


def _notes(result: TrialResult) -> tuple[str, ...]:
    """Return the model, the shares of both arms, the pairs left out and the drafts tried, as texts."""
    shares = [percent_text(rate.value) for rate in (result.shares.before, result.shares.after)]
    return (
        BY_SEARCH if is_baseline(result.model) else result.model,
        f"correct {' → '.join(shares)}",
        f"{result.left_out:,} pairs left out" if result.left_out else "",
        drafts_tried_text(result.drafts_tried),
    )
