"""The verdict on one answer."""

from typing import Any

import pytest

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.cases import NO_TOOL, Expectation, ExpectedCall
from mcp_tef.model.verdicts import Classification, ConfidenceCategory, FindingReason, Verdict, VerdictKind
from mcp_tef.scoring.judge import judge
from tests.support.processes import computing_at_most
from tests.support.scoring_factories import (
    TEXT,
    WHOLE,
    any_of,
    call,
    expect,
    findings,
    judge_parameters,
    schema,
    told,
    tool,
    wanted,
)

TOOLS, HOW = [tool("search_code"), tool("search_files"), tool("add_comment", server="github")], "selected with"
TP, FP, TN, FN = Classification.TP, Classification.FP, Classification.TN, Classification.FN


def outcome(verdict: Verdict) -> tuple[Classification, VerdictKind]:
    return verdict.classification, verdict.kind


def test_the_expected_tool_is_a_true_positive() -> None:
    verdict = judge(expect(wanted("search_code")), TOOLS, [call("search_code", query="x")])
    assert outcome(verdict) == (TP, VerdictKind.MATCH)
    assert verdict.mark.correct_tool
    assert verdict.parameters_ok is True


def test_another_tool_that_was_offered_is_a_wrong_tool_and_its_parameters_are_not_judged() -> None:
    verdict = judge(expect(wanted("search_code", query="x")), TOOLS, [call("search_files", query="y")])
    assert outcome(verdict) == (FN, VerdictKind.WRONG_TOOL)
    assert (verdict.completeness, verdict.correctness, verdict.type_conformance) == (None, None, None)
    assert verdict.parameters_ok is None
    assert findings(verdict) == []


def test_a_tool_that_nobody_offered_is_invented() -> None:
    assert outcome(judge(expect(wanted("search_code")), TOOLS, [call("grep")])) == (FN, VerdictKind.INVENTED_TOOL)
    elsewhere = [call("search_code", server="github")]
    assert outcome(judge(expect(wanted("search_code", "docs")), TOOLS, elsewhere)) == (FN, VerdictKind.INVENTED_TOOL)


def test_no_call_where_one_was_expected_is_no_tool() -> None:
    assert outcome(judge(expect(wanted("search_code")), TOOLS, [])) == (FN, VerdictKind.NO_TOOL)


def test_nothing_expected_and_nothing_picked_is_a_true_negative() -> None:
    verdict = judge(NO_TOOL, TOOLS, [])
    assert outcome(verdict) == (TN, VerdictKind.NO_CALL_EXPECTED)
    assert (verdict.mark.correct_tool, verdict.parameters_ok) == (True, None)


def test_a_call_where_none_was_expected_is_a_false_positive() -> None:
    assert outcome(judge(NO_TOOL, TOOLS, [call("search_code")])) == (FP, VerdictKind.UNEXPECTED_CALL)
    assert outcome(judge(NO_TOOL, TOOLS, [call("grep")])) == (FP, VerdictKind.UNEXPECTED_CALL)


def test_an_answer_that_could_not_be_read_counts_as_no_tool_and_says_so() -> None:
    verdict = judge(expect(wanted("search_code")), TOOLS, None)
    assert outcome(verdict) == (FN, VerdictKind.NO_TOOL)
    assert verdict.explanation == "The answer was unreadable and counts as no tool, expected `search_code`."
    assert outcome(judge(NO_TOOL, TOOLS, None)) == (TN, VerdictKind.NO_CALL_EXPECTED)


class TestServers:
    """The server is part of a tool's identity where the expectation names one."""

    TWINS = (tool("read", server="docs"), tool("read", server="wiki"))

    def test_the_same_tool_of_another_server_is_wrong_only_where_a_server_is_named(self) -> None:
        given = [call("read", server="wiki", query="x")]
        assert judge(expect(wanted("read")), self.TWINS, given).classification is TP
        assert outcome(judge(expect(wanted("read", "docs")), self.TWINS, given)) == (FN, VerdictKind.WRONG_TOOL)
        assert judge(expect(wanted("read", "wiki")), self.TWINS, given).classification is TP

    def test_a_call_without_a_server_goes_to_the_only_one_that_offers_the_tool(self) -> None:
        assert judge(expect(wanted("search_code", "docs")), TOOLS, [call("search_code")]).classification is TP
        assert judge(expect(wanted("search_code", "wiki")), TOOLS, [call("search_code")]).classification is FN
        assert judge(expect(wanted("read", "docs")), self.TWINS, [call("read")]).classification is FN

    def test_where_nobody_tells_servers_the_name_decides(self) -> None:
        bare = [tool("read", server="")]
        assert judge(expect(wanted("read", "docs")), bare, [call("read", query="x")]).parameters_ok is True

    def test_parameters_are_judged_by_the_schema_of_the_server_that_was_called(self) -> None:
        twins = [tool("read", schema({"a": TEXT}), server="docs"), tool("read", schema({"b": TEXT}), server="wiki")]
        verdict = judge(expect(wanted("read")), twins, [call("read", server="wiki", b="x")])
        assert verdict.parameters_ok is True


