"""Client profiles and routers as YAML: those that are bundled, and those of the user."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_yaml, read_text
from mcp_tef.model.clients import PLAIN_API, ClientFact, ClientProfile, NameRule, SearchRule, TextRule
from mcp_tef.model.json import Json
from mcp_tef.model.model_routers import ModelRouter, router_from_json
from mcp_tef.model.search import did_you_mean
from mcp_tef.scoring.client_view import READABLE
from mcp_tef.trust.patterns import PatternError, character_ranges

_PARTS = {"names": NameRule, "texts": TextRule, "search": SearchRule}


@cache
def bundled_profiles() -> tuple[ClientProfile, ...]:
    """Return the profiles of this version: the plain API, then the others by title."""
    found = [
        profile_of(parse_yaml(file.read_text("utf-8"), file.name), file.name)
        for file in files("resources").joinpath("clients").iterdir()
        if file.name.endswith(".yaml")
    ]
    return tuple(sorted(found, key=lambda one: (one.name != PLAIN_API, one.title.lower())))


def read_profile(path: Path) -> ClientProfile:
    """Return the profile in a file; InputError says what is wrong with it."""
    return profile_of(parse_yaml(read_text(path), path.name), path.name)


def profile_of(document: Json, name: str) -> ClientProfile:
    """Return the profile that a document describes; unknown keys and limits below 1 are refused."""
    if not isinstance(document, Mapping):
        raise not_a_profile(name)
    _require_known(document, name)
    try:
        profile = TypeAdapter(ClientProfile).validate_python(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"{name}: {where or 'the profile'} is not right: {first['msg']}.", hint="Correct that value."
        ) from None
    _require_sound(profile, name)
    return profile


def not_a_profile(name: str) -> InputError:
    """Return the error for a document that is no profile at all."""
    return InputError(f"{name} is not a client profile.", hint="It must hold a name, a title and rules.")


def _require_known(document: Mapping[str, Json], name: str) -> None:
    """Raise InputError for a key that no profile has, with the nearest one."""
    for where, part, given in _parts(document):
        known = [field.name for field in fields(part)]
        unknown = [str(key) for key in given if key not in known]
        if unknown:
            hint = did_you_mean(unknown[0], known, f"Known are {', '.join(known)}.")
            raise InputError(f"{name} has an unknown key: {where}{unknown[0]}.", hint=hint)


def _parts(document: Mapping[str, Json]) -> Iterator[tuple[str, type[Any], Mapping[str, Json]]]:
    """Yield the objects of a profile, each with the class that describes it and its key."""
    yield "", ClientProfile, document
    for key, part in _PARTS.items():
        if isinstance(given := document.get(key), Mapping):
            yield f"{key}.", part, given
    facts = document.get("facts")
    for fact in facts if isinstance(facts, Sequence) else ():
        if isinstance(fact, Mapping):
            yield "facts.", ClientFact, fact


def _require_sound(profile: ClientProfile, name: str) -> None:
    low = [key for key, limit in profile.limits().items() if limit < 1]
    if low:
        raise InputError(f"{name}: {low[0]} must be at least 1.", hint="Leave it out where there is no limit.")
    if "{tool}" not in profile.names.pattern:
        raise InputError(f"{name}: names.pattern lacks {{tool}}.", hint="Write it as in mcp__{server}__{tool}.")
    try:
        character_ranges(profile.names.allowed)
    except PatternError as error:
        hint = "Write ranges and single characters, as in A-Za-z0-9_-."
        raise InputError(f"{name}: names.allowed {error}.", hint=hint) from None
    unread = [text for text in (profile.search.reads if profile.search else ()) if text not in READABLE]
    if unread:
        hint = did_you_mean(unread[0], READABLE, f"Known are {', '.join(sorted(READABLE))}.")
        raise InputError(f"{name}: search.reads names an unknown text: {unread[0]}.", hint=hint)


def read_router(path: Path) -> ModelRouter:
    """Return the router in a file; InputError says what is wrong with it."""
    document = parse_yaml(read_text(path), path.name)
    if not isinstance(document, Mapping):
        hint = "Write name, default, embedder and routes."
        raise InputError(f"{path.name} is not a router.", hint=hint)
    return router_from_json(document)
