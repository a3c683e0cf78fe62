"""Prompts for tool selection."""

from mcp_tef.model.answers import CallingMode
from mcp_tef.model.tools import Tool
from mcp_tef.prompts.selection_prompt import NATIVE_PROMPT, STRUCTURED_PROMPT, BundledPrompts
from mcp_tef.prompts.tool_aliases import offer

SCHEMA = {"type": "object", "properties": {"größe": {"type": "integer"}}}
OFFERED = offer([Tool(server="s", name="a.b", description="Weighs a thing.", input_schema=SCHEMA, raw={})])


def test_a_native_question_asks_for_a_reason_and_a_confidence_and_lists_no_tools() -> None:
    system, user = NATIVE_PROMPT.messages("How heavy?", OFFERED)
    assert "Confidence: X" in system.content
    assert "Weighs a thing." not in system.content
    assert (user.role, user.content) == ("user", "How heavy?")


def test_a_structured_question_lists_every_tool_under_its_offered_name() -> None:
    system, _ = STRUCTURED_PROMPT.messages("How heavy?", OFFERED)
    assert '"calls"' in system.content
    assert '{"name": "a_b", "description": "Weighs a thing.", "input_schema": {"type": "object"' in system.content
    assert "größe" in system.content


def test_the_users_own_system_prompt_takes_the_place_of_the_task_only() -> None:
    mine = "You are the assistant of a post office."
    for prompt in (NATIVE_PROMPT, STRUCTURED_PROMPT):
        system, _ = prompt.messages("q", OFFERED, mine)
        assert system.content.startswith(mine)
        assert "You choose tools" not in system.content
        assert "onfidence" in system.content


def test_every_mode_has_a_prompt_with_a_name_and_a_version() -> None:
    prompts = {BundledPrompts().prompt_for(mode).label for mode in CallingMode}
    assert prompts == {"select-native@1", "select-structured@1"}
