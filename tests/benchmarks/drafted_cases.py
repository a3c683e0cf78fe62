"""Drafted cases of three real catalogues: how many, whether they keep the rules, and how easy they are.

`python -m tests.benchmarks.drafted_cases --data FOLDER [--seed N] [--out FILE]`: the offline baseline (word overlap)
ranks the tools for drafted and for real queries with the same expected tools. `--out` writes 60 drafts to read.
"""

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from mcp_tef.model.drafted_cases import DraftedCase, DraftKind
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.case_drafting.offline_drafts import product_of, tool_drafts, why_refused
from tests.benchmarks.retrieval_recall import Methods, Query, bfcl, mcp_cases, metatool, query, read, tools

DEPTHS = (1, 3)


def drafted(queries: Sequence[Query], seed: int) -> list[tuple[Query, DraftedCase]]:
    """Drafts for each tool that a real query expects, over the tools that the query offers, each with its draft."""
    offered = queries[0].offered
    wanted = sorted({place for query in queries for place in query.right})
    servers = defaultdict[str, list[Tool]](list)
    for item in offered:
        servers[item.tool.server].append(item.tool)
    return [
        (Query(draft.draft.query, offered, frozenset({place})), draft)
        for place in wanted
        for draft in tool_drafts(
            offered[place].tool, seed, product_of(offered[place].tool, servers[offered[place].tool.server])
        )
    ]


async def ranks(queries: Sequence[Query], methods: Methods) -> NDArray[np.intp]:
    """The rank of the first right tool for each query, from 0."""
    found = []
    for asked in queries:
        scores = (await methods.scores(asked))["tf-idf"]
        order = np.argsort(np.argsort(-scores, kind="stable"))
        found.append(min(order[list(asked.right)]))
    return np.array(found)


async def measure(name: str, queries: Sequence[Query], methods: Methods, seed: int) -> list[DraftedCase]:
    """Print the figures of one catalogue; its drafts."""
    made = drafted(queries, seed)
    wanted = {place for query in queries for place in query.right}
    broken = sum(why_refused(query.text, [query.offered[min(query.right)].tool]) is not None for query, _ in made)
    covered = {place for query, _ in made for place in query.right}
    print(f"{name}: {len(wanted)} of {len(queries[0].offered)} tools, {len(covered)} of them with drafts")
    print(f"  {len(made) / max(1, len(covered)):.1f} drafts for each of these, {broken} break a rule")
    sets = {"real": [query for query in queries if query.text and query.right & covered]} | {
        kind.value: [query for query, draft in made if draft.kind is kind]
        for kind in (DraftKind.DIRECT, DraftKind.INDIRECT)
    }
    shares = {label: await ranks(chosen, methods) for label, chosen in sets.items() if chosen}
    for label, places in shares.items():
        told = "  ".join(f"recall@{depth} {np.mean(places < depth):.3f}" for depth in DEPTHS)
        easier = f"  {np.mean(places < 1) - np.mean(shares['real'] < 1):+.3f} against real" if "real" in shares else ""
        print(f"  {label:9} {len(places):5} queries  {told}{easier}")
    return [draft for _, draft in made]


def mcp_zero(folder: Path) -> list[Query]:
    """The tools of 308 public servers, each with an empty query: there are no real ones."""
    offered = tools({(row["server"], row["name"]): row for row in read(folder / "mcp_zero.jsonl.gz")}.values())
    return [query("", offered, [item.tool.name]) for item in offered]


async def main() -> None:
    """Measure every catalogue."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    methods, drafts = Methods(None), list[DraftedCase]()
    sets = {"BFCL": bfcl(given.data)[1], "MetaTool": metatool(given.data), "MCP servers": mcp_cases(given.data)}
    sets["MCP-Zero"] = mcp_zero(given.data)
    for name, queries in sets.items():
        drafts += Random(given.seed).sample(
            found := await measure(name, queries, methods, given.seed), min(20, len(found))
        )
    if given.out:
        lines = [f"- [{one.kind}] {one.tool}: {one.draft.query}" for one in drafts]
        given.out.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(main())
