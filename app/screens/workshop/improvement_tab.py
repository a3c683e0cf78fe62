"""Tab that searches for a better text: its rounds, the candidates and the log, and the text of one candidate."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.core_link.session import Page
from app.core_link.targets import AddServer, ShowDraft
from app.dialogs.export import ask_file, table_writers
from app.dialogs.model_request_dialog import ask_model, last_form
from app.screens.workshop.batch_tab import STACKED, BatchTab
from app.screens.workshop.commands import ACCEPT_KEYS
from app.screens.workshop.improvement_presenter import ALL, CandidateRow, ImprovementPresenter
from app.screens.workshop.trial_view import EDGE
from app.screens.workshop.writer_choice import SETTING, WriterChoice, WriterKind, remembered_writer
from app.text.data_tables import DataTable
from app.text.formatting import clock, count, money
from app.text.text_diff import difference
from app.theme import Role, Size, sized
from app.widgets import (
    Action,
    CardList,
    CardRow,
    Cell,
    CellKind,
    Column,
    FlowText,
    Links,
    ListTable,
    Mark,
    MenuButton,
    Row,
    ScrollPane,
    Segment,
    Span,
    Split,
)
from mcp_tef import DraftId, ImprovementEnd, ModelSettings, is_baseline

CANDIDATES: Final = (
    Column(key="place", title="Text", width=58, tip="Round and place: 2.1 is the best candidate of round 2"),
    Column(key="text", title="Description", stretch=True, least=90, tip="The new descriptions"),
    Column(key="author", title="By", width=70, least=44, role=Role.DIM, tip="Rules, or the model that wrote it"),
    Column(key="fixed", title="Fixed", kind=CellKind.NUMBER, width=76, tip="Correct runs of the failing working cases"),
    Column(key="outcome", title="Outcome", width=176, least=80, tip="Where it went out, or why it was not asked"),
)
LOG: Final = (
    Column(key="when", title="When", width=66, role=Role.DIM, tip="When the step began"),
    Column(key="what", title="Log", stretch=True, least=120, tip="The steps of the search"),
    Column(key="calls", title="Calls", kind=CellKind.NUMBER, width=56, tip="Calls until then"),
    Column(key="cost", title="Cost", kind=CellKind.NUMBER, width=72, tip="Cost until then"),
)
MARKS: Final = {
    ImprovementEnd.BETTER: (Mark.CHECK, "better"),
    ImprovementEnd.PROMISING: (Mark.UNDECIDED, "promising"),
    ImprovementEnd.NOT_CONFIRMED: (Mark.UNDECIDED, "not confirmed"),
    ImprovementEnd.WORSE: (Mark.CROSS, "worse"),
}
NOTHING: Final = (
    "A search makes better descriptions from the test cases that fail, and proves the best one on cases that it never "
    "saw. It needs a server whose tools are known, and test cases about them."
)
ANOTHER: Final = "another"
WRITER: Final = (
    "The model is shown failing working cases with the tools that they are about, and writes new descriptions. It "
    "never sees a sealed case."
)
CANDIDATE_HELP: Final = "Select a candidate to read its texts beside the original."


class CandidatePane(QWidget):
    """The texts of one candidate with their changes marked, and what to do with it."""

    def __init__(self) -> None:
        super().__init__()
        self.title = FlowText(size=Size.LEAD, strong=True)
        self.about = FlowText(size=Size.SMALL, role=Role.DIM)
        self.links = Links()
        self.text = FlowText()
        inside = QWidget()
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 12, 8, 12)
        column.setSpacing(8)
        for part in (self.title, self.about, self.links, self.text):
            column.addWidget(part)
        column.addStretch(1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(ScrollPane(inside, "Text of the candidate"))
        self.setMinimumWidth(240)

    def show_candidate(self, row: CandidateRow | None, originals: dict[str, str], links: Sequence[Action]) -> None:
        """Show a candidate, or what stands here."""
        self.links.set_links(links)
        self.title.set_text(f"Text {row.key}" if row else "")
        self.title.setVisible(row is not None)
        candidate = row.candidate if row else None
        said = ""
        if row is not None and candidate is not None:
            outcome = f"{row.outcome[:1].upper()}{row.outcome[1:].rstrip('.')}."
            said = " ".join(filter(None, (f"By {candidate.author}.", candidate.reason, outcome)))
        self.about.set_text(said or CANDIDATE_HELP)
        spans: list[Span] = []
        for name, text in (candidate.texts if candidate else {}).items():
            spans += [Span("\n\n")] * bool(spans)
            spans += [Span(f"{name}\n", mono=True, strong=True), *_changes(originals.get(name, ""), text)]
        self.text.set_spans(spans)


def _changes(before: str, after: str) -> list[Span]:
    old, new = difference(before, after)
    gone = [Span(one.text, Role.BAD, back=Role.BAD_TINT, strike=True) for one in old if one.changed]
    kept = [Span(one.text, back=Role.GOOD_TINT if one.changed else None) for one in new]
    return [*kept, *([Span("\nLeft out: ", Role.DIM), *gone] if gone else [])]


class ImprovementTab(BatchTab[ImprovementPresenter]):
    """Starts a search, shows its candidates as rounds end, and opens a text as a draft."""

    def __init__(self, page: Page) -> None:
        self.server, self.tool, model = MenuButton("Server"), MenuButton("Tool"), MenuButton("Model that answers")
        self.writer = MenuButton("Who writes")
        menus = (self.server, self.tool, model, self.writer)
        super().__init__(page, ImprovementPresenter(page.session.call), model, menus)
        self.presenter.writer = remembered_writer(page.session.settings.get(SETTING, {}))
        self.rounds = CardList("Best text of each round", row_height=sized(76))
        self.rounds.setMinimumWidth(150)
        self.table = ListTable(CANDIDATES, "Candidates")
        self.log = ListTable(LOG, "Log of the search")
        self.pane = CandidatePane()
        lists = Split([self.table, self.log], "Candidates and log", [300, 180], stacked=True)
        self.nothing = FlowText(role=Role.DIM)
        around = QVBoxLayout()
        around.setContentsMargins(EDGE + 32, 12, EDGE, 12)
        around.addWidget(self.nothing)
        middle = QWidget()
        column = QVBoxLayout(middle)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(around)
        column.addWidget(lists, 1)
        column.addStretch(0)
        middle.setMinimumWidth(320)
        self.split = Split([self.rounds, middle, self.pane], "Rounds, candidates and text", [180, 480, 300])
        self.split.set_stretch(1)
        self.lay_out(self.split)
        self.server.changed.connect(self.ask_about)
        self.tool.changed.connect(self._choose_tool)
        self.writer.changed.connect(self.choose_writer)
        self.rounds.chosen.connect(lambda key: self.table.select(f"{key}.1"))
        self.table.chosen.connect(lambda _: self._show_candidate())
        self.table.opened.connect(lambda _: self.accept())
        self.table.describe_keys(Enter="Open the candidate as a draft")

    def ask_about(self, name: str) -> None:
        """Seek texts for the tools of a server."""
        self.presenter.choose_server(name)
        self.session.spawn(self.refresh())

    def find_for(self, server: str, models: Sequence[ModelSettings], cap: float | None) -> None:
        """Take over the server, the model and the cost cap of a draft's trial, unless a search runs."""
        if not self.presenter.under_way:
            self.presenter.choose_server(server)
            for model in models[:1]:
                self.take_model(model, cap)

    def _choose_tool(self, name: str) -> None:
        self.presenter.tool = name
        self.session.spawn(self.replan())

    def choose_writer(self, key: str) -> None:
        """Let rules, the model that answers or another model write; ask for the latter where it is not known yet."""
        if key == ANOTHER:
            self.session.spawn(self._ask_writer())
            return
        self._take_writer(replace(self.presenter.writer, kind=WriterKind(key)))
        self.session.spawn(self.replan())

    async def _ask_writer(self) -> None:
        form = last_form(self.session.settings, SETTING)
        cases = [None] * max(1, self.presenter.size())
        found = await ask_model(self.page, "Model that writes", WRITER, self.presenter.estimate_of_writer, cases, form)
        if found is not None:
            model, cap = found
            self._take_writer(WriterChoice(WriterKind.OTHER, model))
            self.presenter.max_cost_usd = self.presenter.max_cost_usd if cap is None else cap
        await self.replan()

    def _take_writer(self, choice: WriterChoice) -> None:
        self.presenter.writer = choice
        self.session.settings.set(SETTING, choice.saved())

    def _offer_writers(self) -> None:
        target = self.presenter.request().settings
        choice, own = self.presenter.writer.beside(target), self.presenter.writer.model
        same = [] if target.offline else [(WriterKind.SAME.value, "Writer: the model that answers")]
        others = [(WriterKind.OTHER.value, f"Writer: {own.label}")] if own else []
        rules = (WriterKind.RULES.value, "Writer: rules only")
        self.writer.set_choices([rules, *same, *others, None, (ANOTHER, "Another model…")], choice.kind.value)
        writer = choice.writer(target)
        self.writer.setToolTip(f"Who writes candidates: rules{f' and {writer.label}' if writer else ' only'}")

    def option_actions(self) -> list[Action]:
        return [Action(text="Budget, seed and cost cap…", do=lambda: self.session.spawn(self.ask_options()))]

    # ------------------------------------------------------------ showing

    def show_all(self) -> None:
        presenter = self.presenter
        super().show_all()
        if not presenter.servers:
            add = Action(text="Add server…", do=lambda: self.session.go(AddServer()), kind="primary", icon="plus")
            self.show_empty("No tools to describe yet", NOTHING, [add])
            return
        self.setCurrentIndex(2)
        self.server.set_choices([(name, name) for name in presenter.servers], presenter.server)
        tools = [(name, name) for name in presenter.texts]
        self.tool.set_choices([(ALL, "All tools"), *([None, *tools] if tools else [])], presenter.tool)
        self._offer_writers()
        self.footer.pause.hide()
        self._show_sentences()
        self._show_rounds()
        self._show_lists()

    def _show_lists(self) -> None:
        presenter, rows = self.presenter, self.presenter.rows()
        self.table.set_rows([_candidate_row(one) for one in rows])
        if rows and not self.table.current_id():
            self.table.select_first()
        self.log.set_rows([
            Row(str(place), (Cell(text=clock(when)), Cell(text=step.text, tip=step.text), Cell(text=f"{step.calls:,}"),
                             Cell(text=money(step.cost_usd) if step.cost_usd else "")))
            for place, (when, step) in reversed(list(enumerate(presenter.steps)))
        ])  # fmt: skip
        self.nothing.set_text(presenter.why_nothing())
        for part, shown in (
            (self.nothing, not rows),
            (self.table, rows),
            (self.pane, rows),
            (self.log, presenter.steps),
        ):
            part.setVisible(bool(shown))
        self._show_candidate()

    def _show_sentences(self) -> None:
        presenter, found = self.presenter, self.presenter.found
        first, *rest = presenter.sentences()
        mark = MARKS.get(found.end, (Mark.DASH, "no text")) if found else (Mark.BLANK, "not decided")
        lines = [(*mark, first), *((Mark.BLANK, "", one) for one in rest)]
        draft = presenter.draft_id
        show = Action(text="Show the draft", do=partial(self._go_to, draft), kind="link") if draft else None
        self.banner.show_lines(lines, presenter.note(), [show] if show else [])

    def _show_rounds(self) -> None:
        presenter = self.presenter
        plan = presenter.found.plan if presenter.found else presenter.plan_made
        cards = [_round_card(one, presenter.rows()) for one in presenter.rows() if one.key.endswith(".1")]
        if plan is not None:
            cards.append(
                CardRow(
                    id="split",
                    title="Split",
                    light=True,
                    right=Span(f"seed {plan.request.seed}", Role.DIM),
                    sub=(Span(f"{len(plan.working)} working", Role.DIM),),
                    sub_right=Span(f"{len(plan.sealed)} sealed", Role.DIM),
                    bar=(
                        Segment(role=Role.ACCENT, value=len(plan.working)),
                        Segment(role=Role.DIM, value=len(plan.sealed)),
                    ),
                    tip=plan.gain,
                )
            )
        self.rounds.set_rows(cards)

    def _row(self) -> CandidateRow | None:
        return next((one for one in self.presenter.rows() if one.key == self.table.current_id()), None)

    def _show_candidate(self) -> None:
        row = self._row()
        act = Action(text="Open as draft", do=self.accept, kind="link", keys=ACCEPT_KEYS)
        self.pane.show_candidate(row, dict(self.presenter.texts), [act] if self.acceptable() else [])

    def place_panes(self) -> None:
        """Hide the list of rounds where there is no room; the candidates name their round."""
        self.rounds.setVisible(self.width() >= sized(STACKED + 120))

    # ------------------------------------------------------------ drafts and files

    def acceptable(self) -> bool:
        row = self._row()
        return row is not None and bool(row.candidate.texts)

    def accept(self) -> None:
        self.session.spawn(self.open_draft())

    async def open_draft(self) -> None:
        """Open the selected candidate as a draft."""
        row = self._row()
        if row is not None and row.candidate.texts:
            self._go_to(await self.presenter.draft_of(row))

    def _go_to(self, draft: DraftId) -> None:
        self.session.go(ShowDraft(draft))

    def export(self) -> None:
        """Ask for a file, and export all candidates as a table."""
        columns = ("text", "author", "reason", "fixed", "outcome", "descriptions")
        rows = tuple(
            (one.key, one.candidate.author, one.candidate.reason, one.fixed, one.outcome, one.text)
            for one in self.presenter.rows()
        )
        table = DataTable(name="Candidates for a better text", columns=columns, rows=rows)
        ask_file(self.page, self.session, "Export the candidates", table.file_name, table_writers(table))


