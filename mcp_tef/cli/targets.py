"""`run --all`: the targets of a project file, one after another, only those that changed, under one cost cap."""

from __future__ import annotations

import asyncio
import io
import json
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mcp_tef import GitObjects, InputError, Json, TefError, git_objects, path_inside, share_text
from mcp_tef.cli.arguments import DONE, FAILED
from mcp_tef.cli.project_consent import ask_together, open_requests
from mcp_tef.cli.project_file import (
    OWN_FILE,
    SOURCES,
    TARGETS,
    ProjectFile,
    find_project_file,
    options_from_file,
    options_of,
    parsed_toml,
)
from mcp_tef.cli.session import opened
from mcp_tef.cli.stateless import source_specs
from mcp_tef.cli.terminal import Terminal, one_line, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from mcp_tef import ConsentRequest, ModelSettings

    Run = Callable[[Namespace, Terminal], Awaitable[int]]
    Models = Callable[[Namespace], Sequence[ModelSettings]]

OWN_KEYS = ("name", "owner", "paths")
HEADS = ("TARGET", "OWNER", "STATE", "CORRECT CALL", "COST", "REASON")
EVERY = "every target is run"
STATES = {DONE: "passed", FAILED: "failed"}


@dataclass(frozen=True, slots=True)
class RunTarget:
    """One server with its cases and thresholds; `options` are those of `run`, with what all targets share."""

    name: str
    owner: str
    paths: tuple[str, ...]
    options: Mapping[str, Any]


def read_targets(file: Path, content: Mapping[str, Any]) -> list[RunTarget]:
    """Return the targets of a project file; InputError where there is none, or one is malformed."""
    shared = {key: value for key, value in content.items() if key != TARGETS}
    found = content.get(TARGETS)
    if not isinstance(found, list) or not found:
        raise InputError(f"{file.name} has no [[{TARGETS}]].", hint="Write one with a name, a source and cases.")
    targets = [_target(file, one, shared) for one in found]
    if len({one.name for one in targets}) < len(targets):
        raise InputError(f"Two targets of {file.name} have one name.", hint="Rename one of them.")
    return targets


def _target(file: Path, value: object, shared: Mapping[str, Any]) -> RunTarget:
    match value:
        case {"name": str() as name, **own} if name:
            owner, paths = str(own.get("owner", "")), own.get("paths", [])
        case _:
            raise InputError(f"A target of {file.name} is malformed.", hint="It needs a name, which is text.")
    if not isinstance(paths, list):
        raise InputError(f"The paths of the target {name} are no list.", hint='Write paths = ["src"].')
    options: dict[str, Any] = {**shared, **{str(key): one for key, one in own.items() if key not in OWN_KEYS}}
    return RunTarget(name, owner, tuple(map(str, paths)), options)


async def run_all(arguments: Namespace, terminal: Terminal, run: Run, models: Models) -> int:
    """Run every target that changed; the worst exit code of all. A target that cannot be run does not stop others."""
    if arguments.typed & {*SOURCES, "cases", "workspace"}:
        raise InputError(
            "--all takes sources and cases from the project file.", hint="Leave them out.", code="bad_usage"
        )
    if (project := find_project_file(Path.cwd())) is None:
        raise InputError(f"There is no {OWN_FILE} here or above.", hint=f"Write one with [[{TARGETS}]].")
    rows = await _rows(*project, arguments, terminal, run, models)
    codes = [row.pop("code") for row in rows]
    terminal.document({"targets": rows})
    terminal.say(*table(HEADS, map(_cells, rows)))
    return FAILED if FAILED in codes else max(codes)


async def _rows(
    file: Path, content: Mapping[str, Any], arguments: Namespace, terminal: Terminal, run: Run, models: Models
) -> list[dict[str, Any]]:
    rows, left = list[dict[str, Any]](), arguments.max_cost
    targets = read_targets(file, content)
    reasons = await asyncio.to_thread(_reasons, targets, file, arguments.changed_from)
    await _agree([one for one in targets if reasons[one.name]], file, arguments, terminal, models)
    for target in targets:
        if not (reason := reasons[target.name]):
            rows.append(_row(target, "unchanged", DONE))
            continue
        row = await _run_one(target, file, Namespace(**{**vars(arguments), "max_cost": left}), terminal, run)
        left = _left(left, row["cost_usd"])
        rows.append(row if reason is EVERY else row | {"reason": f"{reason}. {row['reason']}".removesuffix(". ")})
        terminal.note(f"{target.name}: {row['state']}")
    return rows


async def _agree(
    targets: Sequence[RunTarget], file: Path, arguments: Namespace, terminal: Terminal, models: Models
) -> None:
    """Ask once about what all targets start and contact; one that cannot be read is told of in its own row."""
    if not terminal.asks:
        return
    with TemporaryDirectory(prefix="mcp-tef-", ignore_cleanup_errors=True) as folder:
        asking = Namespace(**{**vars(arguments), "workspace": Path(folder, "run.db")})
        async with opened(asking, terminal) as engine:
            engine.consents.name_source("the targets of this project file")
            engine.consents.allow_named(arguments.allow_program, arguments.allow_origin)
            wanted: dict[str, ConsentRequest] = {}
            for target in targets:
                with suppress(TefError):
                    own = _arguments(target, file, arguments)
                    specs = source_specs(own, Path(folder), terminal)
                    questions = await open_requests(engine, specs, models(own), {}, own, terminal)
                    wanted |= {one.fingerprint: one for one in questions}
            if wanted:
                await ask_together(engine, [*wanted.values()], "", arguments, terminal)


