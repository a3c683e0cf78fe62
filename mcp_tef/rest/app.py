"""The application: all operations over one engine, with one shape of errors, behind the guard; and the page /docs.

The page shows every operation with its fields from the OpenAPI document, without scripts or foreign files.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from fastapi import Depends, FastAPI
from fastapi.responses import HTMLResponse
from pydantic import BaseModel

from mcp_tef import VERSION, Engine
from mcp_tef.rest import batch_routes, case_routes, server_routes, similarity_routes
from mcp_tef.rest.case_routes import CasePages, KeptPages
from mcp_tef.rest.errors import STATUSES, add_error_handlers
from mcp_tef.rest.parameters import require_known_query
from mcp_tef.rest.request_guard import AccessRules, RequestGuard

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "code,pre{font-family:ui-monospace,monospace;font-size:13px}pre{background:#8881;padding:.6rem;overflow:auto}"
    "summary{cursor:pointer;padding:.3rem 0}table{border-collapse:collapse}td{padding:.1rem .8rem .1rem 0}"
)


def docs_page(document: Mapping[str, Any]) -> str:
    """Return the page."""
    info = document["info"]
    body = "".join(_operations(document))
    head = f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['summary'])}</p>"
    more = '<p>All operations as <a href="/openapi.json">OpenAPI</a>, for clients and generators.</p>'
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>mcp-tef</title><style>{_STYLE}</style>'
        f"{head}{more}{body}</html>"
    )


def _operations(document: Mapping[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"<details><summary><code>{method.upper()} {escape(path)}</code> {_first(operation)}</summary>"
            yield f"<p>{escape(operation.get('description', ''))}</p>"
            yield from _parameters(operation)
            yield from _body(document, operation)
            yield f"<p>Answers {escape(', '.join(operation['responses']))}.</p></details>"


def _first(operation: Mapping[str, Any]) -> str:
    return escape(operation.get("summary", ""))


def _parameters(operation: Mapping[str, Any]) -> Iterator[str]:
    for one in operation.get("parameters", ()):
        yield f"<div><code>{escape(one['name'])}</code> in {one['in']}: {escape(one.get('description', ''))} "
        yield f"<code>{escape(json.dumps(one['schema']))}</code></div>"


def _body(document: Mapping[str, Any], operation: Mapping[str, Any]) -> Iterator[str]:
    for content in operation.get("requestBody", {}).get("content", {}).values():
        text = json.dumps(_named(document, content["schema"]), indent=1, ensure_ascii=False)
        yield f"<pre>{escape(text)}</pre>"


def _named(document: Mapping[str, Any], schema: Mapping[str, Any]) -> Any:
    """Return a schema with the one that it names in its place."""
    reference = next((one["$ref"] for one in (schema, *schema.get("anyOf", ())) if "$ref" in one), None)
    return document["components"]["schemas"][reference.rpartition("/")[2]] if reference else schema


MOST_SINGLE_RUNS: Final = 16
"""Single runs at a time; further ones wait, so that callers cannot ask a provider without bounds."""
ROUTERS: Final = (
    case_routes.router,  # first, since its pages are asked most
    server_routes.router,
    server_routes.tool_router,
    batch_routes.run_router,
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
