"""CPU per call of our selector beside a bare `litellm.acompletion`, to one stub in a process of its own."""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from mcp_tef.llm.catalogue import LitellmCatalogue
from mcp_tef.llm.litellm_selector import LitellmSelector
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Question
from mcp_tef.prompts.offering import offer

KEY = "sk-benchmark-key"
QUERY = "Please search the invoices of March for the customer Miller."


@contextmanager
def stub() -> Iterator[str]:
    """The base url of a model stub that runs in another process."""
    command = [sys.executable, "-m", "tests.support.model_stub"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        yield f"http://127.0.0.1:{int(child.stdout.readline())}/v1"
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
    """The same request through litellm alone."""
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


async def compare(url: str, rounds: int, calls: int) -> tuple[float, float]:
    """Medians over alternating rounds: ours, bare."""
    selector = LitellmSelector(LitellmCatalogue())
    settings = ModelSettings(provider="openai", model="gpt-4.1-mini", base_url=url)
    question = Question(QUERY, offer([tool(number) for number in range(10)]), settings, Secret(KEY))
    await selector.select(question)
    pair = (lambda: selector.select(question), bare(url, question))
    measured: tuple[list[float], list[float]] = ([], [])
    for call in pair:
        await cpu_ms(call, 20)
    for _ in range(rounds):
        for call, times in zip(pair, measured, strict=True):
            times.append(await cpu_ms(call, calls))
    await selector.close()
    return median(measured[0]), median(measured[1])


def main() -> None:
    """Print both figures and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=60)
    given = parser.parse_args()
    with stub() as url:
        ours, theirs = asyncio.run(compare(url, given.rounds, given.calls))
    print(f"select() {ours:.2f} ms CPU a call, bare litellm.acompletion {theirs:.2f} ms, ratio {ours / theirs:.2f}")


if __name__ == "__main__":
    main()
