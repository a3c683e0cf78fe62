"""The workspace of the library and of the health of servers, and how a user gets to what is shown of them."""

import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from app.core_link.targets import ShowLibraryTool, ShowServerHealth
from app.screens.library import commands as ids
from app.screens.library.page import LibraryPage
from app.screens.library.view import DEFINITION, EXECUTIONS, RUN, VERSIONS
from app.screens.servers.page import ServersPage
from app.widgets import ScrollPane
from mcp_tef import (
    BatchRequest,
    CaseDraft,
    ConsentError,
    Engine,
    ExecutorKind,
    Expectation,
    ExpectedCall,
    ServerSpec,
    ToolDesign,
    ToolStatus,
    Transport,
)
from mcp_tef.model.health import ContactKind, ServerContact
from tests.shots.stage import Stage
from tests.support.windows import until

Show = Callable[[Stage], Awaitable[object]]
BIKES = ("road", "city", "cargo", "folding", "children")
FIT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "part_number": {"type": "string", "description": "Such as CH-012.", "pattern": "^[A-Z]{2}-\\d{3}$"},
        "bike": {"type": "string", "description": "Kind of bike.", "enum": list(BIKES)},
        "speeds": {"type": "integer", "minimum": 1, "maximum": 13},
        "wheel_mm": {"type": "integer", "description": "Rim, 622 if left out.", "default": 622},
    },
    "required": ["part_number", "bike"],
}
QUERY: dict[str, Any] = {
    "type": "object",
    "properties": {"query": {"type": "string", "description": "Words to look for."}},
    "required": ["query"],
}
SCRIPT = 'def run(input):\n    return {"fits": input["bike"] != "children", "why": "The chain line is the same."}\n'
TOOLS: tuple[tuple[str, str, str | None, dict[str, Any]], ...] = (
    ("check_fit", "Tell whether a spare part fits a bike, and if not, why. Needs the part number.", "Parts", FIT),
    ("compare_parts", "Compare two spare parts: weight, price and which bikes they fit.", "Parts", QUERY),
    ("find_parts", "Find spare parts by words. Returns part numbers and prices.", "Parts", QUERY),
    ("loan_bike_free", "Tell whether a loan bike is free on a day.", "Riders", QUERY),
    ("estimate_repair", "Estimate what a repair costs and how long it takes.", "Repairs", QUERY),
    ("workshop_load", "Tell how busy the workshop is in a week.", "Repairs", QUERY),
    ("ride_weather", "Tell the weather on a route, hour by hour.", "Riders", QUERY),
    ("town_events", "List events in town on a day.", None, QUERY),
)
QUERIES = (
    "Does the chain CH-012 fit my city bike?",
    "Will this spare part fit a folding bike, and if not, why?",
    "I have part number BR-204. Does it fit a cargo bike?",
    "Do these brake pads fit my children's bike?",
    "Find spare parts for a road bike",
)
STATUSES = {
    **dict.fromkeys(("check_fit", "compare_parts", "loan_bike_free", "ride_weather"), ToolStatus.ACTIVE),
    **dict.fromkeys(("estimate_repair",), ToolStatus.DEPRECATED),
    **dict.fromkeys(("workshop_load",), ToolStatus.DISABLED),
}


async def fill(engine: Engine) -> None:
    """Tools of a bike shop with versions and executions, and servers with an hour of contacts."""
    library = engine.library
    for path in ("Bike shop/Parts", "Bike shop/Repairs", "Bike shop/Riders"):
        await library.ensure_category(path)
    for name, description, category, schema in TOOLS:
        given: dict[str, Any] = {
            "description": description,
            "category": category and category.rpartition("/")[2],
            "input_schema": schema,
        }
        await library.add(ToolDesign(name=name, **given | _executor(name)))
    fit = (await library.find("check_fit")).design
    described = replace(fit, description="Check spare parts by their number.")
    await library.edit("check_fit", described, changelog="Names what it needs")
    for name, status in STATUSES.items():
        await library.set_status(name, ToolStatus.ACTIVE)
        if status is not ToolStatus.ACTIVE:
            await library.set_status(name, status)
    for query in ("chain CH-012", "brake pads", "inner tube"):
        await engine.library_runs.run("find_parts", {"query": query}, caller_id="Claude Desktop")
    await _evaluate(engine)
    await _fill_health(engine)


async def _evaluate(engine: Engine) -> None:
    """Cases that expect one tool, answered by the baseline before its last version and after it."""
    expected = Expectation(((ExpectedCall(tool="check_fit", server="Library"),),))
    await engine.cases.add(
        [CaseDraft(name=query, query=query, servers=("Library",), expectation=expected) for query in QUERIES]
    )
    await engine.runs.wait((await engine.runs.start(BatchRequest(name="Before"))).id)
    fit = (await engine.library.find("check_fit")).design
    description = (
        "Tell whether a spare part fits a bike, and if not, why. Needs the part number: without one, use "
        "find_parts first."
    )
    changelog = "Says what to do without a number"
    await engine.library.edit("check_fit", replace(fit, description=description), changelog=changelog)
    await engine.runs.wait((await engine.runs.start(BatchRequest(name="After"))).id)