def _candidate_row(one: CandidateRow) -> Row:
    author = one.candidate.author if is_baseline(one.candidate.author) or "/" not in one.candidate.author else "writer"
    role = Role.GOOD if one.passed else Role.WARN if one.candidate.refused else Role.DIM
    return Row(
        one.key,
        (
            Cell(text=one.key),
            Cell(text=one.text, tip=one.text),
            Cell(text=author, tip=one.candidate.author),
            Cell(text=one.fixed),
            Cell(text=one.outcome, tip=one.outcome, role=role),
        ),
    )


def _round_card(best: CandidateRow, rows: Sequence[CandidateRow]) -> CardRow:
    mine = [one for one in rows if one.round == best.round]
    tried, one = sum(not row.candidate.refused for row in mine), best.candidate
    asked = one.asked
    return CardRow(
        id=str(best.round),
        title=f"Round {best.round}",
        right=Span(f"{100 * one.score / asked:.0f} %" if asked else "–", strong=True),
        sub=(Span(f"{tried} of {count(len(mine), 'text')} tried", Role.DIM),),
        sub_right=Span(best.fixed, Role.DIM) if asked else None,
        bar=(Segment(role=Role.ACCENT, value=one.score),) if asked else (),
        bar_total=asked or None,
        tip="The best text of the round: correct runs of the failing working cases",
    )
