"""What is typed into a parameter's field becomes an expected value, and back without loss."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.arguments.parameters import Choice, Kind, Parameter
from app.arguments.values import UnreadableError
from app.screens.cases.matchers import (
    Matcher,
    ParameterField,
    matchers_for,
    read_field,
    refit,
    value_of,
    with_matcher,
    with_text,
)
from mcp_tef import Json, canonical

TEXT = Parameter(name="query", kind=Kind.TEXT)
NUMBER = Parameter(name="limit", kind=Kind.NUMBER)
FLAG = Parameter(name="deep", kind=Kind.FLAG)
TAGS = Parameter(name="tags", kind=Kind.LIST, items=Kind.TEXT)
OBJECT = Parameter(name="filter", kind=Kind.OBJECT)
ANY = Parameter(name="value")
ORDER = Parameter(name="order", kind=Kind.TEXT, choices=(Choice("asc", "asc"), Choice("desc", "desc")))


@pytest.mark.parametrize(
    ("parameter", "value", "matcher", "text"),
    [
        (TEXT, "retry header", Matcher.EQUALS, "retry header"),
        (TEXT, "", Matcher.EQUALS, ""),
        (TEXT, 5, Matcher.JSON, "5"),
        (TEXT, {"$any_of": ["python", "py"]}, Matcher.ANY_OF, "python, py"),
        (TEXT, {"$any_of": ["a, b", "c"]}, Matcher.ANY_OF, '["a, b", "c"]'),
        (TEXT, {"$contains": "src"}, Matcher.CONTAINS, "src"),
        (TEXT, {"$regex": "^src/"}, Matcher.PATTERN, "^src/"),
        (TEXT, {"$datetime": "2026-03-01T10:30"}, Matcher.DATE, "2026-03-01T10:30"),
        (TEXT, {"$any": True}, Matcher.ANYTHING, ""),
        (TEXT, {"$optional": "src"}, Matcher.OPTIONAL, "src"),
        (TEXT, {"$optional": {"$any_of": ["a"]}}, Matcher.JSON, '{"$optional": {"$any_of": ["a"]}}'),
        (NUMBER, 1.0, Matcher.EQUALS, "1.0"),
        (NUMBER, {"$approx": 50, "$tolerance": 10}, Matcher.WITHIN, "50 ± 10"),
        (NUMBER, {"$approx": 50}, Matcher.JSON, '{"$approx": 50}'),
        (NUMBER, {"$any_of": [1, 2]}, Matcher.ANY_OF, "1, 2"),
        (FLAG, True, Matcher.EQUALS, "yes"),
        (TAGS, ["a", "b"], Matcher.EQUALS, "a, b"),
        (TAGS, [], Matcher.EQUALS, "[]"),
        (TAGS, {"$unordered": ["a", "b"]}, Matcher.UNORDERED, "a, b"),
        (TAGS, {"$contains": "a"}, Matcher.CONTAINS, "a"),
        (OBJECT, {"a": 1}, Matcher.EQUALS, '{"a": 1}'),
        (OBJECT, {"a": {"$any": True}}, Matcher.JSON, '{"a": {"$any": true}}'),
        (OBJECT, {"$literal": {"$any": True}}, Matcher.EQUALS, '{"$any": true}'),
        (ANY, "5", Matcher.EQUALS, '"5"'),
        (ANY, "five", Matcher.EQUALS, "five"),
        (ORDER, "asc", Matcher.EQUALS, "asc"),
        (ORDER, "upward", Matcher.EQUALS, "upward"),
    ],
)
def test_an_expected_value_is_shown_in_the_simplest_form(
    parameter: Parameter, value: Json, matcher: Matcher, text: str
) -> None:
    field = read_field(parameter, value)
    assert (field.matcher, field.text) == (matcher, text)
    assert canonical(value_of(field)) == canonical(value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["a", "$any", "$any_of", "$approx", "$tolerance", "$regex", "$optional", "$contains", "$literal", ""]
            ),
            inner,
            max_size=2,
        )
    ),
    max_leaves=6,
)


@given(value=JSON, parameter=st.sampled_from([TEXT, NUMBER, FLAG, TAGS, OBJECT, ANY, ORDER]))
def test_every_json_value_comes_back_as_the_very_same(value: Json, parameter: Parameter) -> None:
    assert canonical(value_of(read_field(parameter, value))) == canonical(value)


@given(
    text=st.text(max_size=12),
    matcher=st.sampled_from([matcher for matcher in Matcher if matcher is not Matcher.NOT_JUDGED]),
    parameter=st.sampled_from([TEXT, NUMBER, FLAG, TAGS, OBJECT, ANY, ORDER]),
)
def test_whatever_is_typed_is_a_value_or_a_sentence_about_it(text: str, matcher: Matcher, parameter: Parameter) -> None:
    value, sentence = read_out(ParameterField(parameter, matcher, text))
    if sentence:
        assert sentence[0].isupper()
        assert sentence.endswith(".")
    else:
        assert canonical(value_of(read_field(parameter, value))) == canonical(value)


def read_out(field: ParameterField) -> tuple[Json, str]:
    try:
        return value_of(field), ""
    except UnreadableError as error:
        return None, str(error)


@given(
    value=JSON, first=st.sampled_from([TEXT, NUMBER, TAGS, ANY]), second=st.sampled_from([FLAG, OBJECT, TEXT, ORDER])
)
def test_another_schema_changes_how_a_value_is_shown_but_not_the_value(
    value: Json, first: Parameter, second: Parameter
) -> None:
    assert canonical(value_of(refit(read_field(first, value), second))) == canonical(value)


def test_typing_a_value_makes_a_parameter_judged_and_clearing_it_undoes_that() -> None:
    typed = with_text(ParameterField(TEXT), "src")
    assert value_of(typed) == "src"
    assert not with_text(typed, "").judged


def test_an_empty_text_is_expected_by_choosing_equals() -> None:
    assert value_of(with_matcher(ParameterField(TEXT), Matcher.EQUALS)) == ""


def test_changing_the_matcher_keeps_what_was_typed() -> None:
    field = with_matcher(ParameterField(TEXT, Matcher.EQUALS, "python, py"), Matcher.ANY_OF)
    assert value_of(field) == {"$any_of": ["python", "py"]}


def test_as_json_shows_the_matcher_and_leaving_it_shows_the_value_again() -> None:
    as_json = with_matcher(ParameterField(TEXT, Matcher.ANY_OF, "python, py"), Matcher.JSON)
    assert as_json.text == '{"$any_of": ["python", "py"]}'
    assert with_matcher(as_json, Matcher.ANY_OF).text == "python, py"


@pytest.mark.parametrize(
    ("field", "sentence"),
    [
        (ParameterField(NUMBER, Matcher.EQUALS, "many"), "Write a number such as 20 or 0.5."),
        (ParameterField(NUMBER, Matcher.EQUALS, "true"), "Write a number such as 20 or 0.5."),
        (ParameterField(FLAG, Matcher.EQUALS, "maybe"), "Select yes or no."),
        (ParameterField(OBJECT, Matcher.EQUALS, "[1]"), 'Write a JSON object such as {"name": "value"}.'),
        (
            ParameterField(TEXT, Matcher.DATE, "soon"),
            "Write a date such as 2026-03-01, or 2026-03-01T10:30 with the time.",
        ),
        (
            ParameterField(NUMBER, Matcher.WITHIN, "50"),
            "Write a number and how far off it may be, such as 50 ± 10 (or 50 +- 10).",
        ),
        (ParameterField(TEXT, Matcher.CONTAINS, ""), "Type what it contains."),
        (ParameterField(ANY, Matcher.JSON, '{"a": '), "This is not JSON yet: expecting value at line 1, column 6."),
        (ParameterField(ANY, Matcher.JSON, "[" * 100_000), "This JSON is too deep or too long."),
    ],
)
def test_what_does_not_fit_is_answered_with_one_clear_sentence(field: ParameterField, sentence: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        value_of(field)
    assert str(caught.value) == sentence


def test_a_pattern_that_cannot_be_read_says_where_it_breaks() -> None:
    with pytest.raises(UnreadableError, match="This is not a pattern that can be read: "):
        value_of(ParameterField(TEXT, Matcher.PATTERN, "("))


@pytest.mark.parametrize("typed", ["50 ± 10", "50+-10", "50 +/- 10", "50±10"])
def test_a_tolerance_can_be_typed_without_a_special_key(typed: str) -> None:
    assert value_of(ParameterField(NUMBER, Matcher.WITHIN, typed)) == {"$approx": 50, "$tolerance": 10}


def test_the_menu_offers_what_makes_sense_for_the_type() -> None:
    assert matchers_for(NUMBER) == (
        Matcher.EQUALS,
        Matcher.ANY_OF,
        Matcher.WITHIN,
        Matcher.ANYTHING,
        Matcher.OPTIONAL,
        Matcher.NOT_JUDGED,
        Matcher.JSON,
    )
    assert Matcher.WITHIN not in matchers_for(TEXT)