class TestSeveralCalls:
    """Several expected calls are paired with the actual ones as well as can be."""

    BOTH = expect(wanted("search_code", query="a"), wanted("search_code", query="b"))

    def test_all_made_in_any_order_is_right(self) -> None:
        verdict = judge(self.BOTH, TOOLS, [call("search_code", query="b"), call("search_code", query="a")])
        assert outcome(verdict) == (TP, VerdictKind.MATCH)
        assert verdict.parameters_ok is True
        assert [(match.expected, match.actual) for match in verdict.matches] == [(0, 1), (1, 0)]

    def test_where_the_order_matters_position_decides(self) -> None:
        ordered = expect(wanted("search_code"), wanted("search_files"), ordered=True)
        right = [call("search_code", query="a"), call("search_files", query="b")]
        assert judge(ordered, TOOLS, right).classification is TP
        assert outcome(judge(ordered, TOOLS, right[::-1])) == (FN, VerdictKind.WRONG_TOOL)
        assert judge(ordered, TOOLS, [call("add_comment"), *right]).classification is FN

    def test_where_the_order_matters_the_sentence_tells_the_order_and_how_many_calls_kept_it(self) -> None:
        ordered = expect(wanted("search_files"), wanted("search_code"), ordered=True)
        assert judge(ordered, TOOLS, [call("search_code")]).explanation.endswith(
            "expected `search_files`, then `search_code`: 0 of 2 calls in their place."
        )

    def test_more_matches_come_before_better_parameters(self) -> None:
        picky = expect(wanted("search_code", "docs", query="a"), wanted("search_code", query="a"))
        twins = [tool("search_code", server="docs"), tool("search_code", server="wiki")]
        given = [call("search_code", server="docs", query="a"), call("search_code", server="wiki", query="z")]
        verdict = judge(picky, twins, given)
        assert outcome(verdict) == (TP, VerdictKind.MATCH)
        assert verdict.correctness == 0.5

    def test_an_expected_call_that_was_not_made_is_missed(self) -> None:
        verdict = judge(self.BOTH, TOOLS, [call("search_code", query="b")])
        assert outcome(verdict) == (FN, VerdictKind.NO_TOOL)
        assert [(match.expected, match.actual) for match in verdict.matches] == [(1, 0), (0, None)]
        assert verdict.parameters_ok is False
        assert verdict.correctness == 1.0

    def test_a_missed_call_weighs_more_than_an_extra_one(self) -> None:
        given = [call("search_code", query="b"), call("search_files", query="a")]
        assert outcome(judge(self.BOTH, TOOLS, given)) == (FN, VerdictKind.WRONG_TOOL)
        assert outcome(judge(self.BOTH, TOOLS, [*given, call("grep")])) == (FN, VerdictKind.INVENTED_TOOL)

    def test_all_made_and_one_more_is_an_extra_call(self) -> None:
        given = [call("search_code", query=text) for text in "abc"]
        verdict = judge(self.BOTH, TOOLS, given)
        assert outcome(verdict) == (FP, VerdictKind.EXTRA_CALL)
        assert [(match.expected, match.actual) for match in verdict.matches] == [(0, 0), (1, 1), (None, 2)]
        assert verdict.correctness == 1.0
        assert verdict.parameters_ok is False

    def test_the_same_call_twice_is_one_too_many(self) -> None:
        twice = [call("search_code", query="a")] * 2
        assert outcome(judge(expect(wanted("search_code", query="a")), TOOLS, twice)) == (FP, VerdictKind.EXTRA_CALL)

    def test_a_thousand_calls_are_judged_in_time(self) -> None:
        with computing_at_most(5):
            verdict = judge(self.BOTH, TOOLS, [call("search_code", query=f"{number}") for number in range(1_000)])
        assert outcome(verdict) == (FP, VerdictKind.EXTRA_CALL)
        assert len(verdict.explanation) < 300


