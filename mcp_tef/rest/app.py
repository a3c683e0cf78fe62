"""The application: all operations over one engine, with one shape of errors, behind the guard."""

import asyncio
from typing import Any, Final

from fastapi import Depends, FastAPI
from fastapi.responses import HTMLResponse
from pydantic import BaseModel

from mcp_tef import VERSION, Engine
from mcp_tef.rest import batch_routes, case_routes, run_routes, server_routes, similarity_routes, tool_routes
from mcp_tef.rest.case_pages import CasePages, KeptPages
from mcp_tef.rest.docs_page import docs_page
from mcp_tef.rest.errors import STATUSES, add_error_handlers
from mcp_tef.rest.parameters import require_known_query
from mcp_tef.rest.request_guard import AccessRules, RequestGuard

MOST_SINGLE_RUNS: Final = 16
"""Single runs at a time; further ones wait, so that callers cannot ask a provider without bounds."""
ROUTERS: Final = (
    case_routes.router,  # first, since its pages are asked most
    server_routes.router,
    tool_routes.router,
    run_routes.router,
    batch_routes.router,
    similarity_routes.router,
)


class HealthAnswer(BaseModel):
    """The state of the service."""

    status: str
    version: str


async def get_health() -> HealthAnswer:
    """Tell that the service is up; answers without a token."""
    return HealthAnswer(status="healthy", version=VERSION)


async def get_root() -> dict[str, str]:
    """Name the service and where its operations are described."""
    return {"name": "mcp-tef", "version": VERSION, "docs": "/docs", "openapi": "/openapi.json"}


def create_app(engine: Engine, rules: AccessRules) -> RequestGuard:
    """Return the application over an open engine. From now on, keys of models come with requests only."""
    engine.keys.use_given_only()
    app = described_app()
    app.state.engine = engine
    app.state.case_pages = pages = CasePages(engine)
    app.state.single_runs = asyncio.Semaphore(MOST_SINGLE_RUNS)
    return RequestGuard(KeptPages(app, pages), rules)


def described_app() -> FastAPI:
    """Return the operations with their OpenAPI document, without an engine."""
    app = FastAPI(
        title="mcp-tef",
        version=VERSION,
        summary="Will a language model select your MCP tool, with the right arguments?",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        dependencies=[Depends(require_known_query)],
    )
    app.add_api_route("/health", get_health, tags=["service"], responses=STATUSES)
    app.add_api_route("/", get_root, tags=["service"], responses=STATUSES)
    app.add_api_route("/docs", _docs_of(app), include_in_schema=False, response_class=HTMLResponse)
    for router in ROUTERS:
        app.include_router(router, responses=STATUSES)
    add_error_handlers(app)
    return app


def _docs_of(app: FastAPI) -> Any:
    async def get_docs() -> HTMLResponse:
        return HTMLResponse(docs_page(app.openapi()))

    return get_docs
