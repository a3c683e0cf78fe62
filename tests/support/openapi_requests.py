"""Requests generated from an OpenAPI document by hypothesis, and the check of each answer by the same document."""

import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mcp_tef import CaseDraft, Engine, Secret, ServerSpec, Transport, expectation_from_json
from mcp_tef.rest.app import create_app
from mcp_tef.rest.request_guard import AccessRules
from tests.support.rest_service import BEARER, TOKEN
from tests.support.workspace_files import TOOLS

BY_GATEWAY = {502, 504}
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KNOWN_TEXTS = st.sampled_from(["offline", "words", "city", "weather_report", "tfidf", "http://[", "${HOME}", "é\n\x00"])


@dataclass
class OpenApiDocument:
    """A document with strategies for its schemas; `ids` are ids of things that are there."""

    document: Mapping[str, Any]
    ids: Sequence[str]
    validators: dict[tuple[str, str, str], Draft202012Validator] = field(default_factory=dict)

    @cached_property
    def operations(self) -> list[tuple[str, str, Mapping[str, Any]]]:
        """Path, method and description of each."""
        paths = self.document["paths"].items()
        return [(path, method, operation) for path, methods in paths for method, operation in methods.items()]

    def requests(self) -> st.SearchStrategy[dict[str, Any]]:
        """Requests of all operations: most as the document has them, some with other values and fields."""
        return st.sampled_from(self.operations).flatmap(self._request)

    def _request(self, operation: tuple[str, str, Mapping[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
        path, method, details = operation
        parameters = {one["name"]: one for one in details.get("parameters", ())}
        named = {
            place: {name: self._value(one["schema"]) for name, one in parameters.items() if one["in"] == place}
            for place in ("path", "query")
        }
        content = details.get("requestBody", {}).get("content", {}).get("application/json", {})
        body = self._value(content["schema"]) | JUNK if content else st.none()
        return st.fixed_dictionaries(
            {
                "operation": st.just((path, method)),
                "path": st.fixed_dictionaries({name: self._id() for name in named["path"]}),
                "query": self._query(named["query"]),
                "body": body,
                "key": st.none() | st.text("abc- é", min_size=1, max_size=8),
            }
        )

    def _query(self, fields: Mapping[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[dict[str, Any]]:
        known = st.fixed_dictionaries({}, optional=dict(fields))
        return st.integers(0, 9).flatmap(lambda odd: known if odd else known.map(lambda query: query | {"odd": "1"}))

    def _id(self) -> st.SearchStrategy[str]:
        known = st.sampled_from(list(self.ids))
        return known | known | known | st.text(min_size=1, max_size=12).filter(lambda text: text.strip("."))

    def _value(self, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
        if "$ref" in schema:
            named = self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            return st.deferred(lambda: self._value(named))
        if "anyOf" in schema:
            return st.one_of([self._value(one) for one in schema["anyOf"]])
        if "enum" in schema or "const" in schema:
            return st.sampled_from(schema.get("enum") or [schema["const"]]) | st.text(max_size=3)
        return self._of_type(schema)

    def _of_type(self, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
        match schema.get("type"):
            case "object":
                return self._object(schema)
            case "array":
                return st.lists(self._value(schema.get("items", {})), max_size=min(schema.get("maxItems", 3), 3))
            case "string":
                return KNOWN_TEXTS | self._id()
            case "integer" | "number":
                low, high = schema.get("minimum", schema.get("exclusiveMinimum", 0)), schema.get("maximum", 1_000)
                return st.sampled_from([low, low + 1, low - 1, high + 1, schema.get("default", low), 10**30])
            case "boolean":
                return st.booleans()
            case "null":
                return st.none()
        return JUNK

    def _object(self, schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
        if "properties" not in schema:
            return st.dictionaries(st.text(max_size=8), JUNK, max_size=3)
        fields = {name: self._value(one) for name, one in schema["properties"].items()}
        needed = {name: fields.pop(name) for name in schema.get("required", ())}
        sound = st.fixed_dictionaries(needed, optional=fields)
        return st.integers(0, 9).flatmap(lambda odd: sound if odd else sound.map(lambda value: {**value, "odd": 1}))

    def problem(self, request: Mapping[str, Any], answer: httpx.Response) -> str:
        """Why an answer is not one that the document describes; empty for a sound one."""
        path, method = request["operation"]
        status, said = str(answer.status_code), self.document["paths"][path][method]["responses"]
        if answer.status_code >= 500 and answer.status_code not in BY_GATEWAY:
            return f"status {status}: {answer.text[:300]}"
        if status not in said:
            return f"status {status} is not described: {answer.text[:300]}"
        schema = said[status].get("content", {}).get("application/json", {}).get("schema")
        if not schema:
            return ""
        wrong = next(self._validator(path, method, status, schema).iter_errors(answer.json()), None)
        return f"status {status}: {wrong.message[:300]}" if wrong else ""

    def _validator(self, path: str, method: str, status: str, schema: Mapping[str, Any]) -> Draft202012Validator:
        place = (path, method, status)
        if place not in self.validators:
            whole = {**schema, "components": self.document["components"]}
            self.validators[place] = Draft202012Validator(whole)
        return self.validators[place]


async def _filled(folder: Path) -> tuple[Engine, list[str]]:
    """An engine on a workspace with a tools file, cases, a batch and a tool; and their ids."""
    tools = folder / "tools.json"
    tools.write_text(json.dumps({"tools": TOOLS}), "utf-8")
    engine = await Engine.open(folder / "work.db", environment={})
    server = await engine.servers.check(
        (await engine.servers.add(ServerSpec(name="city", transport=Transport.FILE, path=str(tools)))).id
    )
    expected = expectation_from_json([{"tool": "weather_report"}])
    draft = CaseDraft(name="rain", query="Will it rain in Oslo?", expectation=expected, servers=("city",))
    return engine, [server.id, *(case.id for case in await engine.cases.add([draft] * 12))]


def answers_to(examples: int) -> tuple[Counter[int], list[str]]:
    """Send generated requests to the service over a workspace; the number of each status, and every problem."""
    statuses, problems = Counter[int](), list[str]()
    with tempfile.TemporaryDirectory() as folder, asyncio.Runner() as runner:
        engine, ids = runner.run(_filled(Path(folder)))
        transport = httpx.ASGITransport(
            create_app(engine, AccessRules(token=Secret(TOKEN))), raise_app_exceptions=False
        )
        client = httpx.AsyncClient(transport=transport, base_url="http://localhost", headers=BEARER)
        described = OpenApiDocument(runner.run(client.get("/openapi.json")).json(), ids)

        @settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(described.requests())
        def ask(request: dict[str, Any]) -> None:
            answer = runner.run(_sent(client, request))
            statuses[answer.status_code] += 1
            if problem := described.problem(request, answer):
                problems.append(f"{request}: {problem}")

        try:
            ask()
        finally:
            runner.run(client.aclose())
            runner.run(engine.close())
    return statuses, problems


async def _sent(client: httpx.AsyncClient, request: Mapping[str, Any]) -> httpx.Response:
    path, method = request["operation"]
    for name, value in request["path"].items():
        path = path.replace(f"{{{name}}}", httpx.URL("/", params={"x": value}).query.decode()[2:].replace("+", "%20"))
    headers = {"x-model-api-key": request["key"].encode()} if request["key"] else {}
    body = None if request["body"] is None else json.dumps(request["body"]).encode()
    query = {name: value for name, value in request["query"].items() if value is not None}
    kind = {"content-type": b"application/json"} if body else {}
    return await client.request(method, path, params=query, content=body, headers={**headers, **kind})
