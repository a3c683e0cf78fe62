"""Compare an expected call with the actual one: tool names, descriptions and parameters side by side."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.screens.runs.labels import DASH, TextSpan, VerdictMark
from app.text.formatting import count
from app.text.text_diff import LONGEST, Stretch, differing, pieces
from mcp_tef import (
    ActualCall,
    CallMatch,
    ExpectedCall,
    FindingReason,
    OfferedTool,
    ParameterFinding,
    canonical,
    loads_bounded,
)

NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^A-Za-z\d]+")
SpanPair = tuple[tuple[TextSpan, ...], tuple[TextSpan, ...]]


def name_difference(left: str, right: str) -> SpanPair:
    """Return two tool names with the parts marked that only one of them has."""
    a, b = differing(NAME_PARTS.findall(left), NAME_PARTS.findall(right), str.casefold)
    return _spans(a, mono=True), _spans(b, mono=True)


def text_difference(left: str, right: str) -> SpanPair:
    """Return two texts with the words marked that only one of them has, up to the first 400 words."""
    a, b = differing(_words(left), _words(right), _key)
    return _spans(a, mono=False), _spans(b, mono=False)


def _words(text: str) -> list[str]:
    words = pieces(text)
    return words if len(words) <= LONGEST else [*words[: LONGEST - 1], "…"]


def _key(part: str) -> str:
    return part.casefold().rstrip(".,;:") or part


def _spans(text: tuple[Stretch, ...], *, mono: bool) -> tuple[TextSpan, ...]:
    return tuple(TextSpan(one.text, mono=mono, marked=one.changed) for one in text)


NOT_JUDGED = "Not judged, because the tool was wrong"
WHOLE_CALL = "all together"
MISSING = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterRow:
    """One parameter: its mark, both values as text, and the reason on a separate line."""

    mark: VerdictMark
    name: str
    expected: str
    given: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterComparison:
    """The parameters of one expected call beside one actual call; `note` stands below them."""

    rows: tuple[ParameterRow, ...]
    note: str = ""


def value_text(value: object) -> str:
    """Format a JSON value: text as it is if it cannot be misread, otherwise JSON."""
    if value is MISSING:
        return DASH
    if isinstance(value, str) and _plain(value):
        return value
    return json.dumps(value, ensure_ascii=False)


def _plain(text: str) -> bool:
    if not text or text != text.strip() or text == DASH or "\n" in text:
        return False
    try:
        loads_bounded(text)
    except ValueError:
        return True
    return False


def expected_text(value: object) -> str:
    """Format an expected value or matcher: `50 ± 10`, `py or python`, `anything`."""
    key = _matcher(value)
    if key is None or not isinstance(value, Mapping):
        return value_text(value)
    inner = value[key]
    if key == "$any_of" and isinstance(inner, list):
        return " or ".join(expected_text(item) for item in inner)
    if key == "$approx":
        return f"{inner} ± {value.get('$tolerance', 0)}"
    if key == "$any":
        return "anything"
    if key == "$literal":
        return value_text(inner)
    return f"{MATCHER_LABELS.get(key, key)} {expected_text(inner)}"


MATCHER_LABELS: Mapping[str, str] = {
    "$optional": "if given,",
    "$regex": "matches",
    "$contains": "contains",
    "$unordered": "in any order",
    "$datetime": "the moment",
}

ACCEPTED: Mapping[str | None, str] = {
    None: "Equal",
    "$any_of": "One of the accepted values",
    "$any": "Anything is accepted",
    "$optional": "Equal, and optional",
    "$regex": "Matches the pattern",
    "$approx": "Within the tolerance",
    "$contains": "Contains the expected value",
    "$unordered": "The same values, in any order",
    "$datetime": "The same moment",
    "$literal": "Equal",
}


def _matcher(value: object) -> str | None:
    if isinstance(value, Mapping) and value and all(str(key).startswith("$") for key in value):
        return next((str(key) for key in value if key != "$tolerance"), None)
    return None


def judged_comparison(
    match: CallMatch, expected: ExpectedCall, actual: ActualCall, *, baseline: bool = False
) -> ParameterComparison:
    """Compare the parameters of a matched pair; expected ones come first."""
    asked = dict(expected.parameters or {})
    names = list(dict.fromkeys([*asked, *actual.arguments]))
    found = _by_name(match.findings, names)
    rows = tuple(
        _unfilled_row(name, asked.get(name, MISSING))
        if baseline and are_missing(found.get(name, []))
        else _judged_row(name, asked.get(name, MISSING), actual.arguments.get(name, MISSING), found.get(name, []))
        for name in dict.fromkeys([*names, *found])
    )
    note = "" if asked or not rows else "The case expects no values, so only the tool's schema was checked"
    return ParameterComparison(rows=rows, note=note)


def are_missing(findings: Sequence[ParameterFinding]) -> bool:
    """Return True if values are missing, and nothing else is wrong."""
    return bool(findings) and all(finding.reason is FindingReason.MISSING for finding in findings)


def _unfilled_row(name: str, expected: object) -> ParameterRow:
    reason = "Not given: a baseline fills in only values that stand in the query"
    return ParameterRow(
        mark=VerdictMark.NEUTRAL, name=name, expected=expected_text(expected), given=DASH, reason=reason
    )


def _by_name(findings: Sequence[ParameterFinding], names: Sequence[str]) -> dict[str, list[ParameterFinding]]:
    """Group findings by the parameter of the call that they are about or within."""
    grouped: dict[str, list[ParameterFinding]] = {}
    for finding in findings:
        within = [name for name in names if f"{finding.parameter}.".startswith(f"{name}.")]
        name = max(within, key=len, default=finding.parameter or WHOLE_CALL)
        grouped.setdefault(name, []).append(finding)
    return grouped


def _judged_row(name: str, expected: object, given: object, findings: Sequence[ParameterFinding]) -> ParameterRow:
    mark, reason = _found(name, findings) if findings else _sound(expected, given)
    return ParameterRow(mark=mark, name=name, expected=expected_text(expected), given=value_text(given), reason=reason)


def _found(name: str, findings: Sequence[ParameterFinding]) -> tuple[VerdictMark, str]:
    reasons = {finding.reason for finding in findings}
    mild = reasons <= {FindingReason.HALLUCINATED, FindingReason.NOT_EXPECTED}
    return (VerdictMark.NOTE if mild else VerdictMark.WRONG), "\n".join(_reason(name, finding) for finding in findings)


def _reason(name: str, finding: ParameterFinding) -> str:
    """Return the judge's sentence without the name and the values, which the row shows."""
    if finding.parameter != name:
        return finding.sentence.replace("`", "")
    text = finding.sentence.removeprefix(f"`{name}` ").removesuffix(".").replace("`", "")
    if finding.reason is FindingReason.WRONG_VALUE:
        _, semicolon, advice = text.partition("; ")
        return f"Not the expected value{semicolon}{advice}"
    text = text.removeprefix("is ").removeprefix("was ")
    if finding.reason is FindingReason.HALLUCINATED:
        return f"Hallucinated: {text}"
    return f"{text[:1].upper()}{text[1:]}"


