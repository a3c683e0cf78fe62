"""Whether a given value is the expected one: everyday normalisation, and matchers, nested as deep as they come."""

from collections.abc import Mapping

from mcp_tef.model.json import Json
from mcp_tef.scoring.matchers import MATCHERS, Fits, is_matcher, may_be_absent
from mcp_tef.scoring.schema_walk import NOWHERE, Place
from mcp_tef.scoring.values import same_scalar

LITERAL = frozenset({"$literal"})


def fits(expected: Json, given: Json, place: Place = NOWHERE) -> bool:
    """Whether a given value is what was expected: a JSON value, or a matcher, which may nest.

    Text is trimmed and its case ignored; 1 equals 1.0; text with a number or a boolean in it equals that
    number or boolean where the schema says so; the order of an object's names never matters, that of a
    list's items does; ISO 8601 texts are the same where they name the same instant.
    """
    if not isinstance(expected, dict):
        return _same_plain(expected, given, place, fits)
    if is_matcher(expected):
        return _by_matcher(expected, given, place)
    return isinstance(given, dict) and _same_object(expected, given, place)


def equals(expected: Json, given: Json, place: Place = NOWHERE) -> bool:
    """The same without matchers: every object means itself."""
    if isinstance(expected, dict):
        return (
            isinstance(given, dict)
            and expected.keys() == given.keys()
            and all(equals(value, given[name], place.at(name)) for name, value in expected.items())
        )
    return _same_plain(expected, given, place, equals)


def _by_matcher(matcher: Mapping[str, Json], given: Json, place: Place) -> bool:
    names = frozenset(matcher)
    if names == LITERAL:
        return equals(matcher["$literal"], given, place)
    rule = MATCHERS.get(names)
    return rule is not None and rule(matcher, given, place, fits)


def _same_plain(expected: Json, given: Json, place: Place, same: Fits) -> bool:
    if not isinstance(expected, list):
        return same_scalar(expected, given, place)
    return (
        isinstance(given, list)
        and len(expected) == len(given)
        and all(same(expected[index], given[index], place.at(index)) for index in range(len(given)))
    )


def _same_object(expected: Mapping[str, Json], given: Mapping[str, Json], place: Place) -> bool:
    return all(name in expected for name in given) and all(
        fits(value, given[name], place.at(name)) if name in given else may_be_absent(value)
        for name, value in expected.items()
    )
