"""Plans of starts and calls: one immutable value from which the question, its fingerprint and the execution come."""

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from mcp_tef.model.json import Json, canonical, fingerprint
from mcp_tef.model.library import DEFAULT_MEMORY_MB, ExecutorKind, ToolDesign
from mcp_tef.model.servers import Reference, ReferenceKind, ServerSpec, references
from mcp_tef.model.web_search import SearchTool
from mcp_tef.trust.consents import (
    COMMAND,
    SCRIPT,
    SETS,
    ConsentKind,
    ConsentRequest,
    Fact,
    command_text,
    resolved_path,
    shortened,
    used_names,
)
from mcp_tef.trust.files import open_regular_file
from mcp_tef.trust.programs import find_program

EMPTY_FOLDER: Final = "an empty folder of its own, deleted afterwards"
_CHUNK: Final = 1024 * 1024


class ChangedProgramError(OSError):
    """A program's file is no longer the one that was agreed to."""

    def __init__(self, path: str) -> None:
        super().__init__(errno.ESTALE, "its file changed after it was allowed", path)


@dataclass(frozen=True, slots=True, kw_only=True)
class StartPlan:
    """Start of a program: all that decides what runs, without the values of the user's variables.

    Attributes:
        program: its absolute path; as it is written where there is no such program.
        arguments: as they are written, with `${…}` and `{…}` in them.
        folder: absolute path to start in; empty for an empty folder of its own.
        variables: names, each with its value as it is written.
        env_file: file that more variables are read from, where its path leads to now.
        project: folder that `${workspaceFolder}` stands for.
        answers: what a config answers to its own questions, by their ids.
        digest: SHA-256 of the program's file, where a relative path names it; else empty.
        script: text that is stored in a workspace and run by the program.
        limits: time and memory, for people.
    """

    program: str
    arguments: tuple[str, ...] = ()
    folder: str = ""
    variables: tuple[tuple[str, str], ...] = ()
    env_file: str = ""
    project: str = ""
    answers: tuple[tuple[str, str], ...] = ()
    digest: str = ""
    script: str = ""
    limits: tuple[str, ...] = ()

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Everything that decides what runs, for the question and for the fingerprint."""
        found: tuple[Fact, ...] = (
            (SCRIPT, _texts_of(self.script)),
            (COMMAND, (self.program, *self.arguments)),
            ("SHA-256", _texts_of(self.digest)),
            ("Folder", (self.folder or EMPTY_FOLDER,)),
            (SETS, tuple(f"{name}={text}" for name, text in self.variables)),
            ("Sets from file", _texts_of(self.env_file)),
            ("Project", _texts_of(self.project)),
            ("Fills in", tuple(f"${{input:{name}}}={text}" for name, text in self.answers)),
            ("Limits", self.limits),
        )
        return tuple(fact for fact in found if fact[1])

    @property
    def fingerprint(self) -> str:
        """Identity of the start; any change of a fact is another one."""
        return fact_fingerprint(self.facts)


def _texts_of(text: str) -> tuple[str, ...]:
    return (text,) if text else ()


def fact_fingerprint(facts: tuple[Fact, ...], unseen: Json = None) -> str:
    """Return the identity of some facts; `unseen` is a value of the user's that belongs to it and is not shown."""
    said: list[Json] = [[label, *texts] for label, texts in facts]
    return fingerprint([said, unseen] if unseen else said)


def server_plan(spec: ServerSpec, environment: Mapping[str, str]) -> StartPlan:
    """Return the start of a stdio server: the program as it is found now, in the folder that it starts in."""
    folder = _folder(spec, environment)
    path = {name: _filled(text, spec, environment) for name, text in spec.env.items() if name.upper() == "PATH"}
    command = os.path.expanduser(_filled(spec.command or "", spec, environment))
    program, digest = _found(command, folder, {**environment, **path})
    return StartPlan(
        program=program,
        arguments=spec.args,
        folder=folder,
        variables=tuple(sorted(spec.env.items())),
        env_file=_env_file(spec, folder, environment),
        project=spec.project or "",
        answers=tuple(input_answers(spec).items()),
        digest=digest,
    )


