"""The verdict tab as plain values: compared calls and parameters, confidence, earlier verdicts."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.core_link.targets import ChangeTool, ShowCase, ShowPair, ShowTool
from app.screens.runs.call_comparison import (
    NOT_JUDGED,
    ParameterRow,
    expected_text,
    name_difference,
    text_difference,
    value_text,
)
from app.screens.runs.commands import run_links
from app.screens.runs.labels import TextSpan, VerdictMark
from app.screens.runs.run_details import earlier_verdicts, verdict_text
from app.screens.runs.verdict import verdict_view
from mcp_tef import (
    CUT_OFF_CODE,
    NOT_OFFERED_CODE,
    ActualCall,
    CallMatch,
    Classification,
    ConfidenceCategory,
    Expectation,
    ExpectedCall,
    FailureInfo,
    ModelSettings,
    PastVerdict,
    RejudgeReason,
    RunDetail,
    RunStatus,
    ToolLabel,
    Verdict,
    VerdictKind,
)
from mcp_tef.scoring.judge import judge
from tests.support.run_factories import (
    SEARCH_CODE,
    SEARCH_FILES,
    TOOLS,
    baseline_detail,
    detail,
    failed_run,
    judged_detail,
    run,
    waiting_run,
    wrong_detail,
    wrong_run,
)

MOMENT = datetime(2026, 11, 21, 12, 5, tzinfo=UTC)


def verdict_of(detail: RunDetail) -> Verdict:
    assert detail.verdict is not None
    return detail.verdict


def past(verdict: Verdict, reason: RejudgeReason = RejudgeReason.EXPECTATION_CHANGED) -> PastVerdict:
    expectation = Expectation(((ExpectedCall(tool="search_code", server="docs"),),))
    return PastVerdict(verdict=verdict, expectation=expectation, replaced_at=MOMENT, reason=reason)


def test_a_run_that_was_judged_once_has_no_past() -> None:
    assert verdict_view(wrong_detail()).earlier == ()


def test_the_line_says_when_it_was_judged_again_what_changed_and_why() -> None:
    missed = verdict_of(wrong_detail())
    (view,) = earlier_verdicts(replace(judged_detail(), past_verdicts=(past(missed),)))
    local = MOMENT.astimezone()
    assert view.line == (
        f"Judged again on {local.day} {local:%b %Y, %H:%M}: was “wrong tool”, "
        "is “correct tool, wrong arguments”, because the expectation of the case changed."
    )
    assert view.mark is VerdictMark.WRONG
    assert view.expected == "Expected then: docs / search_code"
    assert [span.text for span in view.sentence if span.mono] == ["search_files", "search_code"]


def test_an_outcome_that_stayed_is_not_called_a_change() -> None:
    missed = verdict_of(wrong_detail())
    (view,) = earlier_verdicts(replace(wrong_detail(), past_verdicts=(past(missed, RejudgeReason.RULES_CHANGED),)))
    assert "“wrong tool” as before, though the judging rules changed." in view.line


def test_each_earlier_verdict_is_told_against_the_one_that_followed_it() -> None:
    missed, right = verdict_of(wrong_detail()), replace(verdict_of(judged_detail()), parameters_ok=True)
    views = earlier_verdicts(replace(wrong_detail(), past_verdicts=(past(right), past(missed))))
    assert "was “correct call”, is “wrong tool”" in views[0].line
    assert "was “wrong tool”, is “correct call”" in views[1].line


def test_wrong_parameters_are_part_of_what_is_said() -> None:
    assert verdict_text(verdict_of(judged_detail())) == "correct tool, wrong arguments"


def text(spans: tuple[TextSpan, ...]) -> str:
    return "".join(span.text for span in spans)


def test_the_sentence_sets_tool_names_in_mono() -> None:
    view = verdict_view(wrong_detail())
    assert [span.text for span in view.headline if span.mono] == ["search_files", "search_code"]
    assert text(view.headline).startswith("Selected search_files on docs, expected search_code: a wrong tool")
    assert (view.mark, view.query) == (VerdictMark.WRONG, "“Where are retry headers parsed?”")


def test_expected_stands_beside_selected_with_differences_marked() -> None:
    pair = verdict_view(wrong_detail()).pairs[0]
    assert (text(pair.expected.name), text(pair.selected.name)) == ("search_code", "search_files")
    assert (pair.expected.where, pair.selected.where) == ("docs · 5 parameters", "docs · 4 parameters")
    assert [span.text for span in pair.selected.name if span.marked] == ["files"]
    assert "source code" in [span.text for span in pair.expected.text if span.marked]


def test_a_wrong_tool_leads_to_the_case_both_tools_the_pair_and_what_to_write_instead() -> None:
    view = verdict_view(wrong_detail())
    code, files = (ToolLabel(tool=name, server="docs") for name in ("search_code", "search_files"))
    leads = run_links(view)
    assert [lead.target.tool for lead in leads.values() if isinstance(lead.target, ChangeTool)] == [code]
    assert {key: lead.target for key, lead in leads.items() if key != "change"} == {
        "case": ShowCase(wrong_detail().summary.case_id),
        "expected": ShowTool(code),
        "selected": ShowTool(files),
        "pair": ShowPair(code, files),
        "advice": ShowPair(code, files, advice=True),
    }


def test_a_right_tool_has_no_pair_to_compare() -> None:
    assert list(run_links(verdict_view(judged_detail()))) == ["case", "expected", "selected", "change"]


def test_a_run_without_a_verdict_leads_to_its_case() -> None:
    assert list(run_links(verdict_view(detail(waiting_run())))) == ["case"]


def test_the_same_tool_is_not_described_twice() -> None:
    pair = verdict_view(judged_detail()).pairs[0]
    assert text(pair.selected.text) == "The same tool."


def test_high_and_wrong_confidence_is_said_in_plain_words() -> None:
    view = verdict_view(wrong_detail()).confidence
    assert view is not None
    assert (view.figure, view.source, view.sentence) == (
        "0.91",
        "self-reported",
        "Sure and wrong",
    )
    blamed = verdict_view(wrong_detail(), misleads=True).confidence
    assert blamed is not None
    assert blamed.sentence == "Sure and wrong: the description misleads"
    assert view.mark is VerdictMark.WRONG


def test_low_confidence_asks_for_clarity_where_the_tool_was_right() -> None:
    row = run(confidence=0.5, confidence_category=ConfidenceCategory.NEEDS_CLARITY)
    view = verdict_view(detail(row)).confidence
    assert view is not None
    assert view.sentence == "A correct call but unsure: the description needs clarity"


def test_an_answer_without_confidence_says_so() -> None:
    view = verdict_view(detail(run(confidence=None, confidence_category=None))).confidence
    assert view is not None
    assert (view.value, view.figure, view.sentence) == (None, "–", "The answer has no confidence")


def test_a_call_that_was_read_from_text_is_marked() -> None:
    assert verdict_view(detail()).note == ""
    assert verdict_view(detail(run(read_from_text=True))).note == "Call read from text"


def test_the_models_own_words_are_quoted() -> None:
    view = verdict_view(detail())
    assert (view.answer_title, view.answer_text) == ("Explanation of the model", "“A code search should show it.”")


def test_the_baseline_is_never_called_a_model() -> None:
    view = verdict_view(baseline_detail())
    assert view.note == "Selected by the offline baseline, not by a model: it ranked the expected tool second"
    assert view.answer_title == "Ranking of the baseline"


def test_where_no_tool_was_picked_the_selected_side_says_so() -> None:
    row = run(classification=Classification.FN, kind=VerdictKind.NO_TOOL, selected="no tool", selected_tool=None)
    pair = verdict_view(detail(row, calls=())).pairs[0]
    assert (text(pair.selected.name), text(pair.selected.text)) == ("no tool", "No tool was called.")


def test_an_unreadable_answer_says_so() -> None:
    row = run(classification=Classification.FN, kind=VerdictKind.NO_TOOL, selected="no tool", selected_tool=None)
    pair = verdict_view(detail(row, calls=None)).pairs[0]
    assert text(pair.selected.text) == "The answer could not be read."


def test_where_nothing_was_expected_the_expected_side_says_so() -> None:
    row = run(classification=Classification.FP, kind=VerdictKind.UNEXPECTED_CALL)
    pair = verdict_view(detail(row, expected=())).pairs[0]
    assert text(pair.expected.text) == "No tool should be called."
    assert text(pair.selected.name) == "search_code"


def test_an_invented_tool_is_not_among_those_offered() -> None:
    row = run(classification=Classification.FN, kind=VerdictKind.INVENTED_TOOL, selected_tool="find_code")
    pair = verdict_view(detail(row, calls=(ActualCall(tool="find_code"),))).pairs[0]
    assert pair.selected.where == "not offered in this run"


def test_several_calls_stand_as_numbered_pairs_matched_ones_first() -> None:
    expected = tuple(ExpectedCall(tool=name, server="docs") for name in ("search_code", "read_file"))
    calls = tuple(ActualCall(tool=name, server="docs") for name in ("search_files", "search_code"))
    verdict = Verdict(
        classification=Classification.FN,
        kind=VerdictKind.WRONG_TOOL,
        explanation="One of two expected calls was made.",
        matches=(
            CallMatch(expected=0, actual=1),
            CallMatch(expected=1, actual=None),
            CallMatch(expected=None, actual=0),
        ),
    )
    pairs = verdict_view(detail(expected=expected, calls=calls, verdict=verdict)).pairs
    assert [(pair.title, text(pair.expected.name), text(pair.selected.name)) for pair in pairs] == [
        ("Call 1 of 2", "search_code", "search_code"),
        ("Call 2 of 2", "read_file", "search_files"),
    ]


def test_a_failed_run_has_its_message_a_hint_and_a_way_to_try_again() -> None:
    view = verdict_view(detail(failed_run()))
    assert (view.mark, text(view.headline), view.hint, view.retry) == (
        VerdictMark.FAILED,
        "The model gave no answer within 30 s.",
        "Raise the timeout, or try again.",
        True,
    )
    assert view.note == "No verdict, so it counts in no share"
    assert view.pairs == ()


@pytest.mark.parametrize("code", [NOT_OFFERED_CODE, CUT_OFF_CODE])
def test_runs_that_are_counted_apart_say_so(code: str) -> None:
    view = verdict_view(detail(failed_run(failure=FailureInfo(code, "It was not asked.", ""))))
    assert "Counted apart" in view.note
    assert ("not offered" in view.note) is (code == NOT_OFFERED_CODE)


def test_every_accepted_alternative_is_named() -> None:
    calls = tuple((ExpectedCall(tool=name, server="docs"),) for name in ("search_code", "read_file"))
    either = Expectation(calls)
    picked = (ActualCall(tool="search_files", server="docs"),)
    judged = judge(either, [offered.tool for offered in TOOLS], picked)
    view = verdict_view(detail(wrong_run(), calls=picked, expectation=either, verdict=judged))
    assert "expected search_code or read_file: a wrong tool" in text(view.headline)
    assert view.note == "Also accepted: docs / read_file"


def test_a_baseline_is_not_blamed_for_values_that_it_cannot_fill_in() -> None:
    made = baseline_detail()
    expected = (ExpectedCall(tool="search_code", server="docs", parameters={"query": "x", "path": "src"}),)
    call = (ActualCall(tool="search_code", server="docs", arguments={"query": "x"}),)
    settings = ModelSettings()
    blamed = detail(replace(made.summary, parameters_ok=False), expected=expected, calls=call, settings=settings)
    view = verdict_view(blamed)
    assert ("missing" in text(view.headline), getattr(view.confidence, "mark", None)) == (False, VerdictMark.NEUTRAL)
    assert {row.name: row.mark for row in rows(blamed)} == {"query": VerdictMark.CORRECT, "path": VerdictMark.NEUTRAL}
    model = verdict_view(replace(blamed, summary=replace(blamed.summary, model="openai/gpt-4.1-mini")))
    assert "1 parameter missing" in text(model.headline)
    assert model.pairs[0].parameters.rows[1].mark is VerdictMark.WRONG


def test_runs_still_to_come_say_where_they_stand() -> None:
    assert text(verdict_view(detail(waiting_run())).headline) == "This run is waiting."
    cancelled = verdict_view(detail(waiting_run(status=RunStatus.CANCELLED)))
    assert (cancelled.hint, cancelled.retry) == ("Resume the batch to run it.", False)


def marked(spans: tuple[TextSpan, ...]) -> list[str]:
    return [span.text for span in spans if span.marked]


def test_names_differ_by_their_parts() -> None:
    left, right = name_difference("search_code", "search_files")
    assert (marked(left), marked(right)) == (["code"], ["files"])
    assert all(span.mono for span in left + right)


def test_camel_case_is_split_too() -> None:
    left, right = name_difference("getUserName", "getUserMail")
    assert (marked(left), marked(right)) == (["Name"], ["Mail"])


def test_words_that_only_one_description_has_are_marked_as_stretches() -> None:
    left, right = text_difference(SEARCH_CODE, SEARCH_FILES)
    assert marked(left) == ["source code", "lines with their file and line number."]
    assert marked(right) == ["files in the workspace", "paths, best match first."]


def test_all_text_is_kept_as_it_was() -> None:
    left, right = text_difference(SEARCH_CODE, SEARCH_FILES)
    assert "".join(span.text for span in left) == SEARCH_CODE
    assert "".join(span.text for span in right) == SEARCH_FILES


def test_equal_and_empty_texts_have_no_marks() -> None:
    assert marked(text_difference("Read a file.", "read a file")[0]) == []
    assert text_difference("", "Read a file.") == ((), (TextSpan("Read a file."),))


def test_an_endless_description_is_cut() -> None:
    left, _ = text_difference("word " * 5000, "other")
    assert "".join(span.text for span in left).endswith("…")


def test_texts_with_little_in_common_are_left_unmarked() -> None:
    left, right = text_difference("Find spare parts by name or purpose.", "Book a new repair on a day.")
    assert marked(left) == marked(right) == []
    assert marked(name_difference("find_parts", "book_repair")[0]) == []


def rows(made: RunDetail) -> list[ParameterRow]:
    return list(verdict_view(made).pairs[0].parameters.rows)


def test_judged_parameters_have_mark_both_values_and_the_reason() -> None:
    assert [(row.mark, row.name, row.expected, row.given, row.reason) for row in rows(judged_detail())] == [
        (VerdictMark.CORRECT, "query", "parse_config", "parse_config", "Equal"),
        (VerdictMark.WRONG, "path", "backend", "./backend", "Not the expected value; “contains” would accept it"),
        (VerdictMark.CORRECT, "language", "py or python", "Python", "One of the accepted values"),
        (VerdictMark.WRONG, "limit", "50 ± 10", "–", "Missing, though expected"),
        (VerdictMark.NOTE, "recursive", "–", "true", "Hallucinated: not in the schema of search_code"),
    ]


def test_parameters_of_a_wrong_tool_are_shown_but_not_judged() -> None:
    table = verdict_view(wrong_detail()).pairs[0].parameters
    assert table.note == NOT_JUDGED
    assert [(row.mark, row.name, row.reason) for row in table.rows] == [
        (VerdictMark.NEUTRAL, "query", "Different wording"),
        (VerdictMark.NEUTRAL, "path", "Equal"),
        (VerdictMark.NEUTRAL, "language", "Only search_code has it"),
        (VerdictMark.NEUTRAL, "limit", "Not specified in the case"),
    ]


def test_a_value_nobody_expected_is_shown_and_not_judged() -> None:
    made = detail(run(), calls=(ActualCall(tool="search_code", server="docs", arguments={"query": "x"}),))
    assert [(row.mark, row.reason) for row in rows(made)] == [
        (VerdictMark.NEUTRAL, "Not specified in the case, so not judged")
    ]


def test_the_schema_is_judged_even_where_no_value_was_expected() -> None:
    made = detail(run(), calls=(ActualCall(tool="search_code", server="docs", arguments={"limit": 5}),))
    assert [(row.name, row.reason) for row in rows(made)] == [
        ("limit", "A number, but the schema wants text"),
        ("query", "Missing, though the schema requires it"),
    ]
    assert verdict_view(made).pairs[0].parameters.note.startswith("The case expects no values")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("src/", "src/"),
        ("5", '"5"'),
        ("true", '"true"'),
        ("", '""'),
        (" padded", '" padded"'),
        (5, "5"),
        (None, "null"),
        ({"a": [1]}, '{"a": [1]}'),
    ],
)
def test_text_that_could_be_taken_for_something_else_is_quoted(value: object, text: str) -> None:
    assert value_text(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"$any_of": ["py", "python"]}, "py or python"),
        ({"$approx": 3.0, "$tolerance": 0.01}, "3.0 ± 0.01"),
        ({"$any": True}, "anything"),
        ({"$contains": "retry"}, "contains retry"),
        ({"$regex": "^a"}, "matches ^a"),
        ({"$optional": 5}, "if given, 5"),
        ({"$literal": {"$any": 1}}, '{"$any": 1}'),
        ({"plain": 1}, '{"plain": 1}'),
    ],
)
def test_matchers_are_said_in_words(value: object, text: str) -> None:
    assert expected_text(value) == text
