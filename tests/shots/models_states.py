"""How a user gets to what the Models screen shows of prompts and clients."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from app.core_link.targets import ShowModels
from app.screens.models import prompts_tab as ids
from app.screens.models.clients_tab import GRID, ClientsTab
from app.screens.models.page import ModelsPage
from app.screens.models.prompts_tab import PromptsTab
from app.screens.welcome.page import WelcomePage
from mcp_tef import BatchRequest, Engine, ModelSettings, PromptKind, PromptTemplate, Secret, TrialRequest
from tests.shots.answers import Answers
from tests.shots.stage import Stage, built
from tests.shots.workshop_states import models
from tests.support.model_stub import ModelStub
from tests.support.windows import until

FIRST = """You work at the counter of a bicycle shop. You have {{tool_count}} tools of {{server_names}}.

Call the one tool that answers the customer. If none can, say so in {{tone}} words and call nothing."""
SECOND = """You work at the counter of a bicycle shop. Today is {{date}}.
You have {{tool_count}} tools of {{server_names}}.

Call the one tool that does what the customer wants. Read every description to its end: some say what a tool is not for.
If none fits, say so in {{tone}} words and call nothing.

{{shop_rules}}"""
COUNTER = PromptTemplate(
    name="Shop counter", version=0, kind=PromptKind.SYSTEM, text=FIRST, variables={"tone": "few, friendly"}
)
RULES = {"tone": "few, friendly", "shop_rules": "Never promise a part before its stock was checked."}


async def _add_prompts(core: Engine) -> None:
    if COUNTER.name not in [one.name for one in await core.prompts.list()]:
        await core.prompts.add(replace(COUNTER, note="First try"))
        await core.prompts.edit(replace(COUNTER, text=SECOND, variables=RULES, note="Read to the end"))
        await core.prompts.add(replace(COUNTER, name="Terse", text="Call one tool. Say nothing else. {{tone}}"))


async def _try(core: Engine, stage: Stage) -> None:
    cases = await core.cases.list()
    with ModelStub(Answers(cases)) as stub:
        (model,) = await models(stage, stub, "stub-large")
        before, after = await core.prompts.arms(model, "Shop counter@2", "Shop counter@1", {})
        ids = tuple(case.id for case in cases[:8])
        request = TrialRequest(settings=after, against_settings=before, cases=ids, rounds=2, draft="")  # type: ignore[arg-type]
        batch = await core.trials.start(request, {"openai": Secret("sk-of-a-stub")})
        await core.runs.wait(batch.id)


async def _prompts(stage: Stage, item: str) -> PromptsTab:
    await stage.session.call(_add_prompts)
    page = await stage.page("models", ShowModels("prompts", item))
    assert isinstance(page, ModelsPage)
    tab = page.tab("prompts")
    assert isinstance(tab, PromptsTab)
    page.open_target(ShowModels("prompts", item))
    await until(lambda: tab.presenter.name == item and tab.presenter.versions)
    return tab


async def prompt(stage: Stage) -> None:
    """A prompt in two versions that a trial compared."""
    tab = await _prompts(stage, "Shop counter")
    if not tab.presenter.trials:
        await stage.session.call(partial(_try, stage=stage))
        await until(lambda: tab.presenter.trials, seconds=120)


async def prompt_fault(stage: Stage) -> None:
    """A misspelt variable, with the one that was meant."""
    tab = await _prompts(stage, "Terse")
    tab.editor.text.setPlainText("Call one tool. Today is {{dte}}. Say nothing else, or be {{tone}}.")
    await until(lambda: tab.presenter.fault())


async def prompt_new(stage: Stage) -> None:
    """The dialog of a new prompt."""
    await _prompts(stage, "Shop counter")
    stage.do(ids.NEW)
    await stage.sheet()


async def prompt_compare(stage: Stage) -> None:
    """The dialog that compares two versions."""
    await _prompts(stage, "Shop counter")
    stage.do(ids.COMPARE)
    await stage.sheet()


async def built_in(stage: Stage) -> None:
    """A workspace without prompts of its own."""
    welcome = stage.bench.frame.findChild(WelcomePage)
    if isinstance(welcome, WelcomePage) and welcome.isVisible():
        welcome.start_empty.click()
        await built(stage)
    await stage.page("models", ShowModels("prompts"))


async def _clients(stage: Stage) -> ClientsTab:
    page = await stage.page("models", ShowModels("clients"))
    assert isinstance(page, ModelsPage)
    page.open_target(ShowModels("clients"))
    tab = page.tab("clients")
    assert isinstance(tab, ClientsTab)
    return tab


async def _run_as_clients(core: Engine) -> None:
    if not any(" via " in model for one in await core.runs.batches() for model in one.models):
        names = ("plain-api", "claude-code", "codex-cli", "vscode")
        models = tuple(ModelSettings(client=core.clients.find(name).label) for name in names)
        batch = await core.runs.start(BatchRequest(name="As clients show it", models=models))
        await core.runs.wait(batch.id)


async def grid(stage: Stage) -> None:
    """Cases and clients, with runs; the selected case lost its tool in a search."""
    await stage.session.call(_run_as_clients)
    tab = await _clients(stage)
    tab.tabs.set_current(GRID)
    await until(lambda: any(row.runs for row in tab.presenter.rows.values()), seconds=120)
    row = next(row for row in tab.presenter.rows.values() if any(one.missed for one in row.cells.values()))
    tab.grid.table.select(row.case.id)
    tab.grid.detail.clients.select(next(name for name, one in row.cells.items() if one.missed))


async def profiles(stage: Stage) -> None:
    """A profile with the source of each figure."""
    tab = await _clients(stage)
    tab.show_item("claude-code")
    await until(lambda: tab.profiles.facts.rows.ids())


async def no_tools(stage: Stage) -> None:
    """A workspace whose servers listed nothing."""
    await built_in(stage)
    tab = await _clients(stage)
    await until(lambda: tab.presenter.empty)


async def profile_fault(stage: Stage) -> None:
    """A profile with a limit of 0, which is not kept."""
    tab = await _clients(stage)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "mine.yaml"
        file.write_text("name: mine\ntitle: Mine\nversion: 1\nchecked: '2026-11-26'\nmost_tools: 0\n", "utf-8")
        await tab.add(file)


EMPTY_SCENES = {"models-prompts": built_in, "models-clients": no_tools}
SCENES = {
    "models-prompts": prompt,
    "models-prompt-fault": prompt_fault,
    "models-prompt-new": prompt_new,
    "models-prompt-compare": prompt_compare,
    "models-clients": grid,
    "models-client-profiles": profiles,
    "models-client-fault": profile_fault,
}
"""Scenes of the empty and of the full workspace."""
