"""Operations on servers, on the quality of their tools, and on tools of the library."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Body, Query, Response
from pydantic import BaseModel, Field

from mcp_tef import (
    ConflictError,
    Engine,
    InputError,
    NotFoundError,
    ReachError,
    RunId,
    Server,
    ServerId,
    ServerSpec,
    SourceKind,
    ToolDesign,
    ToolSource,
    Transport,
    quality_to_json,
    require_no_credentials,
    secrets_in,
)
from mcp_tef.rest.parameters import EngineOf, KeyHeader, Limit, Offset, keys_of, page_of, require_allowed
from mcp_tef.rest.schemas import (
    AnswerPage,
    ModelSettingsCreate,
    RequestFields,
    ServerAnswer,
    ServerChange,
    ServerCreate,
    ToolAnswer,
    ToolCreate,
    library_answer,
    server_answer,
    tool_answer,
)

CHECK_SECONDS: Final = 1.8
"""Time for the check of a new server; a slower one goes on while the answer says `starting`."""
router = APIRouter(prefix="/mcp-servers", tags=["mcp-servers"])


class QualityRequest(RequestFields):
    """A model that reviews the tools beside the lint rules, and the most that it may cost."""

    model_settings: ModelSettingsCreate | None = None
    max_cost_usd: float | None = Field(default=None, gt=0, le=1e6)


class QualityAnswer(BaseModel):
    """The quality of the tools of a server, as `mcp-tef quality --json` has it."""

    server_id: str
    server_name: str
    analysis: dict[str, Any]


def _answer(engine: Engine, server: Server) -> ServerAnswer:
    return server_answer(server, consent_needed=engine.consents.needed(server.spec))


@router.post("", status_code=201)
async def create_server(engine: EngineOf, body: ServerCreate) -> ServerAnswer:
    """Register a server and check that it can be reached; its tools are listed when a case runs.

    Before somebody agreed at the machine, a program (stdio) is not started, and an address that the service was not
    started with (--allow-origin) is not contacted.
    """
    spec = body.spec()
    await _require_new(engine, spec)
    await _allow_caller(engine, spec)
    return await _checked(engine, await engine.servers.add(spec))


async def _allow_caller(engine: Engine, spec: ServerSpec) -> None:
    """Let an address be contacted that the service was started for, while it runs; any other waits for a consent."""
    if spec.url and engine.consents.names_origin(spec.url):
        require_allowed(engine, spec.url)
        await engine.consents.add_typed_server(spec, remember=False)


@router.get("")
async def list_servers(engine: EngineOf, limit: Limit = 50, offset: Offset = 0) -> AnswerPage[ServerAnswer]:
    """List the servers, by name."""
    return page_of(await engine.servers.list(), limit, offset, partial(_answer, engine))


@router.get("/{server_id}")
async def get_server(engine: EngineOf, server_id: str) -> ServerAnswer:
    """Return a server."""
    return _answer(engine, await engine.servers.get(ServerId(server_id)))


@router.patch("/{server_id}")
async def update_server(engine: EngineOf, server_id: str, body: ServerChange) -> ServerAnswer:
    """Change a server and check it again."""
    server = await engine.servers.get(ServerId(server_id))
    if server.spec.transport is Transport.FILE:
        raise ConflictError("Tools files are not changed over REST.", hint="Change it at the machine.")
    spec = replace(server.spec, **body.fields())
    await _require_new(engine, spec, server)
    if body.url:
        await _allow_caller(engine, spec)
    return await _checked(engine, await engine.servers.edit(server.id, spec, seen=server.spec))


@router.delete("/{server_id}", status_code=204)
async def delete_server(engine: EngineOf, server_id: str) -> Response:
    """Delete a server."""
    server = await engine.servers.get(ServerId(server_id))
    await engine.servers.remove([server.id])
    return Response(status_code=204)


@router.post("/{server_id}/analyze-tool-quality")
async def analyze_tool_quality(
    engine: EngineOf,
    server_id: str,
    body: Annotated[QualityRequest | None, Body()] = None,
    key: KeyHeader = None,
) -> QualityAnswer:
    """List the tools of a server afresh and return findings, worst tools first; a model reviews them if it is named."""
    asked = body or QualityRequest()
    server = await engine.servers.get(ServerId(server_id))
    model = asked.model_settings.settings() if asked.model_settings else None
    engine.consents.require(server.spec)
    source = ToolSource(kind=SourceKind.SERVERS, names=(server.name,))
    tools = await engine.tools.gather(source, fresh=True, at_least=1, broken_too=True)
    if tools.unreachable and not tools.tools:
        raise ReachError(tools.unreachable[0].reason, hint=tools.unreachable[0].hint)
    keys = keys_of(engine, key, [model] if model else [])
    report = await engine.quality.review(tools, model=model, keys=keys, max_cost_usd=asked.max_cost_usd)
    return QualityAnswer(server_id=server.id, server_name=server.name, analysis=quality_to_json(report))


async def _checked(engine: Engine, server: Server) -> ServerAnswer:
    """Return the server after its check, or while that is still under way."""
    if not engine.consents.needed(server.spec):
        try:
            async with asyncio.timeout(CHECK_SECONDS):
                server = await engine.servers.check(server.id)
        except TimeoutError:
            server = await engine.servers.get(server.id)
    return _answer(engine, server)


async def _require_new(engine: Engine, spec: ServerSpec, before: Server | None = None) -> None:
    """Raise InputError for secrets in a definition, ConflictError for an address that another server has."""
    others = [one for one in await engine.servers.list() if before is None or one.id != before.id]
    if spec.url:
        require_no_credentials(spec.url)
        if any(one.spec.url == spec.url for one in others):
            raise ConflictError("Another server has that address already.", hint="Use that server.")
    if secrets_in({name: text for name, text in spec.env.items() if not text.startswith("${")}):
        hint = "Write ${NAME}, and set NAME in the environment of mcp-tef."
        raise InputError("A variable of the program holds a secret, and definitions are stored.", hint=hint)


tool_router = APIRouter(prefix="/tools", tags=["tools"])


@tool_router.post("", status_code=201)
async def create_tool(engine: EngineOf, body: ToolCreate) -> ToolAnswer:
    """Add a tool to the library, as a draft: cases of the server “Library” are offered it at once."""
    server = await engine.library.server()
    if body.mcp_server_id not in (None, server.id):
        hint = f"Leave mcp_server_id out, or name the library: {server.id}"
        raise InputError("Tools are added to the library only; servers list their own.", hint=hint)
    design = ToolDesign(
        name=body.name,
        description=body.description,
        input_schema=body.input_schema,
        output_schema=body.output_schema,
        config={"answer": ""},
    )
    return library_answer(await engine.library.add(design), server)


@tool_router.get("")
async def list_tools(
    engine: EngineOf,
    mcp_server_id: Annotated[str | None, Query(description="only those of a server")] = None,
    test_run_id: Annotated[str | None, Query(description="those that were offered in a run")] = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> AnswerPage[ToolAnswer]:
    """List the tools of the library and of all servers as last listed, or those of one run."""
    servers = await engine.servers.list()
    if test_run_id is not None:
        found = await _of_run(engine, RunId(test_run_id), servers)
    else:
        found = await _known(engine, servers)
    if mcp_server_id is not None:
        await engine.servers.get(ServerId(mcp_server_id))
        found = [tool for tool in found if tool.mcp_server_id == mcp_server_id]
    return page_of(found, limit, offset, lambda tool: tool)


@tool_router.get("/{tool_id}")
async def get_tool(engine: EngineOf, tool_id: str) -> ToolAnswer:
    """Return a tool."""
    return await _find(engine, tool_id)


@tool_router.delete("/{tool_id}", status_code=204)
async def delete_tool(engine: EngineOf, tool_id: str) -> Response:
    """Delete a tool of the library."""
    tool = await _find(engine, tool_id)
    if tool.status is None:
        hint = "Exclude it at the machine: mcp-tef servers exclude."
        raise ConflictError("A server lists this tool, so that it cannot be deleted here.", hint=hint)
    await engine.library.delete([tool.name])
    return Response(status_code=204)


async def _find(engine: Engine, tool_id: str) -> ToolAnswer:
    for tool in await _known(engine, await engine.servers.list()):
        if tool.id == tool_id:
            return tool
    raise NotFoundError("There is no tool with that id.", hint="GET /tools lists them.")


async def _known(engine: Engine, servers: Sequence[Server]) -> list[ToolAnswer]:
    library = next((server for server in servers if server.spec.is_library), None)
    found = [library_answer(tool, library) for tool in await engine.library.list()]
    for server in servers:
        if not server.spec.is_library and (listing := await engine.servers.known_tools(server.id)):
            found += [tool_answer(tool, server.id, server.updated_at) for tool in listing.tools]
    return found


async def _of_run(engine: Engine, run_id: RunId, servers: Sequence[Server]) -> list[ToolAnswer]:
    detail, ids = await engine.runs.detail(run_id), {server.name: server.id for server in servers}
    at = detail.summary.created_at or (servers[0].created_at if servers else None)
    if detail.snapshot is None or at is None:
        return []
    offered = (item.tool for item in detail.snapshot.tools)
    return [tool_answer(tool, ids.get(tool.server), at, run_id) for tool in offered]
