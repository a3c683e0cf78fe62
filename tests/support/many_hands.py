"""Several hands at one workspace file, at random, and a model that says what the file must hold."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest

from mcp_tef.engine import Engine
from mcp_tef.errors import ChangedMeanwhileError, NotFoundError
from mcp_tef.model.cases import CaseDraft
from mcp_tef.model.ids import BatchId, CaseId
from mcp_tef.model.runs import BatchRequest, BatchStatus, ModelSettings

FIELDS = ("name", "query", "suites", "tags", "family", "held_back")


@dataclass
class Hand:
    """A process with its own view of the cases, which may be old, and what it can undo."""

    engine: Engine
    seen: dict[CaseId, CaseDraft] = field(default_factory=dict)
    edits: list[tuple[CaseId, CaseDraft, CaseDraft]] = field(default_factory=list)
    removed: list[CaseId] = field(default_factory=list)


class ManyHands:
    """Lets hands edit, add, run, delete and undo by a seed; `held` is what must be there."""

    def __init__(self, engines: Sequence[Engine], seed: int) -> None:
        self._random = Random(seed)
        self._hands = [Hand(engine) for engine in engines]
        self.held: dict[CaseId, CaseDraft] = {}
        self.asked: dict[BatchId, set[CaseId]] = {}
        self.refused = self.done = self._number = 0

    async def play(self, steps: int) -> None:
        """Take so many steps, each by one of the hands."""
        acts = (self._edit, self._edit, self._edit, self._look, self._add, self._undo, self._remove, self._restore)
        for step in range(steps):
            hand = self._random.choice(self._hands)
            await (self._run(hand) if step % 50 == 49 else self._random.choice(acts)(hand))

    async def check(self) -> None:
        """Compare what each hand finds with what must be there."""
        for hand in self._hands:
            found = {case.id: case.draft for case in await hand.engine.cases.list()}
            assert found == self.held
            batches = {batch.id: batch for batch in await hand.engine.runs.batches()}
            assert batches.keys() == self.asked.keys()
            for batch_id, asked in self.asked.items():
                batch, there = batches[batch_id], len(asked & self.held.keys())
                assert (batch.status, batch.total, sum(batch.counts.values())) == (BatchStatus.COMPLETED, there, there)
                assert all(count >= 0 for count in batch.counts.values())

    async def _edit(self, hand: Hand) -> None:
        known = self._in_order(hand, hand.seen)
        if known:
            case_id = self._random.choice(known)
            seen = hand.seen[case_id]
            wanted = replace(seen, **self._changes())
            if await self._store(hand, case_id, wanted, seen):
                hand.edits.append((case_id, seen, wanted))

    def _in_order(self, hand: Hand, ids: Iterable[CaseId]) -> list[CaseId]:
        """Return cases by name, since ids are random: a seed makes the same steps each time."""
        return sorted(ids, key=lambda case_id: hand.seen[case_id].name)

    async def _undo(self, hand: Hand) -> None:
        if hand.edits:
            case_id, before, after = hand.edits.pop()
            await self._store(hand, case_id, before, after)

    async def _store(self, hand: Hand, case_id: CaseId, wanted: CaseDraft, seen: CaseDraft) -> bool:
        """Edit a case, and require that the store does what the model says: merge, or refuse."""
        held = self.held.get(case_id)
        changed = {name: getattr(wanted, name) for name in FIELDS if getattr(wanted, name) != getattr(seen, name)}
        expected: type[Exception] | None = None
        if held is None:
            expected = NotFoundError
        elif any(getattr(held, name) not in (getattr(seen, name), value) for name, value in changed.items()):
            expected = ChangedMeanwhileError
        if expected or held is None:
            with pytest.raises(expected or NotFoundError):
                await hand.engine.cases.edit(case_id, wanted, seen=seen)
            self.refused += 1
            return False
        case = await hand.engine.cases.edit(case_id, wanted, seen=seen)
        self.held[case_id] = hand.seen[case_id] = replace(held, **changed)
        assert case.draft == self.held[case_id]
        self.done += 1
        return True

    async def _look(self, hand: Hand) -> None:
        hand.seen = {case.id: case.draft for case in await hand.engine.cases.list()}
        assert hand.seen == self.held

    async def _add(self, hand: Hand) -> None:
        self._number += 1
        made = CaseDraft(name=f"Case {self._number}", query=f"Find no. {self._number}", servers=("Bike shop",))
        (case,) = await hand.engine.cases.add([made])
        self.held[case.id] = hand.seen[case.id] = case.draft

    async def _remove(self, hand: Hand) -> None:
        known = self._in_order(hand, set(hand.seen) & set(self.held))
        if len(self.held) > len(self._hands) and known:
            case_id = self._random.choice(known)
            await hand.engine.cases.remove([case_id])
            hand.removed.append(case_id)
            hand.seen[case_id] = self.held.pop(case_id)

    async def _restore(self, hand: Hand) -> None:
        if hand.removed:
            case_id = hand.removed.pop()
            await hand.engine.cases.restore([case_id])
            self.held[case_id] = (await hand.engine.cases.get(case_id)).draft
            assert self.held[case_id] == hand.seen.get(case_id, self.held[case_id])

    async def _run(self, hand: Hand) -> None:
        runs = hand.engine.runs
        batch = await runs.start(BatchRequest(models=(ModelSettings(provider="offline", model="words"),)))
        ended = await runs.wait(batch.id)
        assert ended.total == len(self.held)
        self.asked[batch.id] = set(self.held)

    def _changes(self) -> dict[str, Any]:
        """Return new values for one or two fields; each is new, or one of a few that hands choose alike."""
        self._number += 1
        number, few = self._number, self._random.randrange(3)
        values: dict[str, Any] = {
            "name": f"Name {number}",
            "query": f"Query {few}",
            "suites": (f"Suite {few}",),
            "tags": (f"tag {number}",),
            "family": f"family {few}",
            "held_back": bool(few),
        }
        return {name: values[name] for name in self._random.sample(FIELDS, self._random.randrange(1, 3))}
