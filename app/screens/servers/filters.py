"""Filters and sort orders of the lists of servers, tools and parameters; knows no Qt."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final

from app.arguments.parameters import SchemaParameter
from app.screens.kit import FilterField, FilterFields, SortOrder, ViewState, in_order, matches_all_words
from mcp_tef import Server, ServerId, ServerStatus, Tool, Transport

SCREEN: Final = "servers"
TOOLS, PARAMETERS, CALLS = "tools", "parameters", "calls"
"""Parts of the saved view state, besides the list of servers itself."""

STATUS_TEXTS: Final[Mapping[ServerStatus, str]] = {
    ServerStatus.ACTIVE: "Active",
    ServerStatus.FAILED: "Failed",
    ServerStatus.STARTING: "Starting",
    ServerStatus.INACTIVE: "Not started",
}
KIND_TEXTS: Final[Mapping[Transport, str]] = {
    Transport.STDIO: "Commands",
    Transport.STREAMABLE_HTTP: "Addresses",
    Transport.SSE: "Addresses (SSE)",
    Transport.FILE: "Tools files",
}
_MOST_URGENT: Final = (ServerStatus.FAILED, ServerStatus.STARTING, ServerStatus.INACTIVE, ServerStatus.ACTIVE)


def server_fields(changed: Collection[ServerId] = ()) -> FilterFields[Server]:
    """Return the filters of servers; `changed` are servers whose tools changed since the user accepted them."""
    return FilterFields(
        (
            FilterField(
                name="state",
                texts={status.value: text for status, text in STATUS_TEXTS.items()},
                fits=lambda server, value: server.status.value == value,
            ),
            FilterField(
                name="kind",
                texts={kind.value: text for kind, text in KIND_TEXTS.items()},
                fits=lambda server, value: server.spec.transport.value == value,
            ),
            FilterField(name="changed", texts={"yes": "Tools changed"}, fits=lambda server, _: server.id in changed),
        )
    )


SERVER_FIELDS: Final = server_fields()
SERVER_ORDERS: Final[Sequence[SortOrder[Server]]] = (
    SortOrder(name="name", text="Sort by name"),
    SortOrder(name="state", text="Sort by state, failed first", key=lambda server: _MOST_URGENT.index(server.status)),
    SortOrder(
        name="tools", text="Sort by tools, most first", key=lambda server: server.tool_count or 0, descending=True
    ),
    SortOrder(
        name="seen",
        text="Sort by last connection, latest first",
        key=lambda server: server.last_connected_at.timestamp() if server.last_connected_at else 0.0,
        descending=True,
    ),
)


def listed_servers(servers: Sequence[Server], view: ViewState, changed: Collection[ServerId]) -> list[Server]:
    """Return the servers that pass the filters, sorted; equal ones by name."""
    fields = server_fields(changed)
    found = [server for server in servers if fields.fits(server, view.filters)]
    return in_order(sorted(found, key=lambda server: server.name.casefold()), SERVER_ORDERS, view.sort.name)


def tool_fields(changed: Collection[str] = ()) -> FilterFields[Tool]:
    """Return the filters of tools; `changed` are names of tools that changed since the user accepted them."""
    tests: Mapping[str, Callable[[Tool], bool]] = {
        "changed": lambda tool: tool.name in changed,
        "undescribed": lambda tool: not tool.description.strip(),
        "bare": lambda tool: not tool.input_schema.get("properties"),
    }
    texts = {"changed": "Changed", "undescribed": "Without a description", "bare": "Without parameters"}
    return FilterFields((FilterField(name="only", texts=texts, fits=lambda tool, value: tests[value](tool)),))


TOOL_FIELDS: Final = tool_fields()
BY_TOKENS: Final = "weight"


def tool_orders(tokens: Mapping[str, int]) -> Sequence[SortOrder[Tool]]:
    """Return the orders of tools; `tokens` are counted by name."""

    def weight(tool: Tool) -> int:
        return tokens.get(tool.name, 0)

    return (
        SortOrder(name="given", text="As the server lists them"),
        SortOrder(name="name", text="Sort by name", key=lambda tool: tool.name.casefold()),
        SortOrder(name=BY_TOKENS, text="Sort by tokens, most first", key=weight, descending=True),
    )


TOOL_ORDERS: Final = tool_orders({})


def listed_tools(
    tools: Sequence[Tool], view: ViewState, changed: Collection[str], tokens: Mapping[str, int]
) -> tuple[Tool, ...]:
    """Return the tools that pass the filters, sorted."""
    fields = tool_fields(changed)
    found = (tool for tool in tools if fields.fits(tool, view.filters))
    return tuple(in_order(found, tool_orders(tokens), view.sort.name))


HEADS: Final = ("Parameter", "Type", "Required", "Description", "Limits")
_PARAMETER_TESTS: Final[Mapping[str, Callable[[SchemaParameter], bool]]] = {
    "required": lambda one: one.required,
    "undescribed": lambda one: not one.description.strip(),
}
PARAMETER_FIELDS: Final[FilterFields[SchemaParameter]] = FilterFields(
    (
        FilterField(
            name="only",
            texts={"required": "Required", "undescribed": "Without a description"},
            fits=lambda one, value: _PARAMETER_TESTS[value](one),
        ),
    )
)
PARAMETER_ORDERS: Final[Sequence[SortOrder[SchemaParameter]]] = (
    SortOrder(name="given", text="As the schema lists them"),
    SortOrder(name="name", text="Sort by name", key=lambda one: one.name.casefold()),
    SortOrder(name="type", text="Sort by type", key=lambda one: one.type),
    SortOrder(name="required", text="Sort by required, required first", key=lambda one: not one.required),
)


def listed_parameters(parameters: Sequence[SchemaParameter], view: ViewState) -> tuple[SchemaParameter, ...]:
    """Return the parameters that pass search and filters, sorted."""
    found = (
        one
        for one in parameters
        if PARAMETER_FIELDS.fits(one, view.filters) and matches_all_words(_parameter_text(one), view.text)
    )
    return tuple(in_order(found, PARAMETER_ORDERS, view.sort.name))


def _parameter_text(one: SchemaParameter) -> str:
    return "\n".join((one.name, one.type, "required" if one.required else "optional", one.description, one.limits))


def cells_of(parameters: Sequence[SchemaParameter]) -> list[tuple[str, ...]]:
    """Return parameters as texts under `HEADS`."""
    return [(one.name, one.type, "yes" if one.required else "no", one.description, one.limits) for one in parameters]
