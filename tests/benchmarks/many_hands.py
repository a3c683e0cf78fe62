"""Many hands at one workspace file at once: three command lines, and two cores as the window has one.

`python -m tests.benchmarks.many_hands STEPS SEED [PAUSE]` says what was done. Each hand writes one field of cases that
all share, so that the model is exact whatever the order: a field must hold what its hand wrote last. Each hand adds and
deletes cases of its own, and one of the command lines runs batches. Half of the hands use another name of the file.
"""

import asyncio
import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from mcp_tef.engine import Engine
from mcp_tef.model.cases import CaseDraft, EarlierMessage, Speaker, expectation_from_json
from tests.support.command_line import ROOT, command

SHARED = 12
VALUES: dict[str, Callable[[str], Any]] = {
    "before": lambda text: (EarlierMessage(Speaker.USER, text),),
    "expectation": lambda text: expectation_from_json([{"tool": text}]),
}
OPTIONS = {"family": "--family", "tags": "--tag", "query": "--query"}


@dataclass
class Model:
    """What must be there: each field of the shared cases, the cases of each hand, and the batches."""

    fields: dict[tuple[str, str], object] = field(default_factory=dict)
    added: set[str] = field(default_factory=set)
    batches: int = 0
    done: Counter[str] = field(default_factory=Counter)


async def say(path: Path, *arguments: str) -> str:
    """Run a command in a process of its own; it must end well."""
    surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        *command(*arguments, "--workspace", str(path)),
        env=surroundings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode in (0, 1), (arguments, process.returncode, err.decode())
    return out.decode()


async def command_line(path: Path, owned: str, steps: "Steps", model: Model) -> None:
    """Edit one field of shared cases, import and delete cases of its own, and run batches."""
    random, mine = Random(steps.seed + owned), set[str]()
    while number := steps.take():
        act = random.choice(("edit", "edit", "edit", "edit", "import", "delete", "run"))
        name = f"Shared {random.randrange(SHARED)}"
        if act == "run" and owned == "query" and number % 3 == 0:
            await say(path, "run", "--model", "offline/words", "--suite", "Shared", "--yes")
            model.batches += 1
        elif act == "delete" and mine:
            gone = mine.pop()
            await say(path, "cases", "remove", gone, "--yes")
            model.added.discard(gone)
        elif act == "import":
            made = f"{owned} {number}"
            file = path.parent / f"{made}.json"
            file.write_text(json.dumps({"cases": [{"name": made, "query": made, "expected": None}]}), "utf-8")
            await say(path, "cases", "import", str(file), "--yes")
            mine.add(made)
            model.added.add(made)
        else:
            act, text = "edit", f"{owned} {number}"
            await say(path, "cases", "edit", name, OPTIONS[owned], text)
            model.fields[name, owned] = (text,) if owned == "tags" else text
        model.done[f"command line: {act}"] += 1


async def core(engine: Engine, label: str, owned: str, steps: "Steps", model: Model) -> None:
    """Edit one field of shared cases from a view that may be old, undo it, add, delete and restore cases."""
    random = Random(steps.seed + label)
    view = {case.name: case for case in await engine.cases.list()}
    last: dict[str, Any] = {}
    while number := steps.take():
        name, act = f"Shared {random.randrange(SHARED)}", random.choice(("edit", "edit", "undo", "look", "add"))
        case = view[name]
        if act == "look":
            view = {one.name: one for one in await engine.cases.list()}
        elif act == "add":
            (made,) = await engine.cases.add([CaseDraft(name=f"{label} {number}", query="Added")])
            await engine.cases.remove([made.id])
            await engine.cases.restore([made.id])
            model.added.add(made.name)
        elif act == "undo" and name in last:
            before, after = last.pop(name)
            view[name] = await engine.cases.edit(case.id, before, seen=after)
            model.fields[name, owned] = getattr(before, owned)
        else:
            act, seen = "edit", case.draft
            wanted = replace(seen, **{owned: VALUES[owned](f"{label} {number}")})
            own = view[name] = await engine.cases.edit(case.id, wanted, seen=seen)
            last[name] = (replace(own.draft, **{owned: getattr(seen, owned)}), own.draft)
            model.fields[name, owned] = getattr(wanted, owned)
        model.done[f"{label}: {act}"] += 1
        await asyncio.sleep(steps.pause)


class Steps:
    """The steps that are left, numbered from 1."""

    def __init__(self, number: int, seed: str, pause: float) -> None:
        self.left, self.seed, self.pause, self._number = number, seed, pause, 0

    def take(self) -> int:
        """Return the number of the next step, 0 where none is left."""
        if self._number >= self.left:
            return 0
        self._number += 1
        return self._number


async def require(engine: Engine, model: Model) -> None:
    """Compare the file with what must be there."""
    cases = {case.name: case for case in await engine.cases.list()}
    shared = {f"Shared {number}" for number in range(SHARED)}
    assert len(await engine.cases.list()) == len(cases)
    assert cases.keys() - shared == model.added, cases.keys() ^ (shared | model.added)
    for (name, owned), text in model.fields.items():
        held = getattr(cases[name].draft, owned)
        assert held == text, (name, owned, held, text)
    batches = await engine.runs.batches()
    assert len(batches) == model.batches, (len(batches), model.batches)
    for batch in batches:
        assert (batch.status, batch.total, sum(batch.counts.values())) == ("completed", SHARED, SHARED), batch
        assert min(batch.counts.values()) >= 0


async def main(number: int, seed: str, pause: float) -> None:
    """Let all hands work at once, then compare."""
    with TemporaryDirectory() as folder:
        path, link = Path(folder, "work.db"), Path(folder, "link.db")
        window = await Engine.open(path)
        await window.open_sample()
        await window.cases.remove([case.id for case in await window.cases.list()])
        names = [f"Shared {place}" for place in range(SHARED)]
        await window.cases.add(
            [CaseDraft(name=name, query=name, suites=("Shared",), servers=("Bike shop",)) for name in names]
        )
        link.symlink_to(path)
        agent = await Engine.open(link)
        steps, model, began = Steps(number, seed, pause), Model(), perf_counter()
        places = zip((path, link, path), OPTIONS, strict=True)
        hands = [command_line(place, owned, steps, model) for place, owned in places]
        hands += [
            core(window, "window", "before", steps, model),
            core(agent, "second core", "expectation", steps, model),
        ]
        await asyncio.gather(*hands)
        for engine in (window, agent):
            await require(engine, model)
            await engine.close()
        print(f"{sum(model.done.values())} steps in {perf_counter() - began:.0f} s: all there.")
        for done, times in sorted(model.done.items()):
            print(f"{times:6,} {done}")


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]) if len(sys.argv) > 3 else 0.2))
