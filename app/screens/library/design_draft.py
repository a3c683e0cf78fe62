"""The design of a library tool while it is typed; knows no Qt."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from app.arguments.typed_json import UnreadableError, dumps
from app.screens.library.schema_text import EMPTY, SchemaText, read_object
from mcp_tef import ExecutorKind, InputError, JsonObject, ToolDesign

EXECUTORS: Final[Mapping[ExecutorKind, str]] = {
    ExecutorKind.ANSWER: "Fixed answer",
    ExecutorKind.PYTHON: "Python script",
    ExecutorKind.HTTP: "HTTP request",
    ExecutorKind.SHELL: "Program",
    ExecutorKind.MCP: "Tool of a server",
    ExecutorKind.SEARCH: "Web search",
}
CONFIGS: Final[Mapping[ExecutorKind, JsonObject]] = {
    ExecutorKind.ANSWER: {"answer": "Done."},
    ExecutorKind.PYTHON: {},
    ExecutorKind.HTTP: {"method": "GET", "url": "https://"},
    ExecutorKind.SHELL: {"argv": ["echo"]},
    ExecutorKind.MCP: {"server": "", "tool": ""},
    ExecutorKind.SEARCH: {"base_url": "http://127.0.0.1:8080"},
}
"""The config that a tool begins with when its executor is chosen."""
CONFIG_NOTES: Final[Mapping[ExecutorKind, str]] = {
    ExecutorKind.ANSWER: "The answer is text or JSON. {name} stands for a parameter.",
    ExecutorKind.PYTHON: "May name variables in “env”, and set “memory_mb” and “seconds”.",
    ExecutorKind.HTTP: "Also “headers”, “body”, and “result” as a JSON Pointer. {name} stands for a parameter.",
    ExecutorKind.SHELL: "A program and its arguments. There is no shell, and {name} stands for a parameter.",
    ExecutorKind.MCP: "A registered server and one of its tools; “arguments” if they differ.",
    ExecutorKind.SEARCH: "The address of a SearXNG service, and “count”.",
}
SCRIPT: Final = "def run(input):\n    return input\n"
NOT_LOST: Final = "Nothing typed is lost."
NEW_SCHEMA: Final[JsonObject] = {"type": "object", "properties": {}}


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignDraft:
    """All fields of a design as typed; `tags` are separated by commas."""

    name: str = ""
    display_name: str = ""
    description: str = ""
    category: str = ""
    tags: str = ""
    executor: ExecutorKind = ExecutorKind.ANSWER
    config: str = ""
    script: str = ""
    input: SchemaText = EMPTY
    output: SchemaText = EMPTY

    @classmethod
    def of(cls, design: ToolDesign) -> "DesignDraft":
        """Return the draft that reads back as this design."""
        return cls(
            name=design.name,
            display_name=design.display_name,
            description=design.description,
            category=design.category or "",
            tags=", ".join(design.tags),
            executor=design.executor,
            config=dumps(dict(design.config), indent=2),
            script=design.script or "",
            input=SchemaText.of(design.input_schema),
            output=SchemaText.of(design.output_schema),
        )

    def with_executor(self, executor: ExecutorKind) -> "DesignDraft":
        """Return the draft carried out otherwise, with a config to begin with."""
        script = (self.script or SCRIPT) if executor is ExecutorKind.PYTHON else ""
        return replace(self, executor=executor, config=dumps(dict(CONFIGS[executor]), indent=2), script=script)

    def design(self) -> ToolDesign:
        """Return the design; InputError for the first field that cannot be read."""
        for what, schema in (("Input schema", self.input), ("Output schema", self.output)):
            if schema.fault:
                raise InputError(f"{what}: {schema.fault}", hint=NOT_LOST)
        return ToolDesign(
            name=self.name.strip(),
            display_name=self.display_name.strip(),
            description=self.description,
            tags=tuple(filter(None, map(str.strip, self.tags.split(",")))),
            category=self.category or None,
            input_schema=self.input.schema or NEW_SCHEMA,
            output_schema=self.output.schema,
            executor=self.executor,
            config=_config(self.config),
            script=self.script or None,
        )


def _config(text: str) -> JsonObject:
    try:
        return read_object(text or "{}", "Config")
    except UnreadableError as error:
        raise InputError(str(error), hint=NOT_LOST) from error


def new_design(name: str, description: str, executor: ExecutorKind) -> ToolDesign:
    """Return the design of a new tool without parameters."""
    draft = DesignDraft(name=name, description=description, input=SchemaText.of(NEW_SCHEMA)).with_executor(executor)
    return draft.design()