def _sound(expected: object, given: object) -> tuple[VerdictMark, str]:
    if expected is MISSING:
        return VerdictMark.NEUTRAL, "Not specified in the case, so not judged"
    if given is MISSING:
        return VerdictMark.CORRECT, "Optional, and not given"
    return VerdictMark.CORRECT, ACCEPTED.get(_matcher(expected), "Accepted")


def unjudged_comparison(
    expected: ExpectedCall, wanted: OfferedTool | None, actual: ActualCall, picked: OfferedTool | None
) -> ParameterComparison:
    """Compare the parameters of two different tools, without judging them."""
    asked = dict(expected.parameters or {})
    rows = tuple(
        ParameterRow(
            mark=VerdictMark.NEUTRAL,
            name=name,
            expected=expected_text(asked.get(name, MISSING)),
            given=value_text(actual.arguments.get(name, MISSING)),
            reason=_comparison(name, asked, actual, wanted, picked),
        )
        for name in dict.fromkeys([*asked, *actual.arguments])
    )
    return ParameterComparison(rows=rows, note=NOT_JUDGED if rows else "")


def _comparison(
    name: str, asked: Mapping[str, object], actual: ActualCall, wanted: OfferedTool | None, picked: OfferedTool | None
) -> str:
    if name not in actual.arguments:
        return f"Only {wanted.tool.name} has it" if wanted and not _has(picked, name) else "Not given"
    if name not in asked:
        return "Not specified in the case"
    same = canonical(asked[name]) == canonical(actual.arguments[name])
    return "Equal" if same else "Different wording" if isinstance(asked[name], str) else "Different value"


def _has(offered: OfferedTool | None, name: str) -> bool:
    return offered is not None and name in parameter_names(offered)


def parameter_names(offered: OfferedTool) -> tuple[str, ...]:
    """Return the parameters in a tool's schema."""
    properties = offered.tool.input_schema.get("properties")
    return tuple(properties) if isinstance(properties, Mapping) else ()


def unexpected_comparison(call: ActualCall) -> ParameterComparison:
    """Return the parameters of an unexpected call."""
    rows = tuple(
        ParameterRow(mark=VerdictMark.NEUTRAL, name=name, expected=DASH, given=value_text(value), reason="")
        for name, value in call.arguments.items()
    )
    return ParameterComparison(rows=rows, note="Not judged, because no call was expected" if rows else "")


def parameter_count(offered: OfferedTool | None) -> str:
    """Return `4 parameters`; empty if the tool was not offered."""
    return count(len(parameter_names(offered)), "parameter") if offered else ""
