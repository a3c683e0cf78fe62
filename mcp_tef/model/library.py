"""The tool library: tools of one's own before any server exists, with versions, statuses and executions."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from mcp_tef.errors import ConflictError, InputError
from mcp_tef.model.health import percentile
from mcp_tef.model.ids import ExecutionId, LibraryToolId
from mcp_tef.model.json import Json, JsonObject
from mcp_tef.model.servers import ServerSpec, Transport
from mcp_tef.model.tools import Tool

TOOL_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,99}")
PLACEHOLDER: Final = re.compile(r"(?<!\$)\{([A-Za-z_]\w*)\}")
LONGEST_SECONDS: Final = 30
MOST_OUTPUT_BYTES: Final = 1024 * 1024
DEFAULT_MEMORY_MB: Final = 512
MOST_MEMORY_MB: Final = 4096
EXPORT_KEY: Final = "mcp-tef/library"
"""The name in `_meta` of an exported definition of what a tools file has no field for."""


class ToolStatus(StrEnum):
    """State of a library tool; only active and deprecated ones are served."""

    DRAFT = "draft"
    ACTIVE = "active"
    DISABLED = "disabled"
    DEPRECATED = "deprecated"


NEXT_STATUSES: Final[Mapping[ToolStatus, tuple[ToolStatus, ...]]] = {
    ToolStatus.DRAFT: (ToolStatus.ACTIVE,),
    ToolStatus.ACTIVE: (ToolStatus.DISABLED, ToolStatus.DEPRECATED),
    ToolStatus.DISABLED: (ToolStatus.ACTIVE,),
    ToolStatus.DEPRECATED: (ToolStatus.ACTIVE,),
}
SERVED: Final = frozenset({ToolStatus.ACTIVE, ToolStatus.DEPRECATED})
EVALUATED: Final = SERVED | {ToolStatus.DRAFT}
"""Statuses that are listed inside the product: a draft has no users yet, and is what most needs an evaluation."""


class ExecutorKind(StrEnum):
    """Means by which a library tool is carried out."""

    PYTHON = "python"
    HTTP = "http"
    SHELL = "shell"
    MCP = "mcp"
    SEARCH = "search"
    ANSWER = "answer"


class ExecutionStatus(StrEnum):
    """State of one execution; it begins as pending, and the last four are final."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCESS = "success"
    FAILED = "failed"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


NEXT_EXECUTION_STATUSES: Final[Mapping[ExecutionStatus, frozenset[ExecutionStatus]]] = {
    ExecutionStatus.PENDING: frozenset({ExecutionStatus.RUNNING, ExecutionStatus.CANCELLED}),
    ExecutionStatus.RUNNING: frozenset(ExecutionStatus) - {ExecutionStatus.PENDING, ExecutionStatus.RUNNING},
}


