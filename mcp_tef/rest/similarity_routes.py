"""Operations on the similarity of tools; nothing of them is stored."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final, Self

from fastapi import APIRouter
from pydantic import BaseModel, Field, model_validator

from mcp_tef import (
    EmbedderChoice,
    EmbedderKind,
    Engine,
    FlagRule,
    InputError,
    MatrixKind,
    ModelSettings,
    OverlapWeights,
    PairAdvice,
    ReachError,
    Recommendation,
    Similarity,
    SourceKind,
    ToolPair,
    ToolSet,
    ToolSource,
    parse_embedder,
    require_no_credentials,
)
from mcp_tef.rest.errors import without_answer
from mcp_tef.rest.parameters import EngineOf, KeyHeader, keys_of, require_allowed
from mcp_tef.rest.schemas import LONGEST_NAME, LONGEST_TEXT, AnswerFields, ModelSettingsCreate, RequestFields

MOST_TOOLS: Final = 1_000
MOST_PAIRS: Final = 100
TRANSPORT_ENDINGS: Final = (":streamable-http", ":sse")
router = APIRouter(prefix="/similarity", tags=["similarity"])


class ComparedDefinition(RequestFields):
    """A tool to compare, with a schema or with `parameters`: names and what they mean."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    description: str = Field("", max_length=LONGEST_TEXT)
    input_schema: dict[str, Any] | None = None
    parameters: dict[str, str] | None = None
    parameter: dict[str, str] | None = None

    def definition(self) -> dict[str, Any]:
        """Return the definition as a server lists it."""
        texts = self.parameters or self.parameter or {}
        properties = {name: {"type": "string", "description": text} for name, text in texts.items()}
        schema = self.input_schema or {"type": "object", "properties": properties}
        return {"name": self.name, "description": self.description, "inputSchema": schema}


class ComparedServer(RequestFields):
    """A server with its tools."""

    name: str = Field(min_length=1, max_length=LONGEST_NAME)
    tools: list[ComparedDefinition] = Field(max_length=MOST_TOOLS)


class SimilarityRequest(RequestFields):
    """Tools to compare, from exactly one source, and how."""

    server_list: list[ComparedServer] | None = Field(None, max_length=MOST_TOOLS)
    tool_list: list[ComparedDefinition] | None = Field(None, max_length=MOST_TOOLS)
    url_list: list[str] | None = Field(None, min_length=1, max_length=100)
    embedding_model: str | None = Field(None, max_length=LONGEST_NAME)
    similarity_threshold: float = Field(0.85, ge=0, le=1)
    compute_full_similarity: bool = False
    include_recommendations: bool = False
    model_settings: ModelSettingsCreate | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(one is not None for one in (self.server_list, self.tool_list, self.url_list)) != 1:
            raise ValueError("give exactly one of server_list, tool_list and url_list")
        return self

    def source(self) -> ToolSource:
        """Return where the tools come from; InputError for an address that holds a secret or a variable."""
        if self.url_list is not None:
            return ToolSource(kind=SourceKind.URLS, names=tuple(map(_address, self.url_list)))
        definitions = [one.definition() for one in self.tool_list or ()]
        for server in self.server_list or ():
            definitions += [one.definition() | {"server": server.name} for one in server.tools]
        return ToolSource(kind=SourceKind.TOOLS, definitions=tuple(definitions))

    def embedder(self) -> EmbedderChoice | None:
        """Return the embedder; InputError for a folder of this machine, which only its own user names."""
        choice = parse_embedder(self.embedding_model) if self.embedding_model else None
        if choice and choice.kind is EmbedderKind.FOLDER:
            raise InputError("Folders are not taken over REST.", hint="Start the service with EMBEDDING_MODEL_TYPE.")
        return choice

    def model(self) -> ModelSettings | None:
        """Return the model that writes recommendations, if one was named."""
        return self.model_settings.settings() if self.model_settings else None


def _address(url: str) -> str:
    """Return an address without the transport behind it, which is found by asking."""
    for ending in TRANSPORT_ENDINGS:
        url = url.removesuffix(ending)
    require_no_credentials(url)
    if "$" in url:
        raise InputError("Addresses over REST take no variables.", hint="Write the whole address.")
    return url


