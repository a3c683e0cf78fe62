"""`verify`: recomputes a verdict file offline, asks its model again and makes a badge."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    LARGEST_FILE_BYTES,
    InputError,
    SourceKind,
    ToolSource,
    loads_bounded,
    open_regular_file,
    outdated_badge,
    outdated_parts,
    repeated_evidence,
    temporary_workspace,
    verified_evidence,
    write_text,
)
from mcp_tef.cli.arguments import DONE, FAILED, Verbs, add_verb
from mcp_tef.cli.output_files import writable
from mcp_tef.cli.terminal import Terminal, unreachable

if TYPE_CHECKING:
    from mcp_tef import Engine, EvidenceCheck, Json, JsonObject, RepeatedEvidence

CONSISTENT = " Consistent, not proven: --ask asks the model again."
SHAPE = """With --json: {"holds", "checks": [{"what", "problem"}], "outdated": ["tools"|"cases"], "repeated": {"same",
"sentences"} or null}.

Without --ask, a file that holds is consistent, not proven: who invents answers can compute their numbers.

Exit codes: 0 everything holds; 1 a number or hash differs, tools or cases have changed, or what is asked
again decides otherwise."""


def register(verbs: Verbs) -> None:
    """Add the verb."""
    parser = add_verb(
        verbs, "verify", "recompute every number of a verdict file from its answers, offline", verify, more=SHAPE
    )
    parser.add_argument("file", type=Path, metavar="F", help="a file that --verdict wrote; - is standard input")
    parser.add_argument("--tools-file", type=Path, metavar="F", help="fail if these tools are not the tested ones")
    parser.add_argument("--cases", type=Path, metavar="F", help="fail if these cases are not the tested ones")
    parser.add_argument("--badge", type=writable, metavar="F", help="write a badge for shields.io to F; needs --ask")
    parser.add_argument("--ask", action="store_true", help="ask the trial or the cases again, and compare")
    parser.add_argument("--base-url", metavar="U", help="the address of a local or compatible server, for --ask")
    parser.add_argument("--max-cost", type=float, metavar="USD", help="start nothing that could cost more in all")


async def verify(arguments: Namespace, terminal: Terminal) -> int:
    """Recompute, compare with today's files, and ask again if wanted."""
    _require_asking(arguments)
    document = _read(arguments.file)
    checks = verified_evidence(document)
    problems = [one for one in checks if one.problem]
    outdated = await _outdated(document, arguments)
    terminal.say(*_lines(checks, outdated, asks=arguments.ask))
    again = await _repeated(document, arguments, terminal) if arguments.ask and not problems else None
    holds = not (problems or outdated or (again and not again.same))
    badge = again.badge if again and holds else outdated_badge(outdated + ["numbers"] * bool(problems))
    _write_badge(arguments.badge, badge)
    told: list[Json] = list(map(asdict, checks))
    repeated: Json = {"same": again.same, "sentences": [*again.sentences]} if again else None
    terminal.document({"holds": holds, "checks": told, "outdated": [*outdated], "repeated": repeated})
    return DONE if holds else FAILED


def _require_asking(arguments: Namespace) -> None:
    if arguments.badge and not arguments.ask:
        said = "A badge comes only from answers that were asked for again."
        raise InputError(said, hint="Add --ask.", code="bad_usage")


def _write_badge(file: Path | None, badge: Mapping[str, Json]) -> None:
    if file:
        write_text(file, json.dumps(dict(badge), indent=1) + "\n")


def _lines(checks: Sequence[EvidenceCheck], outdated: Sequence[str], *, asks: bool) -> Iterator[str]:
    problems = [one for one in checks if one.problem]
    yield from (f"✗ {one.what}: {one.problem}" for one in problems)
    yield from (f"✗ The {part} have changed since." for part in outdated)
    yield f"{len(checks) - len(problems)} of {len(checks)} checks agree." + CONSISTENT * (not problems and not asks)


async def _repeated(document: dict[str, Any], arguments: Namespace, terminal: Terminal) -> RepeatedEvidence:
    found = await repeated_evidence(document, base_url=arguments.base_url, max_cost_usd=arguments.max_cost)
    terminal.say(*found.sentences)
    return found


def _read(path: Path) -> dict[str, Any]:
    try:
        with open_regular_file(path) as file:
            content = file.read(LARGEST_FILE_BYTES + 1)
    except OSError as error:
        raise unreachable(error) from error
    if len(content) > LARGEST_FILE_BYTES:
        raise InputError(f"{path} is larger than 50 MB.", hint="Name a verdict file.")
    try:
        document = loads_bounded(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a JSON document.", hint="Name a file that --verdict wrote.") from error
    if not isinstance(document, dict):
        raise InputError(f"{path} is not a verdict file.", hint="Name a file that --verdict wrote.")
    return document


async def _outdated(document: dict[str, Any], arguments: Namespace) -> list[str]:
    if not (arguments.tools_file or arguments.cases):
        return []
    async with temporary_workspace([], arguments.cases or ()) as engine:
        tools = await _definitions(engine, arguments.tools_file) if arguments.tools_file else []
        return outdated_parts(document, tools, [case.draft for case in await engine.cases.list()])


async def _definitions(engine: Engine, file: Path) -> list[JsonObject]:
    source = ToolSource(kind=SourceKind.FILES, names=(str(file),))
    return [one.tool.raw for one in (await engine.tools.gather(source, at_least=1)).tools]