def _executor(name: str) -> dict[str, Any]:
    if name == "check_fit":
        return {"executor": ExecutorKind.PYTHON, "config": {}, "script": SCRIPT}
    if name in ("compare_parts", "ride_weather"):
        config = {"method": "GET", "url": "http://127.0.0.1:9/search?q={query}", "result": "/items", "seconds": 5}
        return {"executor": ExecutorKind.HTTP, "config": config}
    if name == "estimate_repair":
        script = "import os\n\n\ndef run(input):\n    os.read(os.pipe()[0], 1)\n"
        return {"executor": ExecutorKind.PYTHON, "config": {}, "script": script}
    if name == "workshop_load":
        return {"executor": ExecutorKind.SHELL, "config": {"argv": ["calendar", "--week", "{query}"], "env": ["LANG"]}}
    if name == "town_events":
        return {"executor": ExecutorKind.MCP, "config": {"server": "github", "tool": "list_events", "seconds": 10}}
    if name == "loan_bike_free":
        config = {"base_url": "http://127.0.0.1:8080", "provider": "searxng", "count": 5}
        return {"executor": ExecutorKind.SEARCH, "config": config}
    return {"config": {"answer": "There are three of them: {query}."}}


async def _page(stage: Stage, tool: str) -> LibraryPage:
    page = await stage.page("library", ShowLibraryTool(tool))
    assert isinstance(page, LibraryPage)
    await until(lambda: page.presenter.rows)
    page.open_target(ShowLibraryTool(tool))
    await until(lambda: page.presenter.tool and page.presenter.tool.name == tool)
    await until(lambda: page.presenter.detail.versions)
    return page


def _tool(page: LibraryPage) -> ToolDesign:
    assert page.presenter.tool is not None
    return page.presenter.tool.design


async def definition(stage: Stage) -> None:
    """A tool with a schema, unchanged."""
    page = await _page(stage, "check_fit")
    page.view.tabs.set_current(DEFINITION)


async def changed(stage: Stage) -> None:
    """A changed definition, which can be saved."""
    page = await _page(stage, "estimate_repair")
    page.view.definition.description.setPlainText("Estimate the price of a repair.")
    page.view.definition.schema.add.click()
    await until(page.view.definition.bar.isVisible)


async def broken(stage: Stage) -> None:
    """JSON that cannot be read, and what is said about it."""
    page = await _page(stage, "check_fit")
    page.view.definition.schema.json.setPlainText('{"type": "object",\n  "properties": {\n    "part_number": ')
    await until(page.view.definition.bar.fault.text)


async def consent(stage: Stage) -> None:
    """A script that is not allowed, also where another window allowed it."""
    await stage.session.call(_revoke_scripts)
    page = await _page(stage, "check_fit")
    page.presenter.discard()
    await page.refresh()
    page.view.tabs.set_current(RUN)
    assert page.view.run.form is not None
    page.view.run.form.fill({"part_number": "CH-012", "bike": "city"})
    page.running.start()
    await until(page.view.run.consent.isVisible)


async def _revoke_scripts(core: Engine) -> None:
    for given in await core.servers.consents():
        if "def run" in repr(given):
            await core.servers.revoke_consent(given.fingerprint)


async def limits(stage: Stage) -> None:
    """The form of a schema with the limits of a parameter."""
    page = await _page(stage, "check_fit")
    page.view.tabs.set_current(DEFINITION)
    await until(lambda: len(page.view.definition.schema.rows) == len(FIT["properties"]))
    page.view.definition.schema.rows[2].more.click()


async def executor(stage: Stage, tool: str) -> None:
    """The settings of an executor as form and JSON."""
    page = await _page(stage, tool)
    page.view.tabs.set_current(DEFINITION)
    scroll = page.view.definition.findChildren(ScrollPane)[0]
    bar = scroll.verticalScrollBar()
    bar.setValue(bar.maximum())


async def failed(stage: Stage) -> None:
    """An execution that failed."""
    page = await _page(stage, "ride_weather")
    page.view.tabs.set_current(RUN)
    assert page.view.run.form is not None
    page.view.run.form.fill({"query": "to the lake"})
    await _allow(stage, page, _tool(page))
    page.running.start()
    await until(page.view.run.output.toPlainText)


async def running(stage: Stage) -> None:
    """An execution that takes long."""
    page = await _page(stage, "estimate_repair")
    page.presenter.discard()
    await page.refresh()
    page.view.tabs.set_current(RUN)
    assert page.view.run.form is not None
    page.view.run.form.fill({"query": "a bent wheel"})
    await _allow(stage, page, _tool(page))
    page.running.start()
    await until(page.view.run.cancel.isVisible)


