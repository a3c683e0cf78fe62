"""A workspace in which there is one of nearly everything, so that every count of it is 1."""

from mcp_tef.model.answers import ActualCall, Answer, ConfidenceSource
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.runs import BatchRequest, ModelSettings
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.ports import Question
from tests.support.fake_engine import FakeEngine, made_tool

ONLY_SERVER, ONLY_TEXT = "docs", "Read the whole of a file"
MODEL = ModelSettings(provider="ollama", model="qwen3:8b")
PARAMETERS = {"path": {"type": "string", "enum": ["a.txt"], "description": "Where it lies", "maxLength": 1}}


async def singleton_engine(tools: int) -> FakeEngine:
    """A core with one server of so many tools, one case, and one run of it."""
    listed = [made_tool(f"{ONLY_SERVER}_{number}", ONLY_TEXT, ONLY_SERVER, ["path"], **PARAMETERS) for number in range(tools)]
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
    return engine


def _only_answer(_: Question) -> Answer:
    call = ActualCall(tool=f"{ONLY_SERVER}_0", server=ONLY_SERVER, arguments={"path": "a.txt"})
    return Answer(calls=(call,), confidence=0.9, confidence_source=ConfidenceSource.SELF_REPORTED)
