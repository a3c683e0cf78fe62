"""Drafts in memory, behaving as the store on disk does."""

from collections.abc import Sequence
from dataclasses import replace

from mcp_tef.errors import ChangedMeanwhileError, ConflictError, FieldConflict, NotFoundError
from mcp_tef.model.drafts import Draft, DraftStep
from mcp_tef.model.ids import DraftId


class MemoryDrafts:
    """Satisfies `DraftStore`."""

    def __init__(self) -> None:
        self._drafts: dict[DraftId, Draft] = {}

    async def add(self, draft: Draft) -> Draft:
        """Keep it, where it was if it was there before."""
        self._require_free(draft)
        self._drafts[draft.id] = draft
        self._drafts = dict(sorted(self._drafts.items(), key=lambda item: item[1].created_at))
        return draft

    async def all(self) -> tuple[Draft, ...]:
        """Oldest first."""
        return tuple(self._drafts.values())

    async def get(self, draft_id: DraftId) -> Draft:
        """One of them."""
        if draft_id not in self._drafts:
            raise NotFoundError("That draft is not here any more.")
        return self._drafts[draft_id]

    async def append(self, seen: Draft, step: DraftStep) -> Draft:
        """One more step."""
        draft = await self._as_seen(seen)
        return self._kept(replace(draft, steps=(*draft.steps[: draft.step], step), step=step.number))

    async def move(self, seen: Draft, step: int) -> Draft:
        """So many apply."""
        return self._kept(replace(await self._as_seen(seen), step=step))

    async def rename(self, seen: Draft, name: str) -> Draft:
        """Another name."""
        renamed = replace(await self.get(seen.id), name=name)
        self._require_free(renamed)
        return self._kept(renamed)

    async def replace(self, seen: Draft, draft: Draft) -> Draft:
        """Another content."""
        return self._kept(replace(draft, name=(await self._as_seen(seen)).name))

    async def _as_seen(self, seen: Draft) -> Draft:
        draft = await self.get(seen.id)
        if (draft.step, draft.steps, draft.listing) != (seen.step, seen.steps, seen.listing):
            raise ChangedMeanwhileError("the draft", [FieldConflict("steps", str(draft.step), str(seen.step))])
        return draft

    async def remove(self, ids: Sequence[DraftId]) -> None:
        """Gone."""
        for draft_id in ids:
            self._drafts.pop(draft_id, None)

    def _kept(self, draft: Draft) -> Draft:
        self._drafts[draft.id] = draft
        return draft

    def _require_free(self, draft: Draft) -> None:
        others = (one.name for one in self._drafts.values() if one.id != draft.id)
        if draft.name.casefold() in map(str.casefold, others):
            raise ConflictError(f"There is a draft named “{draft.name}” already.")
