"""The bundled sample: a server with tools that are easy to confuse, and a suite of questions to it."""

import contextlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from mcp_tef.errors import NotFoundError, ServerError
from mcp_tef.model.cases import ExpectedCall, expectation_from_json
from mcp_tef.model.json import JsonObject
from mcp_tef.model.servers import AuthType, ServerSpec, Transport
from mcp_tef.model.tool_calls import ToolReply
from mcp_tef.servers.sample_server import BikeShop
from mcp_tef.servers.tool_lister import McpToolLister
from mcp_tef.workflows.sample_program import sample_spec

ROOT = Path(__file__).parents[3]
PROGRAM = (sys.executable, "-m", "mcp_tef", "sample-server")
SUITE: dict[str, Any] = yaml.safe_load(files("resources").joinpath("sample", "suite.yaml").read_text("utf-8"))
ADDRESS = {"name": "Ines", "street": "Quay 1", "city": "Marenfeld", "postcode": "20457"}
CASES: list[dict[str, Any]] = SUITE["cases"]


DEFINITIONS: dict[str, JsonObject] = {tool["name"]: tool for tool in BikeShop().definitions}


async def call(tool: str, arguments: JsonObject, shop: BikeShop | None = None) -> ToolReply:
    return await (shop or BikeShop()).call(tool, arguments, caller_id="", trace_id=None)


def calls(case: dict[str, Any]) -> list[ExpectedCall]:
    return [call for answer in expectation_from_json(case["expected"]).alternatives for call in answer]


def plain(value: Any) -> Any:
    """An expected value with its matchers replaced by something they accept; None where nothing can be said."""
    if isinstance(value, dict):
        for matcher in ("$approx", "$datetime", "$unordered", "$optional", "$contains"):
            if matcher in value:
                return plain(value[matcher])
        return "brake" if "$regex" in value or "$any" in value else {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list) else value


async def test_the_shop_is_listed_over_stdio(lister: McpToolLister) -> None:
    found = await lister.list_tools(sample_spec(), timeout=30)
    assert [tool.raw for tool in found.tools] == list(DEFINITIONS.values())
    assert found.problems == ()


