"""Workspaces in memory for tours of the window: one full of hostile texts, and one with one of each thing."""

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_tef.errors import ModelError, ModelFault, ServerError, ServerFault
from mcp_tef.model.answers import ActualCall, Answer, ConfidenceSource
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.draft_edits import ToolEdit
from mcp_tef.model.library import ToolDesign
from mcp_tef.model.model_groups import Deployment, ModelGroup
from mcp_tef.model.model_routers import ModelRoute, ModelRouter
from mcp_tef.model.runs import BatchRequest, ModelSettings
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Tool, ToolProblem
from mcp_tef.model.web_search import SearchProvider, SearchTool
from mcp_tef.ports import Question
from tests.support.fake_engine import FakeEngine, made_tool

PICTURE = "http://127.0.0.1:9/picture.png"
MARKUP = f"<img src='{PICTURE}'><script>alert(1)</script><a href='http://evil.test/'>here</a><b>bold</b>"
HOSTILE: Mapping[str, str] = {
    "html": MARKUP,
    "qt": "<qt><h1>Big</h1><table><tr><td><img src='file:///etc/hostname'></td></tr></table></qt>",
    "markdown": "[click](http://evil.test/) ![x](file:///etc/hostname) `code` # Head & foot &amp;",
    "bidi": "safe\u202egnp.exe\u202c \u2066x\u2069 \u200ftxt",
    "controls": "a\x00b\x1b[2Jc\x07d\x7fe\x85f\x9b31m",
    "zero width": "pay\u200bpal pay\u200dpal\ufeff\u2060\u00ad",
    "tags": "plain\U000e0041\U000e0042",
    "surrogates": "lone \ud800 and \udfff",
}
ALL = " ".join(HOSTILE.values())
HUGE = "\n".join([*(f"{number} {MARKUP}" for number in range(2_000)), f"{ALL} {'x' * 150_000}"])
LONGEST_PART, LONGEST_DESCRIPTION, LONGEST_DISPLAY_NAME = 1_000, 30_000, 200
MODEL = ModelSettings(provider="ollama", model="qwen3:8b")


async def hostile_engine(text: str, name: str) -> FakeEngine:
    """A core with servers, tools, cases and runs that are made of a text, and of another where names stand."""
    tools = [_tool(f"{name} {number}", text, name) for number in range(3)]
    failed = ServerError(ServerFault.EXITED, f"It ended: {text}", hint=text, context={"stderr": text, text[:50]: text})
    engine = FakeEngine({name: tools, f"{name} gone": failed}, script=lambda question: _answer(question, text, name))
    engine.gateway.problems = (ToolProblem(name, text), ToolProblem(None, text))
    for server in (name, f"{name} gone"):
        added = await engine.servers.add(_server(server, text))
        await engine.servers.check(added.id)
    await engine.cases.add(_cases(text, name))
    batch = await engine.runs.start(BatchRequest(models=(MODEL, ModelSettings()), repeats=2, name=name))
    await engine.runs.wait(batch.id)
    draft = await engine.drafts.new("Changed", server=name)
    await engine.drafts.remove_tool(draft.id, tools[-1].name)
    await engine.library.add(_library_tool(text[:LONGEST_PART], name[:LONGEST_PART]))
    await _add_models(engine, text[:LONGEST_PART])
    return engine


async def _add_models(engine: FakeEngine, text: str) -> None:
    """A group, a router and a search tool."""
    model = f"ollama/{text}"
    group = ModelGroup(name="group", deployments=(Deployment(provider="ollama", model=text),))
    route = ModelRoute(target=model, utterances=(text,), description=text)
    router = ModelRouter(name="router", routes=(route,), default="group/group", embedder="tfidf")
    await engine.targets.add_all([group], [router])
    await engine.searches.add(SearchTool(name="search", provider=SearchProvider.BRAVE, description=text))


def _library_tool(text: str, name: str) -> ToolDesign:
    properties = {"text": {"type": "string", "description": text, "enum": [text, "other"], "default": text}}
    return ToolDesign(
        name="weather",
        display_name=name[:LONGEST_DISPLAY_NAME],
        description=f"{name} {text}",
        tags=(text,),
        input_schema={"type": "object", "properties": properties},
        config={"answer": text},
    )


def _server(name: str, text: str) -> ServerSpec:
    return ServerSpec(
        name=name,
        transport=Transport.STREAMABLE_HTTP,
        url=f"http://127.0.0.1/{len(name)}/{text[:2_000]}",
        headers={text[:200]: text[:200]},
        origin=text[:200],
    )


