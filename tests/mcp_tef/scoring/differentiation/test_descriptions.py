"""Drafts that say when to use another tool, and descriptions of models that are never offered."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_tef.model.tools import Tool
from mcp_tef.scoring.differentiation.descriptions import drafts, lost_facts, why_unusable
from mcp_tef.scoring.differentiation.purposes import purpose
from mcp_tef.scoring.differentiation.text_terms import common_sentences, sentences
from mcp_tef.scoring.differentiation.tool_pair import PairedTool
from tests.support.similarity_factories import COMMENT, PAGE_COMMENT, compared_as, told


def drafted(one: Tool, *others: Tool, common: frozenset[str] = frozenset()) -> list[str]:
    side, *rivals = [PairedTool(compared_as(tool), common) for tool in (one, *others)]
    return [draft.text for draft in drafts(side, rivals)]


def test_a_draft_keeps_the_description_and_says_when_to_use_the_other_tool() -> None:
    assert drafted(COMMENT, PAGE_COMMENT) == [
        "Add a comment to a Jira issue. To add a comment to a Confluence page, use `confluence_add_comment`."
    ]


def test_one_draft_names_several_tools_and_shorter_ones_fewer() -> None:
    rivals = [told(f"get_{word}", f"Get the map of a {word}.") for word in ("street", "river", "park", "tram")]
    fullest, *shorter = drafted(told("get_city", "Get the map of a city."), *rivals)
    assert [fullest.count("use `"), *(text.count("use `") for text in shorter)] == [3, 2, 1]


@pytest.mark.parametrize(
    ("description", "wanted"),
    [
        ("Remove a link between two issues.", "remove a link between two issues"),
        ("Gets the queues of a desk. Returns an error otherwise.", "get the queues of a desk"),
        ("This tool retrieves sprints by state.", "retrieve sprints by state"),
        ("Tool to add a note (PDF, text) to pages, including drafts", "add a note to pages"),
        ("Creates or updates a page and returns its ID", "create or update a page"),
        ("Returns information about the current user", "get information about the current user"),
        ("Searches for hotels, flights, and cars", "search for hotels, flights, and cars"),
        ("Search DuckDuckGo", "search DuckDuckGo"),
        ("Get the nodes by providing a list of IDs", "get the nodes by providing a list of IDs"),
        ("Deletes one or more feeds.", "delete one or more feeds"),
        ("Map a website's structure", "map a website's structure"),
        ("Search for companies via Google", "search for companies via Google"),
        ("Get orders with optional filtering", "get orders"),
    ],
)
def test_a_purpose_is_an_infinitive_with_its_object(description: str, wanted: str) -> None:
    assert purpose(description) == wanted


@pytest.mark.parametrize(
    "description",
    [
        "Go to a URL",
        "Create directory",
        "Create Issue",
        "Update a page of wiki",
        "Get current time in a timezones",
        "Loads vendors data",
        "Performs web searches and generates direct answers",
        "A server for notes",
        "Use this when nothing else fits.",
        "Allows a user to log in",
        "List of all files",
        "Get `id` of the $thing",
        "Create, update or delete",
        "Moves it to the bin",
        "根据阳历时间来获取八字信息。",
        "Looks at",
        "Search users using CQL or group member API",
        "Send mails via webhook",
        "Get the notes in the current document or specific page",
        "Find files using a fuzzy matching",
        "Delete user's notes",
        "",
    ],
)
def test_a_text_that_may_read_wrongly_gives_no_purpose(description: str) -> None:
    assert purpose(description) == ""


def test_nothing_is_said_of_or_in_a_tool_without_description() -> None:
    pages, notes = told("get_queue_pages", ""), told("get_pages", "Get the pages of a book.")
    assert drafted(pages, notes) == drafted(notes, pages) == []


def test_a_tool_for_several_things_points_to_the_one_for_a_single_one() -> None:
    one, several = told("delete_note", "Delete a note"), told("delete_notes", "Delete multiple notes")
    assert drafted(several, one) == ["Delete multiple notes. To delete a single note, use `delete_note`."]
    assert drafted(one, several) == ["Delete a note. To delete multiple notes, use `delete_notes`."]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Get document pages", "List document pages"),
        ("Create a task", "Delete a task"),
        ("Read a file", "Move a file to a new folder"),
        ("Search the web for news", "Search the web"),
        ("Get detailed information about a node", "Get specific information about a node"),
        ("Get a page. For its comments see `other`.", "Get the comments of a page"),
        ("Get a page", "Pages and more"),
        ("Read the contents of multiple files", "Read contents from files and URLs"),
        ("List organizations", "List projects"),
        ("Get information about a project", "Get information about a style"),
        ("Take a snapshot of a page", "Stop the recording of a page"),
        ("Connect to a cluster", "Connect to an instance"),
    ],
)
def test_nothing_is_drafted_where_the_pointer_would_tell_nothing(one: str, other: str) -> None:
    assert drafted(told("one", one), told("other", other)) == []


def test_tools_for_other_things_are_told_apart_only_where_runs_confused_them() -> None:
    side, other = (PairedTool(compared_as(told(f"search_{it}", f"Search {it} by text"))) for it in ("files", "mails"))
    assert drafts(side, [other]) == ()
    (draft,) = drafts(side, [other], confused={other.id})
    assert draft.text == "Search files by text. To search mails by text, use `search_mails`."


def test_a_pointer_to_another_server_names_it() -> None:
    (text,) = drafted(told("search", "Search mails."), told("search", "Search the wiki.", server="Big Wiki"))
    assert text.endswith("To search the wiki, use `search` of the server `Big Wiki`.")


def test_sentences_of_three_tools_are_boilerplate_that_stays_and_is_not_compared() -> None:
    always = "Always use absolute paths of the wiki."
    texts = [f"Get a {thing}. {always}" for thing in ("page", "file", "note")]
    common = common_sentences(texts)
    assert common == {sentence.key for sentence in sentences(always)}
    assert common_sentences(texts[:2]) == frozenset()
    tools = [told("one", texts[0]), told("other", "Get the pages of the wiki.")]
    assert drafted(*tools) == [], "the wiki is in its own text"
    assert drafted(*tools, common=common) == [f"{texts[0]} To get the pages of the wiki, use `other`."]


pieces = [
    "Get",
    "Creates",
    "files",
    "in",
    "a",
    "folder",
    "the wiki",
    ".",
    "\n\n",
    "- ",
    "`x`",
    "(e.g. 'b')",
    "at most 5",
]
texts = st.text(max_size=60) | st.lists(st.sampled_from(pieces), max_size=14).map(" ".join)
names = st.from_regex(r"[a-z]{2,6}(_[a-z]{2,6}){0,2}", fullmatch=True)
tools = st.builds(lambda name, text: told(name, text, key="Which"), names, texts)


@settings(max_examples=60)
@given(st.lists(tools, min_size=2, max_size=4, unique_by=lambda tool: tool.name))
def test_a_draft_loses_nothing_and_adds_whole_pointers_only(some: list[Tool]) -> None:
    common = common_sentences([tool.description for tool in some])
    side, *rivals = [PairedTool(compared_as(tool), common) for tool in some]
    for draft in drafts(side, rivals):
        assert lost_facts(side.description, draft.text, ["key"]) == ()
        assert side.boilerplate <= {sentence.key for sentence in sentences(draft.text)}
        assert draft.text.startswith(side.description)
        for other in draft.named:
            assert f"To {other.purpose}, use `{other.name}`." in draft.text


FACTS = [
    "Images larger than 50 MB are skipped.",
    "Always use absolute paths.",
    "Only works within allowed directories.",
    "Fails with an error for locked pages.",
    "Writes a .csv file.",
    "Dates are given as YYYY-MM-DD.",
    "Takes `page_id` of a page.",
    "Works with Confluence alone.",
    "Never call it twice.",
]


@given(st.lists(st.sampled_from(FACTS), unique=True, min_size=1), st.data())
def test_each_sentence_with_a_fact_is_missed_where_it_is_left_out(said: list[str], data: st.DataObject) -> None:
    text = " ".join(["Saves a page.", *said])
    gone = data.draw(st.sampled_from(said))
    assert lost_facts(text, f"It stores pages. {text}") == ()
    assert lost_facts(text, text.replace(gone, "It is quick."))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("At most 50 rows are returned.", "Returns rows, at most 50."),
        ("You must not delete locked pages.", "Locked pages: you must not delete them."),
        ("Reads PDFs.", "Reads a PDF."),
    ],
)
def test_a_fact_in_other_words_is_kept(before: str, after: str) -> None:
    assert lost_facts(before, after) == ()


def test_a_warning_that_is_turned_round_is_lost() -> None:
    assert lost_facts("You must not delete locked pages.", "You must delete locked pages.")


JIRA, PAGES = PairedTool(compared_as(COMMENT)), PairedTool(compared_as(PAGE_COMMENT))


def why(text: str) -> str | None:
    return why_unusable(text, JIRA, [PAGES])


@pytest.mark.parametrize(
    "text",
    [
        "Add a comment to a Jira issue; for a page use `confluence_add_comment`.",
        "Comments on Jira issues.\n\nUse confluence_add_comment for “pages” — 日本語 👩‍💻 ü.",
        "None of the fields of a Jira issue change: adds a comment.",
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
    assert why("a" * 1994 + " Jira.") is None
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
    one, other = PairedTool(compared_as(told("find", "old."))), PairedTool(compared_as(told("search", "Older.")))
    assert why_unusable("Search the web for pages.", one, [other]) is None
    assert why_unusable("“search” finds pages.", one, [other]) is not None


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\U000e0041", "\x1b", "\ufeff", "\ue000"])
def test_hidden_characters_are_refused_and_named(hidden: str) -> None:
    reason = why(f"Adds a{hidden} comment.")
    assert reason is not None
    assert reason.startswith("put the invisible character \\")
    assert hidden not in reason


LIMITED = told(
    "read_image",
    "Read an image. Images larger than 50 MB are skipped. Always use absolute paths. Part of the kit.",
    state={"enum": ["open", "closed"], "default": "newest"},
)
IMAGE = PairedTool(compared_as(LIMITED), frozenset({"part of the kit"}))


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("Read an image. Always use absolute paths. Part of the kit.", "50"),
        ("Read an image. Images larger than 50 MB are skipped. Part of the kit.", "Always use absolute paths."),
        ("Read an image. Images larger than 50 MB are skipped. Always use absolute paths.", "Part of the kit."),
    ],
)
def test_a_model_that_drops_a_limit_a_rule_or_boilerplate_is_refused(text: str, lost: str) -> None:
    reason = why_unusable(text, IMAGE, [PAGES])
    assert reason is not None
    assert lost in reason


@pytest.mark.parametrize(
    ("example", "accepted"),
    [
        ("For example: “open”.", False),
        ("E.g. 'newest'.", False),
        ("Example: `photo`.", False),
        ("For example “show me the picture on my desk”.", True),
    ],
)
def test_an_example_of_a_model_is_a_full_request(example: str, accepted: bool) -> None:
    assert (why_unusable(f"{LIMITED.description} {example}", IMAGE, [PAGES]) is None) is accepted
