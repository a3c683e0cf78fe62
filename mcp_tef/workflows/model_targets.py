"""Groups and routers of a workspace, looked up for runs and taken apart into models; checks of models by one call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from time import perf_counter
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from mcp_tef.errors import ConflictError, ModelError, ModelFault, NotFoundError
from mcp_tef.events import DefinitionsChanged
from mcp_tef.model.answers import CallingMode
from mcp_tef.model.definitions import DefinitionKind
from mcp_tef.model.model_catalogue import (
    GROUP_PROVIDER,
    ROUTER_PROVIDER,
    STEP_OF_FAULT,
    CheckStep,
    LocalServer,
    ModelCheck,
    ModelInfo,
    parse_model,
)
from mcp_tef.model.model_groups import (
    Deployment,
    GroupAbilities,
    ModelGroup,
    group_abilities,
    group_from_json,
    group_to_json,
)
from mcp_tef.model.model_routers import (
    ModelRouter,
    RouteDecision,
    RouteScore,
    decide_route,
    router_from_json,
    router_to_json,
)
from mcp_tef.model.runs import ModelSettings
from mcp_tef.model.search import did_you_mean
from mcp_tef.model.secrets import Secret
from mcp_tef.model.similarity import EmbedderKind, parse_embedder
from mcp_tef.model.tools import Tool
from mcp_tef.ports import Question, Selectors
from mcp_tef.prompts.selection_prompt import offer
from mcp_tef.trust.consents import ConsentError
from mcp_tef.trust.name_keys import stored_name
from mcp_tef.workflows.models import Models

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from mcp_tef.events import EventStream
    from mcp_tef.ports import DefinitionStore, Embedder, Embedders
    from mcp_tef.workflows.models import Models


KEPT_VECTORS: Final = 32


def deployed(settings: ModelSettings, deployment: Deployment) -> ModelSettings:
    """Return settings of a group as those of one of its deployments."""
    one = deployment
    return replace(settings, provider=one.provider, model=one.model, base_url=one.base_url)


def target_settings(settings: ModelSettings, target: str) -> ModelSettings:
    """Return settings of a router as those of the model or group that it chose."""
    provider, model = parse_model(target)
    return replace(settings, provider=provider, model=model, base_url=None)


@dataclass(frozen=True, slots=True)
class _UtteranceVectors:
    """Unit vectors of the utterances of all routes in order, with the place of each one's route."""

    vectors: NDArray[np.float32]
    route: NDArray[np.intp]


_Named = TypeVar("_Named", ModelGroup, ModelRouter)


