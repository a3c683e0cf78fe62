"""Under which name a model sees each tool, and back."""

import re

from hypothesis import given
from hypothesis import strategies as st

from mcp_tef.model.answers import ActualCall
from mcp_tef.model.tools import Tool
from mcp_tef.prompts.selection_prompt import offer, resolve


def tool(name: str, server: str = "shop") -> Tool:
    return Tool(server=server, name=name, description="", input_schema={}, raw={"name": name})


def names(*tools: Tool) -> list[str]:
    return [item.offered_name for item in offer(tools)]


def test_names_stay_bare_where_no_other_server_has_them() -> None:
    assert names(tool("search"), tool("order", "bank")) == ["search", "order"]


def test_a_name_that_two_servers_share_is_led_by_the_server() -> None:
    assert names(tool("search"), tool("search", "bank"), tool("order")) == ["shop-search", "bank-search", "order"]


def test_the_alias_of_a_server_and_another_separator_can_be_set() -> None:
    offered = offer([tool("search"), tool("search", "bank")], "__", aliases={"shop": "s"})
    assert [item.offered_name for item in offered] == ["s__search", "bank__search"]


def test_names_that_providers_refuse_become_safe_ones_and_come_back() -> None:
    offered = offer([tool("math.factorial"), tool("größe"), tool("x" * 90), tool(""), tool("Größe ändern!")])
    assert offered[0].offered_name == "math_factorial"
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", item.offered_name) for item in offered)
    assert [resolve(item.offered_name, offered).tool for item in offered] == [item.tool.name for item in offered]


def test_a_safe_name_never_takes_the_name_of_another_tool() -> None:
    offered = offer([tool("a.b"), tool("a_b"), tool("a:b")])
    assert offered[1].offered_name == "a_b"
    assert len({item.offered_name for item in offered}) == 3


def test_equal_tools_are_offered_under_equal_names_every_time() -> None:
    tools = [tool("a.b"), tool("a:b"), tool("y" * 70)]
    assert offer(tools) == offer(tools)


def test_a_name_resolves_to_the_real_tool_and_its_server() -> None:
    offered = offer([tool("search"), tool("search", "bank")])
    assert resolve("bank-search", offered, {"q": 1}) == ActualCall(tool="search", server="bank", arguments={"q": 1})


def test_a_name_that_was_not_offered_stays_as_the_model_wrote_it() -> None:
    assert resolve("no_such.tool", offer([tool("search")])) == ActualCall(tool="no_such.tool")


@given(st.lists(st.tuples(st.text(max_size=80), st.sampled_from(["a", "b", "ä ö"])), max_size=12, unique=True))
def test_any_names_become_unique_accepted_and_reversible(pairs: list[tuple[str, str]]) -> None:
    offered = offer([tool(name, server) for name, server in pairs])
    given_names = [item.offered_name for item in offered]
    assert len(set(given_names)) == len(given_names)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in given_names)
    assert [(c.tool, c.server) for c in (resolve(name, offered) for name in given_names)] == pairs