def _tool(name: str, whole: str, server: str) -> Tool:
    """A definition as large as servers may send one."""
    text, description = whole[:LONGEST_PART], whole[:LONGEST_DESCRIPTION]
    properties = {
        "text": {"type": "string", "description": text, "enum": [text, "other"], "default": text, "title": text},
        name: {"type": [text, "string"], "pattern": text, "format": text, "examples": [text]},
    }
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": ["text", name], "$comment": text}
    raw = {
        "name": name,
        "title": text,
        "description": description,
        "inputSchema": schema,
        "annotations": {"title": text},
    }
    return Tool(server=server, name=name, description=description, input_schema=schema, raw=raw)


def _cases(text: str, name: str) -> Sequence[CaseDraft]:
    whole = {"text": text[:LONGEST_PART], name: text[:LONGEST_PART]}
    calls = {
        f"right {text}": ExpectedCall(tool=f"{name} 0", server=name, parameters=whole),
        f"wrong {name}": ExpectedCall(tool=f"{name} 1", server=name),
        f"nothing {name}": None,
        f"broken {name}": ExpectedCall(tool=name, server=name),
        f"unreadable {name}": ExpectedCall(tool=f"{name} 2"),
    }
    return [
        CaseDraft(
            name=query[:LONGEST_PART],
            query=query,
            expectation=Expectation(((call,),)) if call else Expectation(),
            servers=(name,),
            suites=(name,),
            tags=(name,),
        )
        for query, call in calls.items()
    ]


def _answer(question: Question, text: str, name: str) -> Answer | ModelError:
    kind = question.query.split(" ", 1)[0]
    if kind == "broken":
        return ModelError(ModelFault.REJECTED, f"It said: {text}", hint=text, context={"body": text})
    call = ActualCall(tool=f"{name} 0", server=name, arguments={"text": f"{text}!", name: text, text[:300]: [text]})
    calls = {"unreadable": None, "nothing": (ActualCall(tool=text, arguments={}),)}
    return Answer(
        calls=calls.get(kind, (call,)),
        words=text,
        confidence=0.9,
        confidence_source=ConfidenceSource.SELF_REPORTED,
        raw_request=text,
        raw_response=text,
    )


ONLY_SERVER, ONLY_TEXT = "docs", "Read the whole of a file"
PARAMETERS = {"path": {"type": "string", "enum": ["a.txt"], "description": "Where it lies", "maxLength": 1}}


async def singleton_engine(tools: int) -> FakeEngine:
    """A core with one server of so many tools, one case, one run of it, and one draft."""
    listed = [
        made_tool(f"{ONLY_SERVER}_{number}", ONLY_TEXT, ONLY_SERVER, ["path"], **PARAMETERS) for number in range(tools)
    ]
    engine = FakeEngine({ONLY_SERVER: listed}, script=_only_answer)
    address = "http://127.0.0.1/1"
    server = await engine.servers.add(
        ServerSpec(name=ONLY_SERVER, transport=Transport.STREAMABLE_HTTP, url=address, headers={"X-One": "1"})
    )
    await engine.servers.check(server.id)
    expected = ExpectedCall(tool=f"{ONLY_SERVER}_0", server=ONLY_SERVER, parameters={"path": "a.txt"})
    case = CaseDraft(
        name=ONLY_TEXT,
        query=ONLY_TEXT,
        expectation=Expectation(((expected,),)),
        servers=(ONLY_SERVER,),
        suites=("first",),
        tags=("first",),
    )
    await engine.cases.add([case])
    batch = await engine.runs.start(BatchRequest(models=(MODEL,), repeats=1, name=ONLY_SERVER))
    await engine.runs.wait(batch.id)
    await engine.servers.tools(server.id)
    draft = await engine.drafts.new(ONLY_SERVER, server=ONLY_SERVER)
    await engine.drafts.edit(draft.id, f"{ONLY_SERVER}_0", ToolEdit(title=ONLY_TEXT))
    return engine


def _only_answer(_: Question) -> Answer:
    call = ActualCall(tool=f"{ONLY_SERVER}_0", server=ONLY_SERVER, arguments={"path": "a.txt"})
    return Answer(calls=(call,), confidence=0.9, confidence_source=ConfidenceSource.SELF_REPORTED)
