"""Operations on tools: those of the library are added and deleted, those of servers and runs are read."""

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from mcp_tef import ConflictError, Engine, InputError, NotFoundError, RunId, Server, ServerId, ToolDesign
from mcp_tef.rest.parameters import EngineOf, Limit, Offset, page_of
from mcp_tef.rest.schemas import AnswerPage, ToolAnswer, ToolCreate, library_answer, tool_answer

router = APIRouter(prefix="/tools", tags=["tools"])


@router.post("", status_code=201)
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


@router.get("")
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
    return page_of(found, limit, offset)


@router.get("/{tool_id}")
async def get_tool(engine: EngineOf, tool_id: str) -> ToolAnswer:
    """Return a tool."""
    return await _find(engine, tool_id)


@router.delete("/{tool_id}", status_code=204)
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