class FlaggedPair(BaseModel):
    """Two tools that are similar."""

    tool_a_id: str
    tool_b_id: str
    similarity_score: float
    full_similarity_score: float | None
    method: str
    flagged: bool
    confusability: float


class MatrixAnswer(BaseModel):
    """Scores of all pairs from 0 to 1, and the pairs from the threshold on."""

    tool_ids: list[str]
    matrix: list[list[float]]
    threshold: float
    flagged_pairs: list[FlaggedPair]
    embedder: str
    notice: str | None
    unreachable: list[dict[str, str]]
    generated_at: datetime


class AdviceIssue(AnswerFields):
    """Why two tools are hard to tell apart."""

    issue_type: str
    description: str
    priority: str
    evidence: list[str]


class AdviceItem(AnswerFields):
    """A change of one tool; `apply_commands` is an RFC 6902 patch of its server's list of tools."""

    issue: str
    tool_id: str
    recommendation: str
    rationale: str
    priority: str
    revised_description: str
    apply_commands: list[dict[str, Any]]


class AdviceAnswer(BaseModel):
    """Issues of two tools with recommendations."""

    tool_pair: tuple[str, str]
    similarity_score: float
    issues: list[AdviceIssue]
    recommendations: list[AdviceItem]
    error_message: str | None


class AnalysisAnswer(MatrixAnswer):
    """A matrix, and recommendations for the flagged pairs where they were asked for."""

    recommendations: list[AdviceAnswer] | None


class OverlapAnswer(BaseModel):
    """Weighed overlap of all pairs by meaning, parameters and wording."""

    tool_ids: list[str]
    matrix: list[list[float]]
    dimensions: dict[str, float]
    generated_at: datetime


@router.post("/analyze")
async def analyze(engine: EngineOf, body: SimilarityRequest, key: KeyHeader = None) -> AnalysisAnswer:
    """Compare every tool with every other, and say how to tell the flagged ones apart if asked."""
    found = await _compared(engine, body, key)
    flagged = list(found.flagged(_rule(body)))
    advice = None
    if body.include_recommendations:
        pairs = sorted(flagged, key=lambda pair: -pair.confusability)[:MOST_PAIRS]
        advice = await _advice(engine, found, [(pair.a, pair.b) for pair in pairs], body, key)
    matrix = await _matrix(engine, found, body, flagged)
    return AnalysisAnswer(**dict(matrix), recommendations=advice)


@router.post("/matrix")
async def similarity_matrix(engine: EngineOf, body: SimilarityRequest, key: KeyHeader = None) -> MatrixAnswer:
    """Return the similarity of every pair."""
    found = await _compared(engine, body, key)
    return await _matrix(engine, found, body, list(found.flagged(_rule(body))))


@router.post("/overlap-matrix")
async def overlap_matrix(engine: EngineOf, body: SimilarityRequest, key: KeyHeader = None) -> OverlapAnswer:
    """Return the weighed overlap of every pair."""
    found = await _compared(engine, body, key)
    overlap = await engine.similarity.overlap(found)
    return OverlapAnswer(
        tool_ids=_ids(found),
        matrix=await asyncio.to_thread(_rows, overlap.matrix),
        dimensions=asdict(OverlapWeights()),
        generated_at=datetime.now(UTC),
    )


@router.post("/recommendations")
async def recommendations(engine: EngineOf, body: SimilarityRequest, key: KeyHeader = None) -> AdviceAnswer:
    """Say how to tell two tools apart; takes exactly two."""
    found = await _compared(engine, body, key, full=True)
    if len(found) != 2:
        raise InputError(f"Recommendations take exactly 2 tools, and there are {len(found)}.", hint="Send a pair.")
    (advice,) = await _advice(engine, found, [(0, 1)], body, key)
    return advice


def _rule(body: SimilarityRequest) -> FlagRule:
    return FlagRule(body.similarity_threshold, MatrixKind.SIMILARITY)


