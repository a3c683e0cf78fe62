"""Time of the line without a model for a thousand real tools, and of a whole crowd test with the offline baseline.

`python -m tests.benchmarks.crowd_speed --data FOLDER`, where the data folder holds the catalogues of real servers as
JSON lines. Limit: the line takes less than a second, the first one too, for 40 cases and all sizes up to 1,000 tools.
"""

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

from mcp_tef.engine import Engine
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.crowds import SIZES, CrowdRequest, CrowdSource
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.servers import ServerSpec, Transport
from tests.benchmarks.crowd_data import real
from tests.support.workspace_files import written_tools

CASES = 40
MOST_SECONDS = 1.0


async def measured(data: Path, folder: Path) -> None:
    """Print the times."""
    raws = [
        {"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema, "server": tool.server}
        for tool in real(data)["all real"]
    ]
    (folder / "crowd.json").write_text(json.dumps(raws))
    own = written_tools(folder, {"book_repair": "Book a repair of a bicycle.", "rent": "Rent a bicycle for days."})
    async with await Engine.open(folder / "work.db", environment={}) as engine:
        await engine.servers.add(ServerSpec(name="bikes", transport=Transport.FILE, path=str(own)))
        expected = Expectation(((ExpectedCall(tool="book_repair"),),))
        queries = [f"Please repair the brake of bicycle {number}" for number in range(CASES)]
        drafts = [CaseDraft(name=one, query=one, expectation=expected, servers=("bikes",)) for one in queries]
        ids = tuple(case.id for case in await engine.cases.add(drafts))
        source = CrowdSource(files=(str(folder / "crowd.json"),))
        seconds = []
        for _ in range(3):
            began = time.perf_counter()
            line = await engine.crowds.retrieval(ids, sizes=(*SIZES, 1_000), source=source)
            seconds.append(time.perf_counter() - began)
        for point in line:
            print(f"{point.strangers:6,} others: recall {dict(point.recall)}, silent {point.silent:.0%}")
        print(f"line up to {line[-1].strangers:,} tools: {min(seconds):.2f} s (first {seconds[0]:.2f} s)")
        began = time.perf_counter()
        request = CrowdRequest(cases=ids, models=(ModelSettings(model="words"),), source=source)
        batch = await engine.runs.wait((await engine.crowds.start(request)).id)
        print(f"crowd test offline, {batch.total:,} runs: {time.perf_counter() - began:.1f} s")
    assert max(seconds) < MOST_SECONDS, seconds


def main() -> None:
    """Measure in a folder of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measured(parser.parse_args().data, Path(folder)))


if __name__ == "__main__":
    main()