async def _allow(stage: Stage, page: LibraryPage, design: ToolDesign) -> None:
    """Agree to what a tool starts or contacts."""
    try:
        await stage.session.call(lambda core: core.library_runs.require_consent(design))
    except ConsentError as error:
        for request in error.requests:
            await page.presenter.allow(request)


async def served(stage: Stage) -> None:
    """The dialog while the library is served at an address."""
    page = await _page(stage, "check_fit")
    for row in page.presenter.rows.values():
        await _allow(stage, page, row.tool.design)
    stage.do(ids.SERVE)
    await stage.sheet()
    page.serving.start()
    await until(lambda: page.serving.address)


async def output(stage: Stage) -> None:
    """A tool that answered."""
    page = await _page(stage, "find_parts")
    page.view.tabs.set_current(RUN)
    assert page.view.run.form is not None
    page.view.run.form.fill({"query": "chain"})
    page.running.start()
    await until(page.view.run.output.toPlainText)


async def versions(stage: Stage) -> None:
    """Versions, and in which fields the newest differs."""
    page = await _page(stage, "check_fit")
    page.view.tabs.set_current(VERSIONS)
    await until(page.view.versions.differences.rows.ids)


async def executions(stage: Stage) -> None:
    """Executions with their figures."""
    page = await _page(stage, "find_parts")
    page.view.tabs.set_current(EXECUTIONS)
    await until(page.view.executions.table.rows.ids)


async def new_tool(stage: Stage) -> None:
    """The dialog of a new tool."""
    await _page(stage, "check_fit")
    stage.do(ids.NEW)
    await stage.sheet()


async def serve(stage: Stage) -> None:
    """The dialog that explains how the library is served."""
    await _page(stage, "check_fit")
    stage.do(ids.SERVE)
    await stage.sheet()


async def _fill_health(engine: Engine) -> None:
    """An hour of contacts with servers that are well, slow and gone."""
    for name in ("github", "mail", "weather", "Maps"):
        await engine.servers.add(ServerSpec(name=name, transport=Transport.STDIO, command=f"{name.lower()}-mcp-server"))
    now = datetime.now(UTC)
    found = [*_contacts("mail", 800, now), *_contacts("github", 420, now), *_contacts("weather", 300, now)]
    await engine._store.contacts.record_contacts(sorted(found, key=lambda one: one.at))


def _contacts(server: str, usual: int, now: datetime) -> Iterator[ServerContact]:
    for minute in range(58, 0, -1):
        slow = server == "github" and minute < 25
        gone = server == "mail" and minute < 16
        failed = gone or (slow and minute % 3 == 0)
        taken = round(usual * (1 + 0.15 * math.sin(minute)) * (3 + minute % 4 / 2 if slow else 1))
        error = ("Could not connect." if gone else "Asked to wait 20 s (429).") if failed else None
        yield ServerContact(
            server=server,
            kind=(ContactKind.LISTING, ContactKind.CALL)[minute % 2],
            at=now - timedelta(minutes=minute, seconds=minute % 7),
            duration_ms=taken,
            error=error,
            failures=int(failed),
        )


async def found_nothing(stage: Stage) -> None:
    """A search that no tool fits."""
    page = await _page(stage, "check_fit")
    assert page.header.search is not None
    page.header.search.setText("timetable")
    await page.settled()


async def health(stage: Stage, server: str) -> ServersPage:
    """The health of servers, one of them selected."""
    page = await stage.page("servers", ShowServerHealth(server))
    assert isinstance(page, ServersPage)
    await until(lambda: page.health.pane.title.text().startswith(server))
    return page


async def watching(stage: Stage) -> None:
    """The same while all servers are watched."""
    page = await health(stage, "weather")
    page.health.watching.set_current("60")
    page.health.pane.watch("60")
    await page.settled()


SCENES: Mapping[str, Show] = {
    "library": definition,
    "library-changed": changed,
    "library-broken": broken,
    "library-consent": consent,
    "library-limits": limits,
    **{
        f"library-{kind}": partial(executor, tool=tool)
        for kind, tool in (
            ("http", "compare_parts"),
            ("python", "check_fit"),
            ("answer", "find_parts"),
            ("shell", "workshop_load"),
            ("mcp", "town_events"),
            ("search", "loan_bike_free"),
        )
    },
    "library-run": output,
    "library-failed": failed,
    "library-running": running,
    "library-versions": versions,
    "library-executions": executions,
    "library-new": new_tool,
    "library-serve": serve,
    "library-nothing-found": found_nothing,
    "health": partial(health, server="github"),
    "health-unknown": partial(health, server="Maps"),
    "health-healthy": partial(health, server="weather"),
    "health-unavailable": partial(health, server="mail"),
    "health-watching": watching,
    "library-served": served,
}