async def _compared(
    engine: Engine, body: SimilarityRequest, key: str | None, *, full: bool | None = None
) -> Similarity:
    choice = body.embedder()
    source = body.source()
    for url in source.names:
        require_allowed(engine, url)
    tools = await engine.tools.gather(source)
    _require_comparable(tools)
    secret = None
    if choice and choice.kind in (EmbedderKind.LITELLM, EmbedderKind.HTTP):
        address = choice.target if choice.kind is EmbedderKind.HTTP else choice.base_url
        if address:
            require_allowed(engine, address)
            engine.consents.add_typed_embedder(choice, remember=False)
        provider = choice.target.partition("/")[0]
        typed = keys_of(engine, key, [ModelSettings(provider=provider, model="embedder")])
        secret = engine.models.embedder_key(choice, typed.get(provider))
    wanted = body.compute_full_similarity or body.include_recommendations if full is None else full
    return await engine.similarity.analyse(tools, embedder=choice, key=secret, full=wanted, strict=choice is not None)


def _require_comparable(tools: ToolSet) -> None:
    if len(tools.tools) > MOST_TOOLS:
        hint = "Use mcp-tef similarity at the machine."
        raise InputError(f"{len(tools.tools):,} tools are more than {MOST_TOOLS:,}.", hint=hint)
    if len(tools.tools) < 2 and tools.unreachable:
        raise ReachError(tools.unreachable[0].reason, hint=tools.unreachable[0].hint)


async def _matrix(
    engine: Engine, found: Similarity, body: SimilarityRequest, flagged: Sequence[ToolPair]
) -> MatrixAnswer:
    scores = await engine.similarity.matrix(found, MatrixKind.SIMILARITY)
    ids, method = _ids(found), "description_overlap" if found.embedder == EmbedderKind.TFIDF else "embedding"
    return MatrixAnswer(
        tool_ids=ids,
        matrix=await asyncio.to_thread(_rows, scores),
        threshold=body.similarity_threshold,
        flagged_pairs=[_flagged(pair, ids, method) for pair in flagged],
        embedder=found.embedder,
        notice=found.notice,
        unreachable=[{"server": one.server, "reason": one.reason} for one in found.unreachable],
        generated_at=datetime.now(UTC),
    )


def _flagged(pair: ToolPair, ids: Sequence[str], method: str) -> FlaggedPair:
    return FlaggedPair(
        tool_a_id=ids[pair.a],
        tool_b_id=ids[pair.b],
        similarity_score=round(pair.similarity, 4),
        full_similarity_score=None if pair.full is None else round(pair.full, 4),
        method=method,
        flagged=True,
        confusability=round(pair.confusability, 4),
    )


def _rows(scores: Any) -> list[list[float]]:
    return [[round(float(score), 4) for score in row] for row in scores]


def _ids(found: Similarity) -> list[str]:
    return [_bare(one.id) for one in found.tools]


def _bare(tool_id: str) -> str:
    return tool_id.removeprefix("pasted/")


async def _advice(
    engine: Engine, found: Similarity, pairs: Sequence[tuple[int, int]], body: SimilarityRequest, key: str | None
) -> list[AdviceAnswer]:
    model = body.model()
    keys = keys_of(engine, key, [model]) if model else {}
    return [_advice_answer(one) for one in await engine.recommend.pairs(found, pairs, model=model, keys=keys)]


def _advice_answer(advice: PairAdvice) -> AdviceAnswer:
    issues = [AdviceIssue.of(one, issue_type=one.type, description=one.sentence) for one in advice.issues]
    return AdviceAnswer(
        tool_pair=(_bare(advice.a), _bare(advice.b)),
        similarity_score=round(advice.similarity, 4),
        issues=issues,
        recommendations=list(map(_advice_item, advice.recommendations)),
        error_message=without_answer(advice.failure.message) if advice.failure else None,
    )


def _advice_item(one: Recommendation) -> AdviceItem:
    return AdviceItem.of(
        one,
        tool_id=_bare(one.tool_id),
        recommendation=one.action,
        revised_description=one.revised,
        apply_commands=[dict(operation) for operation in one.patch],
    )
