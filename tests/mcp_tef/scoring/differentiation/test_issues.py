"""Why two tools are hard to tell apart: five kinds of issue, each with its evidence; none where there is none."""

import pytest

from mcp_tef.model.similarity import DifferentiationIssue, IssueType, Priority
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.tool_pair import issues
from tests.support.similarity_factories import BOOKING, COMMENT, PAGE_COMMENT, WEATHER, pair_of, told


def found(one: Tool, other: Tool, similarity: float = 0.9) -> dict[IssueType, DifferentiationIssue]:
    return {issue.type: issue for issue in issues(pair_of(one, other, similarity))}


def test_two_clearly_different_tools_have_no_issue() -> None:
    assert issues(pair_of(WEATHER, BOOKING, confusability=0.1)) == ()


def test_two_tools_that_only_share_a_parameter_have_no_issue() -> None:
    one = told("find_recipes", "Suggest dishes to cook.", query="What to look for")
    other = told("translate", "Render a passage in another language.", query="What to look for")
    assert issues(pair_of(one, other, confusability=0.2)) == ()


def test_tools_that_score_alike_without_a_common_word_have_an_issue() -> None:
    one, other = told("stop_job", "Ends work."), told("halt_task", "Terminates a process.")
    types = {issue.type for issue in issues(pair_of(one, other, 0.1, 0.3))}
    assert IssueType.SCOPE_CLARITY in types
    assert not issues(pair_of(one, other, 0.9, 0.2))


def test_terminology_names_the_shared_words_as_they_are_written_without_stop_words() -> None:
    issue = found(COMMENT, PAGE_COMMENT)[IssueType.TERMINOLOGY_OVERLAP]
    assert issue.evidence == ("add", "comment")
    assert issue.sentence.startswith("2 of the 4 telling words")


@pytest.mark.parametrize("name", ["getUserFiles", "get_user_files", "get-user-files"])
def test_words_in_names_of_any_style_are_the_same_words(name: str) -> None:
    one = told("one", f"Calls {name} on demand.")
    issue = found(one, told("two", "Reads files of the user."))[IssueType.TERMINOLOGY_OVERLAP]
    assert issue.evidence == ("user", "files")


def test_scope_is_unclear_where_neither_description_names_the_other_tool() -> None:
    issue = found(COMMENT, PAGE_COMMENT)[IssueType.SCOPE_CLARITY]
    assert issue.priority is Priority.HIGH
    assert issue.evidence == (
        "`confluence_add_comment`: “Add a comment to a Confluence page”",
        "`jira_add_comment`: “Add a comment to a Jira issue”",
    )


def test_scope_is_less_of_an_issue_where_one_names_the_other_and_none_where_both_do() -> None:
    one = told("get_page", "Get a page. For all pages use list_pages.")
    silent, speaking = told("list_pages", "List pages."), told("list_pages", "List pages. For one use get_page.")
    assert found(one, silent)[IssueType.SCOPE_CLARITY].priority is Priority.LOW
    assert (
        found(one, silent)[IssueType.SCOPE_CLARITY].sentence
        == "`list_pages` does not say when to use the other tool instead."
    )
    assert IssueType.SCOPE_CLARITY not in found(one, speaking)


def test_a_missing_description_is_a_scope_that_is_a_guess() -> None:
    issue = found(told("get_page"), told("list_pages", "List pages."))[IssueType.SCOPE_CLARITY]
    assert issue.priority is Priority.HIGH
    assert issue.sentence == "`get_page` has no description, so its scope is a guess."
    both = found(told("get_commits"), told("list_commits"))[IssueType.SCOPE_CLARITY]
    assert both.sentence == "`get_commits` and `list_commits` have no description, so their scope is a guess."


@pytest.mark.parametrize(
    ("schema", "sample"),
    [
        ({"examples": ["PROJ-123"]}, "PROJ-123"),
        ({"description": "Key (e.g., 'PROJ-9')"}, "PROJ-9"),
        ({"description": "Cities such as Paris, Rome"}, "Paris"),
    ],
)
def test_examples_of_a_schema_that_both_have_are_evidence(schema: dict[str, object], sample: str) -> None:
    one, other = told("find_a", "Find issues here.", key=schema), told("find_b", "Find issues there.", other=schema)
    assert sample in found(one, other)[IssueType.EXAMPLE_DISTINCTIVENESS].evidence


@pytest.mark.parametrize("schema", [{"enum": ["open", "closed"]}, {"default": "newest"}, {"const": "v2 only"}])
def test_choices_and_defaults_are_no_examples(schema: dict[str, object]) -> None:
    told_twice = {**schema, "description": "One of 'open' and 'closed', by default 'newest' or 'v2 only'."}
    one, other = told("find_a", "Find issues here.", key=schema), told("find_b", "Find issues there.", other=schema)
    assert found(one, other)[IssueType.EXAMPLE_DISTINCTIVENESS].priority is Priority.LOW
    shared = found(told("find_a", "Find issues.", key=told_twice), told("find_b", "Find issues.", key=told_twice))
    assert next(iter([schema.get("default") or schema.get("const") or "open"])) not in (
        shared[IssueType.EXAMPLE_DISTINCTIVENESS].evidence
    )


