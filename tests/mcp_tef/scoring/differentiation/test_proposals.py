"""Proposals for an issue: one change to one tool with drafts made of facts, and descriptions that are never offered."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.model.similarity import IssueType, Priority
from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.descriptions import why_unusable
from mcp_tef.scoring.differentiation.issues import issues
from mcp_tef.scoring.differentiation.proposals import Proposal, proposals
from mcp_tef.scoring.differentiation.text_terms import terms
from mcp_tef.scoring.differentiation.tool_pair import PairedTool
from mcp_tef.scoring.tfidf_weights import spaced
from tests.support.similarity_factories import BOOKING, COMMENT, PAGE_COMMENT, WEATHER, compared_as, pair_of, told

BOILERPLATE = "Always use absolute paths. This command can be referenced by its name."
MAKE = told("create_directory", f"Create a new directory. {BOILERPLATE}", required=("path",), path="Where")
MOVE = told("move_file", f"Move or rename files. {BOILERPLATE}", required=("path",), path="Where")


def proposed(one: Tool, other: Tool, kind: IssueType | None = None, taken: tuple[str, ...] = ()) -> list[Proposal]:
    pair = pair_of(one, other)
    made = proposals(pair, issues(pair), {one.name, other.name, *taken})
    return [each for each in made if kind in (None, each.issue)]


def test_nothing_is_proposed_where_there_is_no_issue() -> None:
    pair = pair_of(WEATHER, BOOKING, similarity=0.1)
    assert proposals(pair, issues(pair), ()) == ()


def test_scope_says_when_to_use_the_other_tool_in_the_words_that_only_it_has() -> None:
    first, second = proposed(COMMENT, PAGE_COMMENT, IssueType.SCOPE_CLARITY)
    assert first.action == (
        "Say in `confluence_add_comment` when to use `jira_add_comment` instead: "
        "“For a Jira issue, use `jira_add_comment`.”"
    )
    assert first.drafts[0].text == (
        "Add a comment to a Confluence page. Needs `page_id` (ID of the page to comment on). "
        "For a Jira issue, use `jira_add_comment`."
    )
    assert second.side.name == "jira_add_comment"


def test_a_draft_without_the_pointer_says_why_it_has_none() -> None:
    draft = proposed(COMMENT, PAGE_COMMENT, IssueType.SCOPE_CLARITY)[0].drafts[1]
    assert "jira_add_comment" not in draft.text
    assert draft.note == (
        "The draft does not name `jira_add_comment`, because its words would make the two more alike."
    )


@pytest.mark.parametrize(
    ("description", "pointer"),
    [
        ("Remove a link between two issues.", "To remove a link between two issues, use `other`."),
        ("Gets the queues of a desk.", "To get the queues of a desk, use `other`."),
        ("Get sprints by state.", "For sprints by state, use `other`."),
        ("Add an entry linked to a Jira ticket. Or not.", "For an entry linked to a Jira ticket, use `other`."),
        ("Add a note (PDF, text) to pages, at the end.", "For a note to pages, use `other`."),
        ("Get messages by number.", "For messages by number, use `other`."),
        ("Add a comment to an entry.", "Where `queue` is given, use `other`."),
    ],
)
def test_pointers_read_as_sentences(description: str, pointer: str) -> None:
    one = told("one", "Add a comment to an entry.", entry="Which")
    other = told("other", description, required=("queue",), queue="Which queue")
    scope = [each for each in proposed(one, other, IssueType.SCOPE_CLARITY) if each.side.name == "one"]
    assert scope[0].drafts[0].text.endswith(pointer)


def test_a_tool_without_description_gets_a_draft_of_its_name_and_schema() -> None:
    bare = told("get_queue_issues", required=("queue_id",), queue_id="Which queue")
    drafts = [
        each.drafts[0].text
        for each in proposed(bare, told("get_queues", "List queues."), IssueType.SCOPE_CLARITY)
        if each.side.name == bare.name
    ]
    assert drafts == ["Get queue issues. Needs `queue_id`. To list queues, use `get_queues`."]


def test_sentences_that_both_have_are_left_out_and_the_reader_is_told() -> None:
    (proposal,) = proposed(MAKE, MOVE, IssueType.TERMINOLOGY_OVERLAP)
    assert "“Always use absolute paths.”" in proposal.action
    assert "Keep those that a caller must know." in proposal.rationale
    assert proposal.drafts[-1].text == "Create a new directory."
    trimmed = proposed(MAKE, MOVE, IssueType.SCOPE_CLARITY)[0].drafts[-1]
    assert trimmed.note == "The draft leaves out 2 sentences that both have word for word."


def test_a_heading_that_both_have_stays_over_what_it_is_for() -> None:
    one = told("one", "Start a program.\n\nDETECTION:\n- Waits for the prompt.\n\nIt can be called by its name.")
    other = told("other", "Send a line.\n\nDETECTION:\n- Ends after a while.\n\nIt can be called by its name.")
    drafts = [each.drafts[-1].text for each in proposed(one, other, IssueType.SCOPE_CLARITY)]
    assert drafts
    assert all("DETECTION:" in text and "by its name" not in text for text in drafts)


def test_an_own_parameter_is_mentioned_with_its_choices() -> None:
    one = told("find_a", "Find files.", path="Where", state={"enum": ["open", "closed"]})
    other = told("find_b", "Find files there.", path="Where")
    (proposal, *_) = proposed(one, other, IssueType.PARAMETER_UNIQUENESS)
    assert proposal.action == "Mention `state` in the text of `find_a`."
    assert proposal.drafts[0].text == "Find files. Can take `state` (open, closed)."


MAKE_AT = told("create_directory", "Create a new directory.", required=("path",), path="Directory path")
MOVE_TO = told("create_file", "Create a new file.", required=("path",), path="Path of the thing")


def test_equal_parameters_get_a_new_name_made_of_what_is_said_of_one() -> None:
    (proposal,) = proposed(MAKE_AT, MOVE_TO, IssueType.PARAMETER_UNIQUENESS)
    assert proposal.parameter == ("path", "directory_path")
    assert proposal.action == "Rename the parameter `path` of `create_directory` to `directory_path`."
    assert "The server must then accept the new name." in proposal.rationale


def test_equal_parameters_of_which_the_same_is_said_get_no_made_up_name() -> None:
    (proposal,) = proposed(MAKE, MOVE, IssueType.PARAMETER_UNIQUENESS)
    assert proposal.parameter is None
    assert proposal.action == (
        "Say in the description of `path` what `create_directory` takes there and the other does not."
    )


def test_a_parameter_that_other_parts_of_the_schema_may_name_is_not_renamed() -> None:
    schema = {**MAKE_AT.input_schema, "allOf": [{"required": ["path"]}]}
    tricky = replace(MAKE_AT, input_schema=schema)
    (proposal,) = proposed(tricky, MOVE_TO, IssueType.PARAMETER_UNIQUENESS)
    assert proposal.parameter != ("path", "directory_path")


def test_texts_that_do_not_read_as_english_get_no_phrases_cut_out_of_them() -> None:
    one = told("solar", "根据阳历时间来获取八字信息。", required=("sun",), sun="用时间。")
    other = told("lunar", "根据农历时间来获取八字信息。", required=("moon",), moon="用月")
    drafts = [each.drafts[0].text for each in proposed(one, other, IssueType.SCOPE_CLARITY)]
    assert drafts[1] == "根据阳历时间来获取八字信息。 Needs `sun` (用时间). Where `moon` is given, use `lunar`."


def test_a_shared_example_is_named_and_one_of_its_own_is_offered() -> None:
    one = told("find_a", "Find issues.", key="Key (e.g., 'PROJ-1')", sprint="Sprint such as 'Sprint Nine'")
    other = told("find_b", "Find issues there.", key="Key (e.g., 'PROJ-1')")
    (proposal,) = proposed(one, other, IssueType.EXAMPLE_DISTINCTIVENESS)
    assert proposal.action.startswith("Replace “PROJ-1” in `find_a` by an example that only it can take")
    assert proposal.drafts[0].text == "Find issues. For example with `sprint` “Sprint Nine”."


@pytest.mark.parametrize(
    ("name", "style"),
    [
        ("find_files", "find_files_by_folder"),
        ("findFiles", "findFilesByFolder"),
        ("find-files", "find-files-by-folder"),
    ],
)
def test_a_new_name_is_written_like_the_old_one(name: str, style: str) -> None:
    one = told(name, "Find files.", required=("folder",), folder="Where")
    (proposal,) = proposed(one, told("search_files", "Find files."), IssueType.NAMING_CLARITY)
    assert proposal.name == style
    assert proposal.action == f"Rename `{name}` to `{style}`."


def test_a_new_name_says_what_only_the_tool_is_about() -> None:
    one, other = told("search", "Search the wiki."), told("search_mail", "Search mail.")
    (proposal,) = proposed(one, other, IssueType.NAMING_CLARITY)
    assert proposal.name == "search_wiki"


def test_a_new_name_is_never_one_that_another_tool_has() -> None:
    one, other = told("search", "Search the wiki."), told("search_mail", "Search mail.")
    (proposal,) = proposed(one, other, IssueType.NAMING_CLARITY, taken=("search_wiki",))
    assert proposal.name is None
    assert proposal.action == "Give `search` a name with a word that only it can have."


def test_equal_names_are_told_apart_by_their_servers_as_a_last_resort() -> None:
    one, other = told("search", "Find it.", server="Big Wiki", q="x"), told("search", "Find it.", server="mail")
    (proposal,) = proposed(one, other, IssueType.NAMING_CLARITY)
    assert proposal.name == "big_wiki_search"
    assert "of the server `Big Wiki`" in proposal.action


def test_copies_get_the_advice_to_offer_only_one() -> None:
    one, other = told("search", "Find it.", server="a"), told("search", "Find it.", server="b")
    (proposal,) = proposed(one, other)
    assert proposal.action == "Offer only one of the two: `a/search` or `b/search`."
    assert (proposal.priority, proposal.drafts, proposal.name) == (Priority.HIGH, (), None)


def test_every_action_is_one_sentence_that_names_the_tool() -> None:
    for proposal in (*proposed(COMMENT, PAGE_COMMENT), *proposed(MAKE, MOVE)):
        assert proposal.side.name in proposal.action
        assert proposal.action.rstrip("”").endswith(".")
        assert proposal.rationale.endswith(".")


pieces = ["Find", "files", "in", "a", "folder", ".", "\n\n", "-", "`x`", "(e.g.", "'ab')", "add", "the", "Jira", "“b”,"]
texts = st.text(max_size=60) | st.lists(st.sampled_from(pieces), max_size=14).map(" ".join)
names = st.from_regex(r"[a-z]{2,6}(_[a-z]{2,6}){0,2}", fullmatch=True)
tools = st.builds(lambda name, text, about: told(name, text, required=("key",), key=about), names, texts, texts)


@settings(max_examples=120)
@given(tools, tools)
def test_drafts_say_nothing_that_is_in_neither_definition(one: Tool, other: Tool) -> None:
    facts = " ".join((spaced(each.name) + " " + str(dict(each.raw)) + each.description) for each in (one, other))
    phrases = "Needs Can take For example with or and To use Where is given of the server Returns key desk"
    known = terms(f"{facts} {facts.replace(chr(92), ' ')} {phrases}").keys()
    own_words = {term[:4] for term in known}
    for proposal in proposed(one, other):
        for draft in proposal.drafts:
            assert {term[:4] for term in terms(draft.text)} <= own_words
            assert not re.search(r"\b(?:None|TODO|null)\b", draft.text) or re.search(r"None|null", facts)


JIRA, PAGES = PairedTool(compared_as(COMMENT)), PairedTool(compared_as(PAGE_COMMENT))


def why(text: str) -> str | None:
    return why_unusable(text, JIRA, PAGES)


@pytest.mark.parametrize(
    "text",
    [
        "Add a comment to a Jira issue; for a page use `confluence_add_comment`.",
        "Comments on issues.\n\nUse confluence_add_comment for “pages” — 日本語 👩‍💻 ü.",
        "None of the fields of an issue change: adds a comment.",
    ],
)
def test_a_sound_description_is_taken(text: str) -> None:
    assert why(text) is None


@pytest.mark.parametrize("text", ["None", "null", "N/A", '"None"', "TODO", "...", "  undefined. "])
def test_a_placeholder_is_no_description(text: str) -> None:
    assert why(text) == f"gave “{text}” as the description"


def test_nothing_is_no_description() -> None:
    assert why("") == "gave an empty description"


def test_a_description_is_at_most_two_thousand_characters_long() -> None:
    assert why("a" * 1999 + ".") is None
    assert why("a" * 2000 + ".") == "wrote 2,001 characters, more than 2,000"


@pytest.mark.parametrize("text", [COMMENT.description, "add a  comment to a\nJira issue."])
def test_the_old_description_is_no_new_one(text: str) -> None:
    assert why(text) == "gave the old description back"


def test_the_other_tools_description_is_none_of_this_tool() -> None:
    assert why(PAGE_COMMENT.description) == "gave the description of `confluence_add_comment`"


@pytest.mark.parametrize(
    "text",
    [
        "`confluence_add_comment` adds a comment.",
        "This tool, confluence_add_comment, comments.",
        "confluence_add_comment: x",
    ],
)
def test_a_text_about_the_other_tool_is_refused(text: str) -> None:
    assert why(text) == "described `confluence_add_comment` in place of `jira_add_comment`"


def test_a_plain_word_at_the_start_is_not_taken_for_the_other_tools_name() -> None:
    one, other = PairedTool(compared_as(told("find", "Old."))), PairedTool(compared_as(told("search", "Older.")))
    assert why_unusable("Search the web for pages.", one, other) is None
    assert why_unusable("“search” finds pages.", one, other) is not None


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\U000e0041", "\x1b", "\ufeff", "\ue000"])
def test_hidden_characters_are_refused_and_named(hidden: str) -> None:
    reason = why(f"Adds a{hidden} comment.")
    assert reason is not None
    assert reason.startswith("put the invisible character \\")
    assert hidden not in reason
