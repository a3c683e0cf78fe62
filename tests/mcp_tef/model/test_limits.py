"""Limits on servers that can be set, and invalid ones refused by name."""

import re

import pytest

from mcp_tef.errors import InputError
from mcp_tef.model.config import Config
from mcp_tef.model.limits import USUAL, VARIABLES, Limits


def test_what_nobody_sets_is_as_usual() -> None:
    assert Config.from_environment({}).limits == USUAL == Limits()


def test_the_environment_sets_the_time_of_a_listing() -> None:
    assert Config.from_environment({"TOOL_INGESTION_TIMEOUT_SECONDS": "2.5"}).limits.seconds == 2.5


@pytest.mark.parametrize("field", VARIABLES)
def test_the_environment_sets_a_limit_and_no_other(field: str) -> None:
    limits = Config.from_environment({VARIABLES[field].name: " 7 "}).limits
    assert {name for name in Limits.__slots__ if getattr(limits, name) != getattr(USUAL, name)} == {field}
    assert getattr(limits, field) == 7


@pytest.mark.parametrize("text", ["0", "-1", "many", "1.5", "9" * 30, "٣"])
def test_a_limit_that_cannot_be_meant_is_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match=f"MCP_TEF_MAX_TOOLS is “{re.escape(text)}”"):
        Config.from_environment({"MCP_TEF_MAX_TOOLS": text})


@pytest.mark.parametrize("text", ["0", "soon", "4000", "nan"])
def test_a_time_that_cannot_be_meant_is_refused_by_name(text: str) -> None:
    with pytest.raises(InputError, match="MCP_TEF_TOOL_INGESTION_TIMEOUT_SECONDS"):
        Config.from_environment({"MCP_TEF_TOOL_INGESTION_TIMEOUT_SECONDS": text})


def test_nobody_can_ask_for_definitions_deeper_than_our_own_walks_reach() -> None:
    with pytest.raises(InputError) as caught:
        Config.from_environment({"MCP_TEF_MAX_DEPTH": "101"})
    assert caught.value.hint == "Set MCP_TEF_MAX_DEPTH to a whole number from 1 to 100, or remove it."
