"""Results as JUnit XML: a suite for each model, a test case for each run."""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from mcp_tef.api.serializers.runs import NO_TOOL_TEXT
from mcp_tef.model.runs import RunStatus, RunSummary
from mcp_tef.reports.results import Results, legal


def to_junit(results: Results) -> str:
    """One document. A run that did not pass is a failure, one that failed an error, one that was not run skipped."""
    runs = [run for run in results.runs if run.status is not RunStatus.RUNNING]
    root = Element("testsuites", _counts(results.title, runs))
    several = any(run.repeat for run in runs)
    for model in results.models:
        of_model = [run for run in runs if run.model == model]
        suite = SubElement(root, "testsuite", _counts(model, of_model))
        for run in of_model:
            _add(suite, run, several=several)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _counts(name: str, runs: list[RunSummary]) -> dict[str, str]:
    return {
        "name": legal(name),
        "tests": str(len(runs)),
        "failures": str(sum(_missed(run) for run in runs)),
        "errors": str(sum(run.status is RunStatus.FAILED for run in runs)),
        "skipped": str(sum(_not_run(run) for run in runs)),
        "time": f"{sum(run.execution_time_ms or 0 for run in runs) / 1000:.3f}",
    }


def _missed(run: RunSummary) -> bool:
    return run.status is RunStatus.COMPLETED and not run.passes


def _not_run(run: RunSummary) -> bool:
    return run.status in (RunStatus.PENDING, RunStatus.CANCELLED)


def _add(suite: Element, run: RunSummary, *, several: bool) -> None:
    name = f"{run.case_name} (repeat {run.repeat + 1})" if several else run.case_name
    seconds = f"{(run.execution_time_ms or 0) / 1000:.3f}"
    case = SubElement(suite, "testcase", {"classname": legal(run.model), "name": legal(name), "time": seconds})
    if run.failure:
        error = SubElement(case, "error", {"type": run.failure.code, "message": legal(run.failure.message)})
        error.text = legal(f"{run.failure.message} {run.failure.hint}".strip())
    elif _missed(run):
        _add_failure(case, run)
    elif _not_run(run):
        SubElement(case, "skipped", {"message": f"The run is {run.status.value}."})


def _add_failure(case: Element, run: RunSummary) -> None:
    told = legal(run.explanation or "The run did not pass.")
    kind = run.kind.value if run.kind else "failure"
    expected, selected = run.expected or NO_TOOL_TEXT, run.selected or NO_TOOL_TEXT
    failure = SubElement(case, "failure", {"type": kind, "message": told})
    failure.text = legal(f"{told}\nQuery: {run.query}\nExpected: {expected}\nSelected: {selected}")
