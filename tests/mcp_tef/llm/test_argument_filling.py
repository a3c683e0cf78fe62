"""Parameters filled from a query by plain rules."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.llm.argument_filling import fill


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
YES_NO, LIST = {"type": "boolean"}, {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("query", "wanted", "filled"),
    [
        ('Search for "red tyres" now', schema("query", query=TEXT), {"query": "red tyres"}),
        ("Find me a quiet hotel", schema("query", query=TEXT), {"query": "Find me a quiet hotel"}),
        (
            "Book a table for 4 at 19:30",
            schema("guests", "time", guests=WHOLE, time=TEXT),
            {"guests": 4, "time": "19:30"},
        ),
        (
            "An area of 12.5 with a width of 3",
            schema("width", "area", width=NUMBER, area=NUMBER),
            {"width": 3, "area": 12.5},
        ),
        ("Pay 1,250,000 euros", schema("amount", amount=WHOLE), {"amount": 1_250_000}),
        ("Roll three dice", schema("dice", dice=WHOLE), {"dice": 3}),
        ("Write to ann@example.org about it", schema("recipient", recipient=TEXT), {"recipient": "ann@example.org"}),
        ("Open https://example.org/a?b=1.", schema("url", url=TEXT), {"url": "https://example.org/a?b=1"}),
        ("Come on March 3rd, 2026", schema("day", day=TEXT | {"format": "date"}), {"day": "2026-03-03"}),
        ("Come on 3 March 2026", schema("date", date=TEXT), {"date": "2026-03-03"}),
        (
            "From 2026-01-02 to 2026-02-03",
            schema(start_date=TEXT, end_date=TEXT),
            {"start_date": "2026-01-02", "end_date": "2026-02-03"},
        ),
        ("Read /etc/hosts", schema("path", path=TEXT), {"path": "/etc/hosts"}),
        ("Cancel booking R-2041", schema("booking_id", booking_id=TEXT), {"booking_id": "R-2041"}),
        ("I want a large pizza", schema(size={"enum": ["small", "large"]}), {"size": "large"}),
        ("I want a pizza", schema("size", size={"enum": ["small", "large"]}), {}),
        ("Ship it express", schema(express=YES_NO), {"express": True}),
        ("Ship it, but not express", schema(express=YES_NO), {"express": False}),
        ("Ship it", schema("express", express=YES_NO), {}),
        ("Add 1, 2 and 3", schema("numbers", numbers=LIST), {"numbers": [1, 2, 3]}),
        (
            "The mean of [4, 5] to 2 digits",
            schema("values", digits=WHOLE, values=LIST),
            {"digits": 2, "values": [4, 5]},
        ),
        ("The weather in New York please", schema("city", city=TEXT), {"city": "New York"}),
        ("status: open", schema(status=TEXT), {"status": "open"}),
        ("Nothing is said here", schema(limit=WHOLE, city=TEXT, when=TEXT | {"format": "date-time"}), {}),
    ],
)
def test_values_are_taken_from_the_query(query: str, wanted: dict[str, Any], filled: dict[str, Any]) -> None:
    assert fill(query, wanted) == filled


def test_one_number_is_never_used_twice() -> None:
    assert fill("Only 5 is said", schema("a", "b", a=WHOLE, b=WHOLE)) == {"a": 5}


def test_references_and_nullable_types_are_followed() -> None:
    wanted = schema("when", "count", when={"$ref": "#/$defs/Day"}, count={"anyOf": [{"type": "null"}, WHOLE]})
    wanted["$defs"] = {"Day": {"type": "string", "format": "date"}}
    assert fill("7 of them on 2026-05-01", wanted) == {"when": "2026-05-01", "count": 7}


def test_a_schema_that_refers_to_itself_ends() -> None:
    node: dict[str, Any] = {"type": "object", "properties": {"next": {"$ref": "#"}, "n": WHOLE}, "required": ["next"]}
    assert fill("1 2 3", node | {"$ref": "#"}) is not None


@pytest.mark.parametrize(
    "odd", [{}, {"properties": []}, {"properties": {"a": True}}, {"properties": {"a": {"type": 3}}}]
)
def test_odd_schemas_fill_nothing_and_never_raise(odd: dict[str, Any]) -> None:
    assert fill("Take 5", odd) == {}


@given(st.text(max_size=200))
def test_no_query_whatever_raises(query: str) -> None:
    kinds = schema("a", "n", "l", "url", a=TEXT, n=NUMBER, l=LIST, url=TEXT, date=TEXT, time=TEXT, yes=YES_NO)
    fill(query, kinds)
