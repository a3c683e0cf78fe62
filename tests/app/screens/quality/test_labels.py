"""Texts of scores, findings and token counts."""

import pytest

from app.screens.quality.finding_card import MOST_PLACES, notes
from app.screens.quality.labels import (
    QualityLevel,
    danger,
    heaviest_parameter,
    level,
    parts_of,
    score_sentence,
    share,
    unsafe,
    warning,
    weight,
    worst,
)
from app.text.text_diff import difference
from mcp_tef import QualityReport, ServerTokenCount, Severity, ToolQuality
from tests.support.fake_engine import made_tool
from tests.support.quality_page import finding, judged

MISSING = finding("description-missing", Severity.ERROR, penalty=40)
SHORT = finding("description-too-short")
HIDDEN = finding("hidden-characters", Severity.ERROR, penalty=5)
POISON = finding("poisoning-override", Severity.ERROR, penalty=50)


def test_a_tool_stands_by_its_gravest_finding() -> None:
    assert level(judged("a", SHORT, MISSING)) is QualityLevel.ERROR
    assert level(judged("a", SHORT)) is QualityLevel.WARNING
    assert level(judged("a", finding("vague", Severity.NOTE))) is QualityLevel.NOTE
    assert level(judged("a")) is QualityLevel.FINE


def test_of_equal_gravity_what_works_on_the_model_unseen_comes_first() -> None:
    found = worst(judged("a", MISSING, HIDDEN))
    assert found is HIDDEN
    assert worst(judged("a", SHORT, finding("other", penalty=25))) is not SHORT


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("poisoning-secrecy", "tool poisoning"),
        ("hidden-characters", "hidden text"),
        ("bidirectional-characters", "hidden text"),
        ("description-missing", ""),
    ],
)
def test_a_rule_says_what_it_warns_of(rule: str, words: str) -> None:
    assert danger(finding(rule).rule) == words


def test_a_poisoned_tool_comes_with_a_warning_and_an_unclear_one_without() -> None:
    assert warning(judged("a", SHORT)) == ""
    assert not unsafe(judged("a", SHORT))
    assert warning(judged("a", HIDDEN, POISON)).startswith("Signs of tool poisoning and hidden text.")
    steering = finding("poisoning-other-tool", Severity.WARNING)
    assert warning(judged("a", steering)).startswith("Parts of this definition give the model instructions.")


def test_the_sentence_of_a_score_does_the_sum() -> None:
    assert score_sentence(judged("a")) == "No issues found."
    assert score_sentence(judged("a", SHORT)) == "100 minus 10 for 1 finding."
    assert score_sentence(judged("a", MISSING, POISON, SHORT, SHORT)) == ("100 minus 110 for 4 findings, at least 0.")
    assert score_sentence(judged("a", finding("vague", penalty=0))) == "1 finding, none of which costs points."


def test_a_small_share_is_never_said_to_be_nothing() -> None:
    assert (share(1, 1_000), share(0, 10), share(9, 100), share(1, 0)) == ("under 1 %", "0 %", "9 %", "–")


def test_findings_of_one_rule_make_one_note_with_its_places() -> None:
    found = [
        finding("parameter-undocumented", penalty=6, place=f"parameter p{n}", sentence=f"`p{n}` has no description.")
        for n in range(8)
    ]
    (note,) = notes(judged("a", *found))
    assert (note.word, note.where, note.cost) == ("Warning", "in 8 places", 48)
    assert [place.sentence for place in note.places] == [f"`p{n}` has no description." for n in range(MOST_PLACES)]
    assert note.more == "And 2 more places like this."
    assert (note.fix, {place.fix for place in note.places}) == ("Say more.", {""})


def test_advice_that_differs_stands_at_its_place_and_equal_sentences_are_told_apart() -> None:
    first = finding("untyped", place="parameter a", fix="Make it text.")
    second = finding("untyped", place="parameter b", fix="Make it a number.")
    (note,) = notes(judged("a", first, second))
    assert note.fix == ""
    assert [(place.sentence, place.fix) for place in note.places] == [
        ("parameter a: The description says too little.", "Make it text."),
        ("parameter b: The description says too little.", "Make it a number."),
    ]


