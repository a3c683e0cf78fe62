"""Values computed once for objects that come again with each run of a batch."""

from collections.abc import Callable
from typing import Generic, TypeVar

Key = TypeVar("Key")
Value = TypeVar("Value")
MOST_VALUES = 64


class RecentValues(Generic[Key, Value]):
    """The values of the last objects, by identity, so that no large object is hashed or compared."""

    def __init__(self, compute: Callable[[Key], Value]) -> None:
        self._compute = compute
        self._kept: dict[int, tuple[Key, Value]] = {}

    def of(self, key: Key) -> Value:
        """Return the value of an object that does not change."""
        kept = self._kept.get(id(key))
        if kept is None or kept[0] is not key:
            if len(self._kept) >= MOST_VALUES:
                self._kept.clear()
            # The object is kept as well, so that no other one gets its identity.
            kept = self._kept[id(key)] = (key, self._compute(key))
        return kept[1]
