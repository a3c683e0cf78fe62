"""The page /docs: every operation with its fields, from the OpenAPI document, without scripts or foreign hosts."""

import json
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

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
