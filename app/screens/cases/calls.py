"""Form of one expected call, and the tools that it can expect."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from app.arguments.parameters import parameters_of, unknown_parameter
from app.arguments.values import UnreadableError, dumps, loads
from app.screens.cases.matchers import ParameterField, read_field, refit, value_of
from mcp_tef import ExpectedCall, Json, Listing, Tool

if TYPE_CHECKING:
    from mcp_tef import Engine, Server

LONGEST_SENTENCE: Final = 160


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """One tool to select: its server, its name, and the first sentence about it.

    `attached` is False for a tool of a server that the case does not name; selecting it attaches the server.
    """

    server: str
    name: str
    sentence: str
    attached: bool = True


class Tools:
    """The tools of every server, as last seen."""

    def __init__(self, listings: Mapping[str, Listing] | None = None) -> None:
        self._listings = dict(listings or {})

    def find(self, server: str | None, name: str) -> Tool | None:
        """Return the tool of a name, of any server if none is given."""
        listings = self._listings.values() if server is None else [self._listings.get(server)]
        tools = (tool for listing in listings if listing for tool in listing.tools)
        return next((tool for tool in tools if tool.name == name), None)

    def of(self, servers: Sequence[str]) -> tuple[ToolChoice, ...]:
        """Return the tools of these servers in their order, of all servers if none is given."""
        chosen = [name for name in servers if name in self._listings] if servers else list(self._listings)
        return tuple(_choice(tool, name) for name in chosen for tool in self._listings[name].tools)

    def selectable(self, servers: Sequence[str]) -> tuple[ToolChoice, ...]:
        """Return the tools of these servers, then those of all other servers."""
        own = self.of(servers)
        names = {choice.server for choice in own}.union(servers)
        others = self.of([name for name in self._listings if name not in names]) if servers else ()
        return (*own, *(replace(choice, attached=False) for choice in others if choice.server not in names))


def _choice(tool: Tool, server: str) -> ToolChoice:
    return ToolChoice(server, tool.name, first_sentence(tool.description))


def first_sentence(text: str) -> str:
    """Return the first sentence of a description on one line, cut between words if it is long."""
    line = " ".join(text.split())
    sentence = re.split(r"(?<=[.!?])\s", line, maxsplit=1)[0].rstrip(".")
    if len(sentence) <= LONGEST_SENTENCE:
        return sentence
    return f"{sentence[:LONGEST_SENTENCE].rsplit(' ', 1)[0]}…"


def typed_choice(choices: Sequence[ToolChoice], typed: str) -> tuple[str | None, str]:
    """Return the server and tool that a typed text names; without a server, that of the only tool of the name.

    Tools of the servers that the case names come first.
    """
    server, slash, name = (part.strip() for part in typed.partition("/"))
    servers = {choice.server for choice in choices}
    if slash and name and server in servers:
        return server, name
    text = typed.strip()
    owners = _owners(choices, text, attached=True) or _owners(choices, text, attached=False)
    return (owners[0] if len(owners) == 1 else None), text


def _owners(choices: Sequence[ToolChoice], tool: str, *, attached: bool) -> list[str]:
    return [choice.server for choice in choices if (choice.name, choice.attached) == (tool, attached)]


FindTool: TypeAlias = Callable[[str | None, str], Tool | None]


@dataclass(frozen=True, slots=True)
class Problem:
    """Reason why a form cannot be saved: one sentence, and the field that it is about."""

    where: str
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CallForm:
    """An expected call while it is edited; `json_text` is what was typed while shown as JSON.

    `bare` says that a call without any judged parameter names none at all, not an empty set of them.
    """

    tool: str = ""
    server: str | None = None
    fields: tuple[ParameterField, ...] = ()
    exact: bool = False
    bare: bool = True
    known: bool = False
    json_text: str | None = None

    @property
    def as_json(self) -> bool:
        """True if the parameters are edited as JSON."""
        return self.json_text is not None

    @property
    def judged(self) -> tuple[ParameterField, ...]:
        """The fields that the expectation names."""
        return tuple(field for field in self.fields if field.judged)


def call_form(call: ExpectedCall, find: FindTool) -> CallForm:
    """Return the form of an expected call."""
    form = CallForm(tool=call.tool, server=call.server, exact=call.exact, bare=call.parameters is None)
    return _fitted(form, call.parameters or {}, find)


def call_of(form: CallForm) -> ExpectedCall:
    """Parse a form; raise UnreadableError with a sentence if it is invalid."""
    if not form.tool:
        raise UnreadableError("Select the tool that should be called.")
    parameters = given_parameters(form)
    return ExpectedCall(
        tool=form.tool,
        server=form.server,
        parameters=None if form.bare and not parameters else parameters,
        exact=form.exact,
    )


def given_parameters(form: CallForm) -> Mapping[str, Json]:
    """Return the expected parameters as JSON; raise UnreadableError with a sentence if one is invalid."""
    if form.json_text is not None:
        return _parsed(form.json_text)
    return {field.parameter.name: value_of(field) for field in form.judged}


def call_problems(form: CallForm, where: str) -> tuple[Problem, ...]:
    """Return the problems of a form."""
    if not form.tool:
        return (Problem(f"{where}.tool", "Select the tool that should be called."),)
    if form.json_text is not None:
        found = [_problem(f"{where}.json", lambda: _parsed(form.json_text or ""))]
    else:
        found = [_field_problem(where, field) for field in form.judged]
    return tuple(problem for problem in found if problem)


def _field_problem(where: str, field: ParameterField) -> Problem | None:
    return _problem(f"{where}.{field.parameter.name}", lambda: value_of(field))


def _problem(where: str, read: Callable[[], object]) -> Problem | None:
    try:
        read()
    except UnreadableError as error:
        return Problem(where, str(error))
    return None


def _parsed(text: str) -> Mapping[str, Json]:
    value = loads(text) if text.strip() else {}
    if not isinstance(value, dict):
        raise UnreadableError('Write the parameters as a JSON object such as {"name": "value"}.')
    return value


# ---------------------------------------------------------------- edits


def with_field(form: CallForm, field: ParameterField) -> CallForm:
    """Return the form with one field changed."""
    name = field.parameter.name
    return replace(form, fields=tuple(field if old.parameter.name == name else old for old in form.fields))


def with_tool(form: CallForm, server: str | None, tool: str, find: FindTool) -> CallForm:
    """Return the form for another tool; values stay if the new tool has a parameter of that name."""
    return refitted(replace(form, server=server, tool=tool), find)


def refitted(form: CallForm, find: FindTool) -> CallForm:
    """Return the form for the current schema of its tool; nothing typed is lost."""
    tool = find(form.server, form.tool)
    parameters = parameters_of(tool.input_schema) if tool else ()
    old = {field.parameter.name: field for field in form.fields}
    fields = [refit(old.pop(item.name, ParameterField(item)), item) for item in parameters]
    kept = [refit(field, unknown_parameter(name)) for name, field in old.items() if field.judged]
    return replace(form, fields=(*fields, *kept), known=tool is not None)


def with_json_shown(form: CallForm, shown: bool, find: FindTool) -> CallForm:
    """Return the form with its parameters as JSON, or as fields again; raise UnreadableError for invalid JSON."""
    if shown == form.as_json:
        return form
    if shown:
        return replace(form, json_text=_json_text(form))
    return _fitted(replace(form, json_text=None), _parsed(form.json_text or ""), find)


def _json_text(form: CallForm) -> str:
    readable: dict[str, Json] = {}
    for field in form.judged:
        try:
            readable[field.parameter.name] = value_of(field)
        except UnreadableError:
            readable[field.parameter.name] = field.text
    return dumps(readable, indent=2)


def _fitted(form: CallForm, given: Mapping[str, Json], find: FindTool) -> CallForm:
    tool = find(form.server, form.tool)
    known = parameters_of(tool.input_schema) if tool else ()
    names = {parameter.name for parameter in known}
    extra = (unknown_parameter(name) for name in given if name not in names)
    fields = [
        read_field(item, given[item.name]) if item.name in given else ParameterField(item) for item in (*known, *extra)
    ]
    return replace(form, fields=tuple(fields), known=tool is not None)


async def read_servers(core: "Engine") -> "tuple[tuple[Server, ...], Tools]":
    """Return the servers, and the tools of each as last seen."""
    servers = await core.servers.list()
    listings: dict[str, Listing] = {}
    for server in servers:
        listing = await core.servers.known_tools(server.id)
        if listing is not None:
            listings[server.name] = listing
    return servers, Tools(listings)
