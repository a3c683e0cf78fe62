"""Results as JUnit XML: a suite for each model, a test case for each run that has ended, and one for each threshold.

A comparison has one suite, with a test case for each compared case. Runs that are left make a test case that fails.

Elements and attributes are those of the schema of Jenkins' xUnit plugin (`junit-10.xsd`).
"""

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT
from mcp_tef.model.comparison import ComparedRuns, PairChange
from mcp_tef.model.metrics import ThresholdCheck
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.reports.comparison import CHANGES, ComparedBatches, batch_name, choice
from mcp_tef.reports.results import Results, legal, reason
from mcp_tef.trust.outputs import markup_text

CHECKS = "mcp-tef checks"
COMPARED = "Compared cases"
FINISHED = "Every run was finished"


def to_junit(results: Results) -> str:
    """One document, which fails where the command does.

    A run that did not pass is a failure, one that failed an error, one that was not run skipped. With thresholds, these
    decide: each is a test case, and a run that did not pass counts as skipped, with its reason.
    """
    runs = [run for run in results.runs if run.status is not RunStatus.RUNNING]
    root = Element("testsuites", {"name": legal(results.title)})
    for model in results.models:
        _add_suite(root, results, model, [run for run in runs if run.model == model])
    unfinished = results.unfinished_sentence
    _add_checks(root, results.checks or ([ThresholdCheck(FINISHED, unfinished)] if unfinished else []))
    root.set("time", _seconds(runs))
    return _document(root)


def comparison_junit(compared: ComparedBatches) -> str:
    """One document of a comparison: its checks decide, and a case that regressed counts as skipped, with its reason."""
    root = Element("testsuites", {"name": legal(batch_name(compared.comparison.after))})
    suite = SubElement(root, "testsuite", {"name": COMPARED})
    for one in compared.told():
        _add_change(suite, one)
    _count(suite)
    _add_checks(root, compared.checks)
    return _document(root)


def _add_change(suite: Element, one: ComparedRuns) -> None:
    run = one.after or one.before
    case = _test_case(suite, COMPARED, run.case_name if run else one.pair.case_id, [])
    if one.pair.change not in (PairChange.FIXED, PairChange.UNCHANGED_RIGHT, PairChange.UNCHANGED_WRONG):
        picks = f"{choice(one.before, one.pair.before)} before, {choice(one.after, one.pair.after)} after"
        message = legal(f"{CHANGES[one.pair.change]}: {picks}.")
        SubElement(case, "skipped", {"type": str(one.pair.change), "message": message})


def _document(root: Element) -> str:
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + markup_text(tostring(root, encoding="unicode")) + "\n"


def _add_suite(root: Element, results: Results, model: str, runs: Sequence[RunSummary]) -> None:
    suite = SubElement(root, "testsuite", {"name": legal(model), "time": _seconds(runs)})
    conditions = results.conditions(model)
    if "date" in conditions:
        suite.set("timestamp", conditions["date"])
    properties = SubElement(suite, "properties")
    for name, value in conditions.items():
        SubElement(properties, "property", {"name": name, "value": legal(value)})
    several = any(run.repeat for run in results.runs)
    for run in runs:
        name = f"{run.case_name} (repeat {run.repeat + 1})" if several else run.case_name
        _add_outcome(_test_case(suite, model, name, [run]), run, decides=not results.checks)
    _count(suite)


def _add_checks(root: Element, checks: Sequence[ThresholdCheck]) -> None:
    if not checks:
        return
    suite = SubElement(root, "testsuite", {"name": CHECKS})
    for check in checks:
        case = _test_case(suite, CHECKS, check.name, [])
        if check.shortfall:
            SubElement(case, "failure", {"type": "threshold", "message": legal(check.shortfall)})
    _count(suite)


def _test_case(suite: Element, group: str, name: str, runs: Sequence[RunSummary]) -> Element:
    """Add a test case. Readers split a class name at its dots, so that it has none."""
    group = legal(group.replace(".", "_"))
    return SubElement(suite, "testcase", {"classname": group, "name": legal(name), "time": _seconds(runs)})


def _count(suite: Element) -> None:
    tags = {"failures": "failure", "errors": "error", "skipped": "skipped"}
    suite.set("tests", str(len(suite.findall("testcase"))))
    for name, tag in tags.items():
        suite.set(name, str(len(suite.findall(f"testcase/{tag}"))))


def _seconds(runs: Sequence[RunSummary]) -> str:
    return f"{sum(run.execution_time_ms or 0 for run in runs) / 1000:.3f}"


def _add_outcome(case: Element, run: RunSummary, *, decides: bool) -> None:
    if run.failure:
        error = SubElement(case, "error", {"type": run.failure.code, "message": legal(run.failure.message)})
        error.text = legal(reason(run))
    elif run.status in (RunStatus.PENDING, RunStatus.CANCELLED):
        SubElement(case, "skipped", {"message": f"The run is {run.status.value}."})
    elif not run.passes:
        kind = run.kind.value if run.kind else "failure"
        told = legal(run.explanation or "The run did not pass.")
        tag, kind = ("failure", kind) if decides else ("skipped", f"allowed by thresholds: {kind}")
        SubElement(case, tag, {"type": kind, "message": told}).text = legal(_told(run))


def _told(run: RunSummary) -> str:
    expected, selected = run.expected or NO_TOOL_TEXT, run.selected or NO_TOOL_TEXT
    lines = [run.explanation or "", f"Query: {run.query}", f"Expected: {expected}", f"Selected: {selected}"]
    return "\n".join([*lines, *(one.sentence for one in run.findings)]).strip()
