"""Answers of models as nobody should write them: any type anywhere in a chat completion, and what becomes of each."""

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from mcp_tef import (
    BatchRequest,
    BatchStatus,
    CaseDraft,
    Engine,
    Expectation,
    ExpectedCall,
    ModelSettings,
    RunFilter,
    RunStatus,
    RunSummary,
    ServerSpec,
    Transport,
)
from tests.support import workspace_files
from tests.support.model_replies import Received, Reply
from tests.support.model_stub import ModelStub

_NUMBERS = (
    "0", "-1", "-1000000", "1.5", "1e3", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "1000000000", "1000000001",
    str(2**31), str(2**63 - 1), str(2**63), str(-(2**63) - 1), str(10**18), "9" * 400, "9" * 4300, "9" * 4301, "-0",
)  # fmt: skip
_DEPTHS = (2, 60, 101, 900, 3_000, 100_000)
_TEXTS = st.one_of(
    st.text(max_size=30),
    st.text(st.characters(codec=None, categories=["Cs", "Cc", "L", "Sm"]), max_size=10),
    st.sampled_from(["", "\x00", "\ud800", "\udfff\ud800", "\u202e", "weather_report", "Confidence: 9", "{"]),
    st.integers(1_000, 200_000).map(lambda length: "x" * length),
)  # fmt: skip
_SCALARS = st.one_of(st.sampled_from(("null", "true", "false", *_NUMBERS)), _TEXTS.map(json.dumps))
_DEEP = st.builds(
    lambda levels, pair: pair[0] * levels + "1" + pair[1] * levels,
    st.sampled_from(_DEPTHS),
    st.sampled_from([("[", "]"), ('{"a":', "}")]),
)


def _object(pairs: Sequence[tuple[str, str]]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in pairs) + "}"


def _list(items: Sequence[str]) -> str:
    return "[" + ",".join(items) + "]"


_NAMES = st.one_of(st.sampled_from(["city", "a", "calls", "tool", "arguments"]), st.text(max_size=8))
_VALUES = st.recursive(
    st.one_of(*[_SCALARS] * 12, _DEEP),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(_list), st.lists(st.tuples(_NAMES, inner), max_size=4).map(_object)
    ),
    max_leaves=6,
)
"""JSON texts, and texts that are nearly JSON: duplicate keys, NaN, numbers of any length, any depth."""


_ARGUMENTS = st.one_of(
    _VALUES,
    st.lists(st.tuples(_NAMES, _VALUES), max_size=5).map(_object),
    st.just('{"city": "Bergen", "city": "Oslo"}'),
    _TEXTS,
)
_COUNTS = st.sampled_from(_NUMBERS) | _VALUES
_PLACES: dict[str, tuple[str, st.SearchStrategy[str]]] = {
    "id": ('"x"', _VALUES),
    "object": ('"chat.completion"', _VALUES),
    "created": ("1700000000", _VALUES),
    "model": ('"stub"', _VALUES),
    "choices": ("", _VALUES),
    "usage": ("", _VALUES),
    "choice": ("", _VALUES),
    "index": ("0", _VALUES),
    "finish_reason": ('"stop"', _VALUES),
    "message": ("", _VALUES),
    "role": ('"assistant"', _VALUES),
    "content": ("null", _VALUES | _ARGUMENTS.map(json.dumps)),
    "refusal": ("null", _VALUES),
    "tool_calls": ("", _VALUES),
    "call": ("", _VALUES),
    "call id": ('"c"', _VALUES),
    "type": ('"function"', _VALUES),
    "function": ("", _VALUES),
    "name": ('"weather_report"', _VALUES),
    "arguments": (json.dumps('{"city": "Oslo"}'), _VALUES),
    "argument text": ("", _ARGUMENTS.map(json.dumps)),
    "prompt_tokens": ("120", _COUNTS),
    "completion_tokens": ("30", _COUNTS),
    "total_tokens": ("150", _COUNTS),
    "prompt_tokens_details": ("null", _VALUES),
}
"""Where an answer can be wrong: the text of a sound one (none where it is put together), and what may stand there."""


