"""Results of runs and findings in tools as SARIF 2.1.0, which code hosts show beside the lines of a file."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from mcp_tef.formats.cases.texts import read_text
from mcp_tef.model.installation import VERSION
from mcp_tef.model.json import Json, fingerprint
from mcp_tef.model.quality import LintFinding, LintRule, QualityReport, ToolQuality
from mcp_tef.model.runs import UNREADABLE, RunSummary
from mcp_tef.model.verdicts import RunMark
from mcp_tef.reports.results import Results, reason
from mcp_tef.trust.outputs import document_text

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_NOT_RUN: Final = "not_run"


def results_sarif(results: Results) -> str:
    """Return one result for each run that did not pass, at its case in the file of cases where that is known."""
    wrong = [run for run in results.runs if not run.passes]
    files = _Lines([results.case_file] if results.case_file else [])
    rules = {(kind := _kind(run)): {"id": kind, "shortDescription": {"text": kind.replace("_", " ")}} for run in wrong}
    found = [_run_result(run, files, "warning" if results.checks else "error") for run in wrong]
    return _log(rules.values(), found, {"models": [results.conditions(model) for model in results.models]})


def quality_sarif(report: QualityReport, files: Sequence[Path] = ()) -> str:
    """Return one result for each finding, at its tool in one of the tools files where it is found there."""
    lines = _Lines(files)
    rules = {finding.rule.id: _rule(finding.rule) for tool in report.tools for finding in _all(tool)}
    return _log(rules.values(), [one for tool in report.tools for one in _tool_results(tool, lines)], {})


def _log(rules: Iterable[Json], results: Sequence[Json], properties: Json) -> str:
    driver = {"name": "mcp-tef", "version": VERSION, "rules": list(rules)}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results, "properties": properties}
    return document_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _kind(run: RunSummary) -> str:
    if run.mark is None or run.kind is None:
        return run.failure_code or _NOT_RUN
    if run.mark is RunMark.WRONG_ARGUMENTS:
        return RunMark.WRONG_ARGUMENTS.value
    return UNREADABLE if run.unreadable else run.kind.value


def _run_result(run: RunSummary, files: "_Lines", level: str) -> dict[str, Any]:
    text = f"{run.case_name} on {run.model}: {reason(run) or f'The run is {run.status.value}.'}"
    findings = [
        {"parameter": one.parameter, "reason": one.reason.value, "expected": one.expected, "actual": one.actual}
        for one in run.findings
    ]
    return {
        "ruleId": _kind(run),
        "level": level,
        "message": {"text": text},
        "locations": [files.location(run.case_name, "case", (run.query, run.case_name))],
        "partialFingerprints": {"mcpTefCase/v1": fingerprint([run.case_name, run.query, run.model])},
        "properties": {"query": run.query, "model": run.model, "run": run.id, "findings": findings},
    }


def _rule(rule: LintRule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.title},
        "fullDescription": {"text": rule.why},
        "defaultConfiguration": {"level": rule.severity.value},
    }


def _tool_results(tool: ToolQuality, files: "_Lines") -> Iterator[dict[str, Any]]:
    name = tool.tool.tool.name
    where = files.location(tool.tool.id, "function", (f'"name": {json.dumps(name)}', f'"name":{json.dumps(name)}'))
    for one, entry in [*((one, None) for one in tool.findings), *tool.ignored]:
        yield {
            "ruleId": one.rule.id,
            "level": one.rule.severity.value,
            "message": {"text": f"{tool.tool.id}, {one.place}: {one.sentence} {one.fix}".strip()},
            "locations": [where],
            "partialFingerprints": {"mcpTefTool/v1": fingerprint([tool.tool.id, one.rule.id, one.place])},
            "properties": _excerpt(one),
            "suppressions": [{"kind": "external", "justification": entry.reason}] if entry else [],
        }


def _all(tool: ToolQuality) -> Iterator[LintFinding]:
    yield from tool.findings
    yield from (finding for finding, _ in tool.ignored)


def _excerpt(finding: LintFinding) -> dict[str, Any]:
    return {"excerpt": finding.excerpt, "penalty": finding.penalty}


class _Lines:
    """Lines of files at which a name or a query first occurs."""

    def __init__(self, files: Iterable[Path]) -> None:
        self._texts = {file: read_text(file) for file in files}

    def location(self, name: str, kind: str, wanted: Iterable[str]) -> dict[str, Any]:
        """Return the place of the first text that a file holds, beside the name of what is there."""
        found: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": name, "kind": kind}]}
        for text in wanted:
            for file, content in self._texts.items():
                if (at := self._position(content, text)) >= 0:
                    region = {"startLine": content.count("\n", 0, at) + 1}
                    where = {"artifactLocation": {"uri": _uri(file)}, "region": region}
                    return found | {"physicalLocation": where}
        return found

    def _position(self, content: str, text: str) -> int:
        """Return where the text stands, plainly or as JSON would write it; -1 where it does not."""
        line = text.strip().partition("\n")[0]
        forms = (line, json.dumps(line, ensure_ascii=False)[1:-1], json.dumps(line)[1:-1]) if line else ()
        return next((at for form in forms if (at := content.find(form)) >= 0), -1)


def _uri(file: Path) -> str:
    """Return the path as a URI, relative to the current folder where the file is below it."""
    whole, here = file.resolve(), Path.cwd()
    return quote(whole.relative_to(here).as_posix()) if whole.is_relative_to(here) else whole.as_uri()
