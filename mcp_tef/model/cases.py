"""Test cases: a query, and the calls that are correct answers to it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from mcp_tef.errors import InputError
from mcp_tef.model.ids import CaseId
from mcp_tef.model.json import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCall:
    """A call that should be made; parameters that it does not name are not judged, unless `exact`.

    Each expected value is a JSON value or a matcher: an object whose keys all start with `$`.
    """

    tool: str
    server: str | None = None
    parameters: Mapping[str, Any] | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Expectation:
    """Acceptable answers, best first: each is a set of calls; the empty set means that no tool is right."""

    alternatives: tuple[tuple[ExpectedCall, ...], ...] = ((),)
    ordered: bool = False

    @property
    def no_tool(self) -> bool:
        """True if only an answer without a call is correct."""
        return all(not calls for calls in self.alternatives)

    @property
    def first_call(self) -> ExpectedCall | None:
        """The first call of the best answer; None where no tool is expected."""
        return next((call for calls in self.alternatives for call in calls), None)

    @property
    def tool_names(self) -> frozenset[str]:
        """Names of the tools of all acceptable answers."""
        return frozenset(call.tool for calls in self.alternatives for call in calls)

    def renamed(self, names: Mapping[str, str], server: str | None) -> "Expectation":
        """Return it with tools of a server under other names; None renames those of any server."""

        def call_renamed(call: ExpectedCall) -> ExpectedCall:
            ours = server is None or call.server is None or call.server == server
            return replace(call, tool=names[call.tool]) if ours and call.tool in names else call

        return replace(self, alternatives=tuple(tuple(map(call_renamed, calls)) for calls in self.alternatives))

    @property
    def label(self) -> str:
        """In one line for people: `server / tool`, several joined by ` + `, alternatives by ` or `."""
        return " or ".join(_label(calls) for calls in self.alternatives)


NO_TOOL = Expectation()


def _label(calls: tuple[ExpectedCall, ...]) -> str:
    names = (f"{call.server} / {call.tool}" if call.server else call.tool for call in calls)
    return " + ".join(names) or "no tool"


class Speaker(StrEnum):
    """Role of a message in a conversation."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True)
class EarlierMessage:
    """A message of the conversation before the query."""

    role: Speaker
    content: str


def messages_from_json(value: Json) -> tuple[EarlierMessage, ...]:
    """Read a list of `{"role": "user" | "assistant", "content": text}`. InputError."""
    if value is not None and not isinstance(value, list):
        raise InputError("The earlier messages are not a list.", hint=_MESSAGE_HINT)
    return tuple(_message(item) for item in value or ())


def _message(value: Json) -> EarlierMessage:
    match value:
        case {"role": "user" | "assistant" as role, "content": str() as content} if content.strip():
            return EarlierMessage(Speaker(role), content)
    raise InputError("An earlier message is not by the user or the assistant, or has no text.", hint=_MESSAGE_HINT)


_MESSAGE_HINT = 'Write each as {"role": "user", "content": "…"} or with the role assistant.'


def messages_to_json(messages: tuple[EarlierMessage, ...]) -> Json:
    """Return what `messages_from_json` reads back as equal; None for no message."""
    return [{"role": message.role.value, "content": message.content} for message in messages] or None


class CaseOrigin(StrEnum):
    """Origin of a case: written by a person, or drafted by a program."""

    WRITTEN = "written"
    GENERATED = "generated"


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseDraft:
    """Editable content of a case; servers, suites and tags are names.

    Cases of one `family` are paraphrases of each other, or come from one source; statistics count them as one.
    `before` are the messages that are sent ahead of the query. A case that is `held_back` is not shown to those who
    write drafts of tools; only trials open it.
    """

    name: str
    query: str
    expectation: Expectation = NO_TOOL
    servers: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    family: str = ""
    before: tuple[EarlierMessage, ...] = ()
    origin: CaseOrigin = CaseOrigin.WRITTEN
    held_back: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TestCase:
    """A stored case; `openings` counts the trials that opened it while it was held back.

    It is `imported` until a person changes what an import left.
    """

    __test__ = False

    id: CaseId
    draft: CaseDraft
    created_at: datetime
    updated_at: datetime
    openings: int = 0
    imported: bool = False

    @property
    def name(self) -> str:
        """Its name."""
        return self.draft.name

    @property
    def told_name(self) -> str:
        """Its name for the editor of a draft, from whom a case that is held back stays hidden."""
        return "a held-back case" if self.draft.held_back else self.name


def case_renamed(case: TestCase, names: Mapping[str, str], server: str | None) -> TestCase:
    """Return a case that expects tools of a server, or of any, by other names."""
    return replace(case, draft=replace(case.draft, expectation=case.draft.expectation.renamed(names, server)))


def expectation_from_json(value: Json) -> Expectation:
    """Read `null`, a list of calls, `{"any_of": [[call…], …]}` or `{"ordered": true, "calls": […]}`."""
    match value:
        case None:
            return NO_TOOL
        case list():
            return Expectation((_calls(value),))
        case {"any_of": list() as listed}:
            answers = tuple(_calls(item if isinstance(item, list) else [item]) for item in listed)
            return Expectation(answers or ((),), ordered=value.get("ordered") is True)
        case {"calls": list() as calls}:
            return Expectation((_calls(calls),), ordered=value.get("ordered") is True)
    raise InputError(
        "The expectation is neither null nor a list of calls nor an object with any_of or calls.",
        hint='Write null for no tool, or a list such as [{"tool": "search"}].',
    )


def _calls(values: list[Json]) -> tuple[ExpectedCall, ...]:
    return tuple(_call(value) for value in values)


def _call(value: Json) -> ExpectedCall:
    if not isinstance(value, Mapping) or not isinstance(value.get("tool"), str) or not value["tool"]:
        raise InputError("An expected call has no tool name.", hint='Give each call a "tool".')
    if not isinstance(value.get("server"), str | None):
        raise InputError(f"The server expected of {value['tool']} is not text.", hint="Write the server's name.")
    parameters = value.get("parameters")
    if parameters is not None and not isinstance(parameters, Mapping):
        raise InputError(
            f"The parameters expected of {value['tool']} are not an object.", hint="Write them as names with values."
        )
    return ExpectedCall(
        tool=value["tool"],
        server=value.get("server") or None,
        parameters=parameters,
        exact=value.get("exact") is True,
    )


def expectation_to_json(expectation: Expectation) -> Json:
    """Return the shortest form that `expectation_from_json` reads back as equal."""
    answers = [[_call_to_json(call) for call in calls] for calls in expectation.alternatives]
    if len(answers) > 1:
        return {"any_of": answers} | ({"ordered": True} if expectation.ordered else {})
    if expectation.ordered:
        return {"ordered": True, "calls": answers[0]}
    return answers[0] or None


def _call_to_json(call: ExpectedCall) -> dict[str, Json]:
    value: dict[str, Json] = {"tool": call.tool}
    if call.server:
        value["server"] = call.server
    if call.parameters is not None:
        value["parameters"] = dict(call.parameters)
    if call.exact:
        value["exact"] = True
    return value
