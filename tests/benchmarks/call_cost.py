"""CPU per call of our selector beside a bare `litellm.acompletion`, to one stub in a process of its own."""

import argparse
import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.model_selector import LitellmSelector
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Question
from mcp_tef.prompts.tool_aliases import offer

KEY = "sk-benchmark-key"
QUERY = "Please search the invoices of March for the customer Miller."


@contextmanager
def stub() -> Iterator[str]:
    """The base url of a model stub that runs in another process."""
    command = [sys.executable, "-m", "tests.support.model_stub"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(child.stdout.readline())}/v1"
        finally:
            child.terminate()


def tool(number: int) -> Tool:
    """One of the tools that are offered."""
    properties = {
        "query": {"type": "string", "description": "What to look for."},
        "limit": {"type": "integer", "description": "How many to return at most."},
    }
    schema = {"type": "object", "properties": properties, "required": ["query"]}
    name = "search_invoices" if number == 0 else f"list_things_{number}"
    return Tool(server="bench", name=name, description=f"Tool number {number}.", input_schema=schema, raw={})


def bare(url: str, question: Question) -> Callable[[], Awaitable[Any]]:
    """The same request through litellm alone, with its prices from its own file."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    tools = [
        {
            "type": "function",
            "function": {
                "name": item.offered_name,
                "description": item.tool.description,
                "parameters": dict(item.tool.input_schema),
            },
        }
        for item in question.tools
    ]
    messages = [{"role": "user", "content": question.query}]
    return lambda: litellm.acompletion(
        model="openai/gpt-4.1-mini", messages=messages, tools=tools, temperature=0.4, timeout=30, api_key=KEY,
        base_url=url, num_retries=0, max_retries=0,
    )  # fmt: skip


async def cpu_ms(call: Callable[[], Awaitable[Any]], calls: int) -> float:
    """CPU of this process per call, in milliseconds."""
    before = time.process_time()
    for _ in range(calls):
        await call()
    return (time.process_time() - before) / calls * 1000


async def ours(url: str, rounds: int, calls: int) -> float:
    """Median CPU of a call of our selector, in milliseconds."""
    selector = LitellmSelector(LitellmCatalogue())
    asked = question(url)
    await selector.select(asked)
    found = await rounds_of(lambda: selector.select(asked), rounds, calls)
    await selector.close()
    return found


async def theirs(url: str, rounds: int, calls: int) -> float:
    """Median CPU of a bare call of litellm, in milliseconds."""
    return await rounds_of(bare(url, question(url)), rounds, calls)


async def rounds_of(call: Callable[[], Awaitable[Any]], rounds: int, calls: int) -> float:
    """Warm up, then return the median of the rounds."""
    await cpu_ms(call, 20)
    return median([await cpu_ms(call, calls) for _ in range(rounds)])


def question(url: str) -> Question:
    """The same question for both."""
    settings = ModelSettings(provider="openai", model="gpt-4.1-mini", base_url=url)
    return Question(QUERY, offer([tool(number) for number in range(10)]), settings, Secret(KEY))


ROLES = {"ours": ours, "theirs": theirs}


def main() -> None:
    """Print both figures and their ratio. Each has a process of its own: ours replaces the HTTP clients of litellm."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=60)
    parser.add_argument("--role", choices=ROLES)
    parser.add_argument("--url", default="")
    given = parser.parse_args()
    if given.role:
        print(asyncio.run(ROLES[given.role](given.url, given.rounds, given.calls)))
        return
    with stub() as url:
        found = {
            role: float(
                subprocess.run(
                    [sys.executable, __file__, "--role", role, "--url", url, "--rounds", str(given.rounds)],
                    stdout=subprocess.PIPE,
                    check=True,
                ).stdout
            )
            for role in ROLES
        }
    ratio = found["ours"] / found["theirs"]
    print(f"select() {found['ours']:.2f} ms CPU a call, bare litellm {found['theirs']:.2f} ms, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
