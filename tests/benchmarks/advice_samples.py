"""Prints the recommendations for the most confusable pairs of catalogues, to be read and judged by people.

`python -m tests.benchmarks.advice_samples FILE… [--servers NAME…] [--most 6]`. A file holds a tool a line: JSON with
server, name, description and input_schema. Advised are the flagged pairs of each server, else those with the highest
confusability. At the end it applies all patches of each server together.
"""

import argparse
import asyncio
import gzip
import json
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import jsonpatch  # type: ignore[import-untyped]  # it has no types

from mcp_tef.model.similarity import MatrixKind, PairAdvice, Recommendation
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.patches import joint_changes
from tests.support.similarity_factories import Advisor

FEWEST_TOOLS = 5


def catalogues(files: Sequence[Path], wanted: Sequence[str]) -> dict[str, list[Tool]]:
    """The tools of each server, of the wanted ones or of all with five or more."""
    found: dict[str, dict[str, Tool]] = {}
    for file in files:
        text = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        for row in map(json.loads, text.decode().splitlines()):
            schema, server = row["input_schema"] or {"type": "object"}, row["server"]
            raw = {"name": row["name"], "description": row["description"] or "", "inputSchema": schema}
            made = Tool(server=server, name=row["name"], description=raw["description"], input_schema=schema, raw=raw)
            found.setdefault(server, {}).setdefault(row["name"], made)
    names = wanted or [name for name, tools in found.items() if len(tools) >= FEWEST_TOOLS]
    return {name: list(found[name].values()) for name in names}


async def advise(tools: Sequence[Tool], most: int) -> tuple[PairAdvice, ...]:
    """Advice on the most confusable pairs of a server."""
    advisor = Advisor()
    similarity = await advisor.similarity(tools)
    pairs = [(pair.a, pair.b) for pair in similarity.pairs_by(MatrixKind.CONFUSABILITY, most)]
    return await advisor.recommend.pairs(similarity, pairs)


def show(number: int, one: Recommendation) -> None:
    """Print one recommendation as Markdown."""
    print(f"### {number}. {one.tool_id}\n\n{one.action} {one.rationale} ({one.priority})\n")
    print(f"Original:\n\n{_quoted(one.before or '(none)')}\n\nDraft:\n\n{_quoted(one.revised)}\n")
    print(f"Patch: `{json.dumps([dict(each) for each in one.patch], ensure_ascii=False)}`\n")


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


async def main() -> None:
    """Print all of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--servers", nargs="*", default=[])
    parser.add_argument("--most", type=int, default=6, help="pairs of each server")
    given = parser.parse_args()
    numbers = count(1)
    for server, tools in catalogues(given.files, given.servers).items():
        advices = await advise(tools, given.most)
        made = {one.tool_id: one for advice in advices for one in advice.recommendations}
        print(f"\n## {server}: {len(tools)} tools, {len(advices)} pairs, {len(made)} recommendations\n")
        for one in made.values():
            show(next(numbers), one)
        for patch, _ in joint_changes(advices).values():
            document = {"tools": [dict(tool.raw) for tool in tools]}
            jsonpatch.apply_patch(document, [dict(each) for each in patch])
            print(f"All {len(made)} patches of {server} apply together.")


if __name__ == "__main__":
    asyncio.run(main())
