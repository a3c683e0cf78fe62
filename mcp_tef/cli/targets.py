"""`run --all`: the targets of a project file, one after another, only those that changed, under one cost cap."""

from __future__ import annotations

import io
import json
import subprocess
import tomllib
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef import InputError, Json, TefError, share_text
from mcp_tef.cli.arguments import DONE, FAILED
from mcp_tef.cli.project_file import OWN_FILE, SOURCES, TARGETS, ProjectFile, find_project_file, options_from_file
from mcp_tef.cli.terminal import Terminal, one_line, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Run = Callable[[Namespace, Terminal], Awaitable[int]]

OWN_KEYS = ("name", "owner", "paths")
HEADS = ("TARGET", "OWNER", "STATE", "CORRECT CALL", "COST", "REASON")
EVERY = "every target is run"
STATES = {DONE: "passed", FAILED: "failed"}
_GIT = ("git", "-c", "core.fsmonitor=false")


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


async def run_all(arguments: Namespace, terminal: Terminal, run: Run) -> int:
    """Run every target that changed; the worst exit code of all. A target that cannot be run does not stop others."""
    if arguments.typed & {*SOURCES, "cases", "workspace"}:
        raise InputError(
            "--all takes sources and cases from the project file.", hint="Leave them out.", code="bad_usage"
        )
    if (project := find_project_file(Path.cwd())) is None:
        raise InputError(f"There is no {OWN_FILE} here or above.", hint=f"Write one with [[{TARGETS}]].")
    rows = await _rows(*project, arguments, terminal, run)
    codes = [row.pop("code") for row in rows]
    terminal.document({"targets": rows})
    terminal.say(*table(HEADS, map(_cells, rows)))
    return FAILED if FAILED in codes else max(codes)


async def _rows(
    file: Path, content: Mapping[str, Any], arguments: Namespace, terminal: Terminal, run: Run
) -> list[dict[str, Any]]:
    earlier = _content_at(arguments.changed_from, file) if arguments.changed_from else None
    rows, left = list[dict[str, Any]](), arguments.max_cost
    for target in read_targets(file, content):
        reason = EVERY if earlier is None else _change(target, earlier, file, arguments.changed_from)
        if not reason:
            rows.append(_row(target, "unchanged", DONE))
            continue
        row = await _run_one(target, file, Namespace(**{**vars(arguments), "max_cost": left}), terminal, run)
        left = _left(left, row["cost_usd"])
        rows.append(row if reason is EVERY else row | {"reason": f"{reason}. {row['reason']}".removesuffix(". ")})
        terminal.note(f"{target.name}: {row['state']}")
    return rows


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


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run([*_GIT, *words], cwd=folder, capture_output=True, text=True, timeout=60, check=True)
    except (OSError, subprocess.SubprocessError) as error:
        raise InputError("Git cannot tell what has changed.", hint="Name a commit of this repository.") from error
    return done.stdout


def _content_at(ref: str, file: Path) -> Mapping[str, Any]:
    """Return the project file of a commit; empty where it was not there."""
    if ref.startswith("-"):
        raise InputError(f"{ref} is no commit.", hint="Name a branch, tag or commit.", code="bad_usage")
    commit = _git(file.parent, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").strip()
    if not _git(file.parent, "ls-tree", commit, "--", file.name).strip():
        return {}
    try:
        found: dict[str, Any] = tomllib.loads(_git(file.parent, "show", f"{commit}:./{file.name}"))
    except tomllib.TOMLDecodeError:
        return {}
    return found if file.name == OWN_FILE else found.get("tool", {}).get("mcp-tef", {})


def _change(target: RunTarget, earlier: Mapping[str, Any], file: Path, ref: str) -> str:
    """Return what has changed of a target since a commit; empty for nothing."""
    before = {one.name: one for one in read_targets(file, earlier)} if earlier else {}
    if before.get(target.name) != target:
        return "settings changed" if target.name in before else "new target"
    options = {key.replace("-", "_"): value for key, value in target.options.items()}
    tools = [*_places(options.get("tools_file")), *target.paths]
    if not tools:
        return "tools may have changed; name its files in paths"
    changed = {"cases": _places(options.get("cases")), "tools": tools}
    return next((f"{what} changed" for what, places in changed.items() if _differs(file.parent, ref, places)), "")


def _places(value: Json) -> list[str]:
    values = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else [value]
    return [str(one).partition("=")[2] or str(one) for one in values if one]


def _differs(folder: Path, ref: str, places: Sequence[str]) -> bool:
    if not places:
        return False
    changed = _git(folder, "diff", "--no-ext-diff", "--name-only", ref, "--", *places)
    return bool(changed.strip() or _git(folder, "ls-files", "--others", "--exclude-standard", "--", *places).strip())
