"""Prompts that runs can be asked with, and the values that they need; knows no Qt."""

from typing import TYPE_CHECKING

from mcp_tef import SELECTING_KINDS, PromptTemplate, variables_in

if TYPE_CHECKING:
    from mcp_tef import Engine


async def selecting_prompts(core: "Engine") -> dict[str, PromptTemplate]:
    """Return every version of the prompts that select tools, by label, newest first."""
    latest = [one for one in await core.prompts.list() if one.kind in SELECTING_KINDS]
    return {one.label: one for each in latest for one in await core.prompts.versions(each.name)}


def needed_variables(template: PromptTemplate) -> tuple[str, ...]:
    """Return the variables of a prompt that each run must give."""
    used = variables_in(template.text)
    return tuple(dict.fromkeys(name for name in used if not template.variables.get(name, "-").strip()))
