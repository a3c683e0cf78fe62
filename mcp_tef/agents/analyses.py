"""Tools for agents that ask no model: lint, similar tools, recommendations, and test cases."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from mcp_tef import (
    CaseDraft,
    Expectation,
    ExpectedCall,
    InputError,
    ReachError,
    SourceKind,
    ToolSource,
)
from mcp_tef.agents.untrusted import name_or_quoted, quoted, quoted_lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp_tef import Engine, JsonObject, Recommendation, Similarity, TestCase, ToolQuality, ToolSet

    Answer = Mapping[str, Any]

MOST_PAIRS = 500
MOST_FINDINGS = 12


async def gathered(engine: Engine, arguments: JsonObject, at_least: int) -> ToolSet:
    """Return the tools of a registered server, as last seen, or those that the call brings; of all servers by default.

    A server that was never read is read now, if the user allowed that before.
    """
    if arguments.get("tools") and arguments.get("server"):
        raise InputError("Name a server or give tools, not both.", hint="Leave one of them out.")
    if arguments.get("tools"):
        source = ToolSource(kind=SourceKind.TOOLS, definitions=tuple(arguments["tools"]))
    else:
        source = ToolSource(names=(arguments["server"],) if arguments.get("server") else ())
    found = await engine.tools.gather(source, at_least=at_least, broken_too=at_least == 1)
    if not found.tools and found.unreachable:
        first = found.unreachable[0]
        hint = f"In a terminal: mcp-tef servers check {shlex.quote(first.server)}"
        raise ReachError(f"{first.server}: {first.reason}", hint=hint)
    return found


async def lint_tools(engine: Engine, arguments: JsonObject) -> tuple[Answer, Sequence[Answer]]:
    """Return each tool with its findings, the worst first."""
    report = await engine.quality.review(await gathered(engine, arguments, at_least=1))
    flawed = [tool for tool in report.tools if tool.findings]
    worst = f" The worst has {report.tools[0].score} of 100 points." if report.tools else ""
    summary = f"{len(flawed)} of {len(report.tools)} tools have findings.{worst}"
    step = "Correct the findings and lint again." if flawed else "Compare the tools with find_lookalikes."
    return {"summary": summary, "next_step": step}, [_linted(tool) for tool in report.tools]


def _linted(quality: ToolQuality) -> Answer:
    findings = [
        {
            "rule": one.rule.id,
            "severity": one.rule.severity.value,
            "why": one.rule.title,
            "detail": quoted(f"{one.place}: {one.sentence} {one.fix}", 240),
        }
        for one in quality.findings[:MOST_FINDINGS]
    ]
    more = {"more_findings": left} if (left := len(quality.findings) - MOST_FINDINGS) > 0 else {}
    identity = {"tool": name_or_quoted(quality.tool.id), "score": quality.score, "tokens": quality.tokens}
    return {**identity, "findings": findings, **more}


async def _compared(engine: Engine, arguments: JsonObject) -> tuple[Similarity, list[tuple[int, int]]]:
    tools = await gathered(engine, arguments, at_least=2)
    found = await engine.similarity.analyse(tools, full=True)
    flagged = sorted(found.flagged(engine.config.flag_rule, MOST_PAIRS), key=lambda pair: -pair.confusability)
    return found, [(pair.a, pair.b) for pair in flagged]


async def find_lookalikes(engine: Engine, arguments: JsonObject) -> tuple[Answer, Sequence[Answer]]:
    """Return the flagged pairs, the most confusable first."""
    found, places = await _compared(engine, arguments)
    pairs = [found.pair(a, b) for a, b in places]
    rows = [
        {
            "a": name_or_quoted(found.tools[pair.a].id),
            "b": name_or_quoted(found.tools[pair.b].id),
            "similarity": round(pair.similarity, 3),
            "confusability": round(pair.confusability, 3),
            "level": pair.level.value,
        }
        for pair in pairs
    ]
    step = "Call recommend for new descriptions." if rows else "Add test cases with add_case, then call run_cases."
    return {"summary": f"{len(rows)} pairs of {len(found.tools)} tools may be confused.", "next_step": step}, rows


async def recommend(engine: Engine, arguments: JsonObject) -> tuple[Answer, Sequence[Answer]]:
    """Return new descriptions for the tools of flagged pairs, one for each tool."""
    found, places = await _compared(engine, arguments)
    advice = await engine.recommend.pairs(found, places) if places else ()
    single = {one.tool_id: one for pair in advice for one in reversed(pair.recommendations)}
    rows = [_recommended(one) for one in single.values()]
    step = "Pass a patch to try_change." if rows else "No change is needed; add test cases and call run_cases."
    return {"summary": f"{len(rows)} tools get a new description.", "next_step": step}, rows


def _recommended(one: Recommendation) -> Answer:
    return {
        "tool": name_or_quoted(one.tool_id),
        "server": name_or_quoted(one.server),
        "priority": one.priority.value,
        "reason": quoted(one.rationale, 240),
        "patch": [
            {name: quoted_lines(value) if name == "value" else value for name, value in operation.items()}
            for operation in one.patch
        ],
    }


async def list_cases(engine: Engine, arguments: JsonObject) -> tuple[Answer, Sequence[Answer]]:
    """Return the cases of a suite, or all; a case that is held back shows its name only."""
    cases = await engine.cases.in_groups([arguments["suite"]] if arguments.get("suite") else [], [])
    step = "Run them with run_cases." if cases else "Add the first one with add_case."
    return {"summary": f"There are {len(cases)} test cases.", "next_step": step}, [case_row(case) for case in cases]


def case_row(case: TestCase) -> Answer:
    """Return a case in short."""
    row = {"case": str(case.id), "name": name_or_quoted(case.name), "suites": [*map(name_or_quoted, case.draft.suites)]}
    if case.draft.held_back:
        return row | {"held_back": True}
    return row | {"query": quoted(case.draft.query, 240), "expected": quoted(case.draft.expectation.label, 240)}


async def add_case(engine: Engine, arguments: JsonObject) -> Answer:
    """Store a case; the server has to be registered."""
    server = (await engine.servers.find(arguments["server"])).name
    if arguments.get("arguments") and not arguments.get("tool"):
        raise InputError("Arguments belong to a tool.", hint="Name the expected tool, or leave the arguments out.")
    expectation = Expectation()
    if tool := arguments.get("tool"):
        call = ExpectedCall(tool=tool, server=server, parameters=arguments.get("arguments"))
        expectation = Expectation(((call,),))
    draft = CaseDraft(
        name=arguments.get("name") or arguments["query"][:100],
        query=arguments["query"],
        expectation=expectation,
        servers=(server,),
        suites=(arguments["suite"],) if arguments.get("suite") else (),
    )
    warnings = await engine.cases.warnings(draft)
    (case,) = await engine.cases.add([draft])
    step = "Check the warnings, then call run_cases." if warnings else "Call run_cases with this case."
    told = [quoted(warning) for warning in warnings[:5]]
    return {"summary": "The case was added.", "case": case_row(case), "warnings": told, "next_step": step}
