"""Batches and cases by what people type: an id, the beginning of one, a name, or `latest`; pure."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from mcp_tef.errors import InputError, NotFoundError
from mcp_tef.model.cases import TestCase
from mcp_tef.model.runs import Batch
from mcp_tef.model.search import did_you_mean

Named = TypeVar("Named", Batch, TestCase)
_LATEST = re.compile(r"latest(?:~(\d{1,6}))?")
_SHORTEST_BEGINNING = 4


def find_batch(batches: Sequence[Batch], text: str) -> Batch:
    """Return the batch that is meant, among all, newest first. Raises NotFoundError and InputError.

    `latest` is the newest and `latest~1` the one before it.
    """
    if not batches:
        raise NotFoundError("Nothing was run in this workspace yet.", hint="Start with: mcp-tef run")
    if found := _LATEST.fullmatch(text):
        back = int(found[1] or 0)
        if back >= len(batches):
            raise NotFoundError(f"There is no batch {text}: there are {len(batches)}.", hint="See mcp-tef runs list.")
        return batches[back]
    return _find(batches, text, "batch", lambda batch: batch.name)


def find_case(cases: Sequence[TestCase], text: str) -> TestCase:
    """Return the case that is meant. Raises NotFoundError, and InputError where several have the name."""
    return _find(cases, text, "test case", lambda case: case.name)


def _find(items: Sequence[Named], text: str, kind: str, name_of: Callable[[Named], str]) -> Named:
    found = _matches(items, text, name_of)
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(item.id for item in found[:5])
        raise InputError(f"“{text}” could be {len(found)} of the {kind}s: {ids}.", hint="Give one of these ids.")
    known = filter(None, (text for item in items for text in (name_of(item), item.id)))
    raise NotFoundError(f"There is no {kind} “{text}”.", hint=did_you_mean(text, known, "Give its id or its name."))


def _matches(items: Sequence[Named], text: str, name_of: Callable[[Named], str]) -> list[Named]:
    by_id = [item for item in items if item.id == text]
    by_name = [item for item in items if name_of(item) == text]
    return by_id or by_name or [item for item in items if len(text) >= _SHORTEST_BEGINNING and item.id.startswith(text)]


def require_known(kind: str, wanted: Iterable[str | None], known: Iterable[str]) -> None:
    """Raise NotFoundError with the nearest name for one that is not known; None is no name."""
    names = sorted(set(known))
    for text in wanted:
        if text is not None and text not in names:
            some = f"There are {', '.join(names[:10])}." if names else "There is none yet."
            raise NotFoundError(f"There is no {kind} “{text}”.", hint=did_you_mean(text, names, some))
