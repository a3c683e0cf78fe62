"""Which descriptions of a model are never offered, and why."""

import pytest

from mcp_tef.scoring.differentiation.descriptions import why_unusable
from mcp_tef.scoring.differentiation.tool_pair import PairedTool
from tests.support.similarity_factories import COMMENT, PAGE_COMMENT, compared_as, told

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
