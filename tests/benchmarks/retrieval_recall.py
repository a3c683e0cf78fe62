"""Recall of the offline baseline on real sets of queries: word overlap, meaning, and both together.

`python -m tests.benchmarks.retrieval_recall --data FOLDER [--model FOLDER]`, where the data folder holds BFCL,
MetaTool and LiveMCPBench cases as JSON lines, and the model folder an embedding model (without: words only).
"""

import argparse
import asyncio
import gzip
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcp_tef.embedding.local_embedder import FastembedEmbedder
from mcp_tef.embedding.tfidf import TfidfLexicon
from mcp_tef.llm.retrieval_baseline import MEANING, WORDS, WORDS_SHARE, Calibration, Ranker, Scores
from mcp_tef.model.tools import OfferedTool, Tool
from mcp_tef.ports import Embedder
from mcp_tef.prompts.selection_prompt import offer

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Query:
    """A query, what is offered, and the places of the tools that would be right (none: no tool)."""

    text: str
    offered: tuple[OfferedTool, ...]
    right: frozenset[int]


def read(file: Path) -> Rows:
    """JSON lines, zipped or plain."""
    text = gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def tools(rows: Iterable[dict[str, Any]], server: str = "") -> tuple[OfferedTool, ...]:
    """The tools of raw definitions, as they are offered."""
    return offer([
        Tool(
            server=str(row.get("server") or server), name=row["name"], description=row.get("description") or "",
            input_schema=row.get("input_schema") or {}, raw={},
        )
        for row in rows
    ])  # fmt: skip


def query(text: str, offered: tuple[OfferedTool, ...], names: Iterable[str]) -> Query:
    """A query whose right tools are known by name."""
    wanted = set(names)
    return Query(text, offered, frozenset(at for at, item in enumerate(offered) if item.tool.name in wanted))


def bfcl(folder: Path) -> tuple[list[Query], list[Query]]:
    """Each case among its own tools, and the answerable ones among all tools of all cases."""
    rows = [row for row in read(folder / "bfcl_cases.jsonl.gz") if row["label"] != "any_call" and row["tools"]]
    pool = tools({(tool["name"], tool["description"]): tool for row in rows for tool in row["tools"]}.values())
    own = [query(row["query"], tools(row["tools"], "own"), _expected(row)) for row in rows]
    pooled = [query(row["query"], pool, _expected(row)) for row in rows if _expected(row)]
    return own, pooled


def _expected(row: dict[str, Any]) -> list[str]:
    return [call["tool"] for call in row["expected_calls"] or ()]


def metatool(folder: Path) -> list[Query]:
    """Chatty queries over the tools that are described."""
    pairs = [row for row in read(folder / "pairs.jsonl.gz") if row["source"] == "MetaTool"]
    described = {tool["name"]: tool for row in pairs for tool in (row["tool_a"], row["tool_b"])}
    offered = tools(described.values(), "metatool")
    rows = [row for row in read(folder / "metatool.jsonl.gz") if row.get("expected")]
    return [query(r["query"], offered, [r["expected"]["tool"]]) for r in rows if r["expected"]["tool"] in described]


def mcp_cases(folder: Path) -> list[Query]:
    """Long tasks over the tools of public MCP servers, any of the expected tools being right."""
    catalogue = [*read(folder / "livemcpbench.jsonl"), *read(folder / "stdio_live.jsonl")]
    offered = tools({(row["server"], row["name"]): row for row in catalogue}.values())
    rows = [row for row in read(folder / "mcp_cases.jsonl.gz") if "all_of" in row["expected"]]
    found = [query(row["query"], offered, row["expected"]["all_of"]) for row in rows]
    return [item for item in found if item.right]


def terse(folder: Path) -> list[Query]:
    """Every second word of the first line of each tool's own description, over the tools of public servers."""
    rows = {
        (r["server"], r["name"]): r for name in ("stdio_live.jsonl", "mcp_zero.jsonl.gz") for r in read(folder / name)
    }
    offered = tools(rows.values())
    texts = [" ".join((item.tool.description.splitlines() or [""])[0].split()[::2][:12]) for item in offered]
    return [query(text, offered, [item.tool.name]) for text, item in zip(texts, offered, strict=True) if " " in text]


class Methods:
    """Scores of one query by each method, preparing each tool set once."""

    def __init__(self, embedder: Embedder | None) -> None:
        self._words = Ranker(TfidfLexicon())
        self._both = Ranker(TfidfLexicon(), embedder) if embedder else None

    async def scores(self, asked: Query) -> dict[str, Scores]:
        words = await self._words.scores(asked.text, asked.offered)
        if self._both is None:
            return {"tf-idf": words}
        both = await self._both.scores(asked.text, asked.offered)
        return {
            "tf-idf": words,
            "model": np.float32(1 / (1 - WORDS_SHARE)) * (both - np.float32(WORDS_SHARE) * words),
            "blend": both,
        }


def recall(scored: Sequence[tuple[Scores, frozenset[int]]]) -> str:
    """Recall at 1, 3 and 5; ties go to the tool that was offered first."""
    ranks = np.array([min(np.argsort(np.argsort(-row, kind="stable"))[list(right)]) for row, right in scored])
    return "  ".join(f"@{k} {np.mean(ranks < k):.3f}" for k in (1, 3, 5))


def no_tool(scored: Sequence[tuple[Scores, frozenset[int]]], calibration: Calibration) -> str:
    """How often the threshold decides rightly between a tool and none."""
    tops = np.array([calibration.decide(float(row.max()), 0.0, len(row)).picked for row, _ in scored])
    called = np.array([bool(right) for _, right in scored])
    return (
        f"right {np.mean(tops == called):.3f}, keeps {np.mean(tops[called]):.3f}, refuses {np.mean(~tops[~called]):.3f}"
    )


async def measure(name: str, queries: Sequence[Query], methods: Methods) -> None:
    """Print the figures of one set."""
    started = time.perf_counter()
    scored = [(await methods.scores(asked), asked.right) for asked in queries]
    seconds = time.perf_counter() - started
    print(f"{name}: {len(queries)} queries, {len(queries[0].offered)} tools first, {seconds:.1f} s")
    for method in scored[0][0]:
        rows = [(scores[method], right) for scores, right in scored]
        several = [row for row in rows if row[1] and len(row[0]) > 1]
        print(f"  {method:7} {recall(several)}")
        if any(not right for _, right in rows) and method != "model":
            print(f"  {'':7} tool or none: {no_tool(rows, MEANING if method == 'blend' else WORDS)}")


async def main() -> None:
    """Measure every set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--model", type=Path)
    given = parser.parse_args()
    methods = Methods(FastembedEmbedder(folder=given.model) if given.model else None)
    own, pooled = bfcl(given.data)
    sets = {
        "BFCL, own tools": own,
        "BFCL, all tools": pooled,
        "MetaTool": metatool(given.data),
        "MCP tasks": mcp_cases(given.data),
        "Terse descriptions": terse(given.data),
    }
    for name, queries in sets.items():
        await measure(name, queries, methods)


if __name__ == "__main__":
    asyncio.run(main())
