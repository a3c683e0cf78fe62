"""Routers in YAML files."""

from collections.abc import Mapping
from pathlib import Path

from mcp_tef.errors import InputError
from mcp_tef.formats.cases.texts import parse_yaml, read_text
from mcp_tef.model.model_routers import ModelRouter, router_from_json


def read_router(path: Path) -> ModelRouter:
    """Return the router in a file; InputError says what is wrong with it."""
    document = parse_yaml(read_text(path), path.name)
    if not isinstance(document, Mapping):
        hint = "Write name, default, embedder and routes."
        raise InputError(f"{path.name} is not a router.", hint=hint)
    return router_from_json(document)
