"""Library tools for tests: one of each executor that needs no other machine."""

from typing import Any

from mcp_tef.model.library import ExecutorKind, ToolDesign

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def answering(name: str = "weather", answer: Any = "It rains in {city}.", **fields: Any) -> ToolDesign:
    """A tool that answers by a template."""
    given = {"description": "Tell the weather in a city.", "input_schema": CITY, "config": {"answer": answer}}
    return ToolDesign(name=name, **given | fields)


def scripted(script: str, name: str = "scripted", **config: Any) -> ToolDesign:
    """A tool that a Python script carries out."""
    return answering(name, input_schema={"type": "object"}, executor=ExecutorKind.PYTHON, script=script, config=config)


def commanded(*argv: str, name: str = "commanded", **config: Any) -> ToolDesign:
    """A tool that a program carries out, which takes a text."""
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return answering(name, input_schema=schema, executor=ExecutorKind.SHELL, config={"argv": list(argv), **config})
