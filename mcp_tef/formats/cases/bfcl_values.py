"""Between BFCL's lists of accepted values and expected values with matchers."""

from collections.abc import Mapping

from mcp_tef.formats.cases.entries import CannotHoldError, literal
from mcp_tef.model.json import Json
from mcp_tef.scoring.matchers import is_matcher


def accepted(values: Json) -> Json:
    """An expected value from a list of accepted ones; "" in it means that none need be given."""
    if not isinstance(values, list):
        return _inside(values)
    if not values:
        return {"$any": True}
    given = [_inside(value) for value in values if value != ""] or [""]
    value = given[0] if len(given) == 1 else {"$any_of": given}
    return {"$optional": value} if "" in values else value


def _inside(value: Json) -> Json:
    if isinstance(value, Mapping):
        looks_marked = bool(value) and all(key.startswith("$") for key in value)
        return literal(value) if looks_marked else {name: accepted(inner) for name, inner in value.items()}
    return [_inside(item) for item in value] if isinstance(value, list) else value


def choices(expected: Json, name: str) -> list[Json]:
    """The list of accepted values that `accepted` reads back; CannotHoldError where there is none."""
    if not is_matcher(expected):
        return [_outside(expected, name)]
    if set(expected) == {"$optional"}:
        inner = expected["$optional"]
        return [""] if inner == "" else [*choices(inner, name), ""]
    if set(expected) == {"$any_of"} and expected["$any_of"]:
        return [_outside(value, name) for value in expected["$any_of"]]
    if expected == {"$any": True}:
        return []
    raise CannotHoldError(f"BFCL has no word for {', '.join(expected)}, which is expected of {name}.")


def _outside(value: Json, name: str) -> Json:
    if value == "":
        raise CannotHoldError(f"An empty text is expected of {name}, which means “nothing” in BFCL.")
    if is_matcher(value):
        raise CannotHoldError(f"BFCL has no word for {', '.join(value)} inside what is expected of {name}.")
    if isinstance(value, Mapping):
        return {key: choices(inner, f"{name}.{key}") for key, inner in value.items()}
    return [_outside(item, name) for item in value] if isinstance(value, list) else value