class TestAlternatives:
    """Of several acceptable answers the best verdict counts."""

    EITHER = any_of([wanted("search_code", query="a")], [wanted("search_files", query="a")])

    @pytest.mark.parametrize(("name", "alternative"), [("search_code", 0), ("search_files", 1)])
    def test_any_of_them_is_right(self, name: str, alternative: int) -> None:
        verdict = judge(self.EITHER, TOOLS, [call(name, query="a")])
        assert (verdict.parameters_ok, verdict.alternative) == (True, alternative)

    def test_among_right_ones_the_best_parameters_count(self) -> None:
        both = any_of([wanted("search_code", query="a")], [wanted("search_code", query="b")])
        verdict = judge(both, TOOLS, [call("search_code", query="b")])
        assert (verdict.parameters_ok, verdict.alternative) == (True, 1)

    def test_no_tool_may_be_one_of_them(self) -> None:
        maybe = any_of([wanted("search_code")], [])
        assert outcome(judge(maybe, TOOLS, [])) == (TN, VerdictKind.NO_CALL_EXPECTED)
        assert outcome(judge(maybe, TOOLS, [call("search_code", query="a")])) == (TP, VerdictKind.MATCH)
        assert outcome(judge(maybe, TOOLS, [call("search_files")])) == (FN, VerdictKind.WRONG_TOOL)

    def test_all_wrong_tells_of_the_first(self) -> None:
        verdict = judge(self.EITHER, TOOLS, [call("add_comment")])
        assert outcome(verdict) == (FN, VerdictKind.WRONG_TOOL)
        assert "expected `search_code`" in verdict.explanation

    def test_an_expectation_without_alternatives_expects_no_tool(self) -> None:
        assert judge(Expectation(()), TOOLS, []).classification is TN


