"""Cost of a trial of 200 cases with the baseline, from start to verdict: `python -m tests.benchmarks.trial_cost`."""

import argparse
import asyncio
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from mcp_tef.engine import Engine
from mcp_tef.model.cases import CaseDraft, Expectation, ExpectedCall
from mcp_tef.model.draft_edits import ToolEdit
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.trials import TrialRequest
from tests.support.workspace_files import written_tools

LIMIT_S = 1.0
TOOLS, GUARDS = 30, 20


async def measured(cases: int, repeats: int) -> list[float]:
    """Seconds from the start of a trial to its result, of several trials in one workspace."""
    with TemporaryDirectory() as folder:
        names = {f"tool_{number}": f"Handle task number{number} of kind{number % 7}." for number in range(TOOLS)}
        file = written_tools(Path(folder), names)
        async with await Engine.open(Path(folder) / "work.db") as engine:
            await engine.servers.add(ServerSpec(name="s", transport=Transport.FILE, path=str(file)))
            draft = await engine.drafts.new("Draft", server="s")
            draft = await engine.drafts.edit(draft.id, "tool_0", ToolEdit(description="Handle number0 and others."))
            stored = await engine.cases.add([_case(number) for number in range(cases + GUARDS)])
            ids = [case.id for case in stored]
            settings = ModelSettings(model="words")
            request = TrialRequest(
                draft=draft.id, settings=settings, cases=tuple(ids[:cases]), guards=tuple(ids[cases:])
            )
            return [await _seconds(engine, request) for _ in range(repeats)]


async def _seconds(engine: Engine, request: TrialRequest) -> float:
    started = time.perf_counter()
    batch = await engine.runs.wait((await engine.trials.start(request)).id)
    found = await engine.trials.result(batch.id)
    assert found.pairs == len(request.cases)
    return time.perf_counter() - started


def _case(number: int) -> CaseDraft:
    expected = Expectation(((ExpectedCall(tool=f"tool_{number % TOOLS}"),),))
    query = f"Please do the task number{number % TOOLS} for case {number}"
    return CaseDraft(name=f"Case {number}", query=query, expectation=expected, servers=("s",))


def main() -> None:
    """Print the figures; exit with 1 above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    seconds = sorted(asyncio.run(measured(asked.cases, asked.repeats)))
    print(f"Trial of {asked.cases} cases and {GUARDS} guards with the baseline, both arms, {TOOLS} tools:")
    print(f"  median {seconds[len(seconds) // 2]:.2f} s, least {seconds[0]:.2f} s, most {seconds[-1]:.2f} s")
    raise SystemExit(seconds[len(seconds) // 2] > LIMIT_S)


if __name__ == "__main__":
    main()
