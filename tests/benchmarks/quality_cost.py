"""What lint and token counts of 1,000 tools cost on one core, beside the least work that they stand on.

Limits (CPU of this process): lint of 1,000 tools ≤ 2 s; counting them ≤ 1.2 × bare tiktoken on the same texts;
reading the vocabulary ≤ 1 s, once. Run as `python -m tests.benchmarks.quality_cost`.
"""

import sys
import time
from collections.abc import Callable

from mcp_tef.llm.token_count import BundledTokenCounter
from mcp_tef.model.similarity import ComparedTool, ToolSet
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.lint.definition_size import definition_text
from mcp_tef.scoring.lint.lint_context import ListedNames
from mcp_tef.scoring.lint.linter import lint
from mcp_tef.workflows.quality import judged

TOOLS, ROUNDS = 1_000, 5
LINT_S, COUNT_RATIO, LOAD_S = 2.0, 1.2, 1.0
_VERBS = ("find", "create", "update", "delete", "export")
_PARAGRAPH = (
    "{verb} one {thing} of the workspace by its number or by its name, and return it with its owner, its labels and "
    "the time of its last change. Use it when the user names a single {thing}; to go through many, list them first. "
    "Closed ones are left out unless they are asked for.\n\nExamples:\n- the {thing} that came in this morning\n"
)


def a_tool(number: int) -> Tool:
    """One of many tools of the weight that real ones have: a paragraph and eight parameters."""
    verb, thing = _VERBS[number % len(_VERBS)], f"thing{number // len(_VERBS)}"
    properties: dict[str, object] = {
        f"field_{index}": {
            "type": ("string", "integer")[index % 2],
            "description": f"The {index}th field to look at, such as the title of a {thing}; between 1 and 100.",
            "default": None if index == 3 else ("", 1)[index % 2],
        }
        for index in range(8)
    }
    name, description = f"{verb}_{thing}", _PARAGRAPH.format(verb=verb.capitalize(), thing=thing)
    schema = {"type": "object", "properties": properties, "required": ["field_0"]}
    raw = {"name": name, "description": description, "inputSchema": schema}
    return Tool(server=f"server {number % 20}", name=name, description=description, input_schema=schema, raw=raw)


def seconds(work: Callable[[], object]) -> float:
    """The best of several rounds, in seconds of this process's CPU."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def row(what: str, value: float, limit: str) -> None:
    """One line of the table."""
    print(f"{what:<44} {value * 1000:>8.0f} ms   {limit}")


def main() -> int:
    """Print the table; 1 where a limit is broken."""
    tools = [a_tool(number) for number in range(TOOLS)]
    texts = [definition_text(tool) for tool in tools]
    catalogue = ListedNames(tools)
    counter = BundledTokenCounter()
    start = time.process_time()
    total = sum(counter.count(texts[:1] * 2)) + sum(counter.count(texts))
    loading = time.process_time() - start
    counting = seconds(lambda: counter.count(texts))
    bare = seconds(lambda: _bare_count(counter, texts))
    linting = seconds(lambda: [lint(tool, 0, catalogue) for tool in tools])
    tool_set = ToolSet(tools=tuple(ComparedTool(f"{tool.server}/{tool.name}", tool) for tool in tools))
    row(f"lint of {TOOLS:,} tools", linting, f"(limit {LINT_S:g} s)")
    row(
        f"counting them, {total:,} tokens, {counter.name}",
        counting,
        f"{counting / bare:.2f} × bare (limit {COUNT_RATIO})",
    )
    row("bare tiktoken on the same texts", bare, "")
    row("reading the vocabulary and the first count", loading, f"(limit {LOAD_S:g} s and one count)")
    row("the whole report", seconds(lambda: judged(tool_set, counter)), "")
    return int(linting > LINT_S or counting > COUNT_RATIO * bare or loading > LOAD_S + 2 * counting)


def _bare_count(counter: BundledTokenCounter, texts: list[str]) -> int:
    encoding = counter._ready()
    assert encoding
    return sum(len(tokens) for tokens in map(encoding.encode_ordinary, texts))


if __name__ == "__main__":
    sys.exit(main())