def input_answers(spec: ServerSpec) -> dict[str, str]:
    """Return the answers that a config gives to its own questions, where nothing in the environment does."""
    found = ((str(one.get("id")), one.get("default")) for one in spec.inputs)
    return {name: default for name, default in found if isinstance(default, str)}


def _folder(spec: ServerSpec, environment: Mapping[str, str]) -> str:
    """Return the folder to start in: never the current one, where a stranger's files may stand in for the program's."""
    places = (spec.project or "", os.path.expanduser("~"))
    base = next((place for place in places if os.path.isdir(place)), os.sep)
    return str(Path(base, os.path.expanduser(_filled(spec.cwd or "", spec, environment))))


def _env_file(spec: ServerSpec, folder: str, environment: Mapping[str, str]) -> str:
    """Return where the path of a file of variables leads to now: a link beside a program may name any file."""
    written = os.path.expanduser(_filled(spec.env_file or "", spec, environment))
    return resolved_path(os.path.join(spec.project or folder, written)) if written else ""


def _filled(text: str, spec: ServerSpec, environment: Mapping[str, str]) -> str:
    """Fill in variables and folders; references to secrets and to what is not set stay as they are written."""
    parts, end = list[str](), 0
    for reference in references(text):
        value = _value(reference, spec, environment)
        parts += [text[end : reference.start], text[reference.start : reference.end] if value is None else value]
        end = reference.end
    return "".join([*parts, text[end:]])


def _value(reference: Reference, spec: ServerSpec, environment: Mapping[str, str]) -> str | None:
    match reference.kind:
        case ReferenceKind.VARIABLE:
            return environment.get(reference.name, "").strip() or reference.default
        case ReferenceKind.INPUT:
            return environment.get(reference.variable, "").strip() or input_answers(spec).get(reference.name)
        case ReferenceKind.PLACE:
            return _place(reference.name, spec)
    return None


def _place(name: str, spec: ServerSpec) -> str | None:
    if name in ("pathSeparator", "/"):
        return os.sep
    if name == "userHome":
        return os.path.expanduser("~")
    project = spec.project or None
    return Path(project).name if project and name == "workspaceFolderBasename" else project