class ModelTargets:
    """Groups and routers by name. Vectors of utterances are computed once for each version of a router."""

    def __init__(self, store: DefinitionStore, models: Models, embedders: Embedders, events: EventStream) -> None:
        self._store = store
        self._models = models
        self._embedders = embedders
        self._events = events
        self._vectors: dict[ModelRouter, asyncio.Task[_UtteranceVectors]] = {}

    async def groups(self) -> tuple[ModelGroup, ...]:
        """Return every group, by name."""
        return tuple(group_from_json(one.document) for one in await self._store.all(DefinitionKind.GROUP))

    async def group(self, name: str) -> ModelGroup:
        """Return a group; NotFoundError names the nearest."""
        groups = {group.name: group for group in await self.groups()}
        stored = stored_name(name, groups)
        if stored is None:
            hint = did_you_mean(name, groups, "List them with: mcp-tef models groups list")
            raise NotFoundError(f"There is no group named {name}.", hint=hint)
        return groups[stored]

    async def add_group(self, group: ModelGroup) -> ModelGroup:
        """Keep a group, in the place of one of its name; NotFoundError for a provider that nothing says where it is."""
        await self.add_all([group], [])
        return group

    async def add_all(self, groups: Sequence[ModelGroup], routers: Sequence[ModelRouter], *, note: str = "") -> None:
        """Keep groups and routers, which may ask these groups, once all of them are checked; NotFoundError."""
        groups = _as_stored(groups, await self.groups())
        routers = _as_stored(routers, await self.routers())
        await self._require_known(groups, routers)
        for group in groups:
            await self._store.add(DefinitionKind.GROUP, group.name, group_to_json(group), note)
            self._events.publish(DefinitionsChanged(DefinitionKind.GROUP, group.name))
        for router in routers:
            await self._store.add(DefinitionKind.ROUTE, router.name, router_to_json(router), note)
            self._events.publish(DefinitionsChanged(DefinitionKind.ROUTE, router.name))

    async def edit_group(self, group: ModelGroup, seen: ModelGroup | None) -> ModelGroup:
        """Keep what differs from the group seen, None where there was none; ChangedMeanwhileError, NotFoundError."""
        await self._require_known([group], [])
        before = group_to_json(seen) if seen else {}
        kept = await self._store.add(DefinitionKind.GROUP, group.name, group_to_json(group), seen=before)
        self._events.publish(DefinitionsChanged(DefinitionKind.GROUP, group.name))
        return group_from_json(kept.document)

    async def edit_router(self, router: ModelRouter, seen: ModelRouter | None) -> ModelRouter:
        """Keep what differs from the router seen, None where there was none; ChangedMeanwhileError, NotFoundError."""
        await self._require_known([], [router])
        before = router_to_json(seen) if seen else {}
        kept = await self._store.add(DefinitionKind.ROUTE, router.name, router_to_json(router), seen=before)
        self._events.publish(DefinitionsChanged(DefinitionKind.ROUTE, router.name))
        return router_from_json(kept.document)

    async def _require_known(self, groups: Sequence[ModelGroup], routers: Sequence[ModelRouter]) -> None:
        for deployment in chain.from_iterable(group.deployments for group in groups):
            self._models.require_known(deployment.provider, deployment.base_url)
        new = {group.name for group in groups}
        for router in routers:
            await self._require_targets(router, new)

    async def remove_group(self, name: str) -> None:
        """Remove a group; ConflictError while a router asks it."""
        name = (await self.group(name)).name
        label = f"{GROUP_PROVIDER}/{name}"
        if user := next((one.name for one in await self.routers() if stored_name(label, one.targets)), None):
            raise ConflictError(f"The router {user} asks the group {name}.", hint="Change or remove the router first.")
        await self._store.remove(DefinitionKind.GROUP, name)
        self._events.publish(DefinitionsChanged(DefinitionKind.GROUP, name))

    async def abilities(self, group: ModelGroup) -> GroupAbilities:
        """Return what a group can do, by the rules of seed 001."""
        return group_abilities(group, [await self._models.deployment_info(one) for one in group.deployments])

    async def routers(self) -> tuple[ModelRouter, ...]:
        """Return every router, by name."""
        return tuple(router_from_json(one.document) for one in await self._store.all(DefinitionKind.ROUTE))

    async def router(self, name: str) -> ModelRouter:
        """Return a router; NotFoundError names the nearest."""
        routers = {router.name: router for router in await self.routers()}
        stored = stored_name(name, routers)
        if stored is None:
            hint = did_you_mean(name, routers, "List them with: mcp-tef routes list")
            raise NotFoundError(f"There is no router named {name}.", hint=hint)
        return routers[stored]

    async def add_router(self, router: ModelRouter) -> ModelRouter:
        """Keep a router, in the place of one of its name; NotFoundError for a model or group that is not known."""
        await self.add_all([], [router])
        return router

    async def remove_router(self, name: str) -> None:
        """Remove a router."""
        name = (await self.router(name)).name
        await self._store.remove(DefinitionKind.ROUTE, name)
        self._events.publish(DefinitionsChanged(DefinitionKind.ROUTE, name))

    async def expand(self, models: Sequence[ModelSettings]) -> tuple[ModelSettings, ...]:
        """Return the models that runs with these settings may ask; ConsentError for the key of an embedder."""
        found: list[ModelSettings] = []
        for settings in models:
            if settings.provider == GROUP_PROVIDER:
                group = await self.group(settings.model)
                found += [deployed(settings, one) for one in group.deployments]
            elif settings.provider == ROUTER_PROVIDER:
                router = await self.router(settings.model)
                self._models.stored_embedder_key(parse_embedder(router.embedder))
                found += await self.expand([target_settings(settings, one) for one in router.targets])
            else:
                found.append(settings)
        return tuple(dict.fromkeys(found))

    async def info(self, settings: ModelSettings) -> ModelInfo | None:
        """Return the catalogue entry of a model, a group or a router; a router costs as much as its dearest target."""
        if settings.provider == GROUP_PROVIDER:
            return (await self.abilities(await self.group(settings.model))).as_model
        if settings.provider == ROUTER_PROVIDER:
            asked = await self.expand([settings])
            parts = tuple(Deployment(provider=one.provider, model=one.model, base_url=one.base_url) for one in asked)
            whole = await self.abilities(ModelGroup(name=settings.model, deployments=parts))
            return replace(whole.as_model, provider=ROUTER_PROVIDER)
        return await self._models.info(settings)

    async def decide(self, name: str, query: str) -> RouteDecision:
        """Return what a router asks for a query, with the score of every route; EmbeddingError."""
        router = await self.router(name)
        return (await self.decisions(router, [query]))[0]

    async def decisions(self, router: ModelRouter, queries: Sequence[str]) -> tuple[RouteDecision, ...]:
        """Return what a router asks for each query; EmbeddingError."""
        if not queries:
            return ()
        choice = parse_embedder(router.embedder)
        embedder = await self._embedders.find(choice, self._models.stored_embedder_key(choice))
        texts = [text for route in router.routes for text in route.utterances]
        if choice.kind is EmbedderKind.TFIDF:  # Its vectors are comparable within one call only.
            both = await embedder.embed([*texts, *queries])
            known, asked = _placed(router, both[: len(texts)]), both[len(texts) :]
        else:
            known, asked = await self._known_vectors(router, embedder, texts), await embedder.embed(queries)
        nearest = partial(_decided, router, known, texts)
        return tuple(nearest(np.asarray(known.vectors @ vector, dtype=np.float64)) for vector in asked)

    async def _known_vectors(self, router: ModelRouter, embedder: Embedder, texts: Sequence[str]) -> _UtteranceVectors:
        """Return vectors that are computed once for all runs; those that failed are computed anew."""
        known = self._vectors.get(router)
        if known is None or (known.done() and known.exception()):
            while len(self._vectors) >= KEPT_VECTORS:
                self._vectors.pop(next(iter(self._vectors)))
            known = self._vectors[router] = asyncio.create_task(_vectors(router, embedder, texts))
        return await asyncio.shield(known)

    async def _require_targets(self, router: ModelRouter, new: AbstractSet[str]) -> None:
        for target in router.targets:
            await self._require_target(router, target, new)

    async def _require_target(self, router: ModelRouter, target: str, new: AbstractSet[str]) -> None:
        provider, name = parse_model(target)
        try:
            if provider != GROUP_PROVIDER:
                self._models.require_known(provider, None)
            elif stored_name(name, new) is None:
                await self.group(name)
        except NotFoundError as error:
            where = "default" if target == router.default else "route"
            message = f"The {where} {target} of the router {router.name} is not known. {error.message}"
            raise NotFoundError(message, hint=error.hint) from None


