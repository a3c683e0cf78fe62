"""A past to count: batches of runs by what was expected and what was picked, put into a workspace in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

from mcp_tef import (
    Batch,
    BatchId,
    BatchStatus,
    CaseId,
    Classification,
    ConfidenceCategory,
    RunId,
    RunSummary,
    VerdictKind,
)
from tests.support.fake_engine import FakeEngine
from tests.support.made_runs import GPT, NOW, batch, run

Confusions = Mapping[str | None, Mapping[str | None, int]]
SMALL: Confusions = {
    "search_code": {"search_code": 12, "search_files": 7, None: 1},
    "search_files": {"search_code": 1, "search_files": 14},
    "read_file": {"read_file": 5, None: 1},
    None: {"search_files": 2, None: 9},
}


def past_batch(number: int, name: str = "Everyday", **changes: object) -> Batch:
    """A finished batch; higher numbers are older by a day."""
    started = NOW - timedelta(days=number)
    made = batch(number, name=name, status=BatchStatus.COMPLETED, created_at=started, completed_at=started, total=100)
    return replace(made, **changes)  # type: ignore[arg-type]  # the fields are the caller's to name rightly


def past_runs(
    of: Batch, confusions: Confusions = SMALL, *, model: str = GPT, repeats: int = 1, first: int = 0
) -> list[RunSummary]:
    """One run for each count: what was expected, what was picked; equal places are equal cases."""
    made = list(_runs(of, confusions, model))
    return [
        replace(one, id=RunId(f"{of.id}-{model}-{first + place}"), case_id=CaseId(f"case-{(first + place) // repeats}"),
                case_name=f"case {(first + place) // repeats}", repeat=place % repeats)
        for place, one in enumerate(made)
    ]  # fmt: skip


def _runs(of: Batch, confusions: Confusions, model: str) -> Iterator[RunSummary]:
    for expected, row in confusions.items():
        for selected, number in row.items():
            for count in range(number):
                yield _run(of, expected, selected, model, count)


def _run(of: Batch, expected: str | None, selected: str | None, model: str, count: int) -> RunSummary:
    classification, kind = outcome(expected, selected)
    right = classification in (Classification.TP, Classification.TN)
    confidence = (0.55 + 0.04 * (count % 11)) if right else (0.35 + 0.06 * (count % 9))
    return run(
        model=model,
        batch_id=of.id,
        query=f"Question {count} about {expected or 'nothing'}",
        expected=f"docs / {expected}" if expected else "no tool",
        expected_tool=expected,
        expected_server="docs" if expected else None,
        selected=f"docs / {selected}" if selected else "no tool",
        selected_tool=selected,
        selected_server="docs" if selected else None,
        classification=classification,
        kind=kind,
        parameters_ok=count % 6 != 5 if classification is Classification.TP else None,
        correctness=0.5 if count % 6 == 5 else 1.0,
        completeness=1.0,
        type_conformance=count % 17 != 16 if classification is Classification.TP else None,
        hallucinated=("limit",) if count % 23 == 22 else (),
        confidence=min(0.97, confidence),
        confidence_category=_category(right, confidence),
        execution_time_ms=700 + 90 * (count % 13),
        tokens=850,
        cost_usd=0.0009,
        created_at=of.created_at,
        completed_at=of.created_at,
    )


def _category(right: bool, confidence: float) -> ConfidenceCategory | None:
    if right:
        return ConfidenceCategory.ROBUST if confidence >= 0.7 else ConfidenceCategory.NEEDS_CLARITY
    return ConfidenceCategory.MISLEADING if confidence >= 0.7 else None


def outcome(expected: str | None, selected: str | None) -> tuple[Classification, VerdictKind]:
    """How such a run is judged."""
    if expected is None:
        if selected is None:
            return Classification.TN, VerdictKind.NO_CALL_EXPECTED
        return Classification.FP, VerdictKind.UNEXPECTED_CALL
    if selected == expected:
        return Classification.TP, VerdictKind.MATCH
    return Classification.FN, VerdictKind.NO_TOOL if selected is None else VerdictKind.WRONG_TOOL


def remember(fake: FakeEngine, *past: tuple[Batch, Sequence[RunSummary]]) -> None:
    """Put batches with their runs into the workspace, newest first."""
    for of, runs in reversed(past):
        fake.store.runs.put(of, runs)


def ids(*numbers: int) -> tuple[BatchId, ...]:
    """The ids of past batches."""
    return tuple(BatchId(f"batch-{number}") for number in numbers)