@dataclass(frozen=True, slots=True)
class ToolProgramSpec(ServerSpec):
    """Program of a library tool, started in an empty folder; its own class, so that no config can claim this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDesign:
    """All that a version keeps of a library tool; `category` is the name of one."""

    name: str
    display_name: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    category: str | None = None
    input_schema: JsonObject
    output_schema: JsonObject | None = None
    executor: ExecutorKind = ExecutorKind.ANSWER
    config: JsonObject
    script: str | None = None

    @property
    def seconds(self) -> float:
        """The time limit of one execution."""
        return float(self.config.get("seconds", LONGEST_SECONDS))

    @property
    def has_address(self) -> bool:
        """True for a tool that sends requests to an address of its own."""
        return self.executor is ExecutorKind.HTTP or (
            self.executor is ExecutorKind.SEARCH and "search" not in self.config
        )

    @property
    def request(self) -> ServerSpec:
        """The address and headers of a request as those of a server, which consents and references know."""
        url = self.config.get("url") or self.config["base_url"]
        headers = self.config.get("headers", {})
        return ServerSpec(name=self.name, transport=Transport.STREAMABLE_HTTP, url=url, headers=headers)

    def program(self, interpreter: str) -> ToolProgramSpec:
        """Return the program of a script or command as that of a server, so that consent is tied to its whole text."""
        words = (interpreter, "-I", "-c", self.script or "") if self.script else tuple(self.config["argv"])
        variables = {name: f"${{{name}}}" for name in self.config.get("env", ())}
        return ToolProgramSpec(
            name=self.name, transport=Transport.STDIO, command=words[0], args=words[1:], env=variables
        )

    @property
    def definition(self) -> dict[str, Any]:
        """The definition as servers list it."""
        raw: dict[str, Any] = {"name": self.name, "description": self.description}
        raw |= {"title": self.display_name} if self.display_name else {}
        raw["inputSchema"] = dict(self.input_schema)
        if self.output_schema:
            raw["outputSchema"] = dict(self.output_schema)
        return raw

    @property
    def tool(self) -> Tool:
        """The tool as other parts know tools."""
        return self._tool("", self.definition)

    def listed_as(self, server: str, status: ToolStatus) -> Tool:
        """Return the tool as a server of a name lists it; a deprecated one says so in its description."""
        raw = self.definition
        if status is ToolStatus.DEPRECATED:
            raw["description"] = f"Deprecated: use it only where nothing else fits. {self.description}"
        return self._tool(server, raw)

    def _tool(self, server: str, raw: JsonObject) -> Tool:
        return Tool(
            server=server,
            name=self.name,
            description=raw["description"],
            input_schema=self.input_schema,
            output_schema=self.output_schema or None,
            raw=raw,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryTool:
    """A tool of the library in its latest version."""

    id: LibraryToolId
    design: ToolDesign
    status: ToolStatus = ToolStatus.DRAFT
    version: int = 1
    created_at: datetime
    updated_at: datetime

    @property
    def name(self) -> str:
        """The unique name."""
        return self.design.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolVersion:
    """A library tool as one update left it."""

    version: int
    design: ToolDesign
    changelog: str = ""
    is_latest: bool = True
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCategory:
    """A group of library tools, by its unique name; `parent` is the name of the one that it stands in."""

    name: str
    description: str = ""
    parent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """One execution of a library tool. `caller_id` and `trace_id` are what the caller gave, if anything."""

    id: ExecutionId
    tool_id: LibraryToolId
    tool: str
    version: int
    status: ExecutionStatus = ExecutionStatus.PENDING
    input: JsonObject
    output: Json = None
    error_message: str | None = None
    created_at: datetime
    started_at: datetime | None = None
    completed_at: datetime | None = None
    duration_ms: int | None = None
    caller_id: str | None = None
    trace_id: str | None = None


def require_next_status(tool: LibraryTool, wanted: ToolStatus) -> None:
    """Raise InputError, which names the transitions that are allowed, unless the tool may get a status."""
    allowed = NEXT_STATUSES[tool.status]
    if wanted not in allowed:
        hint = f"A tool that is {tool.status} can become {' or '.join(allowed)}, or be deleted."
        raise InputError(f"{tool.name} is {tool.status} and cannot become {wanted}.", hint=hint, code="bad_status")


def placeholders(template: Json) -> Iterator[str]:
    """Yield the names of the inputs that a template uses."""
    if isinstance(template, str):
        yield from PLACEHOLDER.findall(template)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from placeholders(value)
    elif isinstance(template, list | tuple):
        for value in template:
            yield from placeholders(value)


@dataclass(frozen=True, slots=True)
class ExecutionFigures:
    """Figures over executions that ended; None of nothing."""

    count: int
    error_rate: float | None
    p50_ms: int | None
    p95_ms: int | None

    @classmethod
    def of(cls, executions: Sequence[Execution]) -> "ExecutionFigures":
        """Return the figures of some executions; cancelled ones are left out."""
        ended = [one for one in executions if one.status is not ExecutionStatus.CANCELLED and one.completed_at]
        durations = [one.duration_ms or 0 for one in ended]
        failed = sum(one.status is not ExecutionStatus.SUCCESS for one in ended)
        rate = failed / len(ended) if ended else None
        return cls(len(ended), rate, percentile(durations, 0.5), percentile(durations, 0.95))


class _Absent:
    """The value of an input that was not given."""


ABSENT: Final = _Absent()


def as_text(value: Json) -> str:
    """Return a value as it stands within a text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def require_free_of_circles(categories: Sequence[ToolCategory], name: str, parent: str | None) -> None:
    """Raise InputError where a category would stand in itself; ConflictError where its parent is not there."""
    parents = {category.name: category.parent for category in categories}
    above = parent
    while above is not None:
        if above == name:
            hint = "Select another parent."
            raise InputError(f"The category {name} would stand in itself.", hint=hint, code="circular_category")
        if above not in parents:
            raise ConflictError(f"There is no category {above}.", hint="Add it first.")
        above = parents[above]


def design_to_json(design: ToolDesign) -> dict[str, Any]:
    """Return a design as it is stored and exported: a definition, with the rest of it in `_meta`."""
    more = {
        "tags": list(design.tags),
        "category": design.category,
        "executor": design.executor.value,
        "config": dict(design.config),
        "script": design.script,
    }
    return {**design.definition, "_meta": {EXPORT_KEY: more}}


def design_from_json(raw: JsonObject, otherwise: tuple[ExecutorKind, JsonObject] | None = None) -> ToolDesign:
    """Return the design in a definition; one that is none of the library gets the executor `otherwise`.

    Raises InputError where fields have other types than they need.
    """
    meta = raw.get("_meta")
    more = meta.get(EXPORT_KEY, {}) if isinstance(meta, Mapping) else {}
    kind, config = otherwise or (ExecutorKind.ANSWER, {"answer": ""})
    try:
        design = ToolDesign(
            name=raw["name"],
            display_name=raw.get("title", ""),
            description=raw.get("description", ""),
            tags=tuple(more.get("tags", ())),
            category=more.get("category"),
            input_schema=raw.get("inputSchema", {"type": "object"}),
            output_schema=raw.get("outputSchema"),
            executor=ExecutorKind(more.get("executor", kind)),
            config=more.get("config", config),
            script=more.get("script"),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _unreadable() from error
    if not _has_right_types(design):
        raise _unreadable()
    return design


def _has_right_types(design: ToolDesign) -> bool:
    texts = (design.name, design.display_name, design.description, design.category or "", design.script or "")
    objects = (design.input_schema, design.output_schema or {}, design.config)
    return all(isinstance(text, str) for text in (*texts, *design.tags)) and all(
        isinstance(value, Mapping) for value in objects
    )


def _unreadable() -> InputError:
    return InputError("A definition cannot be read.", hint='Write {"name": …, "description": …, "inputSchema": {…}}.')
