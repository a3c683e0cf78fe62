"""How a user gets to each state of the Workshop: no case, nothing changed, running, decided, open, broken, drifted."""

from collections.abc import Mapping
from pathlib import Path

from app.core_link.targets import ChangeTool, ShowDraft
from app.screens.welcome.page import WelcomePage
from app.screens.workshop import commands as ids
from app.screens.workshop.improvement_tab import ImprovementTab
from app.screens.workshop.page import WorkshopPage
from app.screens.workshop.writer_choice import WriterChoice, WriterKind
from mcp_tef import (
    INSTRUCTIONS,
    CandidateRound,
    HopelessCase,
    ImprovementEnd,
    ImprovementResult,
    ModelSettings,
    Secret,
    TextCandidate,
    ToolLabel,
)
from tests.shots.answers import Answers
from tests.shots.stage import Stage, built
from tests.shots.workspaces import TOOLS
from tests.support.model_replies import Received, Reply
from tests.support.model_stub import ModelStub
from tests.support.windows import until

PARTS_TEXT = (
    "Find a spare part that fits the bike: brake pads, chains, cassettes, inner tubes, spokes, lights, saddles. "
    "Lists part numbers and prices, not how many are on the shelf."
)
STOPS_AFTER = 20


async def drafted(stage: Stage, name: str, text: str = PARTS_TEXT, *, server: str = "Bike shop") -> WorkshopPage:
    """A draft of its own over a server, with the description of one tool changed if there is a text."""
    draft = await stage.session.call(lambda core: core.drafts.new(name, server=server))
    page = await stage.page("workshop", ShowDraft(draft.id))
    assert isinstance(page, WorkshopPage)
    await until(lambda: page.presenter.draft_id == draft.id and page.view.editor.row("description"), seconds=60)
    page.open_target(ChangeTool(ToolLabel(tool="find_parts", server=server), "from a wrong run"))
    await until(lambda: page.presenter.revision().name == "find_parts")
    row = page.view.editor.row("description")
    assert row is not None
    if text:
        row.draft.setPlainText(text)
        await until(lambda: page.view.cases.table.rows.ids() and page.presenter.prediction and page.trial.can_try())
    return page


async def tried(page: WorkshopPage, *models: ModelSettings) -> None:
    """Try the draft with the models, and wait for the verdict."""
    page.trial.presenter.choose(models)
    page.trial.show()
    page.trial.toggle()
    await until(page.view.banner.isVisible, seconds=120)


async def models(stage: Stage, stub: ModelStub, *names: str) -> list[ModelSettings]:
    """Models of a stand-in, whose key may be sent there."""

    async def allow(core: object) -> None:
        core.keys.set("openai", Secret("sk-of-a-stub"), stub.url)  # type: ignore[attr-defined]  # the engine
        core.consents.add_typed_address("openai", stub.url)  # type: ignore[attr-defined]

    await stage.session.call(allow)
    settings: Mapping[str, object] = {"provider": "openai", "base_url": stub.url, "max_retries": 0}
    return [
        ModelSettings(model=name, input_price=0.4, output_price=1.6, **settings)  # type: ignore[arg-type]
        for name in names
    ]


async def no_cases(stage: Stage) -> None:
    """A draft over a tools file that no case is about, since there is none."""
    welcome = stage.bench.frame.findChild(WelcomePage)
    if isinstance(welcome, WelcomePage) and welcome.isVisible():
        welcome.start_empty.click()
        await built(stage)
    made = await stage.session.call(lambda core: core.drafts.new("Search wording", tools_file=str(TOOLS)))
    page = await stage.page("workshop", ShowDraft(made.id))
    assert isinstance(page, WorkshopPage)
    await until(lambda: page.view.editor.row("description"))
    row = page.view.editor.row("description")
    assert row is not None
    row.draft.setPlainText("Search the text of all files for a sentence.")
    await until(lambda: page.presenter.prediction and page.view.footer.line.text())


async def unchanged(stage: Stage) -> None:
    """A draft that changes nothing yet."""
    page = await drafted(stage, "Parts by purpose", "")
    await until(lambda: page.view.footer.line.text())


async def predicting(stage: Stage) -> None:
    """A prediction on its way; it is too fast to be caught, so it is put there."""
    page = await drafted(stage, "Parts in a hurry")
    page.view.prediction.show_prediction(None, "", folded=False, pending=True)


async def predicted(stage: Stage) -> None:
    """The dialog with everything that is predicted."""
    page = await drafted(stage, "Parts, predicted")
    await until(page.view.prediction.details.isVisible)
    page.view.prediction.details.click()
    await stage.sheet()


async def fields(stage: Stage) -> None:
    """All fields of a tool, one of them changed."""
    page = await drafted(stage, "Fewer parts at once")
    stage.do(ids.FIELDS)
    await until(lambda: page.view.editor.row("required:limit"))
    row = page.view.editor.row("required:category")
    assert row is not None
    row.choice.choose("yes")
    page.view.editor.focus("name:category")


