"""Convert test cases to an editable form and back; expectations that the form cannot show stay as JSON."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from app.arguments.values import UnreadableError, dumps, loads
from app.screens.cases.calls import (
    CallForm,
    FindTool,
    Problem,
    ToolChoice,
    Tools,
    call_form,
    call_of,
    call_problems,
    refitted,
    typed_choice,
    with_tool,
)
from mcp_tef import (
    NO_TOOL,
    CaseDraft,
    CaseOrigin,
    EarlierMessage,
    Expectation,
    ExpectedCall,
    InputError,
    Json,
    expectation_from_json,
    expectation_to_json,
    messages_from_json,
    messages_to_json,
)

_BEGINNING: Final = re.compile(r"^(user|assistant):[ \t]*", re.IGNORECASE | re.MULTILINE)
HOW_TO_WRITE: Final = "Begin each earlier message with User: or Assistant:."


def messages_text(messages: tuple[EarlierMessage, ...]) -> str:
    """Return the text of messages; as JSON if a message could not be read back from plain text."""
    text = "\n".join(f"{message.role.value.capitalize()}: {message.content}" for message in messages)
    try:
        reproduced = read_messages(text) == messages
    except UnreadableError:
        reproduced = False
    return text if reproduced else dumps(messages_to_json(messages))


def read_messages(text: str) -> tuple[EarlierMessage, ...]:
    """Parse messages; raise UnreadableError for text that begins without a role, and for an empty message."""
    text = text.strip()
    if not text:
        return ()
    if text.startswith("["):
        return _checked(loads(text))
    before, *parts = _BEGINNING.split(text)
    if before or not parts:
        raise UnreadableError(HOW_TO_WRITE)
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return _checked([{"role": role.lower(), "content": content.strip()} for role, content in pairs])


def _checked(value: Json) -> tuple[EarlierMessage, ...]:
    try:
        return messages_from_json(value)
    except InputError as error:
        raise UnreadableError(f"{error.message} {error.hint}") from error


LONGEST_NAME: Final = 80


class Mode(StrEnum):
    """Kind of expectation, as the editor names it."""

    ONE = "One call"
    SEVERAL = "Several calls"
    ANY_ONE = "Any one of"
    NONE = "No call"
    JSON = "As JSON"


SHOWN_MODES: Final = (Mode.ONE, Mode.SEVERAL, Mode.ANY_ONE, Mode.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseForm:
    """A case while it is edited. Calls that the mode does not use stay, so that changing back loses nothing."""

    query: str = ""
    name: str = ""
    mode: Mode = Mode.ONE
    calls: tuple[CallForm, ...] = (CallForm(),)
    ordered: bool = False
    json_text: str = ""
    servers: tuple[str, ...] = ()
    suites: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    family: str = ""
    before: str = ""
    origin: CaseOrigin = CaseOrigin.WRITTEN

    @property
    def used_calls(self) -> tuple[tuple[int, CallForm], ...]:
        """The calls that count in this mode, with their place; further ones without a tool do not."""
        numbered = tuple(enumerate(self.calls))
        if self.mode is Mode.ONE:
            return numbered[:1]
        if self.mode in (Mode.SEVERAL, Mode.ANY_ONE):
            return tuple((number, call) for number, call in numbered if call.tool) or numbered[:1]
        return ()


@dataclass(frozen=True, slots=True)
class ParsedCase:
    """Draft that a form describes, or the problems that prevent one."""

    draft: CaseDraft | None
    problems: tuple[Problem, ...] = ()

    def problem_at(self, where: str) -> str:
        """Return the problem of one field; empty if it is valid."""
        return next((problem.sentence for problem in self.problems if problem.where == where), "")


def name_from(query: str) -> str:
    """Return the name of an unnamed case: the beginning of its query's first line."""
    lines = query.strip().splitlines()
    return lines[0][:LONGEST_NAME] if lines else ""


# ---------------------------------------------------------------- draft → form
def case_form(draft: CaseDraft, find: FindTool) -> CaseForm:
    """Return the form of a draft; the expectation stays JSON if the fields could not reproduce it."""
    form = CaseForm(
        query=draft.query,
        name="" if draft.name == name_from(draft.query) else draft.name,
        servers=draft.servers,
        suites=draft.suites,
        tags=draft.tags,
        family=draft.family,
        before=messages_text(draft.before),
        origin=draft.origin,
    )
    shown = _with_expectation(form, draft.expectation, find)
    return shown if _expectation(shown) == draft.expectation else _as_json(form, draft.expectation)


def _with_expectation(form: CaseForm, expectation: Expectation, find: FindTool) -> CaseForm:
    mode, calls = _shape(expectation)
    shown = tuple(call_form(call, find) for call in calls) or (CallForm(),)
    return replace(form, mode=mode, calls=shown, ordered=expectation.ordered)


