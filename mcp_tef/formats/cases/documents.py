"""Parses a whole document as YAML or JSON, by the name of its file."""

from mcp_tef.formats.cases.entries import Source
from mcp_tef.formats.cases.texts import parse_json, parse_yaml
from mcp_tef.model.json import Json


def parsed(source: Source) -> Json:
    """The document: JSON where the file is named so, else YAML."""
    if source.name.lower().endswith(".json"):
        return parse_json(source.text, source.name)
    return parse_yaml(source.text, source.name)