async def instructions(stage: Stage) -> None:
    """New instructions of the server, which no tool has."""
    page = await drafted(stage, "Look first")
    page.view.tool_chosen.emit(INSTRUCTIONS)
    await until(lambda: [one.key for one in page.presenter.fields()] == ["description"])
    row = page.view.editor.row("description")
    assert row is not None
    row.draft.setPlainText("Look a bike up before you book a repair of it.\nNever book twice for one day.")
    await until(lambda: page.presenter.draft and page.presenter.draft.instructions)
    await until(lambda: page.trial.can_try() and page.presenter.prediction)
    await page.settled()


async def add_cases(stage: Stage) -> None:
    """The dialog that adds cases to a trial."""
    page = await drafted(stage, "Parts, more cases")
    page.trial.presenter.cases.tick((), ())
    stage.do(ids.ADD_CASES)
    await stage.sheet()


async def model(stage: Stage) -> None:
    """The dialog that asks for the model of a trial, without any key."""
    page = await drafted(stage, "Parts with a model")
    page.view.footer.model.choose("other")
    await stage.sheet()


async def undecided(stage: Stage, name: str = "Parts or catalogue") -> None:
    """A trial with a model that cannot tell yet, and could go on."""
    page = await drafted(stage, name)
    with ModelStub(Answers(await stage.session.call(lambda core: core.cases.list()))) as stub:
        await tried(page, *await models(stage, stub, "stub-large"))
    await until(lambda: len(page.view.banner.links.buttons) > 1)


async def several(stage: Stage) -> None:
    """A trial with two models: a verdict each, and a joint line."""
    page = await drafted(stage, "Parts for both models")
    with ModelStub(Answers(await stage.session.call(lambda core: core.cases.list()))) as stub:
        await tried(page, *await models(stage, stub, "stub-large", "stub-small"))


