"""Trials of patches: a draft made of RFC 6902 operations, and the request that tries it on the affected cases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from mcp_tef.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp_tef.engine import Engine
    from mcp_tef.model.drafts import Draft
    from mcp_tef.model.json import Json
    from mcp_tef.model.trials import TrialRequest

GUARDS: Final = 20
_LONGEST_NAME: Final = 90


async def draft_of_patch(
    engine: Engine, name: str, patch: Json, *, server: str | None = None, tools_file: str | None = None
) -> Draft:
    """Make a draft over a server's last listing or a tools file, and apply a patch; nothing is kept on InputError."""
    draft = await engine.drafts.new(await _free_name(engine, name), server=server, tools_file=tools_file)
    try:
        return await engine.drafts.apply(draft.id, patch)
    except InputError:
        await engine.drafts.remove([draft.id])
        raise


async def _free_name(engine: Engine, name: str) -> str:
    taken = {one.name.casefold() for one in await engine.drafts.list()}
    number, free = 1, name[:_LONGEST_NAME]
    while free.casefold() in taken:
        number += 1
        free = f"{name[:_LONGEST_NAME]} {number}"
    return free


async def trial_of_affected_cases(
    engine: Engine, draft: Draft, request: TrialRequest, *, suites: Sequence[str] = (), guards: int = GUARDS
) -> TrialRequest:
    """Return a request with the cases that a draft affects, and at most so many guards among the others."""
    scope = await engine.predictions.scope(draft, guards, suites=suites, seed=request.seed)
    return replace(request, cases=tuple(scope.affected), guards=scope.guards)
