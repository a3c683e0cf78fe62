"""The open pair: loads it, shows it beside the map, and keeps its recommendations."""

import asyncio
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.core_link.links import Link, tool_links
from app.core_link.session import Page
from app.core_link.targets import ChangeTool, Screen, ShowRuns
from app.dialogs.export import ask_file, copy_text, file_name, text_writer
from app.dialogs.model_request_dialog import ModelRequests, ModelTask
from app.screens.similarity.advice_pane import AdviceFormat, change_text
from app.screens.similarity.pair_detail import RunsLink
from app.screens.similarity.pair_list import PairIndices, PairTarget, ordered_pair
from app.screens.similarity.pair_pane import ToolPairPane
from app.screens.similarity.presenter import SimilarityPresenter
from app.screens.similarity.view import PAUSE_S, SimilarityView
from app.screens.similarity.view_state import SimilarityViewState
from mcp_tef import PairAdvice, Recommendation, ToolLabel

LOADING = "Looking for differences…"


def rewrite_task(presenter: SimilarityPresenter) -> ModelTask:
    """Return the request that asks a model to rewrite the descriptions of pairs."""
    return ModelTask(
        title="Ask a model for descriptions",
        explanation=(
            "A model reads both definitions and why they are hard to tell apart, and writes new descriptions. "
            "Nothing changes on any server: you copy or save the texts that you want."
        ),
        noun="pair",
        activity="writes descriptions",
        result="wrote about",
        estimate=presenter.estimate,
        run=presenter.advise,
        cost=lambda advice: advice.cost_usd,
    )


class PairController(QObject):
    """`places` is the pair, None while none is open; `closed` tells that the user put it away."""

    closed = Signal()

    def __init__(
        self,
        page: Page,
        presenter: SimilarityPresenter,
        view: SimilarityView,
        view_state: SimilarityViewState,
    ) -> None:
        super().__init__(page)
        self.places: PairIndices | None = None
        self.wanted_pair: PairTarget | None = None
        self._to_advice = False
        self._read = 0
        self.requests = ModelRequests(page, rewrite_task(presenter))
        self._session, self._presenter, self._view = page.session, presenter, view
        self._page, self._view_state = page, view_state
        self.requests.answered.connect(self._take)

    def connect_pane(self, pane: ToolPairPane) -> None:
        """Connect the pane of the pair once it is built."""
        pane.closed.connect(self.close)
        pane.led.connect(self._session.go)
        pane.runs_wanted.connect(self._go_to_runs)
        pane.full_texts_wanted.connect(self._show_full_texts)
        pane.advice.copied.connect(lambda text: copy_text(self._session, text, "the recommendation"))
        pane.advice.save_wanted.connect(self._save)
        pane.advice.try_wanted.connect(self._try)
        pane.advice.ask_wanted.connect(self.request_advice)

    def open_target(self) -> None:
        """Open the pair that another screen asked for, now that tools are compared."""
        target, self.wanted_pair = self.wanted_pair, None
        if target is None:
            return
        places = target.places(self._presenter.analysis.tools) if self._presenter.analysis else None
        if places is None:
            self._session.toast("These tools are not compared. Select both servers and read them again.")
        else:
            self.open(places, reveal=True, advice=target.advice)

    def tools(self) -> tuple[ToolLabel, ...] | None:
        """Return the open pair as labels; None if no pair is open."""
        analysis = self._presenter.analysis
        if self.places is None or analysis is None:
            return None
        tools = [analysis.tools[place].tool for place in self.places]
        return tuple(ToolLabel(tool=one.name, server=one.server) for one in tools)

    def open_indices(self, a: int, b: int) -> None:
        """Show a pair, as widgets tell of it."""
        self.open((a, b))

    def open(self, places: PairIndices, *, reveal: bool = False, advice: bool = False) -> None:
        """Show a pair side by side; `reveal` scrolls the map to it, `advice` the pair to what to write instead."""
        self.places = ordered_pair(*places)
        self._to_advice = advice
        self._view_state.set_mode("pair", "yes")
        self._view.map.heatmap.choose(self.places, reveal=reveal)
        self._view.pairs.mark(self.places)
        self._session.spawn(self.show())

    def close(self) -> None:
        """Put it away, as the user would."""
        self._view_state.set_mode("pair", "no")
        self.forget()
        self.closed.emit()

    def forget(self) -> None:
        """Put it away, since it is not there any more."""
        self.places = None
        self._view.show_pair(False)
        self._view.map.heatmap.choose(None)

    async def show(self) -> None:
        """Read the pair again and show it; a late result for an earlier pair is dropped."""
        places, view = self.places, self._view
        if places is None:
            return
        self._read += 1
        mine = self._read
        detail = await self._presenter.detail(places, view.map.shown_kind(), view.map.weights.weights())
        if detail is None or places != self.places or mine != self._read:
            return
        view.pair.show_pair(detail, view.map.scale.threshold())
        view.pair.show_links(_pair_links(self.tools()))
        await asyncio.sleep(PAUSE_S)
        if places != self.places:
            return
        view.show_pair(True)
        await asyncio.sleep(PAUSE_S)
        if places not in self._presenter.advice:
            view.pair.advice.show_message(LOADING)
            await self._presenter.advise([places])
        self._show_advice()
        if self._to_advice and places == self.places:
            self._to_advice = False
            await asyncio.sleep(PAUSE_S)  # what was put there has its place only now
            view.pair.show_advice()

    def ask(self, pairs: Sequence[PairIndices]) -> None:
        """Open the dialog that asks a model to rewrite the descriptions of pairs."""
        self.requests.ask([("Pairs", tuple(pairs))])

    def request_advice(self) -> None:
        """Open the dialog for the open pair."""
        self.ask([self.places] if self.places else [])

    def _take(self, _advice: PairAdvice) -> None:
        self._show_advice()  # the presenter has stored the answer

    def _show_advice(self) -> None:
        advice = self._presenter.advice.get(self.places) if self.places else None
        if advice is not None:
            self._view.pair.advice.show_advice(advice)

    def _show_full_texts(self) -> None:
        detail, analysis = self._view.pair.detail, self._presenter.analysis
        if detail is not None and analysis is not None:
            self._view.pair.show_whole([analysis.tools[place].tool.description for place in detail.places])

    def _go_to_runs(self, link: RunsLink) -> None:
        self._session.go(ShowRuns(link.where, link.title))

    def _try(self, chosen: Recommendation) -> None:
        tool = ToolLabel(tool=chosen.tool_name, server=chosen.server)
        self._session.go(ChangeTool(tool, chosen.action, description=chosen.revised))

    def _save(self, form: AdviceFormat, chosen: Recommendation) -> None:
        writers = {"json": text_writer(change_text(form, chosen))}
        ask_file(self._page, self._session, f"Save the {form}", f"{file_name(chosen.tool_name)}-{form}", writers)


def _pair_links(pair: tuple[ToolLabel, ...] | None) -> list[list[Link]]:
    """Return the links below each of the two tools."""
    first, second = pair or (ToolLabel(), ToolLabel())
    return [_tool_links(*both) for both in ((first, second), (second, first)) if pair]


def _tool_links(tool: ToolLabel, other: ToolLabel) -> list[Link]:
    """Return the links that fit below a tool."""
    fitting = (Screen.SERVERS, Screen.QUALITY)
    change = Link("Change", ChangeTool(tool, f"a look-alike of {other.tool}"))
    return [*(lead for lead in tool_links(tool, "similarity") if lead.target.screen in fitting), change]