class TestParameters:
    """Parameters are judged where the tool was right."""

    def test_parameters_that_the_expectation_does_not_name_are_not_judged(self) -> None:
        verdict = judge_parameters({"query": "x"}, {"query": "X", "limit": 5})
        assert (verdict.completeness, verdict.correctness, verdict.parameters_ok) == (1.0, 1.0, True)

    def test_without_named_parameters_correctness_is_not_judged(self) -> None:
        verdict = judge_parameters(None, {"query": "x"})
        assert (verdict.correctness, verdict.completeness, verdict.parameters_ok) == (None, 1.0, True)

    def test_nothing_required_and_nothing_expected_is_complete(self) -> None:
        verdict = judge_parameters({}, {}, schema({}))
        assert (verdict.completeness, verdict.correctness, verdict.parameters_ok) == (1.0, 1.0, True)

    def test_completeness_counts_required_and_expected_names(self) -> None:
        verdict = judge_parameters(
            {"limit": 5, "path": "src"}, {"limit": 5}, schema({"limit": WHOLE, "query": TEXT, "path": TEXT}, "query")
        )
        assert verdict.completeness == pytest.approx(1 / 3)
        assert verdict.correctness == 0.5
        assert told(verdict) == {("query", FindingReason.MISSING), ("path", FindingReason.MISSING)}
        assert verdict.parameters_ok is False

    def test_a_wrong_value_is_named_with_both_values(self) -> None:
        verdict = judge_parameters({"query": "src"}, {"query": "./src"})
        [finding] = findings(verdict)
        assert (finding.parameter, finding.reason) == ("query", FindingReason.WRONG_VALUE)
        assert (finding.expected, finding.actual) == ("src", "./src")
        assert finding.sentence == "`query` is “./src”, expected “src”; “contains” would accept it."
        assert (verdict.correctness, verdict.parameters_ok) == (0.0, False)

    def test_a_wrong_value_deep_inside_is_named_by_its_path(self) -> None:
        expected = {"where": {"city": {"$any_of": ["Rome"]}, "tags": ["a", "b"], "n": 1}}
        given = {"where": {"city": "Paris", "tags": ["a", "c"], "x": 2}}
        verdict = judge_parameters(expected, given, schema({"where": {"type": "object"}}))
        assert told(verdict) == {
            ("where.city", FindingReason.WRONG_VALUE),
            ("where.tags.1", FindingReason.WRONG_VALUE),
            ("where.n", FindingReason.MISSING),
            ("where.x", FindingReason.NOT_EXPECTED),
        }
        assert (verdict.correctness, verdict.parameters_ok) == (0.0, False)

    def test_a_wrong_type_is_named_with_what_the_schema_wants(self) -> None:
        verdict = judge_parameters({}, {"query": "x", "limit": "many"})
        [finding] = findings(verdict)
        assert (finding.parameter, finding.reason) == ("limit", FindingReason.WRONG_TYPE)
        assert (finding.expected, finding.actual) == ("integer", "many")
        assert finding.sentence == "`limit` is text, but the schema wants a whole number."
        assert (verdict.type_conformance, verdict.correctness, verdict.parameters_ok) == (False, 1.0, False)

    def test_a_number_as_text_is_the_right_value_of_a_wrong_type(self) -> None:
        verdict = judge_parameters({"limit": 5}, {"query": "x", "limit": "5"})
        assert (verdict.correctness, verdict.type_conformance, verdict.parameters_ok) == (1.0, False, False)

    def test_a_made_up_parameter_is_hallucinated_and_does_not_count_as_a_wrong_type(self) -> None:
        closed = schema({"query": TEXT}, "query", additionalProperties=False)
        for input_schema in (None, closed):
            verdict = judge_parameters({"query": "x"}, {"query": "x", "recursive": True}, input_schema)
            assert verdict.hallucinated == ("recursive",)
            assert (verdict.type_conformance, verdict.correctness, verdict.parameters_ok) == (True, 1.0, False)
            [finding] = findings(verdict)
            assert finding.sentence == "`recursive` is not in the schema of `search`."

    def test_exact_wants_nothing_beside_the_named_parameters(self) -> None:
        assert judge_parameters({"query": "x"}, {"query": "x"}, exact=True).parameters_ok is True
        verdict = judge_parameters({"query": "x"}, {"query": "x", "limit": 5}, exact=True)
        assert told(verdict) == {("limit", FindingReason.NOT_EXPECTED)}
        assert (verdict.classification, verdict.correctness, verdict.parameters_ok) == (TP, 1.0, False)

    @pytest.mark.parametrize("matcher", [{"$optional": 5}, {"$any": True}, {"$any_of": [{"$optional": 5}, 6]}])
    def test_a_parameter_that_may_be_missing_is_judged_only_where_it_is_given(self, matcher: Any) -> None:
        absent = judge_parameters({"query": "x", "limit": matcher}, {"query": "x"})
        assert (absent.completeness, absent.correctness, absent.parameters_ok) == (1.0, 1.0, True)
        assert judge_parameters({"query": "x", "limit": matcher}, {"query": "x", "limit": 5}).parameters_ok is True

    def test_an_optional_parameter_with_a_wrong_value_is_wrong(self) -> None:
        verdict = judge_parameters({"query": "x", "limit": {"$optional": 5}}, {"query": "x", "limit": 7})
        assert told(verdict) == {("limit", FindingReason.WRONG_VALUE)}
        assert verdict.correctness == 0.5

    def test_what_the_schema_requires_is_missing_even_where_the_expectation_lets_it_be(self) -> None:
        verdict = judge_parameters({"query": {"$any": True}}, {})
        assert told(verdict) == {("query", FindingReason.MISSING)}

    def test_a_tool_without_a_known_schema_makes_nothing_up(self) -> None:
        verdict = judge(expect(wanted("gone", x=1)), [], [call("gone", x=1, y=2)])
        assert (verdict.parameters_ok, verdict.hallucinated) == (True, ())

    def test_scores_of_several_calls_are_means_over_those_that_match(self) -> None:
        both = expect(wanted("search_code", query="a"), wanted("search_files", query="b"))
        verdict = judge(both, TOOLS, [call("search_code", query="a", x=1), call("search_files", query="c", limit="x")])
        assert verdict.correctness == 0.5
        assert verdict.hallucinated == ("x",)
        assert verdict.type_conformance is False