def _shape(expectation: Expectation) -> tuple[Mode, tuple[ExpectedCall, ...]]:
    first, *others = expectation.alternatives
    if others and all(len(calls) == 1 for calls in expectation.alternatives):
        return Mode.ANY_ONE, tuple(calls[0] for calls in expectation.alternatives)
    if not first:
        return Mode.NONE, ()
    return (Mode.ONE if len(first) == 1 and not expectation.ordered else Mode.SEVERAL), first


def _as_json(form: CaseForm, expectation: Expectation) -> CaseForm:
    text = dumps(expectation_to_json(expectation), indent=2)
    return replace(form, mode=Mode.JSON, json_text=text, calls=(CallForm(),), ordered=False)


# ---------------------------------------------------------------- form → draft
def read_form(form: CaseForm) -> ParsedCase:
    """Parse a form into a draft, or collect every problem."""
    problems = tuple(_problems(form))
    if problems:
        return ParsedCase(None, problems)
    return ParsedCase(
        CaseDraft(
            name=form.name.strip() or name_from(form.query),
            query=form.query,
            expectation=_expectation(form),
            servers=form.servers,
            suites=form.suites,
            tags=form.tags,
            family=" ".join(form.family.split()),
            before=read_messages(form.before),
            origin=form.origin,
        )
    )


def _problems(form: CaseForm) -> list[Problem]:
    found = [] if form.query.strip() else [Problem("query", "Write what the user says.")]
    for number, call in form.used_calls:
        found.extend(call_problems(call, f"call{number}"))
    try:
        read_messages(form.before)
    except UnreadableError as error:
        found.append(Problem("before", str(error)))
    if form.mode is Mode.JSON:
        try:
            _from_json(form.json_text)
        except UnreadableError as error:
            found.append(Problem("json", str(error)))
    return found


def _expectation(form: CaseForm) -> Expectation:
    calls = tuple(call_of(call) for _, call in form.used_calls)
    match form.mode:
        case Mode.NONE:
            return NO_TOOL
        case Mode.ANY_ONE:
            return Expectation(tuple((call,) for call in calls))
        case Mode.JSON:
            return _from_json(form.json_text)
        case mode:
            return Expectation((calls,), ordered=form.ordered and mode is Mode.SEVERAL)


def _from_json(text: str) -> Expectation:
    try:
        return expectation_from_json(loads(text))
    except InputError as error:
        raise UnreadableError(f"{error.message} {error.hint}".strip()) from error


# ---------------------------------------------------------------- edits
def with_mode(form: CaseForm, mode: Mode, find: FindTool) -> CaseForm:
    """Return the form with another expectation mode; its calls stay."""
    if mode is form.mode:
        return form
    if mode is Mode.JSON:
        return replace(form, mode=mode, json_text=_json_of(form))
    if form.mode is Mode.JSON:
        form = _out_of_json(form, find)
    several = mode in (Mode.SEVERAL, Mode.ANY_ONE)
    enough = (*form.calls, CallForm()) if several and len(form.calls) < 2 else form.calls
    return replace(form, mode=mode, calls=enough)


def _json_of(form: CaseForm) -> str:
    try:
        return dumps(expectation_to_json(_expectation(form)), indent=2)
    except UnreadableError:
        return form.json_text or dumps(None)


def _out_of_json(form: CaseForm, find: FindTool) -> CaseForm:
    try:
        return _with_expectation(form, _from_json(form.json_text), find)
    except UnreadableError:
        return form


def with_call(form: CaseForm, number: int, call: CallForm) -> CaseForm:
    """Return the form with one call replaced."""
    return replace(form, calls=(*form.calls[:number], call, *form.calls[number + 1 :]))


def with_selected_tool(form: CaseForm, number: int, choice: ToolChoice | str, tools: Tools) -> CaseForm:
    """Return the form with another expected tool, from the list or typed; its server is attached if it was not."""
    offered = tools.selectable(form.servers)
    server, tool = typed_choice(offered, choice) if isinstance(choice, str) else (choice.server, choice.name)
    attached = {one.server for one in offered if one.attached}
    servers = (
        (*form.servers, server) if server and server not in attached and tools.find(server, tool) else form.servers
    )
    return with_call(replace(form, servers=servers), number, with_tool(form.calls[number], server, tool, tools.find))


def with_call_added(form: CaseForm) -> CaseForm:
    """Return the form with one more empty call."""
    return replace(form, calls=(*form.calls, CallForm()))


def without_call(form: CaseForm, number: int) -> CaseForm:
    """Return the form without a call; at least one stays."""
    calls = (*form.calls[:number], *form.calls[number + 1 :])
    return replace(form, calls=calls or (CallForm(),))


def refitted_form(form: CaseForm, find: FindTool) -> CaseForm:
    """Return the form adapted to the tools known now."""
    return replace(form, calls=tuple(refitted(call, find) for call in form.calls))