def _left(cap: float | None, spent: float | None) -> float | None:
    """Return what is left of a cap, a trace of it where it is used up, so that paid runs are refused."""
    return None if cap is None else max(cap - (spent or 0.0), 1e-9)


def _row(target: RunTarget, state: str, code: int, reason: str = "") -> dict[str, Any]:
    unknown = {"runs": 0, "correct_call": None, "cost_usd": None}
    return {"target": target.name, "owner": target.owner, "state": state, "reason": reason, "code": code, **unknown}


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    rate, cost = row["correct_call"] or {}, row["cost_usd"]
    share = share_text(rate.get("value"), rate.get("low"), rate.get("high"))
    price = "–" if cost is None else f"${cost:.4f}"
    return row["target"], row["owner"] or "–", row["state"], share, price, one_line(row["reason"], 100)


async def _run_one(target: RunTarget, file: Path, arguments: Namespace, terminal: Terminal, run: Run) -> dict[str, Any]:
    own = replace(terminal, json=True, documents=[], output=io.StringIO())
    try:
        code = await run(_arguments(target, file, arguments), own)
    except TefError as error:
        return _row(target, "not run", error.exit_code, f"{error.message} {error.hint}".strip())
    document: dict[str, Any] = json.loads(own.documents[0]) if own.documents else {}
    runs: Sequence[Mapping[str, Any]] = document.get("runs", ())
    costs = [one["cost_usd"] for one in runs if one["cost_usd"] is not None]
    return _row(target, STATES.get(code, "not reached"), code) | {
        "runs": len(runs),
        "correct_call": document.get("metrics", {}).get("correct_call"),
        "cost_usd": sum(costs) if costs else None,
    }


def _arguments(target: RunTarget, file: Path, arguments: Namespace) -> Namespace:
    """Return the arguments of one target: typed options win, then those of the target, then shared ones."""
    parser = arguments.own_parser
    typed = {name: getattr(arguments, name) for name in arguments.typed if hasattr(arguments, name)}
    typed |= {"max_cost": arguments.max_cost} if arguments.max_cost is not None else {}
    given = options_from_file(file, target.options, parser._actions, typed, parser.parsed)  # noqa: SLF001 (argparse gives it no public name)
    blank: dict[str, Any] = {name: [] for name in SOURCES} | {
        "cases": None,
        "workspace": None,
        "all": False,
        "name": target.name,
    }
    return Namespace(**{**vars(arguments), **blank, **given, "project": ProjectFile(file, frozenset(given))})


def _content_at(commit: str, file: Path, objects: GitObjects) -> Mapping[str, Any]:
    """Return the project file of a commit; empty where it was not there."""
    content = objects.content(commit, _path_of(file, objects))
    try:
        return options_of(file, parsed_toml(content)) or {} if content is not None else {}
    except ValueError:
        return {}


def _inside(folder: Path, text: str) -> Path:
    return folder if text.rstrip("/") == "." else folder / path_inside(folder, text, "paths")


def _path_of(place: Path, objects: GitObjects) -> str:
    return place.relative_to(objects.work_tree).as_posix()


def _change(target: RunTarget, earlier: Sequence[RunTarget], file: Path, commit: str, objects: GitObjects) -> str:
    """Return what has changed of a target since a commit; empty for nothing."""
    before = {one.name: one for one in earlier}
    if before.get(target.name) != target:
        return "settings changed" if target.name in before else "new target"
    options = {key.replace("-", "_"): value for key, value in target.options.items()}
    tools = [*_places(options.get("tools_file")), *target.paths]
    if not tools:
        return "tools may have changed; name its files in paths"
    inputs = {"cases": [*_places(options.get("cases")), *_places(options.get("baseline"))], "tools": tools}
    return next((f"{what} changed" for what, places in inputs.items() if _differs(file, commit, places, objects)), "")


def _differs(file: Path, commit: str, places: Sequence[str], objects: GitObjects) -> bool:
    paths = [_path_of(_inside(file.parent, one), objects) for one in places]
    return bool(paths) and objects.differs(commit, paths)


def _reasons(targets: Sequence[RunTarget], file: Path, ref: str | None) -> dict[str, str]:
    """Return why each target is run; an empty text for one in which nothing has changed since a commit."""
    if not ref:
        return {target.name: EVERY for target in targets}
    with git_objects(file.parent) as objects:
        commit = objects.commit(ref)
        content = _content_at(commit, file, objects)
        earlier = read_targets(file, content) if content.get(TARGETS) else []
        return {target.name: _change(target, earlier, file, commit, objects) for target in targets}


def _places(value: Json) -> list[str]:
    values = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    return [str(one).partition("=")[2] or str(one) for one in values if one]