def _as_stored(wanted: Sequence[_Named], known: Sequence[_Named]) -> list[_Named]:
    """Return what is to be kept, each by the name that it has already, however that was written."""
    names = [one.name for one in known]
    return [replace(one, name=stored_name(one.name, names) or one.name) for one in wanted]


async def _vectors(router: ModelRouter, embedder: Embedder, texts: Sequence[str]) -> _UtteranceVectors:
    return _placed(router, await embedder.embed(texts))


def _placed(router: ModelRouter, vectors: NDArray[np.float32]) -> _UtteranceVectors:
    sizes = [len(route.utterances) for route in router.routes]
    return _UtteranceVectors(vectors, np.repeat(np.arange(len(sizes)), sizes))


def _decided(
    router: ModelRouter, known: _UtteranceVectors, texts: Sequence[str], scores: NDArray[np.float64]
) -> RouteDecision:
    """Return the decision for the similarities of a query to every utterance: a route is as near as its nearest one."""
    found = []
    for place, route in enumerate(router.routes):
        best = int(np.argmax(np.where(known.route == place, scores, -np.inf)))
        each = tuple(map(float, scores[known.route == place]))
        found.append(RouteScore(route.target, float(scores[best]), router.threshold_of(route), texts[best], each))
    return decide_route(router, found)


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
        stored = [one.destination for one in asked if one.destination != settings.destination]
        if requests := self._models.contacts(stored, keys):
            raise ConsentError.of(requests)
        places = [one.destination for one in asked]
        given = [self._models.given_for((place,), places, keys) for place in places]
        return tuple(
            [await self._one(await self._selectors.resolve(one), its) for one, its in zip(asked, given, strict=True)]
        )

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
