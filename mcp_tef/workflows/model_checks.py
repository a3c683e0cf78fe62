"""Checks of models by one call with one tool, and model servers that are found on this machine."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Final

from mcp_tef.errors import ModelError, ModelFault
from mcp_tef.model.answers import CallingMode
from mcp_tef.model.model_catalogue import STEP_OF_FAULT, CheckStep, LocalServer, ModelCheck
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.secrets import Secret
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Question, Selectors
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.workflows.model_targets import ModelTargets
from mcp_tef.workflows.models import Models

USUAL_PLACES: Final = (
    ("ollama", "http://localhost:11434/v1"),
    ("lm_studio", "http://localhost:1234/v1"),
    ("llama.cpp", "http://localhost:8080/v1"),
    ("vllm", "http://localhost:8000/v1"),
)
"""Where local model servers listen unless they are told otherwise, by the documents of each."""
_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_TEXT = "Says a greeting to the user."
_TOOL: Final = Tool(
    server="check",
    name="say_hello",
    description=_TEXT,
    input_schema=_SCHEMA,
    raw={"name": "say_hello", "description": _TEXT, "inputSchema": _SCHEMA},
)
_QUERY: Final = "Say hello to me."


class ModelChecks:
    """Asks models hello. Nothing of it is stored."""

    def __init__(self, selectors: Selectors, models: Models, targets: ModelTargets) -> None:
        self._selectors = selectors
        self._models = models
        self._targets = targets

    async def check(self, settings: ModelSettings, keys: Mapping[str, Secret]) -> tuple[ModelCheck, ...]:
        """Return a check of a model, or of each that a group or router may ask; ConsentError, NotFoundError."""
        asked = [replace(one, mode=CallingMode.NATIVE) for one in await self._targets.expand([settings])]
        return tuple([await self._one(await self._selectors.resolve(one), keys) for one in asked])

    async def local_servers(self, places: Sequence[tuple[str, str]] = USUAL_PLACES) -> tuple[LocalServer, ...]:
        """Return the servers that answer at the usual ports with the models that they list."""
        found = await asyncio.gather(*(self._local(*place) for place in places))
        return tuple(one for one in found if one)

    async def _one(self, settings: ModelSettings, keys: Mapping[str, Secret]) -> ModelCheck:
        label = f"{settings.label} at {settings.base_url}" if settings.base_url else settings.label
        began, is_sent = perf_counter(), False
        try:
            key = self._models.keys_for([settings], keys).get(settings.destination)
            selector, is_sent = self._selectors.selector_for(settings), True
            question = Question(_QUERY, offer([_TOOL]), settings, key)
            await selector.prepare(question)
            answer = await selector.select(question)
        except ModelError as error:
            step = STEP_OF_FAULT.get(error.fault, CheckStep.MODEL)
            failed = ModelCheck(model=label, failed=step, is_sent=is_sent)
            return replace(failed, code=error.code, reason=error.message, hint=error.hint)
        checked = ModelCheck(
            model=label,
            answered_model=answer.answered_model,
            milliseconds=max(1, round((perf_counter() - began) * 1000)),
        )
        if answer.calls and not answer.read_from_text:
            return checked
        reason = "It answered, but did not call the tool." if not answer.calls else "It wrote the call as text."
        hint = "Run it with --mode json."
        return replace(checked, failed=CheckStep.TOOLS, code=ModelFault.NO_TOOLS.value, reason=reason, hint=hint)

    async def _local(self, provider: str, address: str) -> LocalServer | None:
        try:
            listed = await self._models.served(ModelSettings(provider=provider, model="any", base_url=address))
        except ModelError:
            return None
        return LocalServer(provider, address, listed)