def test_notes_come_the_gravest_first_and_say_what_is_unsafe() -> None:
    found = notes(judged("a", SHORT, MISSING, POISON))
    assert [(note.rule, note.word) for note in found] == [
        ("poisoning-override", "Error, tool poisoning"),
        ("description-missing", "Error"),
        ("description-too-short", "Warning"),
    ]
    assert [note.unsafe for note in found] == [True, False, False]
    assert found[1].where == "description"


def test_a_finding_that_costs_nothing_has_no_figure() -> None:
    assert notes(judged("a", finding("vague", penalty=0)))[0].cost == 0


def report(*tools: ToolQuality) -> QualityReport:
    """A report about these, with the weights of their servers."""
    servers = {one.tool.tool.server for one in tools}
    mine = {name: [one.tokens for one in tools if one.tool.tool.server == name] for name in servers}
    weights = tuple(ServerTokenCount(name, len(all_of), sum(all_of)) for name, all_of in mine.items())
    return QualityReport(tools=tools, servers=weights, tokenizer="cl100k_base")


def test_a_weight_is_told_with_its_share_of_the_server() -> None:
    heavy, light = judged("a", tokens=150), judged("b", tokens=50)
    other = judged("c", server="other", tokens=900)
    whole = report(heavy, light, other)
    assert weight(heavy, whole).sentence == (
        "150 tokens in each request that offers it: 75 % of the 200 of docs, more than any of its other tools."
    )
    assert weight(light, whole).sentence == "50 tokens in each request that offers it: 25 % of the 200 of docs."
    assert weight(other, whole).sentence == "900 tokens in each request that offers it."


def test_the_parts_of_a_definition_come_from_the_heaviest_and_add_up() -> None:
    tool = made_tool("find", "x" * 100, "docs", q={"type": "string", "description": "y" * 500})
    parts = parts_of(tool)
    assert [part.name for part in parts] == ["Parameters", "Description"]
    assert 0.9 < sum(part.share for part in parts) <= 1


def test_the_parameter_that_weighs_most_is_named_where_one_stands_out() -> None:
    long = {"type": "string", "description": "y" * 500}
    short = {"type": "string"}
    found = heaviest_parameter({"properties": {"a": long, "b": short, "c": short}})
    assert found is not None
    assert found[0] == "a"
    assert 0.85 < found[1] < 1
    assert heaviest_parameter({"properties": {"a": short, "b": short, "c": short}}) is None
    assert heaviest_parameter({"properties": {"a": long}}) is None
    assert heaviest_parameter({"properties": "nonsense"}) is None
    tool = judged("find")
    heavy = made_tool("find", "Find.", "docs", a=long, b=short)
    assert (
        "The parameter a takes 9"
        in weight(
            ToolQuality(tool=type(tool.tool)("docs/find", heavy), score=100, findings=(), tokens=9), report(tool)
        ).heavy
    )


def test_a_schema_nested_beyond_reason_is_weighed_all_the_same() -> None:
    deep: dict[str, object] = {"type": "object"}
    for _ in range(20_000):
        deep = {"properties": {"x": deep}}
    tool = made_tool("deep", "Deep.", "docs", x=deep)
    assert parts_of(tool)[0].name == "Parameters"


def test_what_a_suggestion_changes_is_marked_and_the_rest_is_not() -> None:
    before, after = difference("Find a page by its title.", "Find a page by its title or number.")
    assert "".join(piece.text for piece in before) == "Find a page by its title."
    assert [piece.text for piece in after if piece.changed] == ["title or number."]
    assert [piece.text for piece in before if piece.changed] == ["title."]


@pytest.mark.parametrize(("before", "after"), [("", "All new."), ("One two", "Three four"), ("w " * 900, "w " * 900)])
def test_texts_without_much_in_common_and_endless_ones_are_left_alone(before: str, after: str) -> None:
    old, new = difference(before, after)
    assert not any(piece.changed for piece in (*old, *new))
    assert ["".join(piece.text for piece in side) for side in (old, new)] == [before, after]
