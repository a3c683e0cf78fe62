"""The trial on the page: its lists, footer and verdict, and the questions that start it."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Signal

from app.core_link.model_requests import ApiKeys
from app.core_link.refresh import Refresh
from app.core_link.session import Page
from app.core_link.targets import NewCases, ShowBatch, ShowRuns
from app.dialogs.consent import Preflight
from app.dialogs.model_request_dialog import ask_model
from app.screens.workshop.commands import TRY_KEYS
from app.screens.workshop.draft_dialogs import AddCasesDialog
from app.screens.workshop.draft_tools import ListingState
from app.screens.workshop.presenter import WorkshopPresenter
from app.screens.workshop.trial_cases import TrialCaseRow, guards_count_text, with_ranks
from app.screens.workshop.trial_presenter import GUARDS, ROUNDS, TrialPresenter, price_text
from app.screens.workshop.trial_view import BASELINE, OTHER, TrialCaseList, change_text
from app.screens.workshop.view import WorkshopView
from app.widgets import Action, show_menu_under
from mcp_tef import (
    INSTRUCTIONS,
    Batch,
    BatchId,
    Claim,
    Event,
    ModelSettings,
    RunFilter,
    ToolLabel,
    TrialGoal,
    TrialResult,
    drafts_tried_text,
    is_baseline,
    left_out_text,
    percent_text,
)

if TYPE_CHECKING:
    from app.screens.workshop.draft_verdicts import DraftVerdicts

NO_CHANGE: Final = "Change a tool, and the cases about it appear here. Those that expect the tool come first."
NO_CASES: Final = "No test case is about the changed tools yet. A trial needs one that expects the tool."
BY_SEARCH: Final = "Found by search; no model asked"
GoOn = Callable[[BatchId, ApiKeys], Awaitable[Batch]]


class TrialController(QObject):
    """Starts, stops and shows the trial of the selected draft; `changed` tells that a verdict came or went."""

    changed = Signal()

    def __init__(
        self, page: Page, view: WorkshopView, drafts: WorkshopPresenter, save: Callable[[], Awaitable[object]]
    ) -> None:
        super().__init__(page)
        self.presenter = TrialPresenter(page.session.call)
        self._page, self._session, self._view, self._drafts, self._save = page, page.session, view, drafts, save
        self._models: dict[str, ModelSettings] = {}
        footer = view.footer
        footer.go.clicked.connect(self.toggle)
        footer.goal_chosen.connect(self._choose_goal)
        footer.model_chosen.connect(self.choose_model)
        footer.options.clicked.connect(lambda: show_menu_under(self.options(), footer.options))
        for part, about in ((view.cases, True), (view.guards, False)):
            part.ticked.connect(self._tick)
            part.add_wanted.connect(partial(self.add_cases, part, about=about))
            part.move_wanted.connect(partial(self._place, about=not about))
        view.cases.write.clicked.connect(self._write_case)
        footer.show_models((), (BASELINE,))

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
        return not self._why_not()

    def _why_not(self) -> str:
        if self._drafts.listing is ListingState.SERVER_GONE and not self.can_stop():
            return "The server was removed, so the draft cannot be tried."
        return self.presenter.can_try(self._drafts.draft)

    def can_stop(self) -> bool:
        """Return True while the trial runs, or is paused."""
        return self.presenter.running or self.presenter.paused

    def toggle(self) -> None:
        """Stop the trial that runs, or start one."""
        self._session.spawn(self.stop() if self.can_stop() else self.start())

    async def start(self) -> None:
        """Try the draft as it is now."""
        await self._start(seed=0)

    async def confirm(self) -> None:
        """Try the draft again with fresh runs."""
        await self._start(seed=self.presenter.fresh_seed())

    async def _start(self, seed: int) -> None:
        await self._save()
        draft = self._drafts.draft
        if draft is None or not self.can_try():
            return
        for request in self.presenter.requests(draft, seed=seed):
            if await self._asked(partial(self.presenter.start, request), request.settings.provider) is None:
                break
        await self.refresh()

    async def stop(self) -> None:
        """Stop the trial; what was asked is kept."""
        await self.presenter.stop()
        await self.refresh()

    async def run_more(self) -> None:
        """Ask one round more, and keep the pairs."""
        await self._go_on(self.presenter.open_batches(), self.presenter.run_more)

    async def resume(self) -> None:
        """Go on with a trial that was stopped or cut off."""
        await self._go_on(self.presenter.cut_off(), self.presenter.resume)

    async def _go_on(self, batches: Sequence[BatchId], do: GoOn) -> None:
        providers = {one.batch_id: one.model.split("/", 1)[0] for one in self.presenter.results}
        for batch_id in batches:
            if await self._asked(partial(do, batch_id), providers[batch_id]) is None:
                break
        await self.refresh()

    async def _asked(self, do: Callable[[ApiKeys], Awaitable[Batch]], provider: str) -> Batch | None:
        """Start a batch, asking for a missing key or consent; return None if the user cancels."""
        return await Preflight(self._session, self._page).run(do, provider)

    async def explain(self) -> None:
        """Show how the verdict was decided."""
        from app.screens.workshop.decision_dialogs import DecisionDialog

        await DecisionDialog(self.presenter.explained(), self._page).done_with()

    async def show_prediction(self) -> None:
        """Show the nearest tools, the findings and the ranks that are predicted."""
        from app.screens.workshop.decision_dialogs import PredictionDialog

        if (prediction := self._drafts.prediction) is not None:
            rows = [*self.presenter.case_rows(), *self.presenter.guard_rows()]
            tool = self._drafts.revision().name
            await PredictionDialog(prediction, tool, with_ranks(rows, prediction), self._page).done_with()

    @cached_property
    def verdicts(self) -> "DraftVerdicts":
        """Verdicts of all drafts; read only once the page is shown."""
        from app.screens.workshop.draft_verdicts import DraftVerdicts

        return DraftVerdicts(self._session.call)

    async def show_history(self) -> None:
        """Show the steps of the draft with the verdicts of their trials, and go to the one that is chosen."""
        from app.screens.workshop.decision_dialogs import DraftHistoryDialog

        await self._save()
        draft = self._drafts.draft
        if draft is None:
            return
        dialog = DraftHistoryDialog(draft.name, await self.verdicts.history(draft), self._page)
        if await dialog.done_with():
            await self._drafts.go_to(dialog.step)

    # ------------------------------------------------------------ settings

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
            Action(text="Most rounds with a model", under=tuple(self._numbers("rounds", ROUNDS)), apart=True),
            Action(text="Most cases that must not change", under=tuple(self._numbers("guards", GUARDS))),
            Action(text="Show the tools as a client does", under=tuple(self._client_choices()), apart=True),
        ]

    def _numbers(self, name: str, choices: Sequence[int]) -> Iterator[Action]:
        """Yield the choices of a number of the presenter."""
        for number in choices:
            chosen = getattr(self.presenter, name) == number
            yield Action(text=f"{number:,}", do=partial(self._choose_number, name, number), checked=chosen)

    def _choose_number(self, name: str, number: int) -> None:
        setattr(self.presenter, name, number)
        self._session.spawn(self.refresh())

    def _client_choices(self) -> Iterator[Action]:
        for label, title in {"": "No client", **self.presenter.clients}.items():
            chosen = label == self.presenter.client
            yield Action(text=title, do=partial(self._choose_client, label), checked=chosen)

    def _choose_client(self, label: str) -> None:
        self.presenter.client = label
        self._replan()

    def _toggle_same(self) -> None:
        self.presenter.same_against_same = not self.presenter.same_against_same
        self._replan()

    def _choose_goal(self, goal: TrialGoal) -> None:
        self.presenter.goal = goal
        self._replan()

    def choose_model(self, key: str) -> None:
        """Try the draft with the baseline alone, with a model as well or no longer, or ask for another model."""
        if key == OTHER:
            self._session.spawn(self._ask_model())
            return
        before = self.presenter.models
        known = self._models.get(key)
        self.presenter.choose(
            () if known is None else [one for one in before if one != known] if known in before else [*before, known]
        )
        self._replan()

    async def _ask_model(self) -> None:
        """Ask for a model with its key and cost cap; without an answer the models stay."""
        draft = self._drafts.draft
        if draft is None:
            return

        cases = [row for row in self.presenter.case_rows() if row.ticked]
        found = await ask_model(
            self._page,
            "Model of the trial",
            "The model is asked with the original tools and with those of the draft. No tool is executed.",
            partial(self.presenter.estimate_for, draft),
            cases or [None],
        )
        if found is not None:
            model, self.presenter.max_cost_usd = found
            others = [one for one in self.presenter.models if one.label != model.label]
            self._models[model.label] = model
            self.presenter.choose([*others, model])
        self._replan()

    def _replan(self) -> None:
        self._session.spawn(self._plan())

    async def _plan(self) -> None:
        if (draft := self._drafts.draft) is not None:
            await self.presenter.plan(draft)
            self.show()

    # ------------------------------------------------------------ cases

    def _tick(self, ids: tuple[str, ...], shown: tuple[str, ...]) -> None:
        self.presenter.cases.tick(ids, shown)
        self._replan()

    def _place(self, ids: tuple[str, ...], *, about: bool) -> None:
        self.presenter.cases.place(ids, about=about)
        self._replan()

    def add_cases(self, part: TrialCaseList, *, about: bool) -> None:
        """Ask for further cases of a list."""
        self._session.spawn(self._add_cases(part, about=about))

    async def _add_cases(self, part: TrialCaseList, *, about: bool) -> None:
        if (draft := self._drafts.draft) is not None:
            cases = self.presenter.cases.others(draft.server, about=about)
            dialog = AddCasesDialog(part.title.text(), cases, self._page)
            if await dialog.done_with():
                self._place(dialog.chosen, about=about)

    def _write_case(self) -> None:
        """Write a test case for the selected tool."""
        draft = self._drafts.draft
        if draft is not None and draft.server:
            names = [self._drafts.revision().name, *(str(raw.get("name")) for raw in draft.tools)]
            tool = ToolLabel(tool=next(name for name in names if name != INSTRUCTIONS), server=draft.server)
            self._session.go(NewCases((tool,)))

    # ------------------------------------------------------------ showing

    def show(self) -> None:
        """Show the lists, the footer and the verdict."""
        self._show_footer(sum(row.ticked for row in self.show_lists()))
        self._show_verdict()
        self.changed.emit()

    def show_lists(self) -> Sequence[TrialCaseRow]:
        """Show both lists of cases with their predicted ranks; return the cases about the tools."""
        presenter, view = self.presenter, self._view
        self._say_why_none()
        prediction = self._drafts.prediction
        cases, guards = (with_ranks(rows, prediction) for rows in (presenter.case_rows(), presenter.guard_rows()))
        view.cases.show_rows(cases, change_text(cases) or presenter.size_text(), reasons=True)
        view.guards.show_rows(guards, guards_count_text(guards), reasons=False)
        return cases

    def _say_why_none(self) -> None:
        draft = self._drafts.draft
        changed = draft is not None and bool(draft.revisions)
        self._view.cases.say(NO_CASES if changed else NO_CHANGE, write=bool(changed and draft and draft.server))

    def _show_footer(self, cases: int) -> None:
        presenter, footer = self.presenter, self._view.footer
        why = self._why_not()
        chosen = [BASELINE if one.offline else one.label for one in presenter.models]
        known = dict.fromkeys([*self._models, *(one.label for one in presenter.models if not one.offline)])
        footer.show_models(tuple(known), chosen)
        footer.goal.set_current(presenter.goal)
        line = presenter.progress_text() if self.can_stop() else why or presenter.cost_text()
        footer.show_state(line, cases, running=self.can_stop(), possible=not why, hint=why or TRY_KEYS)

    def _show_verdict(self) -> None:
        results, banner = self.presenter.results, self._view.banner
        if not self.presenter.decided() or self._drafts.draft is None:
            banner.hide()
            return
        changed = "" if self.presenter.tried_as_it_is else "The draft was changed after this trial."
        if len(results) == 1:
            result = results[0]
            claims = [result.claims.on_these_cases, result.claims.for_queries_like_these]
            broken, kept = _guards(result)
            notes = (kept, *_notes(result), changed)
        else:
            claims, broken = [self.presenter.joint(), *map(_of_model, results)], ""
            notes = (drafts_tried_text(max(results, key=lambda one: one.drafts_tried)), changed)
        banner.show_verdict(claims, broken, " · ".join(filter(None, notes)), self._links())

    def _links(self) -> list[Action]:
        """Return what to do after a verdict."""
        presenter = self.presenter
        price = price_text(presenter.more_estimate) if presenter.more_estimate else ""
        ids = tuple(one.batch_id for one in presenter.results)
        runs = ShowBatch(ids[0]) if len(ids) == 1 else ShowRuns(RunFilter(batch_ids=ids), "Runs of the trial")
        found: tuple[tuple[object, str, Callable[[], object]], ...] = (
            (price, f"Run more ({price})", lambda: self._session.spawn(self.run_more())),
            (presenter.cut_off(), "Continue the trial", lambda: self._session.spawn(self.resume())),
            (presenter.is_repeated(), "Confirm with fresh runs", lambda: self._session.spawn(self.confirm())),
            (ids, "How was this decided?", lambda: self._session.spawn(self.explain())),
            (ids, "Show the runs", partial(self._session.go, runs)),
        )
        return [Action(text=text, do=do, kind="link") for wanted, text, do in found if wanted]


def _of_model(result: TrialResult) -> Claim:
    """Return the verdict of one model among several."""
    first = result.claims.on_these_cases
    return replace(first, sentence=f"{result.model}: {result.sentence}")


def _guards(result: TrialResult) -> tuple[str, str]:
    """Return the sentence on the cases that must not change, apart where some broke and where none did."""
    told = result.sentence.removeprefix(result.claims.on_these_cases.sentence).strip()
    return (told, "") if any(one.broken for one in result.claims.guards) else ("", told.rstrip("."))


def _notes(result: TrialResult) -> tuple[str, ...]:
    """Return the model, the shares of both arms, the pairs left out and the drafts tried, as texts."""
    shares = [percent_text(rate.value) for rate in (result.shares.before, result.shares.after)]
    return (
        BY_SEARCH if is_baseline(result.model) else result.model,
        f"correct {' → '.join(shares)}" if result.pairs else "",
        left_out_text(result).rstrip("."),
        drafts_tried_text(result),
    )
