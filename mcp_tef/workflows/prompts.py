"""Prompt templates of a workspace: versions, the rules that each obeys, and the settings of runs that use one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mcp_tef.errors import ConflictError, InputError, NotFoundError, StoreError
from mcp_tef.events import DefinitionsChanged
from mcp_tef.model.definitions import (
    BUILT_IN,
    DefinitionKind,
    PromptKind,
    PromptTemplate,
    StoredDefinition,
    prompt_label,
    require_prompt_name,
)
from mcp_tef.model.search import did_you_mean
from mcp_tef.prompts.templates import BUILT_IN_TEMPLATES, BUILT_IN_VARIABLES, SELECTING_KINDS, asked_with, require_sound
from mcp_tef.trust.field_changes import merged_fields
from mcp_tef.trust.import_changes import imported_item
from mcp_tef.trust.name_keys import stored_name

if TYPE_CHECKING:
    from mcp_tef.events import EventStream
    from mcp_tef.model.runs import ModelSettings
    from mcp_tef.model.transfer import ImportedItem
    from mcp_tef.ports import DefinitionStore


class Prompts:
    """The prompt templates of a workspace, with the built-in ones. A version is never changed."""

    def __init__(self, store: DefinitionStore, events: EventStream) -> None:
        self._store = store
        self._events = events

    async def list(self) -> tuple[PromptTemplate, ...]:
        """Return the latest version of each template, the built-in ones last."""
        return (*map(_template, await self._store.all(DefinitionKind.PROMPT)), *BUILT_IN_TEMPLATES.values())

    async def versions(self, name: str) -> tuple[PromptTemplate, ...]:
        """Return every version of a template, newest first; NotFoundError names the nearest."""
        name = await self._require(name)
        if name in BUILT_IN_TEMPLATES:
            return (BUILT_IN_TEMPLATES[name],)
        return tuple(map(_template, await self._store.versions(DefinitionKind.PROMPT, name)))

    async def find(self, label: str) -> PromptTemplate:
        """Return the template of `NAME@3`, or the latest of `NAME`. NotFoundError, InputError."""
        name, version = prompt_label(label)
        found = await self.versions(name)
        if version is None:
            return found[0]
        for one in found:
            if one.version == version:
                return one
        raise NotFoundError(f"The prompt {name} has no version {version}.", hint=f"The latest is {found[0].label}.")

    async def add(self, template: PromptTemplate, *, by: str = "") -> PromptTemplate:
        """Keep a new template as its first version. ConflictError where its name is taken; InputError."""
        template = replace(template, name=require_prompt_name(template.name))
        if taken := stored_name(template.name, [one.name for one in await self.list()]):
            hint = f"Use another name, or change it: prompts edit {taken}"
            raise ConflictError(f"There is a prompt named {taken} already.", hint=hint)
        return await self._keep(template, by)

    async def edit(self, template: PromptTemplate, *, by: str = "") -> PromptTemplate:
        """Keep the next version of a template that is there. InputError where it differs in nothing; NotFoundError.

        One that was made from an earlier version than the latest changes only what differs from that version;
        ChangedMeanwhileError where it changed since.
        """
        require_prompt_name(template.name)
        latest = await self.find(template.name)
        seen = next((one for one in await self.versions(template.name) if one.version == template.version), latest)
        changed = merged_fields(_document(seen), _document(template), _document(latest), f"the prompt {latest.name}")
        texts = {name: changed[name] for name in ("text", "variables", "model")}
        template = replace(template, name=latest.name, kind=PromptKind(changed["kind"]), **texts)
        if _document(template) == _document(latest):
            raise InputError(f"Nothing of {latest.label} would change.", hint="Change its text or a variable.")
        return await self._keep(template, by, seen=latest)

    async def remove(self, name: str, *, by: str = "") -> None:
        """Remove every version of a template; runs keep the text they were asked with. NotFoundError, InputError."""
        require_prompt_name(name)
        name = await self._require(name)
        await self._store.remove(DefinitionKind.PROMPT, name)
        self._events.publish(DefinitionsChanged(DefinitionKind.PROMPT, name, by))

    async def restore(self, name: str, *, by: str = "") -> None:
        """Undo a removal."""
        await self._store.restore(DefinitionKind.PROMPT, name)
        self._events.publish(DefinitionsChanged(DefinitionKind.PROMPT, name, by))

    async def applied(
        self,
        settings: ModelSettings,
        label: str,
        values: Mapping[str, str],
        kinds: Sequence[PromptKind] = SELECTING_KINDS,
    ) -> ModelSettings:
        """Return settings that ask with a template of these kinds; a baseline reads none. InputError, NotFoundError."""
        return asked_with(settings, await self.find(label), values, kinds)

    async def documents(self) -> Sequence[Mapping[str, object]]:
        """Return each template of the workspace with all its versions, the oldest first."""
        names = [one.name for one in await self._store.all(DefinitionKind.PROMPT)]
        return [{"name": name, "versions": [*map(_version, reversed(await self.versions(name)))]} for name in names]

    async def incoming(self, versions: Sequence[PromptTemplate]) -> tuple[ImportedItem, tuple[PromptTemplate, ...]]:
        """Return the fate of a template with these versions, oldest first, and the versions that are to be kept.

        A file that goes on from what is here adds its later versions; an earlier state of it changes nothing.
        """
        own = [one.name for one in await self._store.all(DefinitionKind.PROMPT)]
        stored = stored_name(versions[0].name, own)
        here = [*reversed(await self.versions(stored))] if stored else []
        kept, given = [*map(_document, here)], [*map(_document, versions)]
        goes_on = given[: len(kept)] == kept
        new = versions[len(kept) :] if goes_on else _unknown(versions, kept)
        new = [replace(one, name=stored or one.name) for one in new]
        before = kept[-1] if kept else None
        after = _document(new[-1]) if new else before or {}
        return imported_item("prompt", stored or versions[0].name, before, after, edited=not goes_on), tuple(new)

    async def take_over(self, versions: Sequence[PromptTemplate], *, by: str = "") -> None:
        """Keep versions of templates, each as the next one of its name; their names are sound."""
        for template in versions:
            await self._keep(template, by)

    async def arms(
        self, model: ModelSettings, prompt: str, against: str, values: Mapping[str, str]
    ) -> tuple[ModelSettings, ModelSettings]:
        """Return the settings of both arms of a trial, those of `against` first. InputError, NotFoundError.

        Without `against` it is the version before, else the built-in prompt. A value holds for each arm that has it.
        """
        after = await self.find(prompt)
        earlier = [one for one in await self.versions(after.name) if one.version < after.version]
        before = await self.find(against or (earlier[0].label if earlier else BUILT_IN))
        theirs = {
            name: value
            for name, value in values.items()
            if name in before.variables or name in BUILT_IN_VARIABLES[before.kind]
        }
        return await self.applied(model, before.label, theirs), await self.applied(model, after.label, values)

    async def _keep(self, template: PromptTemplate, by: str, seen: PromptTemplate | None = None) -> PromptTemplate:
        require_sound(template)
        name, before = template.name, _document(seen) if seen else None
        kept = await self._store.add(DefinitionKind.PROMPT, name, _document(template), template.note, seen=before)
        self._events.publish(DefinitionsChanged(DefinitionKind.PROMPT, template.name, by))
        return _template(kept)

    async def _require(self, name: str) -> str:
        """Return the name as it is stored; NotFoundError names the nearest."""
        known = [one.name for one in await self.list()]
        stored = stored_name(name, known)
        if stored is None:
            hint = did_you_mean(name, known, "List them with: mcp-tef prompts list")
            raise NotFoundError(f"There is no prompt named {name}.", hint=hint)
        return stored


def _document(template: PromptTemplate) -> dict[str, Any]:
    return {
        "kind": template.kind.value,
        "text": template.text,
        "variables": dict(template.variables),
        "model": template.model,
    }


def _unknown(versions: Sequence[PromptTemplate], kept: Sequence[Mapping[str, Any]]) -> list[PromptTemplate]:
    """Return the versions that are not among those kept, up to the last, unless it was or is the latest anyway."""
    last = versions[-1]
    if _document(last) == kept[-1] or [*map(_document, versions)] == kept[: len(versions)]:
        return []
    return [*(one for one in versions[:-1] if _document(one) not in kept), last]


def _version(template: PromptTemplate) -> dict[str, object]:
    return {**_document(template), "note": template.note}


def read_templates(document: Mapping[str, object]) -> tuple[PromptTemplate, ...]:
    """Return the versions of a template as `Prompts.documents` gives it; InputError for anything else."""
    name, versions = document.get("name"), document.get("versions")
    try:
        if isinstance(name, str) and isinstance(versions, list) and versions:
            return tuple(
                PromptTemplate(
                    name=name,
                    version=number,
                    kind=PromptKind(one["kind"]),
                    text=str(one["text"]),
                    variables={str(key): str(value) for key, value in one.get("variables", {}).items()},
                    model=str(one.get("model", "")),
                    note=str(one.get("note", "")),
                )
                for number, one in enumerate(versions, 1)
            )
    except (AttributeError, KeyError, TypeError, ValueError):
        pass
    hint = f"Each version needs a text and a kind: {', '.join(PromptKind)}."
    raise InputError(f"The prompt {name or 'without a name'} cannot be read.", hint=hint)


def _template(stored: StoredDefinition) -> PromptTemplate:
    document = stored.document
    try:
        return PromptTemplate(
            name=stored.name,
            version=stored.version,
            kind=PromptKind(document["kind"]),
            text=str(document["text"]),
            variables={str(name): str(value) for name, value in document["variables"].items()},
            model=str(document["model"]),
            note=stored.note,
            created_at=stored.created_at,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreError(f"The prompt {stored.label} cannot be read.", hint="Remove it, and write it anew.") from error