@pytest.mark.parametrize(
    ("expectation", "calls", "confidence", "category"),
    [
        (NO_TOOL, [], 0.7, ConfidenceCategory.ROBUST),
        (NO_TOOL, [], 0.69, ConfidenceCategory.NEEDS_CLARITY),
        (NO_TOOL, [call("search_code")], 0.7, ConfidenceCategory.MISLEADING),
        (NO_TOOL, [call("search_code")], 0.5, None),
        (expect(wanted("search_code")), [call("search_code", query="x")], 1.0, ConfidenceCategory.ROBUST),
        (expect(wanted("search_code")), [call("search_code")], 1.0, ConfidenceCategory.MISLEADING),
        *((wish, None, 1.0, None) for wish in (NO_TOOL, expect(wanted("search_code")))),
        (expect(wanted("search_code")), [call("search_files")], 1.0, ConfidenceCategory.MISLEADING),
        (expect(wanted("search_code")), [call("search_files")], 0.0, None),
        (NO_TOOL, [], None, None),
        *((NO_TOOL, [], odd, None) for odd in (1.5, float("nan"), True)),
    ],
)
def test_confidence_and_outcome_make_the_category(
    expectation: Expectation,
    calls: list[ActualCall] | None,
    confidence: float | None,
    category: ConfidenceCategory | None,
) -> None:
    assert judge(expectation, TOOLS, calls, confidence).confidence_category is category


@pytest.mark.parametrize(
    ("expectation", "calls", "confidence", "sentence"),
    [
        (
            expect(wanted("search_code", "docs")),
            [call("search_files", server="docs")],
            0.91,
            f"Selected `search_files` on docs, expected `search_code`: a wrong tool, {HOW} high confidence (0.91).",
        ),
        (
            expect(wanted("add_comment", "github")),
            [call("search_files")],
            None,
            "Selected `search_files` on docs, expected `add_comment` on github: a wrong tool.",
        ),
        (
            expect(wanted("search_code")),
            [call("search_code", query="x")],
            0.93,
            "Selected `search_code` on docs, as expected.",
        ),
        (
            expect(wanted("search_code", query="y")),
            [call("search_code", query="x", a=1, b=2)],
            0.4,
            "Selected `search_code` on docs, as expected, with low confidence (0.40); "
            "1 parameter with a wrong value and 2 hallucinated.",
        ),
        (
            NO_TOOL,
            [call("add_comment")],
            0.6999,
            f"Selected `add_comment` on github, expected no tool: an unexpected call, {HOW} low confidence (0.69).",
        ),
        (NO_TOOL, [], None, "Selected no tool, as expected."),
        (
            expect(wanted("search_code")),
            [],
            0.8,
            "Selected no tool, expected `search_code`, with high confidence (0.80).",
        ),
        (
            expect(wanted("search_code")),
            [call("grep", server="docs")],
            None,
            "Selected `grep` on docs, expected `search_code`: a tool that was not offered.",
        ),
        (
            expect(wanted("search_code")),
            [call("search_code"), call("search_code"), call("search_files")],
            None,
            "Selected `search_code` on docs (2 times) and `search_files` on docs, "
            "expected `search_code`: 2 calls too many.",
        ),
        (
            expect(wanted("search_code"), wanted("search_files")),
            [call("search_files")],
            None,
            "Selected `search_files` on docs, expected `search_code` and `search_files`: 1 call is missing.",
        ),
    ],
)
def test_one_sentence_tells_the_verdict(
    expectation: Expectation, calls: list[ActualCall], confidence: float | None, sentence: str
) -> None:
    assert judge(expectation, TOOLS, calls, confidence).explanation == sentence


def test_long_and_odd_names_are_cut_to_one_line() -> None:
    verdict = judge(expect(wanted("search_code")), TOOLS, [call("x\n" * 50_000, server="a\tb" * 1_000)])
    assert len(verdict.explanation) < 400
    assert "\n" not in verdict.explanation


def test_arguments_nested_without_end_are_judged_and_cut_short() -> None:
    deep: Any = "x"
    for _ in range(900):
        deep = [deep]
    verdict = judge_parameters({"query": deep}, {"query": deep})
    assert verdict.type_conformance is False
    bottom = judge(Expectation(((ExpectedCall(tool="t", parameters={"p": deep}),),)), [], [call("t", p="x")])
    assert bottom.classification is TP