def asked(method: str, number: object = None, **params: object) -> JsonObject:
    """A request, or a notification where it has no number."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if number is None else {**message, "id": number}


def test_over_stdio_every_request_is_answered_by_its_number_before_the_end() -> None:
    stock = {"part_number": "BP-105", "branch": "station"}
    messages = (
        asked("initialize", 1, protocolVersion="2024-11-05", clientInfo={"name": "x", "version": "1"}),
        asked("notifications/initialized"),
        asked("initialize", 2, protocolVersion="1999-01-01"),
        asked("ping", "three"),
        asked("server/discover", 4),
        asked("tools/call", 5, name="check_stock", arguments=stock),
        asked("tools/call", 6, name="check_stock", arguments={"part_number": "soap"}),
        asked("tools/call", 7, name="sell_soap"),
        asked("tools/call", 8, name="check_stock", arguments=[]),
        asked("tools/call", 9, name="opening_hours", arguments={"day": "2026-11-22"}),
        asked("notifications/cancelled", requestId=9),
        {"jsonrpc": "2.0", "id": 10, "result": {}},
    )
    lines = "\n".join(["not JSON", "", *map(json.dumps, messages)])
    done = subprocess.run(PROGRAM, cwd=ROOT, input=lines, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    junk, stray, *rest = sorted(map(json.loads, done.stdout.splitlines()), key=lambda one: str(one["id"]) != "None")
    assert [junk["error"]["code"], stray["error"]["code"]] == [-32700, -32600]
    answers = {one["id"]: one for one in rest}
    assert list(answers) == [1, 2, "three", 4, 5, 6, 7, 8]
    assert [answers[one]["result"]["protocolVersion"] for one in (1, 2)] == ["2024-11-05", "2025-11-25"]
    assert answers["three"]["result"] == {}
    assert [answers[one]["error"]["code"] for one in (4, 7, 8)] == [-32601, -32602, -32602]
    assert [answers[one]["result"]["isError"] for one in (5, 6)] == [False, True]
    assert '"pieces": 0' in answers[5]["result"]["content"][0]["text"]


def test_a_call_that_is_under_way_when_standard_input_ends_is_answered() -> None:
    line = json.dumps(asked("tools/call", 1, name="rag_basic", arguments={"query": "When do buses leave?"}))
    program = (*PROGRAM, "--sample", "reading-room")
    done = subprocess.run(program, cwd=ROOT, input=line, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["result"]["structuredContent"]["answer"]


@contextlib.contextmanager
def shop_over_http() -> Iterator[tuple[str, str]]:
    """A running shop; the token and the url that it prints, and after its end nothing more on its stderr."""
    with subprocess.Popen([*PROGRAM, "--http", "0"], cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            token = server.stderr.readline().strip().removeprefix("Authorization: Bearer ")
            yield token, server.stderr.readline().strip()
        finally:
            server.terminate()
        assert server.stderr.read() == ""


def test_without_standard_input_the_shop_closes() -> None:
    closing = "import os, runpy, sys; os.close(0); sys.argv[1:] = ['sample-server']; runpy.run_module('mcp_tef')"
    closed = [sys.executable, "-c", closing]
    assert subprocess.run(closed, cwd=ROOT, timeout=60, check=False).returncode == 0


async def test_the_shop_is_listed_over_http_at_the_url_and_with_the_token_that_it_prints(
    lister: McpToolLister, environment: dict[str, str]
) -> None:
    with shop_over_http() as (token, url):
        plain = ServerSpec(name="Bike shop", transport=Transport.STREAMABLE_HTTP, url=url)
        with pytest.raises(ServerError):
            await lister.list_tools(plain, timeout=30)
        environment["SHOP_TOKEN"] = token
        spec = replace(plain, auth_type=AuthType.BEARER, secret="${SHOP_TOKEN}")
        assert len((await lister.list_tools(spec, timeout=30)).tools) == 12
        await lister.close()


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("find_parts", {"query": "chain", "category": "drivetrain"}, "CH-012"),
        ("check_stock", {"part_number": "bp-105", "branch": "station"}, '"pieces": 0'),
        ("search_catalogue", {"text": "gravel", "page": 2}, '"total": 8'),
        ("book_repair", {"customer": "A", "bike": "b", "work": ["flat tyre"], "day": "2026-12-01"}, "R-2045"),
        ("reschedule_repair", {"booking_id": "R-2041", "new_day": "2026-12-02"}, "2026-12-02"),
        ("update_booking", {"booking_id": "R-2042", "changes": {"note": "ring"}}, '"note": "ring"'),
        ("cancel_repair", {"booking_id": "R-2043", "reason": "sold"}, "cancelled"),
        ("repair_status", {"booking_id": "R-2044"}, "ready"),
        ("quote_repair", {"work": ["full service"], "bike_type": "cargo", "express": True}, "312.9"),
        ("tyre_pressure", {"rider_weight_kg": 70, "tyre_width_mm": 28}, "4.8 bar"),
        ("opening_hours", {"day": "2026-11-22", "branch": "station"}, "closed"),
        ("search_catalogue", {"text": "gravel", "page": 1.0, "colour": "red"}, '"total": 8'),
        ("order_part", {"part_number": "TY-028", "quantity": 4, "deliver_to": ADDRESS}, "156.0"),
        ("repair_status", {"booking_id": "R-1"}, "There is no booking R-1."),
        ("check_stock", {"part_number": "ZZ-999"}, "There is no part ZZ-999."),
    ],
)
async def test_each_tool_answers_something_plausible(tool: str, arguments: JsonObject, words: str) -> None:
    assert words in (await call(tool, arguments)).text


async def test_a_change_lasts_and_touches_only_what_may_be_changed() -> None:
    shop = BikeShop()
    await call("update_booking", {"booking_id": "R-2042", "changes": {"status": "ready", "date": None}}, shop)
    before = await call("repair_status", {"booking_id": "R-2042"})
    assert (await call("repair_status", {"booking_id": "R-2042"}, shop)).text == before.text
    await call("reschedule_repair", {"booking_id": "R-2042", "new_day": "2027-01-02"}, shop)
    assert "2027-01-02" in (await call("repair_status", {"booking_id": "R-2042"}, shop)).text


async def test_arguments_that_do_not_fit_are_named_and_another_tool_is_refused() -> None:
    reply = await call("book_repair", {"customer": "A", "bike": "b", "work": ["flat tyre"], "day": "2026-13-01"})
    assert reply.is_error
    assert "day" in reply.text
    with pytest.raises(NotFoundError):
        await call("sell_soap", {})


def test_tools_use_parameters_of_every_kind() -> None:
    kinds = str([definition["inputSchema"] for definition in DEFINITIONS.values()])
    for kind in ("string", "integer", "number", "boolean", "array", "enum", "'format': 'date'", "$ref"):
        assert kind in kinds


def test_the_suite_covers_every_kind_of_case() -> None:
    assert SUITE["version"] == 1
    assert len(CASES) >= 24
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert all(case["servers"] == ["Bike shop"] and case["suites"] == ["Sample"] for case in CASES)
    tags = Counter(tag for case in CASES for tag in case["tags"])
    assert all(tags[tag] >= 2 for tag in ("no tool", "near miss", "several calls", "alternatives", "parameters"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_each_case_names_tools_and_parameters_that_there_are(case: dict[str, Any]) -> None:
    for one in calls(case):
        assert one.server == "Bike shop"
        properties = DEFINITIONS[one.tool]["inputSchema"]["properties"]
        assert set(one.parameters or {}) <= set(properties)
        for name, value in (one.parameters or {}).items():
            schema = properties[name] | {"$defs": DEFINITIONS[one.tool]["inputSchema"].get("$defs", {})}
            jsonschema.validate(plain(value), schema)


def test_every_tool_is_asked_for() -> None:
    assert {one.tool for case in CASES for one in calls(case)} == set(DEFINITIONS)
