"""Parses a whole document as YAML or JSON, by the name of its file."""

from mcp_tef.model.json import Json
from mcp_tef.workflows.case_forms.entries import Source
from mcp_tef.workflows.case_forms.texts import parse_json, parse_yaml


def parsed(source: Source) -> Json:
    """The document: JSON where the file is named so, else YAML."""
    if source.name.lower().endswith(".json"):
        return parse_json(source.text, source.name)
    return parse_yaml(source.text, source.name)
