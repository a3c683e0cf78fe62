"""The bundled sample: a server with tools that are easy to confuse, and a suite of questions to it."""

import asyncio
import contextlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from mcp import Client

from mcp_tef.model.cases import ExpectedCall, expectation_from_json
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.servers.sample_server import sample_server
from mcp_tef.servers.tool_lister import McpToolLister

ROOT = Path(__file__).parents[3]
RUN = "from mcp_tef.servers.sample_server import run_sample_server as run; run({})"
SUITE: dict[str, Any] = yaml.safe_load(files("resources").joinpath("sample", "suite.yaml").read_text("utf-8"))
CASES: list[dict[str, Any]] = SUITE["cases"]


async def definitions() -> dict[str, dict[str, Any]]:
    listed = await sample_server().list_tools()
    return {tool.name: tool.model_dump(by_alias=True, exclude_none=True) for tool in listed}


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
    spec = ServerSpec(
        name="Bike shop",
        transport=Transport.STDIO,
        command=sys.executable,
        args=("-c", RUN.format(None)),
        cwd=str(ROOT),
    )
    found = await lister.list_tools(spec, timeout=30)
    assert len(found.tools) == 12
    assert found.problems == ()


@contextlib.contextmanager
def shop_over_http() -> Iterator[str]:
    """A running shop; the url that it prints, and after its end nothing more on its stderr."""
    command = [sys.executable, "-c", RUN.format(0)]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            yield server.stderr.readline().strip()
        finally:
            server.terminate()
        assert server.stderr.read() == ""


async def test_the_shop_is_listed_over_http_at_the_url_it_prints(lister: McpToolLister) -> None:
    with shop_over_http() as url:
        spec = ServerSpec(name="Bike shop", transport=Transport.STREAMABLE_HTTP, url=url)
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
        ("repair_status", {"booking_id": "R-1"}, "There is no booking R-1."),
        ("check_stock", {"part_number": "ZZ-999"}, "There is no part ZZ-999."),
    ],
)
async def test_each_tool_answers_something_plausible(tool: str, arguments: dict[str, Any], words: str) -> None:
    async with Client(sample_server()) as client:
        result = await client.call_tool(tool, arguments)
    assert words in str([getattr(part, "text", "") for part in result.content])


async def test_an_order_is_priced_and_numbered() -> None:
    address = {"name": "Ines", "street": "Quay 1", "city": "Marenfeld", "postcode": "20457"}
    async with Client(sample_server()) as client:
        order = {"part_number": "TY-028", "quantity": 4, "deliver_to": address}
        result = await client.call_tool("order_part", order)
    assert "156.0" in str(result.content)


async def test_tools_use_parameters_of_every_kind() -> None:
    kinds = str([definition["inputSchema"] for definition in (await definitions()).values()])
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
async def test_each_case_names_tools_and_parameters_that_there_are(case: dict[str, Any]) -> None:
    tools = await definitions()
    for call in calls(case):
        assert call.server == "Bike shop"
        properties = tools[call.tool]["inputSchema"]["properties"]
        assert set(call.parameters or {}) <= set(properties)
        for name, value in (call.parameters or {}).items():
            schema = properties[name] | {"$defs": tools[call.tool]["inputSchema"].get("$defs", {})}
            jsonschema.validate(plain(value), schema)


def test_every_tool_is_asked_for() -> None:
    asked = {call.tool for case in CASES for call in calls(case)}
    assert asked == set(asyncio.run(definitions()))