@st.composite
def _completions(draw: st.DrawFn) -> str:
    """A chat completion, sound but for one to three places (another value, twice, or missing); seldom any JSON."""
    if not draw(st.integers(0, 29)):
        return draw(_VALUES)
    wrong = draw(st.lists(st.sampled_from([*_PLACES, "argument text", "content"]), min_size=1, max_size=3, unique=True))
    fates = {place: draw(st.sampled_from(["replaced", "replaced", "replaced", "twice", "missing"])) for place in wrong}
    texts = {place: draw(_PLACES[place][1]) for place in wrong}

    def pairs(place: str, key: str = "", sound: str = "") -> list[tuple[str, str]]:
        key, sound = key or place, sound or _PLACES[place][0]
        if place == "arguments" and "argument text" in texts:
            sound = texts["argument text"]
        match fates.get(place):
            case "replaced":
                return [(key, texts[place])]
            case "twice":
                return [(key, texts[place]), (key, sound)]
            case "missing":
                return []
            case _:
                return [(key, sound)]

    def listed(place: str, sound: str) -> str:
        return _list([text for _, text in pairs(place, sound=sound)])

    function = _object([*pairs("name"), *pairs("arguments")])
    call = _object([*pairs("call id", "id"), *pairs("type"), *pairs("function", sound=function)])
    calls = listed("call", call)
    message = [*pairs("role"), *pairs("content"), *pairs("refusal"), *pairs("tool_calls", sound=calls)]
    choice = [*pairs("index"), *pairs("finish_reason"), *pairs("message", sound=_object(message))]
    counts = ("prompt_tokens", "completion_tokens", "total_tokens", "prompt_tokens_details")
    usage = _object([pair for name in counts for pair in pairs(name)])
    head = [pair for name in ("id", "object", "created", "model") for pair in pairs(name)]
    choices = pairs("choices", sound=listed("choice", _object(choice)))
    return _object([*head, *choices, *pairs("usage", sound=usage)])


def generated(number: int) -> list[str]:
    """So many answers, as texts."""
    found: list[str] = []

    @settings(
        max_examples=number, database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck]
    )
    @given(_completions())
    def collect(answer: str) -> None:
        found.append(answer)

    collect()
    return found


async def ends_of(answers: Sequence[str], folder: Path) -> list[RunSummary]:
    """Run one case for each answer over real HTTP into a workspace; the runs as they are stored when it is reopened.

    AssertionError if the batch does not complete, or a run is neither completed nor failed.
    """
    workspace = folder / "work.db"
    engine = await Engine.open(workspace, environment={})
    with ModelStub(lambda request: _reply(request, answers)) as stub:
        stub.keep_requests = False
        tools = workspace_files.tools_file(folder)
        await engine.servers.add(ServerSpec(name="city", transport=Transport.FILE, path=str(tools)))
        await engine.cases.add([_draft(number) for number in range(len(answers))])
        model = ModelSettings(provider="openai", model="stub", base_url=stub.url, max_retries=0, timeout=60)
        batch = await engine.runs.start(BatchRequest(models=(model,), concurrency=8))
        ended = await engine.runs.wait(batch.id)
    await engine.close()
    assert ended.status is BatchStatus.COMPLETED
    engine = await Engine.open(workspace, environment={})
    runs = await engine.runs.list(RunFilter(batch_id=batch.id))
    for run in runs:
        await engine.runs.detail(run.id)
    await engine.close()
    assert len(runs) == len(answers)
    left = [run for run in runs if run.status not in (RunStatus.COMPLETED, RunStatus.FAILED)]
    assert not left, left[:3]
    return list(runs)


def _draft(number: int) -> CaseDraft:
    expected = Expectation(((ExpectedCall(tool="weather_report", parameters={"city": "Oslo"}),),))
    return CaseDraft(name=f"Case {number}", query=f"weather {number}", expectation=expected, servers=("city",))


def counted(runs: Sequence[RunSummary]) -> Counter[str]:
    """How many runs ended in each way: by kind of verdict, or by code of failure."""
    return Counter(
        f"failed: {run.failure.code}" if run.failure else f"completed: {run.kind.value if run.kind else 'no verdict'}"
        for run in runs
    )


def _reply(request: Received, answers: Sequence[str]) -> Reply:
    return Reply(body=answers[int(request.query.split()[-1])])
