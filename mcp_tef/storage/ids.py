"""Subqueries over any number of ids, bound as one parameter."""

import json
from collections.abc import Iterable

from sqlalchemy import Select, func, select


def one_of(values: Iterable[str]) -> Select[tuple[str]]:
    """The values as a subquery for `IN`, however many there are."""
    return select(func.json_each(json.dumps(list(values))).table_valued("value").c.value)
