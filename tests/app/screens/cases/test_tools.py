"""The list of tools to pick from."""

from app.screens.cases.tools import ToolChoice, Tools, first_sentence, typed_choice
from mcp_tef import Listing, Tool

CHOICES = (
    ToolChoice("docs", "search_code", "Search source code by text or pattern"),
    ToolChoice("docs", "read_file", "Read one file"),
    ToolChoice("github", "code_owners", "Who owns the code"),
    ToolChoice("github", "read_file", "Read one file of a repository"),
)


def listing(server: str, *names: str) -> Listing:
    tools = (Tool(server=server, name=name, description=f"Do {name}. More.", input_schema={}, raw={}) for name in names)
    return Listing(server=server, tools=tuple(tools))


def test_a_free_text_names_the_server_where_only_one_has_the_tool() -> None:
    assert typed_choice(CHOICES, "search_code") == ("docs", "search_code")
    assert typed_choice(CHOICES, "read_file") == (None, "read_file")
    assert typed_choice(CHOICES, "github / read_file") == ("github", "read_file")
    assert typed_choice(CHOICES, "nobody/has_it") == (None, "nobody/has_it")


def test_the_tools_offered_are_those_of_the_chosen_servers_in_their_order() -> None:
    tools = Tools({"docs": listing("docs", "a", "b"), "github": listing("github", "c")})
    assert [choice.name for choice in tools.of(["github", "docs", "gone"])] == ["c", "a", "b"]
    assert len(tools.of([])) == 3


def test_a_tool_is_found_by_server_and_name_or_by_name_alone() -> None:
    tools = Tools({"docs": listing("docs", "a")})
    assert tools.find("docs", "a") is not None
    assert tools.find(None, "a") is not None
    assert tools.find("github", "a") is None


def test_only_the_first_sentence_of_a_description_is_shown() -> None:
    assert first_sentence("Search the docs.\nReturns v1.2 pages. And more.") == "Search the docs"
    assert first_sentence("word " * 100).endswith("word…")