def _found(command: str, folder: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """Return the absolute path of a program, and the hash of its file where a relative path names it."""
    if not os.path.dirname(command):
        return (find_program(command, environment, sys.platform) or command if command else ""), ""
    path = os.path.abspath(os.path.join(folder, command))
    return path, "" if os.path.isabs(command) else _digest_of(path)


def _digest_of(path: str) -> str:
    with suppress(OSError, ValueError), open_regular_file(Path(path)) as file:
        return _digest(file)
    return ""


def _digest(file: BinaryIO) -> str:
    found = hashlib.sha256()
    while chunk := file.read(_CHUNK):
        found.update(chunk)
    return found.hexdigest()


@contextmanager
def held_program(plan: StartPlan) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the path to execute and the descriptors that the child needs, so that the hashed bytes are what runs.

    The file is held open from the hash to the start. One that other users can write is copied into memory, since they
    could change it in between. OSError where it cannot be read, ChangedProgramError where it is not the agreed one.
    """
    if not plan.digest or not Path("/proc/self/fd").is_dir():
        if plan.digest and _digest_of(plan.program) != plan.digest:
            raise ChangedProgramError(plan.program)
        yield plan.program, ()
        return
    with open_regular_file(Path(plan.program)) as file, _unshared(file) as held:
        if _digest(held) != plan.digest:
            raise ChangedProgramError(plan.program)
        yield f"/proc/self/fd/{held.fileno()}", (held.fileno(),)


@contextmanager
def _unshared(file: BinaryIO) -> Iterator[BinaryIO]:
    """Yield the file, or a copy of it in memory where it belongs to another user or everyone may write it."""
    state = os.fstat(file.fileno())
    if sys.platform != "linux" or (state.st_uid in (os.getuid(), 0) and not state.st_mode & stat.S_IWOTH):
        yield file
        return
    copy = os.memfd_create("program")
    try:
        while chunk := file.read(_CHUNK):
            while chunk:
                chunk = chunk[os.write(copy, chunk) :]
        read_only = open_regular_file(Path(f"/proc/self/fd/{copy}"))  # one that can be written cannot be executed
    finally:
        os.close(copy)
    with read_only:
        yield read_only


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolPlan:
    """One execution of a library tool: by a program, by a request, or by a tool of another server.

    `server` is the registered server that is called, `search` the stored search tool that is asked;
    `origin` the address of a request with its variables filled in.
    """

    design: ToolDesign
    start: StartPlan | None = None
    server: ServerSpec | None = None
    search: SearchTool | None = None
    origin: str = ""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """Everything that decides what is done, for the question and for the fingerprint."""
        config = {name: value for name, value in self.design.config.items() if name not in _OF_START or not self.start}
        method = {"method": request_method(self.design)} if self.design.executor is ExecutorKind.HTTP else {}
        settings = {**_IMPLIED.get(self.design.executor, {}), **config, **method}
        found: list[Fact] = [("Executor", (self.design.executor.value,))]
        found += [(name.replace("_", " ").capitalize(), _texts(value)) for name, value in sorted(settings.items())]
        found += _reached(self.server, self.search)
        return (*(self.start.facts if self.start else ()), *found)

    @property
    def fingerprint(self) -> str:
        """Identity of the action; any change of a fact is another one."""
        return fact_fingerprint(self.facts, self.origin)


_OF_START: Final = frozenset({"argv", "env", "seconds", "memory_mb"})
_IMPLIED: Final[Mapping[ExecutorKind, Mapping[str, Json]]] = {ExecutorKind.MCP: {"arguments": "those of the call"}}


def request_method(design: ToolDesign) -> str:
    """Return the HTTP method of a tool's request."""
    return str(design.config.get("method", "GET" if design.config.get("body") is None else "POST")).upper()


def _reached(server: ServerSpec | None, search: SearchTool | None) -> list[Fact]:
    if search is not None:
        return [("Searches at", (search.base_url or search.provider.value,))]
    return [("Reached by", (server.url,) if server.url else server.argv)] if server else []


def _texts(value: Json) -> tuple[str, ...]:
    if isinstance(value, list | tuple):
        return tuple(one if isinstance(one, str) else canonical(one) for one in value)
    return (value if isinstance(value, str) else canonical(value),)


def tool_start(design: ToolDesign, environment: Mapping[str, str], interpreter: str) -> StartPlan:
    """Return the start of a library tool's program or script; a relative path is one of the current folder."""
    memory = design.config.get("memory_mb", DEFAULT_MEMORY_MB)
    variables = tuple((name, f"${{{name}}}") for name in design.config.get("env", ()))
    limits = (f"{design.seconds:g} seconds", f"{memory} MB")
    if design.executor is ExecutorKind.PYTHON:
        script = design.script or ""
        return StartPlan(program=interpreter, arguments=("-I",), variables=variables, script=script, limits=limits)
    command, *arguments = design.config["argv"]
    program, digest = _found(os.path.expanduser(command), os.getcwd(), environment)
    return StartPlan(program=program, arguments=tuple(arguments), variables=variables, digest=digest, limits=limits)


def tool_request(
    plan: ToolPlan, spec: ServerSpec | None, listed_in: Sequence[str], *, unencrypted: bool
) -> ConsentRequest:
    """Return the question before a library tool is executed; `spec` is its program or address as that of a server."""
    names = used_names(spec) if spec else ()
    settings = (f"{label.lower()} {shortened(text)}" for label, texts in plan.facts for text in texts)
    return ConsentRequest(
        kind=ConsentKind.PROGRAM if plan.start else ConsentKind.TOOL_CALL,
        subject=plan.design.name,
        fingerprint=plan.fingerprint,
        target=command_text(plan.start.facts) if plan.start else ", ".join(settings),
        names=names,
        listed_in=tuple(listed_in),
        spec=spec,
        unencrypted=unencrypted and bool(names),
        facts=plan.facts,
    )