async def running(stage: Stage) -> None:
    """A trial in the middle; the stand-in answers no more, and ends with the process."""
    page = await drafted(stage, "One booking tool")
    answers = Answers(await stage.session.call(lambda core: core.cases.list()))
    stub = ModelStub(lambda request: _slower(stub, answers, request))
    stub.__enter__()  # nobody leaves it: the picture is taken while it is open
    page.trial.presenter.choose(await models(stage, stub, "stub-large"))
    page.trial.show()
    page.trial.toggle()
    await until(lambda: page.trial.presenter.results and page.trial.presenter.results[0].calls >= STOPS_AFTER // 2, 120)


def _slower(stub: ModelStub, answers: Answers, request: Received) -> Reply:
    if len(stub.requests) > STOPS_AFTER:
        stub.delay = 600.0
    return answers(request)


async def stopped(stage: Stage) -> None:
    """The trial of `running`, stopped."""
    page = await stage.page("workshop")
    assert isinstance(page, WorkshopPage)
    page.trial.toggle()
    await until(page.view.banner.isVisible, seconds=120)


async def broken_guard(stage: Stage) -> None:
    """A draft that removes a tool as well, tried offline; two cases that expect that tool are to stay as they are."""
    page = await drafted(stage, "Parts without stock")
    page.presenter.choose_tool(next(one.key for one in page.presenter.tools() if one.name == "check_stock"))
    stage.do(ids.REMOVE_TOOL)
    kept = {"Count of a known part", "Is it there or not"}
    rows = page.trial.presenter.case_rows
    await until(lambda: all("expects it" in row.reasons for row in rows() if row.name in kept))
    page.view.cases.move_wanted.emit(tuple(row.id for row in rows() if row.name in kept))
    await until(lambda: not kept & {row.name for row in rows()} and page.trial.can_try())
    await tried(page)


async def put_in(stage: Stage) -> None:
    """The repair of a finding, put into a draft."""
    await _finding(stage, "search_code", "parameter-undocumented", "parameter limit")


async def advised(stage: Stage) -> None:
    """The advice of a finding whose repair needs knowledge of the tool."""
    await _finding(stage, "summarise", "description-vague", "description")


async def _finding(stage: Stage, tool: str, rule: str, place: str) -> None:
    advice = "Say what to put there, in which form, with an example where it helps."
    target = ChangeTool(ToolLabel(tool=tool, server="Documents"), advice, rule=rule, place=place)
    page = await stage.page("workshop", target)
    assert isinstance(page, WorkshopPage)
    await until(lambda: page.presenter.opened and page.view.editor.row(page.presenter.opened.field))
    await until(lambda: page.view.footer.line.text())


async def drifted(stage: Stage) -> None:
    """A draft over a listing that the server does not have any more."""
    listing = await _documents(stage, "Draft of documents")
    listing.write_text(listing.read_text("utf-8").replace("Find", "Look up"), "utf-8")
    server = await stage.session.call(lambda core: core.servers.find("Documents"))
    await stage.session.call(lambda core: core.servers.tools(server.id))
    page = await stage.page("workshop")
    assert isinstance(page, WorkshopPage)
    page.request_refresh()
    await until(page.view.listing.isVisible)


async def server_gone(stage: Stage) -> None:
    """The same draft, its server removed."""
    server = await stage.session.call(lambda core: core.servers.find("Documents"))
    await stage.session.call(lambda core: core.servers.remove([server.id]))
    page = await stage.page("workshop")
    assert isinstance(page, WorkshopPage)
    await until(lambda: "removed" in page.view.listing.accessibleName() or page.view.listing.isVisible())


async def _documents(stage: Stage, name: str) -> Path:
    draft = await stage.session.call(lambda core: core.drafts.new(name, server="Documents"))
    page = await stage.page("workshop", ShowDraft(draft.id))
    assert isinstance(page, WorkshopPage)
    await until(lambda: page.presenter.draft_id == draft.id)
    server = await stage.session.call(lambda core: core.servers.find("Documents"))
    return Path(server.spec.path or "")


async def explained(stage: Stage) -> None:
    """The dialog that tells how the verdict of a trial with a model was decided."""
    await undecided(stage, "Parts, explained")
    stage.do(ids.EXPLAIN)
    await stage.sheet()


async def history(stage: Stage) -> None:
    """The history of a draft of two steps, the first of them tried."""
    page = await drafted(stage, "Parts step by step")
    await tried(page)
    row = page.view.editor.row("title")
    assert row is not None
    row.draft.setPlainText("Spare parts")
    await until(lambda: page.presenter.draft is not None and page.presenter.draft.step > 1)
    stage.do(ids.HISTORY)
    await stage.sheet()


async def better_text(stage: Stage) -> ImprovementTab:
    """The tab that searches for a better text, before its first search."""
    await stage.session.call(lambda core: core.open_sample_draft())
    page = await stage.page("workshop")
    assert isinstance(page, WorkshopPage)
    page.tabs.find_text("Bike shop", (), None)
    tab = page.tabs.tab
    assert isinstance(tab, ImprovementTab)
    tab.presenter.found, tab.presenter.steps = None, []
    await until(lambda: tab.presenter.plan_made is not None or tab.presenter.problem)
    await tab.refresh()
    return tab


async def own_writer(stage: Stage) -> None:
    """A search before its start, with a model that answers and another one that writes."""
    tab = await better_text(stage)
    target, writer = (ModelSettings(provider="openai", model=name) for name in ("gpt-4.1-mini", "gpt-4.1"))
    tab.find_for(tab.presenter.server, [target], None)
    tab.presenter.writer = WriterChoice(WriterKind.OTHER, writer)
    await tab.replan()


async def ask_writer(stage: Stage) -> None:
    """The dialog that asks for the model that writes."""
    await own_writer(stage)
    page = await stage.page("workshop")
    assert isinstance(page, WorkshopPage)
    tab = page.tabs.tab
    assert isinstance(tab, ImprovementTab)
    tab.writer.changed.emit("another")
    await stage.sheet()


async def improved(stage: Stage) -> None:
    """The search for a better text, offline, with its result."""
    tab = await better_text(stage)
    tab.toggle()
    await until(lambda: tab.presenter.found is not None, seconds=240)


async def searching(stage: Stage) -> None:
    """A search with a model in the middle; the stand-in answers no more, and ends with the process."""
    tab = await better_text(stage)
    answers = Answers(await stage.session.call(lambda core: core.cases.list()))
    stub = ModelStub(lambda request: _slower(stub, answers, request))
    stub.__enter__()  # nobody leaves it: the picture is taken while it is open
    tab.find_for(tab.presenter.server, await models(stage, stub, "stub-large"), None)
    await tab.replan()
    tab.toggle()
    await until(lambda: tab.presenter.steps and len(stub.requests) > STOPS_AFTER, seconds=120)


async def search_stopped(stage: Stage) -> None:
    """The search of `searching`, stopped."""
    page = await stage.page("workshop")
    assert isinstance(page, WorkshopPage)
    stage.do(ids.STOP)
    tab = page.tabs.tab
    await until(lambda: isinstance(tab, ImprovementTab) and not tab.presenter.under_way)


async def words_cannot_help(stage: Stage) -> None:
    """A search that spent nothing on wording; what it found is put there."""
    tab = await better_text(stage)
    plan = tab.presenter.plan_made
    assert plan is not None
    reason = "It fails even with its own query as an example: it is ambiguous, or the schema does not fit."
    hopeless = (HopelessCase("Loan bike for a week", reason), HopelessCase("A bike until Friday", reason))
    end = ImprovementEnd.WORDS_CANNOT_HELP
    tab.presenter.found = ImprovementResult(plan=plan, end=end, failing=2, hopeless=hopeless, calls=52, cost_usd=0.0)
    tab.show_all()


async def writer_failed(stage: Stage) -> None:
    """A search that ends with no candidate, since the writer answered with nonsense; it is put there."""
    tab = await better_text(stage)
    plan = tab.presenter.plan_made
    assert plan is not None
    refused = TextCandidate(texts={}, author="openai/stub-large", refused="openai/stub-large wrote no text to read.")
    rounds = (CandidateRound((refused,)),) * 3
    end = ImprovementEnd.NO_CANDIDATE
    tab.presenter.found = ImprovementResult(plan=plan, end=end, failing=9, rounds=rounds, calls=95, cost_usd=0.02)
    tab.show_all()
