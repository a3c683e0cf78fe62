"""The processes that the batch benchmarks measure: bare calls by aiohttp and litellm, and the same as a batch."""

import asyncio
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": f"{verb}_{thing}",
        "description": f"{verb.capitalize()} one {thing} of the shop, by its number or its name.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": f"The name of the {thing}"},
                "number": {"type": "integer", "minimum": 1, "description": f"The number of the {thing}"},
            },
            "required": ["name"],
        },
    }
    for verb in ("find", "book", "cancel")
    for thing in ("repair", "part", "customer", "invoice")
]
MODEL = "stub-model"


def query(number: int) -> str:
    """The text of a case."""
    tool = TOOLS[number % len(TOOLS)]["name"]
    return f"Please {str(tool).replace('_', ' the ')} number {number}"


def _function(tool: dict[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool["description"], "parameters": tool["inputSchema"]}


async def bare(url: str, count: int, concurrency: int) -> dict[str, float]:
    """The limit: litellm.acompletion and nothing else."""
    os.environ.update(LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_MODE="PRODUCTION")
    import litellm
    from openai import AsyncOpenAI

    tools = [{"type": "function", "function": _function(tool)} for tool in TOOLS]
    client = AsyncOpenAI(api_key="sk-bench", base_url=url, max_retries=0)
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            message = {"role": "user", "content": query(number)}
            await litellm.acompletion(
                model=f"openai/{MODEL}", messages=[message], tools=tools, client=client, num_retries=0, temperature=0.4
            )

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(concurrency)))
    await client.close()
    return {"seconds": time.perf_counter() - started}


async def direct(url: str, count: int, concurrency: int) -> dict[str, float]:
    """The limit of the direct path: a loop over aiohttp and nothing else."""
    import aiohttp

    tools = [{"type": "function", "function": _function(tool)} for tool in TOOLS]
    numbers = iter(range(count))

    async def worker(session: aiohttp.ClientSession) -> None:
        for number in numbers:
            message = {"role": "user", "content": query(number)}
            body = {"model": MODEL, "messages": [message], "tools": tools, "temperature": 0.4}
            async with session.post(f"{url}/chat/completions", json=body) as answer:
                assert (await answer.json())["choices"]

    started = time.perf_counter()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(worker(session) for _ in range(concurrency)))
    return {"seconds": time.perf_counter() - started}


async def batch_by_litellm(url: str, count: int, concurrency: int) -> dict[str, float]:
    """The product, with litellm on the way."""
    return await batch(url, count, concurrency, {"MCP_TEF_THROUGH": "litellm"})


async def batch(
    url: str, count: int, concurrency: int, environment: Mapping[str, str] = MappingProxyType({})
) -> dict[str, float]:
    """The product: a batch of so many cases, to the last verdict on disk."""
    from mcp_tef import (
        BatchRequest,
        CaseDraft,
        Engine,
        Expectation,
        ExpectedCall,
        ModelSettings,
        Secret,
        ServerSpec,
        Transport,
    )

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tools.json"
        path.write_text(json.dumps(TOOLS))
        workspace = Path(folder) / "bench.db"
        engine = await Engine.open(workspace, environment=environment)
        await engine.servers.add(ServerSpec(name="shop", transport=Transport.FILE, path=str(path)))
        drafts = [
            CaseDraft(
                name=query(number),
                query=query(number),
                expectation=Expectation(((ExpectedCall(tool=str(TOOLS[number % len(TOOLS)]["name"])),),)),
                servers=("shop",),
            )
            for number in range(count)
        ]
        await engine.cases.add(drafts)
        model = ModelSettings(provider="openai", model=MODEL, base_url=url)
        started = time.perf_counter()
        request = BatchRequest(models=(model,), concurrency=concurrency)
        engine.consents.add_typed_address("openai", request.models[0].base_url or "")
        ended = await engine.runs.wait((await engine.runs.start(request, {"openai": Secret("sk-bench")})).id)
        seconds = time.perf_counter() - started
        await engine.close()
        size = _size(Path(folder))
        return {"seconds": seconds, "judged": ended.judged, "bytes": size}


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("bench.db*") if file.is_file())


def figures(role: str, url: str, count: int, concurrency: int) -> dict[str, float]:
    """Run a role in this process; CPU seconds and peak memory (MB) of the whole process are added."""
    roles = {"bare": bare, "direct": direct, "batch": batch, "batch-litellm": batch_by_litellm}
    found = asyncio.run(roles[role](url, count, concurrency))
    used = resource.getrusage(resource.RUSAGE_SELF)
    return found | {"cpu": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}


def main(arguments: Sequence[str]) -> None:
    """ROLE URL COUNT CONCURRENCY: print the figures as one JSON line."""
    role, url, count, concurrency = arguments
    print(json.dumps(figures(role, url, int(count), int(concurrency))))


if __name__ == "__main__":
    main(sys.argv[1:])