def test_two_copies_get_the_advice_to_offer_only_one() -> None:
    one, other = told("search", "Find it.", server="a"), told("search", "Find it.", server="b")
    (issue,) = issues(pair_of(one, other))
    assert (issue.priority, issue.evidence) == (Priority.HIGH, ("a/search", "b/search"))
    assert "offer only one" in issue.sentence


def test_quoted_examples_in_descriptions_are_compared() -> None:
    one = told("ask_a", 'Answers questions like "who won" at once.')
    other = told("ask_b", "Answers questions like “who won” later.")
    assert found(one, other)[IssueType.EXAMPLE_DISTINCTIVENESS].evidence == ("who won",)


def test_missing_examples_are_an_issue_and_different_ones_are_none() -> None:
    neither = found(told("ask_a", "Answers questions."), told("ask_b", "Answers questions."))
    assert neither[IssueType.EXAMPLE_DISTINCTIVENESS].sentence == "Neither definition gives an example of its use."
    one, other = told("ask_a", "Answers e.g. 'who won'."), told("ask_b", "Answers e.g. 'how far'.")
    assert IssueType.EXAMPLE_DISTINCTIVENESS not in found(one, other)


def test_numbers_and_switches_are_no_examples() -> None:
    one = told("ask_a", "Answers.", page={"default": 1}, all={"default": True, "enum": [True, False]})
    other = told("ask_b", "Answers.", page={"default": 1}, all={"default": True, "enum": [True, False]})
    assert found(one, other)[IssueType.EXAMPLE_DISTINCTIVENESS].sentence.startswith("Neither")


def test_the_same_parameters_in_any_style_are_an_issue_with_their_names() -> None:
    one = told("find_a", "Find files.", filePath="x", limit={"type": "integer"})
    other = told("find_b", "Find files.", file_path="x", limit={"type": "integer"})
    issue = found(one, other)[IssueType.PARAMETER_UNIQUENESS]
    assert issue.evidence == ("filePath", "limit")
    assert issue.priority is Priority.HIGH
    assert issue.sentence == "Both take the same parameters: `filePath` and `limit`."


def test_no_parameters_at_all_are_no_issue_of_parameters() -> None:
    assert IssueType.PARAMETER_UNIQUENESS not in found(told("list_a", "List files."), told("list_b", "List files."))


@pytest.mark.parametrize(
    ("one", "other", "evidence"),
    [
        ("find_files", "search_files", ("find/search", "files")),
        ("getFile", "fetch-file", ("get/fetch", "file")),
        ("search", "search_files", ("search",)),
        ("read_all_file_lines", "read_all_file_chars_lines", ("read", "all", "file", "lines")),
    ],
)
def test_names_that_mean_the_same_or_nearly_so_are_an_issue(one: str, other: str, evidence: tuple[str, ...]) -> None:
    issue = found(told(one, "Alpha.", server="a"), told(other, "Beta.", server="b"))[IssueType.NAMING_CLARITY]
    assert sorted("/".join(sorted(each.split("/"))) for each in issue.evidence) == sorted(
        "/".join(sorted(each.split("/"))) for each in evidence
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [("get_weather", "get_user"), ("add_worklog", "get_worklog"), ("make_lunar_date_text", "make_solar_date_text")],
)
def test_names_that_differ_in_a_word_that_matters_are_no_issue(one: str, other: str) -> None:
    assert IssueType.NAMING_CLARITY not in found(told(one, "Alpha."), told(other, "Beta."))


def test_equal_names_on_two_servers_are_the_most_urgent_naming_issue() -> None:
    issue = found(told("search", "Alpha.", server="a"), told("search", "Beta.", server="b"))[IssueType.NAMING_CLARITY]
    assert (issue.priority, issue.sentence) == (Priority.HIGH, "Both tools are called `search`.")


def test_the_most_urgent_issue_comes_first() -> None:
    ranks = [list(Priority).index(issue.priority) for issue in issues(pair_of(COMMENT, PAGE_COMMENT))]
    assert ranks == sorted(ranks)
    assert len(ranks) > 2


def test_a_plain_word_is_no_mention_of_a_tool_unless_it_is_quoted() -> None:
    search = told("search", "Search. See find_page.")
    assert IssueType.SCOPE_CLARITY in found(told("find_page", "Search pages."), search)
    assert IssueType.SCOPE_CLARITY not in found(told("find_page", "Finds pages; else `search`."), search)
