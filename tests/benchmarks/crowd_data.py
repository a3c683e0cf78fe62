"""The bundled crowd beside real catalogues: sizes of servers, descriptions and schemas, and how similar the tools are.

`python -m tests.benchmarks.crowd_data --data FOLDER`, where the data folder holds the catalogues of real servers as
JSON lines. Limits: the median description of the crowd is within a factor of two of the real ones, and so are the
parameters of a tool at the third quartile.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from mcp_tef.embedding.tfidf import TfidfIndex
from mcp_tef.llm.retrieval_baseline import wording
from mcp_tef.model.tools import Tool
from mcp_tef.workflows.crowd_setup import read_bundled_crowd
from tests.benchmarks.retrieval_recall import read, tools

CATALOGUES = ("mcp_zero.jsonl.gz", "livemcpbench.jsonl", "stdio_live.jsonl")
SAMPLE = 316
Row = tuple[str, list[str]]


def bundled() -> list[Tool]:
    """The tools of the bundled crowd."""
    servers = read_bundled_crowd().servers
    rows = [
        {"server": server, "input_schema": raw["inputSchema"], **raw}
        for server, raws in servers.items()
        for raw in raws
    ]
    return [item.tool for item in tools(rows)]


def real(folder: Path) -> dict[str, list[Tool]]:
    """The tools of each real catalogue, and of all of them."""
    found = {name.split(".")[0]: [item.tool for item in tools(read(folder / name))] for name in CATALOGUES}
    return {**found, "all real": [tool for ones in found.values() for tool in ones]}


def figures(found: Sequence[Tool], seed: int = 1) -> list[str]:
    """Servers, tools of a server, description lengths, parameters, described ones, similarity of the nearest tool."""
    sizes = list(Counter(tool.server for tool in found).values())
    lengths = [len(tool.description) for tool in found]
    parameters = [properties(tool) for tool in found]
    described = [bool(isinstance(one, dict) and one.get("description")) for each in parameters for one in each.values()]
    drawn = np.random.default_rng(seed).permutation(len(found))[:SAMPLE]
    square = TfidfIndex([wording(found[place]) for place in drawn]).overlaps()
    pairs = square[np.triu_indices(len(square), 1)]
    np.fill_diagonal(square, 0.0)
    return [
        f"{len(found):,} of {len(sizes)}",
        quantiles(sizes, 50, 90),
        quantiles(lengths, 10, 25, 50, 75, 90, 95),
        quantiles([len(each) for each in parameters], 25, 50, 75, 90),
        f"{100 * np.mean(described):.0f} %",
        quantiles(pairs, 50, 99, digits=2),
        quantiles(square.max(axis=1), 25, 50, 75, digits=2),
    ]


def properties(tool: Tool) -> dict[str, object]:
    """The parameters of a tool by name."""
    found = tool.input_schema.get("properties")
    return found if isinstance(found, dict) else {}


def quantiles(values: Iterable[float], *at: int, digits: int = 0) -> str:
    """Percentiles of some values."""
    return " ".join(f"{one:.{digits}f}" for one in np.percentile(list(values), at))


HEADS = (
    "tools of servers",
    "tools of a server (50, 90 %)",
    "characters of a description (10, 25, 50, 75, 90, 95 %)",
    "parameters (25, 50, 75, 90 %)",
    "described parameters",
    "similarity of pairs (50, 99 %)",
    "similarity of the nearest of 316 (25, 50, 75 %)",
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    catalogues = {"bundled crowd": bundled(), **real(parser.parse_args().data)}
    columns = {name: figures(found) for name, found in catalogues.items()}
    for place, head in enumerate(HEADS):
        print(head)
        for name, column in columns.items():
            print(f"    {name:<14} {column[place]}")
    ours, theirs = catalogues["bundled crowd"], catalogues["all real"]
    near("median description", [[len(tool.description) for tool in ones] for ones in (ours, theirs)], 50)
    near("parameters at the third quartile", [[len(properties(tool)) for tool in ones] for ones in (ours, theirs)], 75)


def near(name: str, values: Sequence[Sequence[int]], percent: int) -> None:
    """Require a percentile of the crowd within a factor of two of the real one."""
    first, second = (float(np.percentile(ones, percent)) for ones in values)
    assert second / 2 <= first <= 2 * second, f"{name}: {first:g}, real {second:g}"


if __name__ == "__main__":
    main()
